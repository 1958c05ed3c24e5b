"""Reading entries back: index rows, and the decoded lines that they point to."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlmodel import Session, col

from app.db.tables import Entry
from app.transcripts.chunks import Place, read_lines
from app.transcripts.formats.base import (
    Format,
    Kind,
    NoObjectError,
    TooDeepError,
    UnreadableLineError,
)

_VALUES_A_QUERY = 500
_HEAD_BYTES = 300


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One row of the entry index."""

    seq: int
    kind: Kind
    at: datetime | None
    place: Place
    block: int
    tool_call_id: str | None


ENTRY_COLUMNS = (
    col(Entry.seq),
    col(Entry.kind),
    col(Entry.at),
    col(Entry.chunk),
    col(Entry.offset),
    col(Entry.size),
    col(Entry.block),
    col(Entry.tool_call_id),
)


def index_row(row: Sequence[Any]) -> IndexRow:
    """From a row of `ENTRY_COLUMNS`."""
    seq, kind, at, chunk, offset, size, block, tool_call_id = row
    return IndexRow(seq, Kind(kind), at, Place(chunk, offset, size), block, tool_call_id)


def _parts(values: Collection[Any]) -> Iterable[list[Any]]:
    ordered = sorted(set(values))
    for start in range(0, len(ordered), _VALUES_A_QUERY):
        yield ordered[start : start + _VALUES_A_QUERY]


def entries_at(db: Session, transcript_id: int, seqs: Collection[int]) -> dict[int, IndexRow]:
    """The entries at ``seqs``, by seq."""
    found: dict[int, IndexRow] = {}
    for part in _parts(seqs):
        rows = db.execute(
            select(*ENTRY_COLUMNS).where(
                col(Entry.transcript_id) == transcript_id, col(Entry.seq).in_(part)
            )
        )
        found |= {row.seq: index_row(row) for row in rows}
    return found


@dataclass(frozen=True, slots=True)
class Lines:
    """Decoded lines, and the beginnings of those that cannot be decoded. ``notes``: a sentence on
    what is odd about a line's bytes.
    """

    decoded: dict[Place, Mapping[str, Any]]
    broken: dict[Place, str]
    notes: dict[Place, str]


NOT_UTF8 = "This line holds bytes that are not UTF-8. They are shown as \ufffd."
TOO_DEEP = "It is nested too deeply to be read."
NO_OBJECT = "It is JSON, but no object."
NO_JSON = "It is not readable JSON: it was cut off, or damaged."


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def read(db: Session, transcript_id: int, fmt: Format, places: Iterable[Place]) -> Lines:
    """The lines at ``places``, decoded once each."""
    lines = Lines({}, {}, {})
    for place, line in read_lines(db, transcript_id, places):
        try:
            lines.decoded[place] = fmt.decode(line)
        except UnreadableLineError as error:
            lines.broken[place] = line[:_HEAD_BYTES].decode("utf-8", "replace")
            why = {TooDeepError: TOO_DEEP, NoObjectError: NO_OBJECT}.get(type(error), NO_JSON)
            lines.notes[place] = why
        if not line.isascii() and not _is_utf8(line):
            lines.notes[place] = " ".join((lines.notes.get(place, ""), NOT_UTF8)).strip()
    return lines
