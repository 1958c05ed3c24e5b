"""Telling open pages that a server lists other tools or resources now."""

import asyncio
import logging

from sqlmodel import select
from starlette.concurrency import run_in_threadpool

from app.db import tables
from app.db.engine import Database
from app.mcp.target import Target
from app.web.live.streams import Streams

_log = logging.getLogger(__name__)


class Listed:
    """A hub's ``changed``: sends ``listed`` to every stream, with the key by which a panel knows
    its server. Call it from the event loop.
    """

    def __init__(self, database: Database, streams: Streams) -> None:
        self._database = database
        self._streams = streams
        self._telling: set[asyncio.Task[None]] = set()

    def __call__(self, target: Target, what: str) -> None:
        if len(self._streams) == 0:
            return
        task = asyncio.create_task(self._tell(target.url, what))
        self._telling.add(task)
        task.add_done_callback(self._told)

    async def _tell(self, url: str, what: str) -> None:
        key = await run_in_threadpool(self._key, url)
        if key is not None:
            self._streams.broadcast("listed", {"server": key, "what": what})

    def _key(self, url: str) -> str | None:
        with self._database.session() as db:
            row = db.exec(select(tables.Server.id).where(tables.Server.url == url)).one_or_none()
        return None if row is None else str(row)

    def _told(self, task: "asyncio.Task[None]") -> None:
        self._telling.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("open pages could not be told of a server's new list", exc_info=error)

    async def aclose(self) -> None:
        """Ends what is still being told."""
        for task in self._telling:
            task.cancel()
        await asyncio.gather(*self._telling, return_exceptions=True)
