"""The servers that calls of a session may be of: those that the operator named, and, for names
that the operator did not, what the session's own configuration said when it was read.

Both only resolve a name to a URL. Trust is the URL's: a configuration can point a name at a
server that is allowed, and gets that server; it cannot get anything else allowed.
"""

from collections.abc import Iterable, Mapping

from sqlalchemy import select
from sqlmodel import Session, col

from app.db.tables import Server, SessionServer
from app.mcp import registry
from app.mcp.registry import KnownServer

_MAX_ROWS = 100_000


def known_in(db: Session, session_id: str) -> list[KnownServer]:
    """For the calls of one session, by name."""
    known = registry.known_servers(db)
    rows = db.execute(
        select(SessionServer).where(col(SessionServer.session_id) == session_id)
    ).scalars()
    own = _resolved(rows, _by_url(db), {one.name for one in known})
    return sorted([*known, *own], key=lambda one: one.name)


def known_by_session(db: Session, known: Iterable[KnownServer]) -> Mapping[str, list[KnownServer]]:
    """What the configurations of sessions add to ``known``, by session id."""
    table = SessionServer
    rows = db.execute(select(table).limit(_MAX_ROWS)).scalars()
    by_session: dict[str, list[SessionServer]] = {}
    for row in rows:
        by_session.setdefault(row.session_id, []).append(row)
    servers = _by_url(db)
    taken = {one.name for one in known}
    found = {session_id: _resolved(rows, servers, taken) for session_id, rows in by_session.items()}
    return {session_id: own for session_id, own in found.items() if own}


def _by_url(db: Session) -> dict[str, Server]:
    return {entry.server.url: entry.server for entry in registry.servers(db)}


def _resolved(
    rows: Iterable[SessionServer], servers: Mapping[str, Server], taken: set[str]
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
            found.append(KnownServer(row.name, server))
    return found
