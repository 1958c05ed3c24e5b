"""Writing the audit trail beside the requests that it tells of."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from anyio import CapacityLimiter, to_thread

from app.db.engine import Database
from app.mcp_apps import audit
from app.mcp_apps.audit import Event

MOST_WAITING: Final = 10_000  # events
WAITED_FOR: Final = 2.0  # seconds that an answer waits for its row at most
_AT_A_TIME: Final = 200

_log = logging.getLogger("vitrine.audit")


class AuditLog:
    """Takes events from one event loop and writes them in the order they came, many in one
    transaction when many come.

    It fails open: where an event cannot be written, what it tells of goes on, because a full disk
    must not take the transcripts from whoever reads them. The log says so, once, and how many
    were lost when it works again.

    A thread of its own writes: while somebody else holds SQLite's only writer, the threads that
    serve pages are not waiting for it.
    """

    def __init__(self, database: Database, hash_key: bytes) -> None:
        self._database = database
        self._hash_key = hash_key
        self._waiting: list[tuple[Event, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._lost = 0

    def digest(self, value: object) -> str:
        """What stands for arguments; see ``app.mcp_apps.audit``."""
        return audit.digest(self._hash_key, value)

    def add(self, event: Event) -> "asyncio.Future[None]":
        """Takes the event at once, so that it is written whatever becomes of who adds it. The
        future is done when it is written, or could not be.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if len(self._waiting) >= MOST_WAITING:
            self._failed(1, "too many wait to be written")
            future.set_result(None)
            return future
        self._waiting.append((event, future))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all(), name="writing the audit trail")
        return future

    async def record(self, event: Event) -> None:
        """Adds the event, and waits a moment for it to be written."""
        await asyncio.wait({self.add(event)}, timeout=WAITED_FOR)

    async def aclose(self) -> None:
        """Writes what is left."""
        if self._writer is not None:
            await self._writer

    async def _write_all(self) -> None:
        one = CapacityLimiter(1)
        while self._waiting:
            batch, self._waiting = self._waiting[:_AT_A_TIME], self._waiting[_AT_A_TIME:]
            try:
                await to_thread.run_sync(self._write, [event for event, _ in batch], limiter=one)
            except Exception:  # noqa: BLE001 - logged; what they tell of must go on
                self._failed(len(batch), "they cannot be written", exc_info=True)
            else:
                self._works()
            finally:
                for _, future in batch:
                    if not future.done():
                        future.set_result(None)

    def _write(self, events: Sequence[Event]) -> None:
        with self._database.session() as db:
            audit.write(db, events)

    def _failed(self, lost: int, why: str, *, exc_info: bool = False) -> None:
        if not self._lost:
            _log.error("events are missing in the audit trail: %s", why, exc_info=exc_info)
        self._lost += lost

    def _works(self) -> None:
        if self._lost:
            _log.error("the audit trail is written again; %d events are missing", self._lost)
        self._lost = 0
