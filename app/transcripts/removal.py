"""Deleting sessions for good: every row, chunk and word of them. Their files stay where they are
and are not read again.
"""

from hashlib import sha256

from sqlalchemy import Connection, delete, insert, select, update
from sqlmodel import Session, SQLModel, col

from app.db import tables
from app.db.engine import Database
from app.errors import NotFoundError
from app.text import storable
from app.transcripts import search_index
from app.transcripts.formats import by_agent
from app.transcripts.session_list import NO_SUCH_SESSION

_SESSIONS = SQLModel.metadata.tables["sessions"]
_DELETED = SQLModel.metadata.tables["deleted_transcripts"]


def waiting_path(agent: str, external_id: str) -> str:
    """What stands for the path of a main transcript that is known by its session's id only. No
    file's path is relative.
    """
    return f"{agent}:{external_id}"


def _place(source: str, path: str) -> str:
    return sha256(f"{source}\0{path}".encode("utf-8", "replace")).hexdigest()


def was_deleted(connection: Connection, source: str, *paths: str) -> bool:
    """Whether a person deleted the transcript of one of these files."""
    hashes = [_place(source, path) for path in paths]
    found = connection.execute(
        select(_DELETED.c.path_hash).where(_DELETED.c.path_hash.in_(hashes)).limit(1)
    )
    return found.first() is not None


def forget_deletion(connection: Connection, source: str, *paths: str) -> None:
    """Let these files be read again."""
    hashes = [_place(source, path) for path in paths]
    connection.execute(delete(_DELETED).where(_DELETED.c.path_hash.in_(hashes)))


def _delete(db: Session, session_id: str) -> bool:
    connection = db.connection()
    # First of all: it locks the session's row, so that an import waits or comes too late.
    locked = connection.execute(
        update(_SESSIONS).where(_SESSIONS.c.id == session_id).values(title="")
    )
    if locked.rowcount != 1:
        return False
    agent, external_id = connection.execute(
        select(_SESSIONS.c.agent, _SESSIONS.c.external_id).where(_SESSIONS.c.id == session_id)
    ).one()
    own = tables.Transcript
    transcripts = db.execute(
        select(col(own.id), col(own.source), col(own.path)).where(col(own.session_id) == session_id)
    ).all()
    for transcript_id, _, _ in transcripts:
        search_index.remove(db, transcript_id, by_agent(agent))
    # A sub-agent's file may know its session's id only.
    waiting = waiting_path(agent, external_id)
    hashes = sorted(
        {_place(source, known) for _, source, path in transcripts for known in (path, waiting)}
    )
    connection.execute(delete(_DELETED).where(_DELETED.c.path_hash.in_(hashes)))
    connection.execute(
        insert(_DELETED), [{"path_hash": one, "deleted_at": tables.now()} for one in hashes]
    )
    # Everything else of a session goes with its row, or with its transcripts'.
    connection.execute(delete(_SESSIONS).where(_SESSIONS.c.id == session_id))
    return True


def delete_session(database: Database, session_id: str) -> None:
    """Raises `NotFoundError`."""
    with database.session() as db:
        if not _delete(db, storable(session_id)):
            raise NotFoundError(NO_SUCH_SESSION)


def project_sessions(db: Session, folder: str) -> list[str]:
    """The ids of the sessions of a folder."""
    own = tables.Session
    return list(
        db.execute(
            select(col(own.id)).where(col(own.folder) == storable(folder)).order_by(col(own.id))
        ).scalars()
    )


def delete_project(database: Database, folder: str) -> int:
    """Every session of a folder, each in its own transaction: others write between them. Returns
    how many there were.
    """
    with database.session() as db:
        ids = project_sessions(db, folder)
    deleted = 0
    for session_id in ids:
        with database.session() as db:
            deleted += _delete(db, session_id)
    return deleted
