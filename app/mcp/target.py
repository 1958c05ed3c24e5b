"""Where a connection goes and as whom."""

import hmac
import json
from dataclasses import dataclass, field
from functools import cached_property

from app.egress import URL

STREAMABLE_HTTP = "streamable-http"
SSE = "sse"
# Never "stdio": the web process starts no program.
TRANSPORTS = (STREAMABLE_HTTP, SSE)

Key = tuple[str, str]


@dataclass(frozen=True)
class Target:
    """An MCP server and the headers that say who asks it.

    ``private_ok`` lets the address be private or loopback; metadata and link-local addresses are
    refused whatever it says. ``salt`` keys the fingerprint, which is stored: without it, whoever
    has the database could try out which token it is of. ``trouble`` is why the server may not be
    contacted as this one: a credential that it should get cannot be had. ``notes`` are sentences
    on what a session's own configuration asked for and did not get.

    Raises ``ValueError`` for a transport other than ``streamable-http`` and ``sse``.
    """

    # The query may hold a key and headers do: neither shows in a log or a traceback.
    url: str = field(repr=False)
    transport: str = STREAMABLE_HTTP
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    private_ok: bool = False
    salt: bytes = field(default=b"", repr=False, compare=False)
    trouble: str = ""
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.transport not in TRANSPORTS:
            raise ValueError("an MCP server is reached over streamable-http or sse only")

    @cached_property
    def key(self) -> Key:
        """(URL, fingerprint of everything else): what a connection and a cache belong to."""
        headers = sorted((name.lower(), value) for name, value in self.headers)
        facts = json.dumps([self.transport, self.private_ok, self.trouble, headers]).encode()
        # Without headers there is nothing to guess, and nothing that a lost key should cost.
        salt = self.salt if headers else b""
        return self.url, hmac.digest(salt, facts, "sha256").hex()


def mask_url(url: str) -> str:
    """``url`` for people and logs: every query value as ``•••``, userinfo and fragment gone."""
    parsed = URL(url)
    shown = str(parsed.copy_with(userinfo=b"", query=None, fragment=None))
    masked = []
    for part in parsed.query.decode("ascii").split("&"):
        name, equals, _ = part.partition("=")
        # A part without a value may itself be the key.
        masked.append(f"{name}=•••" if equals else "•••")
    return f"{shown}?{'&'.join(masked)}" if parsed.query else shown
