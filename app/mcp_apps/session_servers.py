"""The servers that calls of a session may be of: those that the operator named, and, for names
that the operator did not, what the session's own configuration said when it was read.

Both only resolve a name to a URL. Trust is the URL's: a configuration can point a name at a
server that is allowed, and gets that server; it cannot get anything else allowed. The headers
that it names go to the very URL that it gives, and to no other server of the same name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlalchemy import select
from sqlmodel import Session, col

from app.db.tables import Server, ServerCredential, SessionServer
from app.mcp import credentials, registry
from app.mcp.registry import KnownServer
from app.mcp.wallet import Claims

_MAX_ROWS = 100_000
_MAX_ASKED = 1_000


def known_in(db: Session, session_id: str) -> list[KnownServer]:
    """For the calls of one session, by name."""
    known = registry.known_servers(db)
    rows = db.execute(
        select(SessionServer).where(col(SessionServer.session_id) == session_id)
    ).all()
    configured = [row for (row,) in rows]
    held = credentials.of_servers(db)
    own = _resolved(configured, _by_url(db), {one.name for one in known}, held)
    by_name = {row.name: row for row in configured}
    return sorted(
        [*(_with_own(one, by_name.get(one.name)) for one in known), *own],
        key=lambda one: one.name,
    )


def asked_headers(db: Session, server: Server) -> list[tuple[str, str]]:
    """(header, reference or "") that the configurations of sessions give for ``server``, sorted,
    each once.
    """
    written = db.execute(select(col(SessionServer.url)).distinct().limit(_MAX_ROWS)).scalars()
    urls = [url for url in written if registry.canonical_url(url) == server.url]
    rows = db.execute(
        select(SessionServer).where(col(SessionServer.url).in_(urls)).limit(_MAX_ASKED)
    ).scalars()
    return sorted({pair for row in rows for pair in row.headers.items()})


def _with_own(known: KnownServer, row: SessionServer | None) -> KnownServer:
    if row is None or registry.canonical_url(row.url) != known.server.url:
        return known
    return replace(known, claims=replace(known.claims, own=tuple(row.headers.items())))


def known_by_session(db: Session, known: Iterable[KnownServer]) -> Mapping[str, list[KnownServer]]:
    """What the configurations of sessions add to ``known``, by session id."""
    table = SessionServer
    rows = db.execute(select(table).limit(_MAX_ROWS)).scalars()
    by_session: dict[str, list[SessionServer]] = {}
    for row in rows:
        by_session.setdefault(row.session_id, []).append(row)
    servers = _by_url(db)
    taken = {one.name for one in known}
    found = {
        session_id: _resolved(rows, servers, taken, {}) for session_id, rows in by_session.items()
    }
    return {session_id: own for session_id, own in found.items() if own}


def _by_url(db: Session) -> dict[str, Server]:
    return {entry.server.url: entry.server for entry in registry.servers(db)}


def _resolved(
    rows: Iterable[SessionServer],
    servers: Mapping[str, Server],
    taken: set[str],
    held: Mapping[int, tuple[ServerCredential, ...]],
) -> list[KnownServer]:
    found: list[KnownServer] = []
    for row in rows:
        if row.name in taken:
            continue
        if row.transport == registry.STDIO:
            # Not in the database: enough to say why there is no view.
            url = f"{registry.STDIO}:{row.name}"
            found.append(KnownServer(row.name, Server(url=url, transport=registry.STDIO)))
            continue
        server = servers.get(registry.canonical_url(row.url) or "")
        if server is not None:
            stored = held.get(server.id or 0, ())
            found.append(_with_own(KnownServer(row.name, server, Claims(stored)), row))
    return found
