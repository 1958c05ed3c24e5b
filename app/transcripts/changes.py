"""What an import of one file did to its session, for pages that show it."""

from dataclasses import dataclass

from sqlmodel import Session, col, select

from app.db import tables
from app.transcripts.address import Address

MAX_SETTLED = 200  # told of at once; a page that is told of none reads them when it is loaded


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a file's transcript is stored."""

    transcript_id: int
    session_id: str
    number: int
    entries: int
    bytes_read: int


@dataclass(frozen=True, slots=True)
class Settled:
    """A call that was pending and has its result now."""

    tool_call_id: str
    address: str


@dataclass(frozen=True, slots=True)
class Change:
    """``is_new``: the session was not there before. ``rewritten``: its entries are others now."""

    session_id: str
    is_new: bool = False
    rewritten: bool = False
    settled: tuple[Settled, ...] = ()


def standing(db: Session, source: str, path: str) -> Standing | None:
    """Of the file at ``path``, or ``None`` when it was never read."""
    row = db.exec(
        select(tables.Transcript).where(
            tables.Transcript.source == source, tables.Transcript.path == path
        )
    ).first()
    if row is None or row.id is None:
        return None
    return Standing(row.id, row.session_id, row.number, row.entry_count, row.bytes_read)


def change(db: Session, before: Standing | None, after: Standing | None) -> Change | None:
    """What lies between two standings of a file; ``None`` when nothing does."""
    if after is None or after == before:
        return None
    if before is None:
        others = db.exec(
            select(tables.Transcript.id).where(
                tables.Transcript.session_id == after.session_id,
                col(tables.Transcript.id) != after.transcript_id,
                col(tables.Transcript.bytes_read) > 0,
            )
        ).first()
        return Change(after.session_id, is_new=others is None)
    if before.transcript_id != after.transcript_id or after.bytes_read < before.bytes_read:
        return Change(after.session_id, rewritten=True)
    call = tables.ToolCall
    rows = db.exec(
        select(call.tool_call_id, call.call_seq)
        .where(
            call.transcript_id == after.transcript_id,
            call.call_seq < before.entries,
            col(call.result_seq) >= before.entries,
        )
        .limit(MAX_SETTLED)
    )
    settled = tuple(Settled(row[0], str(Address(after.number, row[1]))) for row in rows)
    return Change(after.session_id, settled=settled)
