"""Event streams: order, resuming, bounds, and whose they are."""

import asyncio

import pytest

from app.web.live import streams as module
from app.web.live.streams import Event, Stream, Streams

ME, OTHER = "login-1", "login-2"


def opened(streams: Streams, stream_id: str = "s", login_id: str = ME) -> Stream:
    found = streams.open(stream_id, login_id)
    assert found is not None
    return found[0]


async def taken(stream: Stream, after: int, count: int) -> list[Event]:
    """The next ``count`` events; an idle turn counts for nothing."""
    events: list[Event] = []
    async for event in stream.read(after, idle_seconds=5):
        if event is not None:
            events.append(event)
        if len(events) == count:
            break
    return events


async def test_events_come_in_order_with_numbers_that_rise() -> None:
    stream = opened(Streams())
    stream.send("answer", {"n": 1})
    reading = asyncio.create_task(taken(stream, 0, 3))
    await asyncio.sleep(0)
    stream.send("answer", {"n": 2})
    stream.send("progress", {"n": 3})
    events = await reading
    assert [(event.number, event.name, event.data) for event in events] == [
        (1, "answer", '{"n":1}'),
        (2, "answer", '{"n":2}'),
        (3, "progress", '{"n":3}'),
    ]


async def test_a_reader_that_comes_back_gets_what_it_missed_and_no_more() -> None:
    stream = opened(Streams())
    for number in range(5):
        stream.send("answer", {"n": number})
    assert stream.has_all_since(3)
    assert [event.number for event in await taken(stream, 3, 2)] == [4, 5]


async def test_the_oldest_give_way_and_it_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_EVENTS", 3)
    stream = opened(Streams())
    for number in range(5):
        stream.send("answer", {"n": number})
    assert [event.number for event in stream.events] == [3, 4, 5]
    assert stream.has_all_since(2)
    assert not stream.has_all_since(1)
    # A number that was never given out is another process's.
    assert not stream.has_all_since(6)


async def test_what_is_kept_is_bounded_in_size_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CHARACTERS", 100)
    stream = opened(Streams())
    for _ in range(10):
        stream.send("answer", {"text": "x" * 40})
    assert stream.size <= 100
    stream.send("answer", {"text": "x" * 1000})
    assert len(stream.events) == 1


async def test_a_second_reader_takes_over_from_the_first() -> None:
    stream = opened(Streams())
    first = asyncio.create_task(taken(stream, 0, 1))
    await asyncio.sleep(0)
    second = asyncio.create_task(taken(stream, 0, 1))
    await asyncio.sleep(0)
    stream.send("answer", {})
    assert [event.number for event in await second] == [1]
    assert await asyncio.wait_for(first, 5) == []


async def test_an_idle_turn_is_told() -> None:
    stream = opened(Streams())
    async for event in stream.read(0, idle_seconds=0.01):
        assert event is None
        break


async def test_a_stream_is_its_sign_ins_alone() -> None:
    streams = Streams()
    stream = opened(streams)
    assert streams.open("s", OTHER) is None
    assert streams.find("s", OTHER) is None
    assert streams.find("s", ME) is stream
    for nothing in (None, 7, "t", ["s"]):
        assert streams.find(nothing, ME) is None


async def test_what_nobody_reads_is_forgotten_after_a_while() -> None:
    now = 0.0
    streams = Streams(clock=lambda: now)
    gone: list[str] = []
    streams.forgotten = gone.append
    stream = opened(streams)
    streams.entered(stream)
    now = 1000.0
    streams.reap()
    assert streams.find("s", ME) is stream
    streams.left(stream)
    now += module.GRACE_SECONDS - 1
    streams.reap()
    assert streams.find("s", ME) is stream
    now += 1
    streams.reap()
    assert streams.find("s", ME) is None
    assert gone == ["s"]


async def test_one_sign_in_has_a_bounded_number_and_the_longest_unread_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_STREAMS", 2)
    now = 0.0
    streams = Streams(clock=lambda: now)
    read = opened(streams, "read")
    streams.entered(read)
    now = 1.0
    opened(streams, "unread")
    now = 2.0
    opened(streams, "new")
    opened(streams, "theirs", OTHER)
    assert streams.find("unread", ME) is None
    assert streams.find("read", ME) is read
    assert len(streams) == 3


async def test_closing_ends_the_readers_and_lets_nobody_in() -> None:
    streams = Streams()
    reading = asyncio.create_task(taken(opened(streams), 0, 1))
    await asyncio.sleep(0)
    streams.close()
    assert await asyncio.wait_for(reading, 5) == []
    assert streams.open("t", ME) is None


async def test_a_sign_in_that_ends_takes_its_streams_along() -> None:
    streams = Streams()
    mine, theirs = opened(streams, "mine"), opened(streams, "theirs", OTHER)
    streams.close_login(ME)
    assert (mine.closed, theirs.closed) == (True, False)


async def test_a_broadcast_reaches_every_stream() -> None:
    streams = Streams()
    both = [opened(streams, "mine"), opened(streams, "theirs", OTHER)]
    streams.broadcast("listed", {"server": "1"})
    assert [stream.events[0].data for stream in both] == ['{"server":"1"}'] * 2
