"""A transcript's bytes as they were in its file, piece by piece."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session, SQLModel, col

from app.db import tables
from app.db.engine import Database
from app.errors import NotFoundError
from app.text import storable
from app.transcripts import address
from app.transcripts.chunks import decompress
from app.transcripts.lines import entries_at

NO_SUCH_TRANSCRIPT = "There is no such transcript in this session."
_CHUNKS = SQLModel.metadata.tables["chunks"]
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_NAME_LENGTH = 80
MAX_NUMBER = 2**31 - 1  # PostgreSQL refuses to look for more


class ChangedError(Exception):
    """The transcript was read anew, or deleted, while its bytes were given out."""


@dataclass(frozen=True, slots=True)
class RawPart:
    """``size`` bytes from ``offset`` in the chunk ``chunk`` on."""

    transcript_id: int
    file_name: str
    chunk: int
    offset: int
    size: int


def _transcript(db: Session, session_id: str, number: int) -> tables.Transcript:
    row: tables.Transcript | None = db.execute(
        select(tables.Transcript).where(
            col(tables.Transcript.session_id) == storable(session_id),
            col(tables.Transcript.number) == number,
        )
    ).scalar()
    if row is None or row.id is None:
        raise NotFoundError(NO_SUCH_TRANSCRIPT)
    return row


def _name(session: tables.Session, transcript: tables.Transcript, place: str) -> str:
    """A file name of letters, digits, dashes and underscores: its parts are third-party text."""
    parts = (session.external_id, transcript.agent_id, place)
    cleaned = [_NOT_IN_NAMES.sub("-", part)[:_NAME_LENGTH].strip("-_") for part in parts]
    return "-".join(["transcript", *(part for part in cleaned if part)])


def whole(db: Session, session_id: str, number: int) -> RawPart:
    """What is stored of a transcript. Raises `NotFoundError`."""
    row = _transcript(db, session_id, number)
    name = _name(db.get_one(tables.Session, row.session_id), row, "")
    return RawPart(row.id or 0, f"{name}.jsonl", 0, 0, row.bytes_read)


def line(db: Session, session_id: str, number: int, at: str) -> RawPart:
    """The line of one entry of that transcript. Raises `NotFoundError`."""
    place = address.parse(at)
    if place.transcript != number:
        raise NotFoundError(NO_SUCH_TRANSCRIPT)
    row = _transcript(db, session_id, place.transcript)
    entry = entries_at(db, row.id or 0, [place.seq]).get(place.seq)
    if entry is None:
        raise NotFoundError("There is no such entry in this session.")
    name = _name(db.get_one(tables.Session, row.session_id), row, str(place))
    return RawPart(row.id or 0, f"{name}.json", *entry.place)


def pieces(database: Database, part: RawPart) -> Iterator[bytes]:
    """The bytes of ``part``, a chunk at a time; the database is not held between two. Raises
    `ChangedError` rather than give out something else.
    """
    number, offset, left = part.chunk, part.offset, part.size
    while left > 0:
        with database.session() as db:
            chunk = db.execute(
                select(_CHUNKS.c.size, _CHUNKS.c.data).where(
                    _CHUNKS.c.transcript_id == part.transcript_id, _CHUNKS.c.number == number
                )
            ).first()
        if chunk is None:
            raise ChangedError
        data = decompress(chunk.data, chunk.size)[offset : offset + left]
        if not data:
            raise ChangedError
        yield data
        number, offset, left = number + 1, 0, left - len(data)
