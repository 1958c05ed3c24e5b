"""Work on the full text index that waits for nobody: filling in what is missing, and merging."""

from collections.abc import Callable

from sqlalchemy import select, update
from sqlmodel import SQLModel, col

from app.db import tables
from app.db.engine import Database
from app.transcripts import search_index
from app.transcripts.formats import by_agent

Progress = Callable[[int, int], None]

_TRANSCRIPTS = SQLModel.metadata.tables["transcripts"]


def _missing(database: Database) -> list[tuple[int, str]]:
    """(id, agent) of transcripts that are not in the index, the newest session's first."""
    with database.session() as db:
        rows = db.execute(
            select(col(tables.Transcript.id), col(tables.Session.agent))
            .join(tables.Session, col(tables.Session.id) == col(tables.Transcript.session_id))
            .where(
                col(tables.Transcript.indexed_as) != search_index.VERSION,
                col(tables.Transcript.entry_count) > 0,
            )
            .order_by(col(tables.Session.updated_at).desc(), col(tables.Transcript.number))
        )
        return [(row[0], row[1]) for row in rows]


def _forget_other_rules(database: Database) -> None:
    known = _TRANSCRIPTS.c.indexed_as
    with database.session() as db:
        other = db.execute(
            select(_TRANSCRIPTS.c.id).where(known.not_in((0, search_index.VERSION))).limit(1)
        ).first()
        if other is not None:
            search_index.start_anew(db.connection())


def _fill(database: Database, transcript_id: int, agent: str) -> None:
    with database.session() as db:
        connection = db.connection()
        # First of all: it locks the row, so that no batch is appended beside this.
        claimed = connection.execute(
            update(_TRANSCRIPTS)
            .where(_TRANSCRIPTS.c.id == transcript_id, _TRANSCRIPTS.c.indexed_as == 0)
            .values(indexed_as=search_index.VERSION)
        )
        if claimed.rowcount != 1:
            return  # another process did it, or a person deleted it
        for texts in search_index.stored_texts(db, transcript_id, by_agent(agent)):
            search_index.add(connection, transcript_id, texts)


def fill_index(database: Database, progress: Progress | None = None) -> int:
    """Put into the index what is not there: transcripts from before there was one, and all of
    them when the rule changed. Killed, it goes on with the transcript that it was at. Returns
    how many there were; ``progress`` is told how many of them are done.
    """
    _forget_other_rules(database)
    missing = _missing(database)
    for done, (transcript_id, agent) in enumerate(missing, 1):
        _fill(database, transcript_id, agent)
        if progress is not None:
            progress(done, len(missing))
    return len(missing)


def merge(database: Database) -> None:
    """Merge the index's segments, in short transactions: others write between them."""
    first = more = True
    while more:
        with database.session() as db:
            more = search_index.merge_step(db.connection(), first=first)
        first = False
