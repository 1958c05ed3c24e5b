"""Settings → Servers: the list, and one server's page."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, Self

from app.db import tables
from app.mcp.registry import NOT_ELIGIBLE, STDIO, ServerEntry, mask_url
from app.mcp.target import SSE, STREAMABLE_HTTP
from app.mcp_apps.permissions import CHOICES
from app.mcp_apps.seen_servers import UnknownServer, Usage
from app.text import one_line
from app.web.view_models.sessions import counted

TRANSPORT_LABELS: Final[Mapping[str, str]] = {
    STREAMABLE_HTTP: "Streamable HTTP",
    SSE: "SSE (older servers)",
    STDIO: "stdio: a program on the agent’s machine",
}
# Where the agent's configuration has it: app.transcripts.formats.configured.Origin.
_SAID: Final[Mapping[str, str]] = {
    "project": "in the project’s .mcp.json",
    "local": "in the user’s configuration for the folder",
    "user": "in the user’s configuration",
    "log": "in the agent’s log of the connection",
}
# A transcript can name as many as its author likes.
MOST_UNKNOWN: Final = 100
_MOST_ADDRESSES: Final = 3
_MOST_RECORDED: Final = 3


def switch_key(server: tables.Server) -> str:
    """What a form calls a server by: its URL, so that a form from before the URL was changed, or
    the id given to another server, decides nothing about the new one.
    """
    return hashlib.sha256(server.url.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ServerView:
    """``url`` is masked: the query of a real one may hold a key. ``prefilled`` is the URL for a
    form where it holds none, else empty.
    """

    id: int
    key: str
    names: list[str]
    url: str
    prefilled: str
    transport: str
    allowed: bool
    unmarked_tools: bool
    viewers_may_call: bool
    permissions: list[str]
    private_confirmed: bool
    used: str

    @classmethod
    def of(cls, entry: ServerEntry, usage: Usage | None = None) -> Self:
        server = entry.server
        if server.id is None:
            raise ValueError("a server that is not stored has no page")
        sessions = usage.by_server.get(server.id, 0) if usage else 0
        return cls(
            id=server.id,
            key=switch_key(server),
            names=[one_line(name, 128) for name in entry.names],
            url=one_line(entry.masked_url, 2048),
            prefilled=entry.masked_url if entry.masked_url == server.url else "",
            transport=server.transport,
            allowed=server.allowed,
            unmarked_tools=server.unmarked_tools,
            viewers_may_call=server.viewers_may_call,
            permissions=server.permissions,
            private_confirmed=server.private_confirmed,
            used=_used(sessions),
        )

    @property
    def title(self) -> str:
        return ", ".join(self.names)

    @property
    def permission_choices(self) -> Mapping[str, str]:
        return CHOICES

    @property
    def eligible(self) -> bool:
        return self.transport != STDIO

    @property
    def not_eligible(self) -> str:
        return NOT_ELIGIBLE


def _used(sessions: int) -> str:
    return f"in {counted(sessions, 'session', 'sessions')}" if sessions else "in no session yet"


def address_key(url: str) -> str:
    """What a link calls an address by: a URL may hold a key, and a page's address is no place
    for one.
    """
    return hashlib.sha256(url.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class AddressView:
    """An address that a session's configuration gives for a name; ``url`` is masked. ``query``
    fills in the form with it, or is empty where the form could not take it: it holds a reference
    to a variable, which Vitrine does not fill in, or a key, which it does not show.
    """

    url: str
    transport: str
    said: str
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Addresses:
    """By name, newest first."""

    by_name: Mapping[str, Sequence[tables.SessionServer]]

    @classmethod
    def of(cls, found: Mapping[str, Sequence[tables.SessionServer]]) -> Self:
        return cls(found)

    def views(self, name: str) -> list[AddressView]:
        return [_address(row) for row in self.by_name.get(name, ())[:_MOST_ADDRESSES]]

    def chosen(self, name: str, key: str) -> tuple[str, str] | None:
        """(URL, transport) for the form: the one that a link named, else the newest."""
        usable = [row for row in self.by_name.get(name, ()) if _fills_in(row)]
        named = [row for row in usable if address_key(row.url) == key]
        row = next(iter(named or usable), None)
        return (row.url, row.transport) if row is not None else None


def _fills_in(row: tables.SessionServer) -> bool:
    return row.transport != STDIO and mask_url(row.url) == row.url and "${" not in row.url


def _address(row: tables.SessionServer) -> AddressView:
    query = {"name": row.name[:128], "address": address_key(row.url)} if _fills_in(row) else {}
    url = "" if row.transport == STDIO else one_line(mask_url(row.url), 300)
    return AddressView(url, row.transport, _SAID.get(row.origin, ""), query)


@dataclass(frozen=True, slots=True)
class UnknownView:
    """A name seen in sessions that stands for no server. ``query`` fills in the form to add it."""

    name: str
    guessed: bool
    used: str
    recorded: list[str]
    more: int
    query: Mapping[str, str]
    addresses: list[AddressView]

    @classmethod
    def of(cls, server: UnknownServer, addresses: Addresses) -> Self:
        return cls(
            name=one_line(server.name, 128) or "(no name)",
            guessed=server.guessed,
            used=_used(server.sessions),
            recorded=[one_line(name, 120) for name in server.recorded[:_MOST_RECORDED]],
            more=max(0, len(server.recorded) - _MOST_RECORDED),
            query={"name": server.name[:128]},
            addresses=addresses.views(server.name),
        )


@dataclass(frozen=True, slots=True)
class ServersPage:
    """``name``, ``url``, ``transport`` and ``private`` are what the form holds: what was typed,
    when it was refused. ``ask_private``: whether it asks for leave to go to a private address.
    """

    servers: list[ServerView]
    unknown: list[UnknownView]
    unknown_more: int
    notice: str = ""
    error: str = ""
    name: str = ""
    url: str = ""
    transport: str = STREAMABLE_HTTP
    private: str = ""
    ask_private: str = ""

    @classmethod
    def of(
        cls,
        entries: Sequence[ServerEntry],
        usage: Usage,
        addresses: Addresses,
        *,
        address: str = "",
        **form: str,
    ) -> Self:
        chosen = addresses.chosen(form.get("name", ""), address)
        if chosen is not None and "url" not in form:
            form = form | {"url": chosen[0], "transport": chosen[1]}
        return cls(
            servers=[ServerView.of(entry, usage) for entry in entries],
            unknown=[UnknownView.of(server, addresses) for server in usage.unknown[:MOST_UNKNOWN]],
            unknown_more=max(0, len(usage.unknown) - MOST_UNKNOWN),
            **form,
        )

    @property
    def transports(self) -> Mapping[str, str]:
        return TRANSPORT_LABELS


@dataclass(frozen=True, slots=True)
class ServerPage:
    """One server. ``error`` belongs to the form ``form``: ``address``, ``name``
    or ``credential``. ``suggested``
    are names seen in sessions that stand for nothing yet.
    """

    server: ServerView
    suggested: list[str]
    notice: str = ""
    error: str = ""
    form: str = ""
    url: str = ""
    transport: str = ""
    name: str = ""
    private: str = ""

    @classmethod
    def of(cls, entry: ServerEntry, usage: Usage, **form: str) -> Self:
        server = ServerView.of(entry, usage)
        filled = {
            "url": server.prefilled,
            "transport": server.transport,
            "private": "on" if server.private_confirmed else "",
        }
        # What other sections' forms held is for them.
        own = {field.name for field in fields(cls)}
        filled |= {name: value for name, value in form.items() if name in own}
        suggested = [one_line(unknown.name, 128) for unknown in usage.unknown[:MOST_UNKNOWN]]
        return cls(server, suggested, **filled)

    @property
    def transports(self) -> Mapping[str, str]:
        return TRANSPORT_LABELS
