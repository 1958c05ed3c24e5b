"""Writing beside the requests: in time, in order, and without losing what was taken."""

import asyncio
import threading
from collections.abc import Sequence

import pytest
from sqlmodel import col, select

from app.db import tables
from app.db.engine import Database
from app.db.tables import AuditKind, AuditOutcome
from app.mcp_apps.audit import Event
from app.web.audit import log as log_module
from app.web.audit.log import AuditLog

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer waits for its row: these tests look for it at once, on however busy a machine."""
    monkeypatch.setattr(log_module, "WAITED_FOR", 60)


def event(number: int) -> Event:
    return Event(AuditKind.TOOL_CALL, AuditOutcome.OK, tool=f"tool{number}")


def tools(database: Database) -> list[str]:
    with database.session() as db:
        return list(db.exec(select(tables.AuditEvent.tool).order_by(col(tables.AuditEvent.id))))


async def test_who_waits_finds_it_written(database: Database) -> None:
    log = AuditLog(database, b"k")
    await log.record(event(1))
    assert tools(database) == ["tool1"]


async def test_who_is_cancelled_is_told_of_all_the_same(database: Database) -> None:
    log = AuditLog(database, b"k")
    begun = asyncio.Event()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.sleep(60)
        finally:
            await log.record(event(1))

    task = asyncio.create_task(work())
    await begun.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # while it waits for the row
    await asyncio.gather(task, return_exceptions=True)
    await log.aclose()
    assert tools(database) == ["tool1"]


async def test_what_was_taken_is_written_before_the_end(database: Database) -> None:
    log = AuditLog(database, b"k")
    for number in range(450):  # more than one transaction holds
        log.add(event(number))
    await log.aclose()
    assert sorted(tools(database)) == sorted(f"tool{n}" for n in range(450))


async def test_a_slow_database_holds_the_answer_a_moment_only(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "WAITED_FOR", 0.05)
    log = AuditLog(database, b"k")
    go_on = threading.Event()
    write = log._write

    def slow(events: Sequence[Event]) -> None:
        go_on.wait(20)
        write(events)

    monkeypatch.setattr(log, "_write", slow)
    await asyncio.wait_for(log.record(event(1)), 10)
    assert tools(database) == []
    go_on.set()
    await log.aclose()
    assert tools(database) == ["tool1"]


async def test_one_thread_writes_however_many_events_come(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = AuditLog(database, b"k")
    at_once, most, lock = 0, 0, threading.Lock()
    write = log._write

    def counted(events: Sequence[Event]) -> None:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        write(events)
        with lock:
            at_once -= 1

    monkeypatch.setattr(log, "_write", counted)
    await asyncio.gather(*(log.record(event(n)) for n in range(300)))
    assert most == 1
    assert len(tools(database)) == 300


async def test_what_waits_is_bounded(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(log_module, "MOST_WAITING", 3)
    log = AuditLog(database, b"k")
    for number in range(10):
        log.add(event(number))
    await log.aclose()
    assert len(tools(database)) == 3
    assert "too many wait to be written" in caplog.text
