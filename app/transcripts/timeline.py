"""Windows of one transcript, at the three levels.

A session has one main transcript and one for every sub-agent; a window shows one of them: the
one that its address names, else the main one. Tool results are folded into their calls at every
level; at verbose, a result that belongs to no call (or lost to another) is a row of its own.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session, col

from app.db import tables
from app.errors import NotFoundError
from app.text import storable
from app.transcripts import address, sub_agents
from app.transcripts.address import Address
from app.transcripts.calls import CalledTool, StoredCall
from app.transcripts.chunks import Place
from app.transcripts.formats import by_agent
from app.transcripts.formats.base import Kind
from app.transcripts.lines import IndexRow, entries_at
from app.transcripts.recorded_call import RecordedCall, recorded_call
from app.transcripts.rows import WINDOW_LINE_BYTES, CallRow, Reader, Row, Shown
from app.transcripts.scan import Level, Scan, Slice
from app.transcripts.session_list import (
    NO_SUCH_SESSION,
    SessionPage,
    SessionRow,
    TranscriptRow,
    agents,
    called_tools,
    session,
    sessions,
    transcripts,
)

__all__ = [
    "CallRow",
    "CalledTool",
    "Level",
    "RecordedCall",
    "Row",
    "SessionPage",
    "SessionRow",
    "TranscriptRow",
    "Window",
    "agents",
    "called_tools",
    "recorded_call",
    "session",
    "sessions",
    "transcripts",
    "window",
]

MAX_ROWS = 500
# A window ends early rather than read more than this.
WINDOW_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Window:
    """Rows, oldest first. ``before`` and ``after`` are the addresses to continue from, ``None``
    when there is nothing more that way. ``rows`` may be empty while one of them is not: a very
    long stretch has nothing to show at this level.
    """

    rows: list[Row]
    before: str | None
    after: str | None
    transcript: int = 0
    focus: str | None = None  # address of the row that ``at`` asked for


def _shown(db: Session, session_id: str, number: int | None) -> Shown:
    table = tables.Transcript
    query = (
        select(col(table.id), col(table.number), col(table.entry_count), col(tables.Session.agent))
        .join(tables.Session, col(tables.Session.id) == col(table.session_id))
        .where(col(table.session_id) == storable(session_id))
    )
    if number is None:
        # A sub-agent's transcript may have come without its main one.
        filled = query.where(col(table.entry_count) > 0).order_by(col(table.number)).limit(1)
        row = db.execute(filled).first()
        row = row or db.execute(query.order_by(col(table.number)).limit(1)).first()
    else:
        row = db.execute(query.where(col(table.number) == number)).first()
    if row is None:
        raise NotFoundError(NO_SUCH_SESSION)
    transcript_id, number, entry_count, agent = row
    return Shown(transcript_id, number, entry_count, session_id, by_agent(agent))


def _budget(
    rows: list[IndexRow], results: Mapping[str, IndexRow], *, newest_first: bool
) -> list[IndexRow]:
    """As many rows, from the window's fixed end, as may be read."""
    seen: set[Place] = set()
    kept: list[IndexRow] = []
    size = 0
    for row in reversed(rows) if newest_first else rows:
        result = results.get(row.tool_call_id or "") if row.kind is Kind.TOOL_CALL else None
        for place in (row.place, result.place if result else row.place):
            if place not in seen and place.size <= WINDOW_LINE_BYTES:
                size += place.size
                seen.add(place)
        if kept and size > WINDOW_BYTES:
            break
        kept.append(row)
    return kept[::-1] if newest_first else kept


def _results(
    db: Session, transcript_id: int, rows: list[IndexRow], calls: Mapping[str, StoredCall]
) -> dict[str, IndexRow]:
    """The entries of the results of the calls among ``rows``, by call id."""
    wanted = {
        call.result_seq: call.tool_call_id
        for row in rows
        if row.kind is Kind.TOOL_CALL and (call := calls.get(row.tool_call_id or ""))
        if call.result_seq is not None
    }
    found = entries_at(db, transcript_id, wanted.keys())
    return {wanted[seq]: entry for seq, entry in found.items()}


def window(
    db: Session,
    session_id: str,
    level: Level,
    view_names: Collection[str],
    *,
    before: str | None = None,
    after: str | None = None,
    at: str | None = None,
    transcript: int | None = None,
    limit: int = 100,
) -> Window:
    """At most ``limit`` rows of one transcript: those before or after an address (which is left
    out), those around ``at`` (whose row is shown at every level), the first ones of the transcript
    with that number, or the newest of the session's own.

    ``view_names`` are the recorded tool names that may have a view: minimal shows only those
    calls. What is read is bounded, whatever the transcript's size. Raises `NotFoundError`.
    """
    limit = min(max(limit, 1), MAX_ROWS)
    asked = next((one for one in (at, before, after) if one is not None), None)
    place = address.parse(asked) if asked is not None else None
    shown = _shown(db, session_id, place.transcript if place else transcript)
    agents = sub_agents.with_views(db, session_id, view_names)
    scan = Scan(db, shown.id, shown.entry_count, level, view_names, agents)
    newest_first = True
    focus: int | None = None
    if at is not None and place is not None:
        focus = scan.focus(place.seq)
        piece = scan.around(focus, limit)
        newest_first = False
    elif before is not None and place is not None:
        piece = scan.before(place.seq, limit)
    elif place is not None:
        piece = scan.after(place.seq, limit)
        newest_first = False
    elif transcript is not None:
        piece = scan.after(-1, limit)
        newest_first = False
    else:
        piece = scan.before(shown.entry_count, limit)
    results = _results(db, shown.id, piece.rows, piece.calls)
    piece = _fit(piece, results, newest_first=newest_first, focus=focus)
    rows = Reader(db, shown, piece.rows, piece.calls, results, agents).rows
    return Window(
        rows=rows,
        before=_address(shown, piece.before),
        after=_address(shown, piece.after),
        transcript=shown.number,
        focus=_address(shown, focus),
    )


def _address(shown: Shown, seq: int | None) -> str | None:
    return None if seq is None else str(Address(shown.number, seq))


def _fit(
    piece: Slice, results: Mapping[str, IndexRow], *, newest_first: bool, focus: int | None
) -> Slice:
    """``piece`` without the rows that are too much to read."""
    if focus is not None:
        # Both halves grow from the entry asked for.
        older = [row for row in piece.rows if row.seq < focus]
        newer = _budget(
            [row for row in piece.rows if row.seq >= focus], results, newest_first=False
        )
        kept = _budget(older, results, newest_first=True) + newer
    else:
        kept = _budget(piece.rows, results, newest_first=newest_first)
    if len(kept) == len(piece.rows):
        return piece
    return Slice(
        rows=kept,
        calls=piece.calls,
        before=kept[0].seq if kept[0] is not piece.rows[0] else piece.before,
        after=kept[-1].seq if kept[-1] is not piece.rows[-1] else piece.after,
    )
