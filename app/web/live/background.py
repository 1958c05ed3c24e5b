"""What goes on beside every request while the application runs."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from app.db import tables
from app.db.engine import Database
from app.mcp_apps.audit_search import forget_older
from app.settings import Settings
from app.transcripts import redaction
from app.transcripts.left_out import LeftOut
from app.transcripts.search_upkeep import fill_index
from app.transcripts.watch import Watcher
from app.web.live.news import News, keep_running

_FORGET_SECONDS: Final = 3600.0
_PAUSE_SECONDS: Final = 0.1
_AT_A_TIME: Final = 1000
_log = logging.getLogger(__name__)


@asynccontextmanager
async def watching(app: FastAPI, settings: Settings, database: Database) -> AsyncIterator[None]:
    """Reads the watched folders while the application runs; ``app.state.news`` knows who works."""
    folders = settings.watched_folders
    news = app.state.news = News(database, app.state.streams, folders)
    watcher = Watcher(
        database,
        folders,
        news.changed,
        left_out=LeftOut(settings.left_out_patterns),
        redact=redaction.load(settings.redact, settings.redact_rules_file),
    )
    runs = {"watching the folders": watcher.run, "looking at who works": news.look}
    tasks = [
        asyncio.create_task(keep_running(what, run), name=what)
        for what, run in runs.items()
        if folders
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def filling(database: Database) -> AsyncIterator[None]:
    """Puts into the search index what an older version stored, beside everything else."""
    stopping = threading.Event()

    def go_on(_done: int, _total: int) -> None:
        if stopping.is_set():
            raise InterruptedError

    async def fill() -> None:
        try:
            await run_in_threadpool(fill_index, database, go_on)
        except InterruptedError:
            _log.info("the search index is filled up at the next start")
        except SQLAlchemyError:
            # Searching finds less; nothing else depends on it.
            _log.exception("the search index could not be filled up")

    task = asyncio.create_task(fill(), name="filling the search index")
    try:
        yield
    finally:
        stopping.set()
        await task


async def _to_its_end(work: Callable[[], int]) -> int:
    """What ``work`` gives, in a thread. Whoever is cancelled waits for the thread all the same: it
    holds a connection of the database, which is closed next.
    """
    running = asyncio.ensure_future(run_in_threadpool(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise


@asynccontextmanager
async def forgetting(database: Database, audit_days: int) -> AsyncIterator[None]:
    """Deletes what the audit trail need not hold any more; 0 days keep everything."""

    def some() -> int:
        with database.session() as db:
            return forget_older(db, tables.now() - timedelta(days=audit_days), _AT_A_TIME)

    async def forget() -> None:
        while True:
            # In short transactions, with a pause between: others write too.
            more = await _to_its_end(some) == _AT_A_TIME
            await asyncio.sleep(_PAUSE_SECONDS if more else _FORGET_SECONDS)

    if not audit_days:
        yield
        return
    what = "forgetting old audit events"
    task = asyncio.create_task(keep_running(what, forget), name=what)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
