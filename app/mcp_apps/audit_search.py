"""Reading the audit trail, a page or all of it, and forgetting what is old."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, CursorResult, delete, select, tuple_
from sqlmodel import Session, col

from app.db import tables
from app.db.engine import Database
from app.text import storable

_ROW: Final = tables.AuditEvent
_CURSOR: Final = re.compile(r"([0-9]{1,17})-([0-9]{1,18})")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_AT_A_TIME: Final = 500


@dataclass(frozen=True, slots=True)
class Filters:
    """Empty means all. Names and ids are whole; days are UTC, ``until`` included."""

    kind: str = ""
    outcome: str = ""
    server: str = ""
    person: str = ""
    session: str = ""
    since: date | None = None
    until: date | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        given = {
            "kind": self.kind,
            "outcome": self.outcome,
            "server": self.server,
            "person": self.person,
            "session_id": self.session,
        }
        found = [
            col(getattr(_ROW, name)) == storable(value) for name, value in given.items() if value
        ]
        if self.since:
            found.append(col(_ROW.last_at) >= _begin(self.since))
        if self.until:
            found.append(col(_ROW.at) < _begin(self.until + timedelta(days=1)))
            # So that the index by time is of use: a row spans no more than a day.
            found.append(col(_ROW.last_at) < _begin(self.until + timedelta(days=3)))
        return found


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def cursor(row: tables.AuditEvent) -> str:
    """Where to go on after ``row``."""
    return f"{(row.last_at - _EPOCH) // timedelta(microseconds=1)}-{row.id}"


def page(
    db: Session, filters: Filters, after: str, size: int
) -> tuple[list[tables.AuditEvent], str]:
    """The newest events that pass, from the cursor ``after`` on, and the cursor of the next page
    or "". A cursor that is none begins at the newest.
    """
    query = select(_ROW).where(*filters.conditions())
    match = _CURSOR.fullmatch(after)
    if match is not None:
        moment = _EPOCH + timedelta(microseconds=int(match[1]))
        before: Any = tuple_(col(_ROW.last_at), col(_ROW.id)) < (moment, int(match[2]))
        query = query.where(before)
    query = query.order_by(col(_ROW.last_at).desc(), col(_ROW.id).desc()).limit(size + 1)
    rows = list(db.execute(query).scalars())
    return rows[:size], cursor(rows[size - 1]) if len(rows) > size else ""


def everything(database: Database, filters: Filters) -> Iterator[list[tables.AuditEvent]]:
    """All events that pass, some hundred at a time; the database is not held between two. By id:
    a row that grows meanwhile keeps its place, and so is neither left out nor told twice.
    """
    last: int | None = None
    while True:
        query = select(_ROW).where(*filters.conditions())
        if last is not None:
            query = query.where(col(_ROW.id) < last)
        with database.session() as db:
            rows = list(db.execute(query.order_by(col(_ROW.id).desc()).limit(_AT_A_TIME)).scalars())
        if not rows:
            return
        yield rows
        last = rows[-1].id


def forget_older(db: Session, moment: datetime, most: int) -> int:
    """Delete at most ``most`` events that ended before ``moment``; returns how many there were."""
    old = (
        select(col(_ROW.id))
        .where(col(_ROW.last_at) < moment)
        .order_by(col(_ROW.last_at))
        .limit(most)
    )
    result = db.execute(delete(_ROW).where(col(_ROW.id).in_(old)))
    return cast(CursorResult[object], result).rowcount
