"""A function that is called at once, and then no more often than every so many seconds."""

import asyncio
import logging
from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")
_log = logging.getLogger(__name__)


class Paced(Generic[P]):
    """Stands before ``call``. Of what comes too soon the latest is kept and handed on when its
    time has come: what is said last is never lost, and a flood costs one call an interval.

    ``flush`` hands on what waits at once, ``close`` forgets it. An exception of ``call`` is
    logged: nobody who could answer it is there.
    """

    def __init__(self, call: Callable[P, None], seconds: float) -> None:
        self._call = call
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._next_at = self._loop.time()
        self._waiting: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        if self._closed:
            return
        self._waiting = lambda: self._call(*args, **kwargs)
        if self._timer is not None:
            return
        left = self._next_at - self._loop.time()
        if left <= 0:
            self.flush()
        else:
            self._timer = self._loop.call_later(left, self.flush)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        self._next_at = self._loop.time() + self._seconds
        try:
            waiting()
        except Exception:  # noqa: BLE001 - the caller's, who is not here
            _log.exception("a callback failed")

    def close(self) -> None:
        self._closed = True
        self._waiting = None
        self.flush()
