"""Event streams of open pages: what is sent to them, kept a while for a reader that was cut off.

In memory: a stream belongs to the process that serves it, as the calls do whose answers it
carries. No database session is held while one is open.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MAX_EVENTS: Final = 512  # kept of one stream
MAX_CHARACTERS: Final = 32 * 1024 * 1024  # of them together; the newest is kept whatever its size
MAX_STREAMS: Final = 32  # of one sign-in
GRACE_SECONDS: Final = 60.0  # without a reader, after which a stream is forgotten

Forgotten = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Event:
    """``data`` is JSON in one line."""

    number: int
    name: str
    data: str


@dataclass(eq=False)
class Stream:
    """One browser's stream. ``events`` come in order; the oldest give way."""

    id: str
    login_id: str
    unread_since: float
    events: deque[Event] = field(default_factory=deque)
    size: int = 0
    last_number: int = 0
    readers: int = 0
    generation: int = 0
    closed: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def send(self, name: str, data: Mapping[str, Any]) -> None:
        """Hand ``data`` to the reader, or keep it for one that comes back."""
        self.send_json(name, json.dumps(data, allow_nan=False, separators=(",", ":")))

    def send_json(self, name: str, text: str) -> None:
        """As ``send``, of JSON that is text already."""
        self.last_number += 1
        self.events.append(Event(self.last_number, name, text))
        self.size += len(text)
        while len(self.events) > 1 and (
            len(self.events) > MAX_EVENTS or self.size > MAX_CHARACTERS
        ):
            self.size -= len(self.events.popleft().data)
        self.wake()

    def wake(self) -> None:
        self._news.set()

    def has_all_since(self, number: int) -> bool:
        """Whether nothing that followed event ``number`` was dropped."""
        oldest = self.events[0].number if self.events else self.last_number + 1
        return oldest - 1 <= number <= self.last_number

    async def read(self, after: int, *, idle_seconds: float) -> AsyncIterator[Event | None]:
        """Events after number ``after``, and ``None`` when there was none for ``idle_seconds``.

        Ends when the stream is closed or when somebody else reads it: a browser that comes back
        before its old connection was seen to be gone.
        """
        self.generation += 1
        generation = self.generation
        self.wake()
        while not self.closed and generation == self.generation:
            self._news.clear()
            for event in [event for event in self.events if event.number > after]:
                after = event.number
                yield event
            if self._news.is_set():
                continue
            try:
                await asyncio.wait_for(self._news.wait(), idle_seconds)
            except TimeoutError:
                yield None


class Streams:
    """The streams of one process, by id. ``forgotten`` is called with the id of one that is gone:
    nobody waits any more for what was started for it.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._streams: dict[str, Stream] = {}
        self._closed = False
        self.forgotten: Forgotten = lambda _stream_id: None

    def __len__(self) -> int:
        return len(self._streams)

    def open(self, stream_id: str, login_id: str) -> tuple[Stream, bool] | None:
        """The stream with that id and whether it was there before; ``None`` when it is somebody
        else's or Vitrine is stopping.
        """
        self.reap()
        stream = self._streams.get(stream_id)
        if self._closed or (stream is not None and stream.login_id != login_id):
            return None
        if stream is not None:
            return stream, True
        own = [known for known in self._streams.values() if known.login_id == login_id]
        if len(own) >= MAX_STREAMS:
            self._forget(min(own, key=lambda known: (known.readers > 0, known.unread_since)))
        stream = Stream(stream_id, login_id, unread_since=self._clock())
        self._streams[stream_id] = stream
        return stream, False

    def find(self, stream_id: object, login_id: str) -> Stream | None:
        """The stream that this sign-in has open, or had a moment ago."""
        stream = self._streams.get(stream_id) if isinstance(stream_id, str) else None
        return stream if stream is not None and stream.login_id == login_id else None

    def entered(self, stream: Stream) -> None:
        stream.readers += 1

    def left(self, stream: Stream) -> None:
        """Call it from the event loop: the stream is looked at again after ``GRACE_SECONDS``."""
        stream.readers -= 1
        stream.unread_since = self._clock()
        asyncio.get_running_loop().call_later(GRACE_SECONDS + 1, self.reap)

    def broadcast(self, name: str, data: Mapping[str, Any]) -> None:
        """To every stream."""
        for stream in self._streams.values():
            stream.send(name, data)

    def close_login(self, login_id: str) -> None:
        """Ends what a sign-in had open, because it ended."""
        for stream in [known for known in self._streams.values() if known.login_id == login_id]:
            self._forget(stream)

    def reap(self) -> None:
        """Forgets what has had no reader for ``GRACE_SECONDS``."""
        limit = self._clock() - GRACE_SECONDS
        for stream in list(self._streams.values()):
            if stream.readers == 0 and stream.unread_since <= limit:
                self._forget(stream)

    def close(self) -> None:
        """Ends every stream: a server that stops waits for its open answers."""
        self._closed = True
        for stream in list(self._streams.values()):
            self._forget(stream)

    def _forget(self, stream: Stream) -> None:
        stream.closed = True
        stream.wake()
        self._streams.pop(stream.id, None)
        self.forgotten(stream.id)
