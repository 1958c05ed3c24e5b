"""Where a conversation went back: a prompt that follows an earlier line than the last one.

An agent appends to its file; a prompt sent anew from an earlier point stands behind what it
replaces. Only prompts count: results of parallel calls, and two processes that write to one file,
jump back too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, insert, select
from sqlmodel import SQLModel

from app.text import storable
from app.transcripts.chunks import decompress
from app.transcripts.formats.base import Indexed, Kind

_ENTRIES = SQLModel.metadata.tables["entries"]
_CHUNKS = SQLModel.metadata.tables["chunks"]
BRANCHES = SQLModel.metadata.tables["branches"]

_MAX_ID = 64
# An absurd file must not cost a search for each of its lines.
MAX_BRANCHES = 200
SEARCH_BYTES = 32 * 1024 * 1024
_SAID = (Kind.USER.value, Kind.ASSISTANT.value, Kind.TOOL_CALL.value)


@dataclass(slots=True)
class Tree:
    """Takes the lines of a batch in order; ``leaf`` is the last line that has an id."""

    leaf: str
    back: list[tuple[int, str]] = field(default_factory=list)  # (seq, id of the line it follows)

    def line(self, indexed: Indexed, seq: int) -> None:
        if not indexed.uuid or len(indexed.uuid) > _MAX_ID:
            return
        goes_back = self.leaf and indexed.parent and indexed.parent != self.leaf
        if goes_back and any(item.kind is Kind.USER for item in indexed.items):
            self.back.append((seq, indexed.parent))
        self.leaf = storable(indexed.uuid)


def write(connection: Connection, transcript_id: int, back: Iterable[tuple[int, str]]) -> None:
    """Keep those of ``back`` that leave something behind. The entries and chunks are stored."""
    back = list(back)
    if not back:
        return
    known = connection.execute(
        select(func.count()).where(BRANCHES.c.transcript_id == transcript_id)
    ).scalar_one()
    for seq, parent in back[: max(0, MAX_BRANCHES - known)]:
        found = _seq_of(connection, transcript_id, parent, seq)
        if found is not None and _something_between(connection, transcript_id, found, seq):
            connection.execute(
                insert(BRANCHES).values(transcript_id=transcript_id, seq=seq, parent_seq=found)
            )


def _something_between(connection: Connection, transcript_id: int, low: int, high: int) -> bool:
    row = connection.execute(
        select(_ENTRIES.c.seq)
        .where(
            _ENTRIES.c.transcript_id == transcript_id,
            _ENTRIES.c.seq > low,
            _ENTRIES.c.seq < high,
            _ENTRIES.c.kind.in_(_SAID),
        )
        .limit(1)
    ).first()
    return row is not None


def _seq_of(connection: Connection, transcript_id: int, uuid: str, before: int) -> int | None:
    """The last entry of the line with this id, or of one before it that has entries; ``None``
    where it is not within `SEARCH_BYTES` before the entry ``before``.
    """
    if len(uuid) > _MAX_ID:
        return None
    quoted = b'"' + uuid.encode("utf-8", "replace") + b'"'
    needles = (b'"uuid":' + quoted, b'"uuid": ' + quoted)
    here = connection.execute(
        select(_ENTRIES.c.chunk, _ENTRIES.c.offset).where(
            _ENTRIES.c.transcript_id == transcript_id, _ENTRIES.c.seq == before
        )
    ).one()
    number, end, left = here.chunk, here.offset, SEARCH_BYTES
    while number >= 0 and left > 0:
        chunk = connection.execute(
            select(_CHUNKS.c.size, _CHUNKS.c.data).where(
                _CHUNKS.c.transcript_id == transcript_id, _CHUNKS.c.number == number
            )
        ).one()
        data = decompress(chunk.data, chunk.size)
        last = len(data) if end is None else end
        at = max(data.rfind(needle, 0, last) for needle in needles)
        if at >= 0:
            return _entry_at(
                connection, transcript_id, number, data.rfind(b"\n", 0, at) + 1, before
            )
        number, end, left = number - 1, None, left - chunk.size
    return None


def _entry_at(
    connection: Connection, transcript_id: int, chunk: int, offset: int, before: int
) -> int | None:
    columns = _ENTRIES.c
    return connection.execute(
        select(columns.seq)
        .where(
            columns.transcript_id == transcript_id,
            columns.seq < before,
            (columns.chunk < chunk) | ((columns.chunk == chunk) & (columns.offset <= offset)),
        )
        .order_by(columns.seq.desc())
        .limit(1)
    ).scalar()
