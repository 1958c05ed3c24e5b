"""Searching the entries of all sessions, or of one. Each answer looks at a bounded number of
matches; where that was not enough it says how to go on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from typing import Final

from sqlalchemy import and_, select
from sqlmodel import Session, col

from app.db.tables import Entry, ToolCall
from app.transcripts.address import Address
from app.transcripts.calls import CALL_COLUMNS, CalledTool, StoredCall, stored_call
from app.transcripts.chunks import Place, read_lines
from app.transcripts.formats import by_agent
from app.transcripts.formats.base import RESULT_KINDS, Kind, UnreadableLineError
from app.transcripts.lines import ENTRY_COLUMNS, IndexRow, index_row
from app.transcripts.rows import WINDOW_LINE_BYTES
from app.transcripts.scan import Level
from app.transcripts.search_filters import Filters
from app.transcripts.search_index import entry_text
from app.transcripts.search_matches import Cursor, Match, Matches
from app.transcripts.search_query import SearchQuery
from app.transcripts.session_list import SessionRow
from app.transcripts.snippet import Snippet, snippet

PAGE_HITS: Final = 20
# Matches looked at for one answer, where filters let few of them through.
MOST_LOOKED_AT: Final = 2_000
_AT_ONCE: Final = PAGE_HITS + 1
_ALWAYS_SHOWN: Final = {Kind.USER, Kind.ASSISTANT, Kind.ERROR, Kind.TOOL_CALL}


@dataclass(frozen=True, slots=True)
class Hit:
    """A row that an entry that matches is shown in, at ``level``. ``called`` is set where it is
    a call.
    """

    session: SessionRow
    address: str
    kind: Kind
    at: datetime | None
    called: CalledTool | None
    level: Level
    snippet: Snippet


@dataclass(frozen=True, slots=True)
class Found:
    """``after`` is where to go on, ``None`` at the end. ``total`` counts entries; it is ``None``
    where counting would cost more than searching.
    """

    hits: list[Hit]
    after: str | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    match: Match
    row: IndexRow
    call: StoredCall | None

    @property
    def is_folded(self) -> bool:
        """Whether it is a result that is shown in its call's row."""
        if self.call is None or self.row.kind not in RESULT_KINDS:
            return False
        return self.call.result_seq == self.row.seq or self.row.kind is Kind.TOOL_OUTPUT

    @property
    def address(self) -> Address:
        seq = self.call.call_seq if self.call and self.is_folded else self.row.seq
        return Address(self.match.number, seq)


def search(
    db: Session,
    query: SearchQuery,
    filters: Filters,
    *,
    session_id: str | None = None,
    after: str = "",
) -> Found:
    """At most `PAGE_HITS` hits. ``after`` is what the answer before this one said; anything else
    begins at the beginning.
    """
    if not query:
        return Found([], total=0)
    matches = Matches(db, query, filters, session_id=session_id, after=Cursor.parse(after))
    chosen: list[_Entry] = []
    shown: set[tuple[str, Address]] = set()
    last: Match | None = None
    goes_on = False
    for looked_at, (match, entry) in enumerate(_looked_up(db, matches, filters)):
        if len(chosen) == PAGE_HITS or looked_at == MOST_LOOKED_AT:
            goes_on = True
            break
        last = match
        # A call and its result are one row.
        if entry is not None and (row := (match.session.id, entry.address)) not in shown:
            shown.add(row)
            chosen.append(entry)
    place = last.cursor if goes_on and last else matches.stopped_at
    return Found(
        hits=_hits(db, query, chosen),
        after=str(place) if place else None,
        total=None if filters.of_entries else matches.total,
    )


def _looked_up(
    db: Session, matches: Matches, filters: Filters
) -> Iterator[tuple[Match, _Entry | None]]:
    """Each match with its entry, ``None`` where a filter keeps it away."""
    stream = iter(matches)
    while some := list(islice(stream, _AT_ONCE)):
        for transcript_id, group in groupby(some, key=lambda match: match.transcript_id):
            together = list(group)
            found = _entries(db, transcript_id, [match.seq for match in together], filters)
            for match in together:
                row = found.get(match.seq)
                yield match, _Entry(match, *row) if row else None


def _entries(
    db: Session, transcript_id: int, seqs: list[int], filters: Filters
) -> dict[int, tuple[IndexRow, StoredCall | None]]:
    rows = db.execute(
        select(*ENTRY_COLUMNS, *CALL_COLUMNS)
        .outerjoin(
            ToolCall,
            and_(
                col(ToolCall.transcript_id) == col(Entry.transcript_id),
                col(ToolCall.tool_call_id) == col(Entry.tool_call_id),
            ),
        )
        .where(
            col(Entry.transcript_id) == transcript_id,
            col(Entry.seq).in_(seqs),
            *filters.for_entries(),
        )
    )
    own = len(ENTRY_COLUMNS)
    found: dict[int, tuple[IndexRow, StoredCall | None]] = {}
    for row in rows:
        call = stored_call(row[own:]) if row[own] is not None else None
        found[row[0]] = index_row(row[:own]), call
    return found


def _hits(db: Session, query: SearchQuery, entries: list[_Entry]) -> list[Hit]:
    pattern = query.pattern
    texts = _texts(db, entries)
    return [
        Hit(
            session=entry.match.session,
            address=str(entry.address),
            kind=entry.row.kind,
            at=entry.row.at,
            called=entry.call.called if entry.call else None,
            level=Level.CONDENSED
            if entry.is_folded or entry.row.kind in _ALWAYS_SHOWN
            else Level.VERBOSE,
            snippet=snippet(texts.get((entry.match.transcript_id, entry.row.seq), ""), pattern),
        )
        for entry in entries
    ]


def _texts(db: Session, entries: list[_Entry]) -> dict[tuple[int, int], str]:
    """The texts of entries, by transcript and seq; none of a line too large to read for a page."""
    by_place: dict[int, dict[Place, list[_Entry]]] = {}
    for entry in entries:
        if entry.row.place.size <= WINDOW_LINE_BYTES:
            places = by_place.setdefault(entry.match.transcript_id, {})
            places.setdefault(entry.row.place, []).append(entry)
    texts: dict[tuple[int, int], str] = {}
    for transcript_id, places in by_place.items():
        for place, line in read_lines(db, transcript_id, places):
            fmt = by_agent(places[place][0].match.session.agent)
            try:
                decoded = fmt.decode(line)
            except UnreadableLineError:
                continue
            for entry in places[place]:
                text = entry_text(fmt, decoded, entry.row.kind, entry.row.block)
                texts[transcript_id, entry.row.seq] = text
    return texts
