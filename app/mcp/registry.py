"""The servers that the operator added, and what a recorded name says about them.

A server is a URL; trust (``allowed``) is the URL's. A name only resolves to it, and one server
may have several.
"""

import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import delete
from sqlmodel import Session, col, select

from app.db.tables import Grant, Server, ServerName
from app.errors import NotFoundError, VitrineError
from app.mcp import copies, credentials
from app.mcp.names import PREFIX, normalise
from app.mcp.target import STREAMABLE_HTTP, TRANSPORTS, Target, mask_url
from app.mcp.tool_index import Tool, ToolIndex, resolve_tool
from app.mcp.urls import canonical_url, checked_url, is_private
from app.mcp.wallet import NOTHING, Claims
from app.text import storable

__all__ = [
    "KnownServer",
    "Match",
    "ServerEntry",
    "add_name",
    "add_server",
    "canonical_url",
    "edit_server",
    "entry",
    "known_servers",
    "mask_url",
    "match",
    "match_exact",
    "normalise",
    "remove_name",
    "remove_server",
    "resolve_tool",
    "servers",
    "set_allowed",
    "set_permissions",
    "set_private",
    "set_unmarked_tools",
    "target",
]

# A program on the agent's machine: to read from it, the web process would have to start it.
STDIO = "stdio"
NOT_ELIGIBLE = (
    "A stdio server is a program that the agent starts. Vitrine starts no programs, so its views "
    "cannot be shown."
)
MAX_NAME = 128
_MAX_ID = 2**31 - 1  # PostgreSQL refuses to look for more


@dataclass(frozen=True)
class ServerEntry:
    """A server with all its names, sorted; ``masked_url`` is the URL to show."""

    server: Server
    names: tuple[str, ...]
    masked_url: str


@dataclass(frozen=True)
class KnownServer:
    """One name, the server that it resolves to, and as whom that one is contacted."""

    name: str
    server: Server
    claims: Claims = NOTHING


@dataclass(frozen=True)
class Match:
    """One reading of a recorded name.

    ``tool`` is the tool's part, as the agent wrote it: ``written`` makes it from the tool's own
    name, and is ``None`` where ``tool`` is that name itself. ``ambiguous`` is true when another
    server has a name that is recorded alike: nothing says which one was meant.
    """

    name: str
    server: Server
    tool: str
    ambiguous: bool = field(default=False)
    written: Callable[[str], str] | None = field(default=normalise)
    claims: Claims = NOTHING

    def find(self, index: ToolIndex) -> Tool | None:
        """The tool that is meant, among those of its server."""
        if self.written is None:
            return index.tools.get(self.tool)
        return resolve_tool(index, self.tool, self.written)


def target(server: Server) -> Target:
    """Where ``server`` is, as nobody in particular; `app.mcp.wallet` knows as whom to go there."""
    return Target(url=server.url, transport=server.transport, private_ok=server.private_confirmed)


def known_servers(db: Session) -> list[KnownServer]:
    """Every name with its server, by name."""
    rows = db.exec(
        select(ServerName.name, Server)
        .join(Server, col(Server.id) == col(ServerName.server_id))
        .order_by(ServerName.name)
    )
    held = credentials.of_servers(db)
    return [
        KnownServer(name, server, Claims(held.get(server.id or 0, ()))) for name, server in rows
    ]


def servers(db: Session) -> list[ServerEntry]:
    """Every server with its names, in the order in which they were added."""
    names: dict[int | None, list[str]] = {}
    for known in known_servers(db):
        names.setdefault(known.server.id, []).append(known.name)
    rows = db.exec(select(Server).order_by(col(Server.id)))
    return [
        ServerEntry(server, tuple(names.get(server.id, ())), _shown_url(server)) for server in rows
    ]


def entry(db: Session, server_id: int) -> ServerEntry:
    """The server with this id. Raises ``NotFoundError``."""
    server = _server(db, server_id)
    names = db.exec(
        select(ServerName.name).where(ServerName.server_id == server_id).order_by(ServerName.name)
    )
    return ServerEntry(server, tuple(names), _shown_url(server))


def _shown_url(server: Server) -> str:
    return "" if server.transport == STDIO else mask_url(server.url)


def add_server(
    db: Session,
    name: str,
    url: str,
    transport: str = STREAMABLE_HTTP,
    *,
    private: bool | None = None,
) -> Server:
    """The server at ``url``, from now on known as ``name`` too. A new one is not allowed yet.

    ``private``: somebody confirmed that its address may lie in a private network. None is for a
    caller in code, who means the address that it gives, where that is plainly a private one.

    Raises ``VitrineError`` with the sentence for whoever filled in the form.
    """
    name = _checked_name(name)
    url = _checked_place(url, transport, name)
    _check_free(db, name)
    server = db.exec(select(Server).where(Server.url == url)).one_or_none()
    if server is None:
        server = Server(
            url=url, transport=transport, private_confirmed=_confirmed(url, transport, private)
        )
        db.add(server)
        db.flush()
    elif server.transport != transport:
        raise VitrineError(
            409, f"This URL is already there, with the transport {server.transport}."
        )
    elif private:
        server.private_confirmed = True
    return _named(db, server, name)


def _confirmed(url: str, transport: str, private: bool | None) -> bool:
    if transport == STDIO:
        return False
    return is_private(url) if private is None else private


def add_name(db: Session, server_id: int, name: str) -> Server:
    """The server is from now on known as ``name`` too. Raises as ``add_server``, and
    ``NotFoundError``.
    """
    server = _server(db, server_id)
    name = _checked_name(name)
    _check_free(db, name)
    return _named(db, server, name)


def edit_server(
    db: Session, server_id: int, url: str, transport: str, *, private: bool | None = None
) -> Server:
    """Its names stand for ``url`` from now on; an empty one means the URL that it has.
    ``private`` as for ``add_server``.

    Trust is the URL's: at another one nothing is allowed yet, and the credentials that were given
    for this one are gone. Raises as ``add_server``, and
    ``NotFoundError``.
    """
    found = entry(db, server_id)
    server = found.server
    _check_transport(transport)
    if url.strip() or (transport == STDIO) != (server.transport == STDIO):
        url = _checked_place(url, transport, next(iter(found.names), ""))
    else:
        url = server.url
    other = db.exec(select(Server).where(Server.url == url)).one_or_none()
    if other is not None and other.id != server.id:
        names = ", ".join(entry(db, other.id).names) if other.id is not None else ""
        raise VitrineError(
            409, f"This URL is already there, as {names}. Give that server a second name instead."
        )
    if url != server.url:
        copies.forget(db, server.url)
        credentials.forget(db, server)
        server.allowed = False
        server.unmarked_tools = False
        server.viewers_may_call = False
        server.permissions = []
        server.chosen_domains = []
        db.execute(delete(Grant).where(col(Grant.server_id) == server_id))
    if (url, transport) != (server.url, server.transport):
        server.protocol = None
    if url != server.url or private is not None:
        server.private_confirmed = _confirmed(url, transport, private)
    server.url, server.transport = url, transport
    db.add(server)
    db.flush()
    return server


def remove_name(db: Session, name: str) -> Server | None:
    """Forgets ``name``, and its server with the last of its names: that one is returned."""
    row = db.get(ServerName, name)
    if row is None:
        raise NotFoundError("There is no server with this name.")
    server_id = row.server_id
    db.delete(row)
    db.flush()
    if entry(db, server_id).names:
        return None
    return remove_server(db, server_id)


def remove_server(db: Session, server_id: int) -> Server:
    """Forgets a server, its names and what it said. Raises ``NotFoundError``."""
    server = _server(db, server_id)
    copies.forget(db, server.url)
    db.delete(server)
    db.flush()
    return server


def _check_free(db: Session, name: str) -> None:
    if db.get(ServerName, name) is not None:
        raise VitrineError(409, "A server with this name already exists.")


def _named(db: Session, server: Server, name: str) -> Server:
    if server.id is None:
        raise AssertionError("a flushed row has an id")
    db.add(ServerName(name=name, server_id=server.id))
    db.flush()
    return server


def set_allowed(db: Session, server: int | str, allowed: bool) -> Server:
    """Switches the server with this id or URL on or off. Raises ``NotFoundError``, and
    ``VitrineError`` for a server that Vitrine cannot reach.
    """
    row = _server(db, server)
    if allowed and row.transport not in TRANSPORTS:
        raise VitrineError(400, NOT_ELIGIBLE)
    row.allowed = allowed
    db.add(row)
    db.flush()
    return row


def set_private(db: Session, server: int | str, confirmed: bool) -> Server:
    """Whether the address of this server may lie in a private network. Raises
    ``NotFoundError``.
    """
    row = _server(db, server)
    row.private_confirmed = confirmed
    db.add(row)
    db.flush()
    return row


def set_unmarked_tools(db: Session, server: int | str, callable_by_views: bool) -> Server:
    """Whether views may call this server's tools that declare no ``visibility``, which the
    specification takes for visible to everybody. Raises ``NotFoundError``.
    """
    row = _server(db, server)
    row.unmarked_tools = callable_by_views
    db.add(row)
    db.flush()
    return row


def set_permissions(db: Session, server: int | str, names: Collection[str]) -> Server:
    """What views of this server may use of the reader's device. Raises ``NotFoundError``."""
    row = _server(db, server)
    row.permissions = sorted(set(names))
    db.add(row)
    db.flush()
    return row


def _server(db: Session, server: int | str) -> Server:
    if isinstance(server, int):
        row = db.get(Server, server) if 0 < server <= _MAX_ID else None
    else:
        row = db.exec(select(Server).where(Server.url == server)).one_or_none()
    if row is None:
        raise NotFoundError("There is no such server.")
    return row


def match_exact(server: str, tool: str, known: Sequence[KnownServer]) -> list[Match]:
    """The server of that very name, where the agent recorded the names of server and tool apart.
    Nothing is normalised: ``my_server`` is not ``my-server``.
    """
    return [
        Match(one.name, one.server, tool, written=None, claims=one.claims)
        for one in known
        if one.name == server
    ]


def match(
    recorded_name: str,
    known: Sequence[KnownServer],
    written: Callable[[str], str] = normalise,
) -> list[Match]:
    """Every reading of ``mcp__server__tool`` with a known server's name, longest name first.
    ``written`` is how the agent writes a name (`app.mcp.names.writing`).

    The name is never split at the first ``__``: a server may be called ``a__b``. Two servers
    whose names are recorded alike are both returned, ``ambiguous``; two names of one server
    are one reading.
    """
    found: dict[tuple[str, int | None], Match] = {}
    for candidate in known:
        recorded = written(candidate.name)
        prefix = f"{PREFIX}{recorded}__"
        tool = recorded_name.removeprefix(prefix)
        if not recorded_name.startswith(prefix) or not tool:
            continue
        found.setdefault(
            (recorded, candidate.server.id),
            Match(candidate.name, candidate.server, tool, written=written, claims=candidate.claims),
        )
    alike: dict[str, int] = {}
    for recorded, _ in found:
        alike[recorded] = alike.get(recorded, 0) + 1
    matches = [replace(one, ambiguous=alike[recorded] > 1) for (recorded, _), one in found.items()]
    return sorted(matches, key=lambda one: (-len(written(one.name)), one.name))


def _checked_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise VitrineError(400, f"A name has 1 to {MAX_NAME} characters.")
    if storable(name) != name or any(
        unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for char in name
    ):
        raise VitrineError(400, "A name holds no control or hidden characters.")
    return name


def _checked_place(url: str, transport: str, name: str) -> str:
    """What is stored as the URL of a server that is reached over ``transport``."""
    if transport == STDIO:
        if url.strip():
            raise VitrineError(400, "A stdio server has no URL: leave it empty.")
        # Its name in a session must not resolve to anything that has one.
        return f"{STDIO}:{name}"
    _check_transport(transport)
    return checked_url(url)


def _check_transport(transport: str) -> None:
    if transport not in (*TRANSPORTS, STDIO):
        raise VitrineError(400, "The transport must be streamable-http, sse or stdio.")
