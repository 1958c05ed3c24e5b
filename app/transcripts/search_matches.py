"""Which entries the index gives for a query, in the order of the answer: the newest session
first, and in it the newest entry first.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

from sqlalchemy import ColumnElement, and_, or_, select, text
from sqlmodel import Session, col

from app.db import tables
from app.transcripts.search_filters import Filters
from app.transcripts.search_index import entry_of, row_id
from app.transcripts.search_query import SearchQuery
from app.transcripts.session_list import SESSION_COLUMNS, SessionRow

# So many matches are sorted and counted. Where there are more, sessions are gone through from
# the newest on: a page of such a common word is full soon.
MOST_SORTED: Final = 1_000
_TRANSCRIPTS_AT_ONCE: Final = 50
# Transcripts looked through for one answer, with nothing found in them.
MOST_TRANSCRIPTS: Final = 500
_MATCHES_AT_ONCE: Final = 50
_NO_SEQ: Final = 2**31 - 1
_CURSOR: Final = re.compile(r"([0-9a-f]{32})\.([0-9]{1,9})\.([0-9]{1,9})")

_SOME = {
    "sqlite": text("SELECT rowid FROM search_index WHERE search_index MATCH :query LIMIT :most"),
    "postgresql": text(
        "SELECT transcript_id, seq FROM search_index"
        " WHERE words @@ to_tsquery('simple', :query) LIMIT :most"
    ),
}
_OF_ONE = {
    "sqlite": text(
        "SELECT rowid FROM search_index WHERE search_index MATCH :query"
        " AND rowid BETWEEN :first AND :last ORDER BY rowid DESC LIMIT :most"
    ),
    "postgresql": text(
        "SELECT transcript_id, seq FROM search_index"
        " WHERE words @@ to_tsquery('simple', :query)"
        " AND transcript_id = :transcript_id AND seq < :below ORDER BY seq DESC LIMIT :most"
    ),
}


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last match that was dealt with."""

    session_id: str
    number: int
    seq: int

    def __str__(self) -> str:
        return f"{self.session_id}.{self.number}.{self.seq}"

    @classmethod
    def parse(cls, given: str) -> Self | None:
        """``None`` for anything else: the text comes from a request."""
        found = _CURSOR.fullmatch(given)
        return cls(found[1], int(found[2]), int(found[3])) if found else None


@dataclass(frozen=True, slots=True)
class Match:
    session: SessionRow
    transcript_id: int
    number: int  # of the transcript in its session
    seq: int

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.session.id, self.number, self.seq)


@dataclass(frozen=True, slots=True)
class _Transcript:
    id: int
    number: int
    session: SessionRow


class Matches:
    """Iterates over the matches behind ``after``. ``total`` is known at once, or not at all;
    ``stopped_at`` is set where the bound on transcripts ended the iteration.
    """

    def __init__(
        self,
        db: Session,
        query: SearchQuery,
        filters: Filters,
        *,
        session_id: str | None = None,
        after: Cursor | None = None,
    ) -> None:
        self._db = db
        self._dialect = db.connection().dialect.name
        self._query = query.fts5 if self._dialect == "sqlite" else query.tsquery
        self._where = filters.for_sessions()
        if session_id is not None:
            self._where.append(col(tables.Session.id) == session_id)
        self._after = after
        # One session's are in order as the index gives them.
        self._sorted = self._few() if session_id is None else None
        self.total = None if self._sorted is None else len(self._sorted)
        self.stopped_at: Cursor | None = None

    def __iter__(self) -> Iterator[Match]:
        return self._walk() if self._sorted is None else self._from_sorted(self._sorted)

    def _few(self) -> list[Match] | None:
        """All matches in order, or ``None`` where they are too many to sort."""
        rows = self._db.execute(
            _SOME[self._dialect], {"query": self._query, "most": MOST_SORTED + 1}
        ).all()
        if len(rows) > MOST_SORTED:
            return None
        seqs: dict[int, list[int]] = {}
        for transcript_id, seq in map(self._place, rows):
            seqs.setdefault(transcript_id, []).append(seq)
        wanted = sorted(seqs)
        found: list[_Transcript] = []
        for start in range(0, len(wanted), 500):
            part = wanted[start : start + 500]
            found += self._transcripts([col(tables.Transcript.id).in_(part)])
        found.sort(key=lambda one: one.number)
        found.sort(key=lambda one: one.session.id)
        found.sort(key=lambda one: one.session.updated_at, reverse=True)
        return [
            Match(one.session, one.id, one.number, seq)
            for one in found
            for seq in sorted(seqs[one.id], reverse=True)
        ]

    def _from_sorted(self, matches: list[Match]) -> Iterator[Match]:
        after = self._after
        cursors = [match.cursor for match in matches] if after else []
        start = cursors.index(after) + 1 if after in cursors else 0
        yield from matches[start:]

    def _walk(self) -> Iterator[Match]:
        below = self._after.seq if self._after else _NO_SEQ
        where = self._from_on(self._after) if self._after else []
        left = MOST_TRANSCRIPTS
        while True:
            some = self._transcripts(where, _TRANSCRIPTS_AT_ONCE)
            for transcript in some:
                if self._after is None or (transcript.session.id, transcript.number) != (
                    self._after.session_id,
                    self._after.number,
                ):
                    below = _NO_SEQ
                found = False
                for seq in self._seqs(transcript.id, below):
                    found = True
                    yield Match(transcript.session, transcript.id, transcript.number, seq)
                left -= 0 if found else 1
                if left == 0:
                    self.stopped_at = Cursor(transcript.session.id, transcript.number, 0)
                    return
            if len(some) < _TRANSCRIPTS_AT_ONCE:
                return
            last = some[-1]
            where = self._from_on(Cursor(last.session.id, last.number, 0))

    def _from_on(self, place: Cursor) -> list[ColumnElement[bool]]:
        """Transcripts from that one on, in the order of the answer; behind it, where nothing is
        left in it.
        """
        first = place.number if place.seq else place.number + 1
        own = col(tables.Session.id)
        updated = (
            select(col(tables.Session.updated_at)).where(own == place.session_id).scalar_subquery()
        )
        at = col(tables.Session.updated_at)
        return [
            or_(
                at < updated,
                and_(at == updated, own > place.session_id),
                and_(own == place.session_id, col(tables.Transcript.number) >= first),
            )
        ]

    def _transcripts(
        self, where: list[ColumnElement[bool]], limit: int | None = None
    ) -> list[_Transcript]:
        own = tables.Transcript
        rows: list[Any] = list(
            self._db.execute(
                select(col(own.id), col(own.number), *SESSION_COLUMNS)
                .join(tables.Session, col(tables.Session.id) == col(own.session_id))
                .where(*self._where, *where)
                .order_by(
                    col(tables.Session.updated_at).desc(), col(tables.Session.id), col(own.number)
                )
                .limit(limit)
            )
        )
        return [_Transcript(row[0], row[1], SessionRow(*row[2:])) for row in rows]

    def _seqs(self, transcript_id: int, below: int) -> Iterator[int]:
        """Its matching entries below one, the newest first."""
        while True:
            rows = self._db.execute(
                _OF_ONE[self._dialect],
                {
                    "query": self._query,
                    "transcript_id": transcript_id,
                    "below": below,
                    "first": row_id(transcript_id, 0),
                    "last": row_id(transcript_id, below) - 1,
                    "most": _MATCHES_AT_ONCE,
                },
            ).all()
            for row in rows:
                below = self._place(row)[1]
                yield below
            if len(rows) < _MATCHES_AT_ONCE:
                return

    def _place(self, row: Any) -> tuple[int, int]:
        return entry_of(row[0]) if self._dialect == "sqlite" else (row[0], row[1])
