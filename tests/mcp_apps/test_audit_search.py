"""Pages, filters and the whole of the audit trail, and what is forgotten of it."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlmodel import col

from app.db import tables
from app.db.engine import Database
from app.db.tables import AuditKind, AuditOutcome
from app.mcp_apps import audit, audit_search
from app.mcp_apps.audit import Event
from app.mcp_apps.audit_search import Filters

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def event(number: int, **other: Any) -> Event:
    made = Event(
        AuditKind.TOOL_CALL,
        AuditOutcome.OK,
        tool=f"tool{number}",
        at=NOON + timedelta(seconds=number // 2),  # two at a time: ties must not be lost
    )
    return replace(made, **other)


def fill(database: Database, *events: Event) -> None:
    with database.session() as db:
        audit.write(db, events)


def tools(database: Database, filters: Filters, after: str = "", size: int = 4) -> tuple[Any, str]:
    with database.session() as db:
        rows, cursor = audit_search.page(db, filters, after, size)
    return [row.tool for row in rows], cursor


def test_pages_hold_each_event_once_the_newest_first(database: Database) -> None:
    fill(database, *(event(n) for n in range(11)))
    seen, after, sizes = [], "", []
    while True:
        page, after = tools(database, Filters(), after)
        seen += page
        sizes.append(len(page))
        if not after:
            break
    assert sizes == [4, 4, 3]
    assert sorted(seen) == sorted(f"tool{n}" for n in range(11))
    assert seen[0] == "tool10"
    assert seen[-1] in ("tool0", "tool1")


@pytest.mark.parametrize("after", ["x", "-", "1-", "1-1-1", "99999999999999999999-1", "١-١"])
def test_a_cursor_that_is_none_begins_anew(database: Database, after: str) -> None:
    fill(database, event(1))
    assert tools(database, Filters(), after) == (["tool1"], "")


def test_the_largest_cursor_is_one(database: Database) -> None:
    fill(database, event(1))
    assert tools(database, Filters(), "9" * 17 + "-" + "9" * 18) == (["tool1"], "")


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (Filters(kind="link"), ["tool1"]),
        (Filters(outcome="denied"), ["tool2"]),
        (Filters(server="demo"), ["tool3"]),
        (Filters(person="ada"), ["tool4"]),
        (Filters(session="s1"), ["tool5"]),
        (Filters(since=date(2026, 12, 2)), ["tool6"]),
        (Filters(until=date(2026, 11, 30)), ["tool7"]),
        (Filters(since=date(2026, 12, 2), until=date(2026, 12, 2)), ["tool6"]),
        (Filters(kind="link", outcome="denied"), []),
        (Filters(server="\x00\ud800"), []),
    ],
)
def test_each_filter_passes_its_own(database: Database, filters: Filters, found: list[str]) -> None:
    with database.session() as db:
        ada = tables.User(name="ada")
        db.add(ada)
    fill(
        database,
        event(1, kind=AuditKind.LINK),
        event(2, outcome=AuditOutcome.DENIED),
        event(3, server="demo"),
        event(4, person_id=ada.id),
        event(5, session_id="s1"),
        event(6, at=NOON + timedelta(days=1)),
        event(7, at=NOON - timedelta(days=1)),
    )
    assert tools(database, filters)[0] == found
    batches = audit_search.everything(database, filters)
    assert [row.tool for rows in batches for row in rows] == found


def test_a_row_over_midnight_is_of_both_days(database: Database) -> None:
    late = datetime(2026, 12, 1, 23, 58, tzinfo=UTC)
    for minutes in (0, 4):
        fill(database, event(1, at=late + timedelta(minutes=minutes)))
    for day in (1, 2):
        one = Filters(since=date(2026, 12, day), until=date(2026, 12, day))
        assert tools(database, one)[0] == ["tool1"]


def test_a_row_that_grows_while_all_are_told_is_told_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_search, "_AT_A_TIME", 2)
    fill(database, *(event(n) for n in range(5)))
    told = []
    for rows in audit_search.everything(database, Filters()):
        told += [row.tool for row in rows]
        fill(database, event(0, at=NOON + timedelta(minutes=1 + len(told))))
    assert sorted(told) == [f"tool{n}" for n in range(5)]


def test_the_database_is_not_held_between_two_pieces(database: Database) -> None:
    fill(database, event(1))
    pieces = audit_search.everything(database, Filters())
    next(pieces)
    assert database.engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_old_events_are_forgotten_a_few_at_a_time(database: Database) -> None:
    fill(database, *(event(n) for n in range(10)))
    left = []
    for _ in range(3):
        with database.session() as db:
            gone = audit_search.forget_older(db, NOON + timedelta(seconds=3), 4)
            count = db.execute(select(func.count()).select_from(tables.AuditEvent)).scalar_one()
        left.append((gone, count))
    assert left == [(4, 6), (2, 4), (0, 4)]
    with database.session() as db:
        oldest = db.execute(select(func.min(col(tables.AuditEvent.last_at)))).scalar_one()
    assert oldest == NOON + timedelta(seconds=3)
