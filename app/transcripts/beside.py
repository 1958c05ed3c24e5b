"""What lies about a transcript's file and is kept with its session: files that hold results, the
servers of the agent's configuration, and which call started a sub-agent.

It is read when the transcript is, on the machine where it lies: the agent deletes such files, and
today's configuration is not last month's.
"""

from collections.abc import Collection, Sequence
from pathlib import Path, PurePath

from sqlalchemy import delete, select, update
from sqlmodel import Session, col

from app.db import tables
from app.text import storable
from app.transcripts import disk
from app.transcripts.calls import MCP_PREFIX, usable_id
from app.transcripts.chunks import compress, decompress
from app.transcripts.formats.base import Beside, Format, Place, UnreadableLineError
from app.transcripts.formats.configured import ConfiguredServer
from app.transcripts.formats.lenient import loads
from app.transcripts.redaction import Redactor

MAX_FILE_BYTES = 32 * 1024 * 1024
_MAX_FILES = 2_000
_MAX_NAME = 255
# Images are in the transcript itself; nothing else is ever put back into a result.
_SUFFIXES = (".txt", ".json", ".wav", ".mp3", ".ogg", ".flac", ".m4a", ".aac", ".webm")
_TEXT = (".txt", ".json")
_META_BYTES = 64 * 1024
_MAX_CALLED = 2_000


def keep(
    db: Session, session_id: str, path: Path, fmt: Format, place: Place, redact: Redactor
) -> None:
    """Take what lies about the file at ``path``, which was just read and has grown."""
    around = fmt.around(path)
    if around.side_folder is not None:
        _keep_files(db, session_id, around.side_folder, redact)
    if around.started_by is not None and place.agent_id:
        _keep_start(db, session_id, around.started_by, place.agent_id)
    if not place.agent_id:
        row = db.get_one(tables.Session, session_id)
        called = _called(db, session_id)
        servers = fmt.servers(path, row.folder, row.external_id, called)
        _keep_servers(db, session_id, servers)


def _keep_files(db: Session, session_id: str, folder: PurePath, redact: Redactor) -> None:
    table = tables.SideFile
    known = set(
        db.execute(select(col(table.name)).where(col(table.session_id) == session_id)).scalars()
    )
    for name in disk.names(folder, _MAX_FILES):
        usable = name.endswith(_SUFFIXES) and len(name) <= _MAX_NAME and storable(name) == name
        if not usable or name in known:
            continue
        data = disk.read(folder / name, MAX_FILE_BYTES)
        if data is not None:
            data = redact(data) if name.endswith(_TEXT) else data
            db.add(table(session_id=session_id, name=name, size=len(data), data=compress(data)))
    db.flush()


def _keep_start(db: Session, session_id: str, path: PurePath, agent_id: str) -> None:
    """While a sub-agent works, only the file beside its transcript tells which call started it."""
    data = disk.read(path, _META_BYTES)
    try:
        meta = loads(data) if data is not None else None
    except UnreadableLineError:
        return
    call = meta.get("toolUseId") if isinstance(meta, dict) else None
    call_id = usable_id(call if isinstance(call, str) else None)
    if call_id is not None:
        db.execute(
            update(tables.ToolCall)
            .where(
                col(tables.ToolCall.session_id) == session_id,
                col(tables.ToolCall.tool_call_id) == call_id,
                col(tables.ToolCall.agent_id).is_(None),
            )
            .values(agent_id=storable(agent_id))
        )


def _called(db: Session, session_id: str) -> set[str]:
    """Every name of a server that calls of the session may be of."""
    call = tables.ToolCall
    rows = db.execute(
        select(col(call.name), col(call.server))
        .where(
            col(call.session_id) == session_id,
            col(call.name).startswith(MCP_PREFIX, autoescape=True),
        )
        .distinct()
        .limit(_MAX_CALLED)
    )
    found: set[str] = set()
    for name, server in rows:
        if server:
            found.add(server)
            continue
        parts = name.removeprefix(MCP_PREFIX).split("__")[:20]
        found |= {"__".join(parts[:end]) for end in range(1, len(parts))}
    return found


def _keep_servers(db: Session, session_id: str, servers: Sequence[ConfiguredServer]) -> None:
    """Newer ones take the place of older ones: the session has just gone on with them."""
    if not servers:
        return
    table = tables.SessionServer
    names = [server.name for server in servers]
    db.execute(delete(table).where(col(table.session_id) == session_id, col(table.name).in_(names)))
    db.add_all(
        table(
            session_id=session_id,
            name=server.name,
            url=server.url,
            transport=server.transport,
            headers=dict(server.headers),
            origin=server.origin.value,
        )
        for server in servers
    )
    db.flush()


def reader(db: Session, session_id: str) -> Beside:
    """Reads the side files of a session, where they are kept."""

    def read(name: str) -> bytes | None:
        if len(name) > _MAX_NAME or storable(name) != name:
            return None
        row = db.get(tables.SideFile, (session_id, name))
        return decompress(row.data, row.size) if row is not None else None

    return read


def servers_of(db: Session, session_id: str) -> list[tables.SessionServer]:
    """The servers that the session's configuration named, by name."""
    table = tables.SessionServer
    return list(
        db.execute(
            select(table).where(col(table.session_id) == session_id).order_by(col(table.name))
        ).scalars()
    )


def configured_names(db: Session) -> list[str]:
    """Every name of a server in the configuration of some session."""
    column = col(tables.SessionServer.name)
    return list(db.execute(select(column).distinct().order_by(column).limit(10_000)).scalars())


def addresses(db: Session, names: Collection[str]) -> dict[str, list[tables.SessionServer]]:
    """What sessions' configurations say of each of ``names``, newest first; each URL once."""
    table = tables.SessionServer
    found: dict[str, list[tables.SessionServer]] = {}
    ordered = sorted({storable(name) for name in names})
    for start in range(0, len(ordered), 500):
        rows = db.execute(
            select(table)
            .where(col(table.name).in_(ordered[start : start + 500]))
            .order_by(col(table.read_at).desc())
            .limit(5_000)
        ).scalars()
        for row in rows:
            of_name = found.setdefault(row.name, [])
            if all(row.url != known.url for known in of_name):
                of_name.append(row)
    return found
