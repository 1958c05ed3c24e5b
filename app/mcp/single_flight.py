"""A cache of what is loaded over the network, where many who ask share one load."""

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from cachetools import LRUCache, TTLCache

V = TypeVar("V")

# From this part of its life on, a value in use is loaded anew behind the scenes.
REFRESH_AT = 0.75


class ClosedError(Exception):
    """The cache was closed while a load was being waited for."""


class Limited(NamedTuple, Generic[V]):
    """A loaded value that says itself for how many seconds it is fresh."""

    value: V
    seconds: float


class _Kept(NamedTuple, Generic[V]):
    value: V
    loaded_at: float
    ttl: float


Load = Callable[[], Awaitable[V | Limited[V]]]


class SingleFlight(Generic[V]):
    """Values by key, fresh for ``ttl`` seconds of ``clock``, or less where the value says so.

    All who ask for a key that is being loaded wait for that one load; one who gives up does not
    end it for the others. An error is kept for ``error_ttl`` seconds, so that ten panels on a
    dead server fail at once and not one after the other, and is no value: it never replaces a
    fresh one.
    """

    def __init__(
        self,
        *,
        ttl: float,
        error_ttl: float,
        maxsize: int = 512,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ttl = ttl
        self._clock = clock
        self._values: LRUCache[Hashable, _Kept[V]] = LRUCache(maxsize)
        self._errors: TTLCache[Hashable, Exception] = TTLCache(maxsize, error_ttl, clock)
        self._loads: dict[Hashable, asyncio.Task[V]] = {}
        self._running: set[asyncio.Task[V]] = set()  # those that count no more, too

    def peek(self, key: Hashable) -> V | None:
        """The value if it is fresh. Loads nothing."""
        kept = self._values.get(key)
        return kept.value if kept is not None and self._age(kept) < kept.ttl else None

    def peek_stale(self, key: Hashable) -> V | None:
        """The last value that was loaded, however old. Loads nothing."""
        kept = self._values.get(key)
        return kept.value if kept is not None else None

    async def get(self, key: Hashable, load: Load[V]) -> V:
        """The fresh value, loaded if need be. Raises what ``load`` raises."""
        kept = self._values.get(key)
        if kept is not None and self._age(kept) < kept.ttl:
            if self._age(kept) >= kept.ttl * REFRESH_AT and key not in self._errors:
                self._start(key, load)
            return kept.value
        error = self._errors.get(key)
        if error is not None:
            # A copy: each raise adds its own traceback to the exception.
            raise copy.copy(error)
        task = self._start(key, load)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if task.cancelled() and me is not None and not me.cancelling():
                raise ClosedError("the cache was closed during a load") from None
            raise

    def forget_error(self, key: Hashable) -> None:
        """The next ``get`` tries again, should the last one have failed."""
        self._errors.pop(key, None)

    def forget(self, key: Hashable) -> None:
        """The next ``get`` loads anew; a load under way does not count."""
        self._values.pop(key, None)
        self._errors.pop(key, None)
        self._loads.pop(key, None)

    def expire(self, key: Hashable) -> None:
        """As ``forget``, but ``peek_stale`` still finds the value."""
        kept = self._values.get(key)
        self.forget(key)
        if kept is not None:
            self._values[key] = kept._replace(ttl=0)

    def expire_where(self, is_meant: Callable[[Hashable], bool]) -> None:
        """``expire`` for each key that is meant."""
        for key in self._meant(is_meant):
            self.expire(key)

    def forget_where(self, is_meant: Callable[[Hashable], bool]) -> None:
        """``forget`` for each key that is meant."""
        for key in self._meant(is_meant):
            self.forget(key)

    def _meant(self, is_meant: Callable[[Hashable], bool]) -> list[Hashable]:
        return [key for key in {*self._values, *self._errors, *self._loads} if is_meant(key)]

    async def aclose(self) -> None:
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _age(self, kept: _Kept[V]) -> float:
        return self._clock() - kept.loaded_at

    def _start(self, key: Hashable, load: Load[V]) -> "asyncio.Task[V]":
        task = self._loads.get(key)
        if task is None:
            task = asyncio.create_task(self._load(key, load))
            self._loads[key] = task
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            # Its error is kept and raised to whoever waits; perhaps nobody does any more.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def _load(self, key: Hashable, load: Load[V]) -> V:
        me = asyncio.current_task()
        try:
            loaded = await load()
        except Exception as error:
            if self._loads.get(key) is me:
                self._errors[key] = error
            raise
        else:
            limited = loaded if isinstance(loaded, Limited) else Limited(loaded, self._ttl)
            value = limited.value
            if self._loads.get(key) is me:
                ttl = min(limited.seconds, self._ttl)
                self._values[key] = _Kept(value, self._clock(), ttl)
                self._errors.pop(key, None)
            return value
        finally:
            if self._loads.get(key) is me:
                del self._loads[key]
