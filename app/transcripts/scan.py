"""Which entries a window shows: bounded scans of the index, never a walk through a transcript."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import select
from sqlmodel import Session, col

from app.db.tables import Entry, ToolCall
from app.errors import NotFoundError
from app.transcripts.calls import StoredCall, calls_of
from app.transcripts.formats.base import RESULT_KINDS, Kind
from app.transcripts.lines import (
    ENTRY_COLUMNS,
    IndexRow,
    entries_at,
    index_row,
)

# Index rows looked at for one window: where so many have nothing to show, the window is short
# and says where to go on.
SCAN_ROWS = 50_000


class Level(StrEnum):
    """minimal: prompts, answers, calls with a view, errors that end a turn. condensed: also every
    call and every unreadable line. verbose: everything.
    """

    MINIMAL = "minimal"
    CONDENSED = "condensed"
    VERBOSE = "verbose"


_KINDS = {
    Level.MINIMAL: (Kind.USER, Kind.ASSISTANT, Kind.ERROR),
    Level.CONDENSED: (Kind.USER, Kind.ASSISTANT, Kind.ERROR, Kind.TOOL_CALL, Kind.UNREADABLE),
    Level.VERBOSE: tuple(Kind),
}


@dataclass(frozen=True, slots=True)
class Slice:
    """Index rows, oldest first, with the calls that they mention. ``before`` and ``after`` are
    where to go on, ``None`` when there is nothing more.
    """

    rows: list[IndexRow]
    calls: dict[str, StoredCall]
    before: int | None
    after: int | None


class Scan:
    def __init__(
        self,
        db: Session,
        transcript_id: int,
        entry_count: int,
        level: Level,
        view_names: Collection[str],
        agents_with_views: Collection[str] = (),
    ) -> None:
        self._db = db
        self._transcript_id = transcript_id
        self._end = entry_count
        self._level = level
        self._view_names = sorted(view_names)
        self._agents_with_views = sorted(agents_with_views)

    def focus(self, seq: int) -> int:
        """The entry at ``seq``, or the call that its result is folded into."""
        row = entries_at(self._db, self._transcript_id, [seq]).get(seq)
        if row is None:
            raise NotFoundError("There is no such entry in this session.")
        if row.kind in RESULT_KINDS:
            call = self._calls([row]).get(row.tool_call_id or "")
            if call is not None and _folded(row, {call.tool_call_id: call}):
                return call.call_seq
        return seq

    def before(self, seq: int, limit: int) -> Slice:
        """The last ``limit`` rows below ``seq``."""
        rows, calls, frontier = self._take(max(0, min(seq, self._end)), limit, down=True)
        newer = seq < self._end and self._more(seq - 1, down=False)
        after = (rows[-1].seq if rows else seq - 1) if newer else None
        return Slice(rows, calls, frontier, after)

    def after(self, seq: int, limit: int) -> Slice:
        """The first ``limit`` rows above ``seq``."""
        rows, calls, frontier = self._take(seq + 1, limit, down=False)
        older = self._more(min(seq + 1, self._end), down=True)
        before = (rows[0].seq if rows else min(seq + 1, self._end)) if older else None
        return Slice(rows, calls, before, frontier)

    def around(self, seq: int, limit: int) -> Slice:
        """``limit`` rows around the entry at ``seq``, that one at any level."""
        half = (limit - 1) // 2
        older, calls, before = (
            self._take(seq, half, down=True) if half else ([], {}, seq if seq else None)
        )
        rest = limit - 1 - len(older)
        newer, more_calls, after = (
            self._take(seq + 1, rest, down=False)
            if rest
            else ([], {}, seq if seq + 1 < self._end else None)
        )
        own = list(entries_at(self._db, self._transcript_id, [seq]).values())
        rows = [*older, *own, *newer]
        return Slice(rows, calls | more_calls | self._calls(own), before, after)

    def _more(self, seq: int, *, down: bool) -> bool:
        """Whether a row is shown below (``down``) or above ``seq``; if in doubt, yes."""
        rows, _, frontier = self._take(seq if down else seq + 1, 1, down=down)
        return bool(rows) or frontier is not None

    def _calls(self, rows: list[IndexRow]) -> dict[str, StoredCall]:
        wanted = {row.tool_call_id for row in rows if row.tool_call_id is not None}
        return calls_of(self._db.connection(), self._transcript_id, wanted)

    def _take(
        self, start: int, limit: int, *, down: bool
    ) -> tuple[list[IndexRow], dict[str, StoredCall], int | None]:
        """Up to ``limit`` rows below ``start`` (``down``) or from it on, oldest first; their
        calls; and where to go on (an exclusive bound), ``None`` at the transcript's end.
        """
        start = min(start, self._end)
        bound = max(0, start - SCAN_ROWS) if down else min(self._end, start + SCAN_ROWS)
        rows: list[IndexRow] = []
        calls: dict[str, StoredCall] = {}
        step = limit + 1
        span = 8 * step  # PostgreSQL without statistics sorts a whole range before it cuts it
        while start != bound and len(rows) <= limit:
            edge = max(bound, start - span) if down else min(bound, start + span)
            found = self._entries(min(start, edge), max(start, edge), step, down=down)
            known = self._calls(found)
            calls |= known
            rows += [row for row in found if not _folded(row, known)]
            if len(found) < step:
                start = edge
                span *= 8  # little to show here: look further
            else:
                start = found[-1].seq + (0 if down else 1)
                step *= 2  # nearly everything was folded: take larger steps
        more: int | None = None
        if len(rows) > limit:
            rows = rows[:limit]
            more = rows[-1].seq
        elif down and bound > 0:
            more = bound
        elif not down and bound < self._end:
            more = bound - 1
        return (rows[::-1] if down else rows), calls, more

    def _entries(self, low: int, high: int, limit: int, *, down: bool) -> list[IndexRow]:
        """Entries of this level with ``low <= seq < high``, from the end that ``down`` says."""
        order = col(Entry.seq).desc() if down else col(Entry.seq)
        query = (
            select(*ENTRY_COLUMNS)
            .where(
                col(Entry.transcript_id) == self._transcript_id,
                col(Entry.seq) >= low,
                col(Entry.seq) < high,
            )
            .order_by(order)
            .limit(limit)
        )
        if self._level is not Level.VERBOSE:
            query = query.where(col(Entry.kind).in_(_KINDS[self._level]))
        found = [index_row(row) for row in self._db.execute(query)]
        if self._level is Level.MINIMAL and self._view_names:
            found += self._view_calls(low, high, limit, down=down)
            found.sort(key=lambda row: row.seq, reverse=down)
        return found[:limit]

    def _view_calls(self, low: int, high: int, limit: int, *, down: bool) -> list[IndexRow]:
        order = col(ToolCall.call_seq).desc() if down else col(ToolCall.call_seq)
        seqs = self._db.execute(
            select(col(ToolCall.call_seq))
            .where(
                col(ToolCall.transcript_id) == self._transcript_id,
                col(ToolCall.call_seq) >= low,
                col(ToolCall.call_seq) < high,
                col(ToolCall.name).in_(self._view_names)
                | col(ToolCall.agent_id).in_(self._agents_with_views),
            )
            .order_by(order)
            .limit(limit)
        ).scalars()
        return list(entries_at(self._db, self._transcript_id, list(seqs)).values())


def _folded(row: IndexRow, calls: dict[str, StoredCall]) -> bool:
    """Whether this is the result that is shown under its call, or another form of it."""
    if row.kind not in RESULT_KINDS or row.tool_call_id is None:
        return False
    call = calls.get(row.tool_call_id)
    return call is not None and (call.result_seq == row.seq or row.kind is Kind.TOOL_OUTPUT)
