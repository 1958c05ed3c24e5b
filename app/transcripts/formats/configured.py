"""The MCP servers that an agent's configuration names."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

MAX_SERVERS = 200
_MAX_NAME = 128
_MAX_URL = 2_048
_MAX_HEADERS = 50
_TRANSPORTS = {"http": "streamable-http", "streamable-http": "streamable-http", "sse": "sse"}
STDIO = "stdio"
# A value that is nothing but a reference. What stands behind ``:-`` may be the secret itself.
_REFERENCE = re.compile(
    r"(?P<scheme>(?:Bearer|Basic|Token) )?\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]{0,99})(?::-[^}]*)?\}"
)
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


class Origin(StrEnum):
    """Where the agent's configuration names a server."""

    PROJECT = "project"  # .mcp.json in the session's folder
    LOCAL = "local"  # the user's own, for that folder
    USER = "user"
    LOG = "log"  # the agent's log of the connection: given on its command line


@dataclass(frozen=True, slots=True)
class ConfiguredServer:
    """As `app.db.tables.SessionServer`."""

    name: str
    url: str
    transport: str
    origin: Origin
    headers: Mapping[str, str] = field(default_factory=dict)


def reference(variable: str, scheme: str = "") -> str:
    """``Bearer ${VAR}``: how a header's value is kept."""
    return f"{scheme}${{{variable}}}"


def kept_headers(headers: object) -> dict[str, str]:
    """The names of headers, each with its value where that is a reference, else with ""."""
    kept: dict[str, str] = {}
    for name, value in list(headers.items())[:_MAX_HEADERS] if isinstance(headers, dict) else ():
        if not isinstance(name, str) or not _HEADER.fullmatch(name):
            continue
        found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        kept[name] = reference(found["name"], found["scheme"] or "") if found else ""
    return kept


def named(servers: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The entries of a table of servers, by usable name."""
    for name, entry in list(servers.items())[:MAX_SERVERS] if isinstance(servers, dict) else ():
        usable = isinstance(name, str) and 0 < len(name) <= _MAX_NAME and name.isprintable()
        if usable and isinstance(entry, dict):
            yield name, entry


def usable_url(url: object) -> str:
    """A URL as it stands in the configuration, or "" for what cannot be one. One with a password
    in it is not kept: nothing could be reached with it anyway.
    """
    if not isinstance(url, str) or len(url) > _MAX_URL or not url.isprintable() or " " in url:
        return ""
    place = url.partition("://")[2].partition("/")[0].partition("?")[0]
    return "" if "@" in place else url


def transport_of(entry: Mapping[str, Any]) -> str:
    """``STDIO`` for what has no URL."""
    if not entry.get("url"):
        return STDIO
    kind = entry.get("type")
    return _TRANSPORTS.get(kind if isinstance(kind, str) else "http", "streamable-http")
