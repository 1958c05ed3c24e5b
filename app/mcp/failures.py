"""Servers that could not be connected to a moment ago, and when to try again."""

import copy
from collections.abc import Callable
from typing import Final, NamedTuple

from cachetools import LRUCache

from app.mcp.errors import McpError
from app.mcp.target import Key

# The pause doubles with each failure that follows soon, up to so many times the first.
MOST: Final = 16


class _Failure(NamedTuple):
    error: McpError
    until: float
    pause: float


class Failures:
    """By target's key. ``first_pause`` is how long a first failure counts, in seconds."""

    def __init__(self, first_pause: float, clock: Callable[[], float]) -> None:
        self._first_pause = first_pause
        self._clock = clock
        self._failures: LRUCache[Key, _Failure] = LRUCache(512)

    def get(self, key: Key) -> McpError | None:
        """Why it is too early to try again, as an exception of its own to raise."""
        failure = self._failures.get(key)
        if failure is None or self._clock() >= failure.until:
            return None
        return copy.copy(failure.error)

    def add(self, key: Key, error: McpError) -> None:
        before, now = self._failures.get(key), self._clock()
        longest = self._first_pause * MOST
        pause = self._first_pause
        if before is not None and now < before.until + longest:
            pause = min(before.pause * 2, longest)
        self._failures[key] = _Failure(error, now + pause, pause)

    def forget(self, key: Key) -> None:
        """The next try is made at once, and is a first one again."""
        self._failures.pop(key, None)

    def forget_server(self, url: str) -> None:
        """``forget`` for every target at ``url``."""
        for key in [key for key in self._failures if key[0] == url]:
            self.forget(key)
