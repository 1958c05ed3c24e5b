"""Calls that take long: where their answers go, and how they end."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.errors import NotFoundError
from app.mcp_apps.jsonrpc import RpcError
from app.web.live import long_calls as module
from app.web.live.long_calls import LongCalls, Progress
from app.web.live.streams import Stream, Streams

ME, OTHER = "login-1", "login-2"
CALL = "c" * 16


class Work:
    """A call that ends when the test says so."""

    def __init__(self) -> None:
        self.end = asyncio.Event()
        self.answer: dict[str, Any] | Exception = {"result": {"content": []}}
        self.cancelled = False
        self.progress: Progress | None = None

    async def __call__(self, progress: Progress | None) -> dict[str, Any]:
        self.progress = progress
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def never() -> None:
    await asyncio.Event().wait()


@pytest.fixture
def streams() -> Streams:
    return Streams()


@pytest.fixture
def calls(streams: Streams) -> LongCalls:
    return LongCalls(streams, answer_within=0.02)


def stream_of(streams: Streams, login_id: str = ME) -> Stream:
    found = streams.open(f"stream-of-{login_id}", login_id)
    assert found is not None
    return found[0]


Ask = Callable[..., Awaitable[dict[str, Any] | None]]


@pytest.fixture
def ask(calls: LongCalls) -> Ask:
    async def asked(
        work: Work,
        stream: Stream | None = None,
        *,
        call_id: object = CALL,
        login_id: str = ME,
        gone: Callable[[], Awaitable[None]] = never,
    ) -> dict[str, Any] | None:
        return await calls.answer(
            work, login_id=login_id, call_id=call_id, stream=stream, gone=gone
        )

    return asked


async def sent(stream: Stream) -> tuple[str, dict[str, Any]]:
    async for event in stream.read(0, idle_seconds=5):
        assert event is not None
        return event.name, json.loads(event.data)
    raise AssertionError("the stream ended")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - what it waits for has no event
            await asyncio.sleep(0.001)


async def test_a_quick_call_is_answered_at_once(streams: Streams, ask: Ask) -> None:
    stream, work = stream_of(streams), Work()
    work.end.set()
    assert await ask(work, stream) == {"result": {"content": []}}
    assert list(stream.events) == []


async def test_a_long_one_over_the_stream(streams: Streams, calls: LongCalls, ask: Ask) -> None:
    stream, work = stream_of(streams), Work()
    assert await ask(work, stream) is None
    work.end.set()
    assert await sent(stream) == ("answer", {"call": CALL, "result": {"content": []}})
    await until(lambda: len(calls) == 0)


@pytest.mark.parametrize("call_id", [None, 7, "", "short", "x" * 65, "c" * 15 + "\n", "ü" * 16])
async def test_without_a_call_id_it_is_waited_for(
    streams: Streams, ask: Ask, call_id: object
) -> None:
    stream, work = stream_of(streams), Work()
    waiting = asyncio.ensure_future(ask(work, stream, call_id=call_id))
    done, _ = await asyncio.wait({waiting}, timeout=0.1)
    assert not done
    work.end.set()
    assert await waiting == {"result": {"content": []}}


async def test_without_a_stream_too(ask: Ask) -> None:
    work = Work()
    waiting = asyncio.ensure_future(ask(work))
    done, _ = await asyncio.wait({waiting}, timeout=0.1)
    assert not done
    work.end.set()
    assert await waiting == {"result": {"content": []}}


@pytest.mark.parametrize("call_id", [CALL, None])
async def test_a_browser_that_went_away_ends_the_call(
    calls: LongCalls, ask: Ask, call_id: object
) -> None:
    work, left = Work(), asyncio.Event()

    async def gone() -> None:
        await left.wait()

    waiting = asyncio.ensure_future(ask(work, call_id=call_id, gone=gone))
    await asyncio.sleep(0.01)
    left.set()
    answer = await waiting
    assert answer is not None
    assert answer["error"]["data"] == {"reason": "cancelled"}
    assert work.cancelled
    await until(lambda: len(calls) == 0)


async def test_a_request_that_is_cancelled_takes_its_call_along(ask: Ask) -> None:
    work = Work()
    waiting = asyncio.ensure_future(ask(work))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await until(lambda: work.cancelled)


async def test_progress_goes_over_the_stream(streams: Streams, ask: Ask) -> None:
    stream, work = stream_of(streams), Work()
    assert await ask(work, stream) is None
    assert work.progress is not None
    work.progress(1, None, None)
    work.progress(2, 3, "half")
    assert [json.loads(event.data) for event in stream.events] == [
        {"call": CALL, "progress": 1},
        {"call": CALL, "progress": 2, "total": 3, "message": "half"},
    ]
    assert {event.name for event in stream.events} == {"progress"}


async def test_without_a_stream_there_is_no_progress(ask: Ask) -> None:
    work = Work()
    work.end.set()
    await ask(work)
    assert work.progress is None


async def test_cancelling_ends_the_call_and_sends_nothing(
    streams: Streams, calls: LongCalls, ask: Ask
) -> None:
    stream, work = stream_of(streams), Work()
    assert await ask(work, stream) is None
    calls.cancel(ME, CALL)
    await until(lambda: len(calls) == 0)
    assert work.cancelled
    assert list(stream.events) == []


async def test_a_call_that_is_cancelled_at_once_is_answered_with_an_error(
    streams: Streams,
) -> None:
    """Before it is known to take long, the request itself is still there to be answered."""
    calls, work = LongCalls(streams, answer_within=30), Work()
    asked = calls.answer(work, login_id=ME, call_id=CALL, stream=stream_of(streams), gone=never)
    waiting = asyncio.ensure_future(asked)
    await until(lambda: work.progress is not None)
    calls.cancel(ME, CALL)
    answer = await waiting
    assert answer is not None
    assert answer["error"]["data"] == {"reason": "cancelled"}
    assert work.cancelled


async def test_nobody_cancels_another_ones_call(
    streams: Streams, calls: LongCalls, ask: Ask
) -> None:
    work = Work()
    assert await ask(work, stream_of(streams)) is None
    calls.cancel(OTHER, CALL)
    for nothing in (None, 7, "x", ["c"]):
        calls.cancel(ME, nothing)
    await asyncio.sleep(0.01)
    assert not work.cancelled
    assert len(calls) == 1


async def test_two_people_may_use_the_same_id_and_one_may_not(streams: Streams, ask: Ask) -> None:
    stream = stream_of(streams)
    assert await ask(Work(), stream) is None
    assert await ask(Work(), stream_of(streams, OTHER), login_id=OTHER) is None
    with pytest.raises(RpcError) as refused:
        await ask(Work(), stream)
    assert refused.value.data == {"reason": "busy"}


async def test_one_sign_in_may_have_only_so_many_under_way(
    streams: Streams, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PENDING", 2)
    stream = stream_of(streams)
    for number in range(2):
        assert await ask(Work(), stream, call_id=f"{number}" * 16) is None
    with pytest.raises(RpcError):
        await ask(Work(), stream)
    assert await ask(Work(), stream_of(streams, OTHER), login_id=OTHER) is None


async def test_a_stream_that_is_forgotten_ends_its_calls(streams: Streams, ask: Ask) -> None:
    mine, theirs = Work(), Work()
    assert await ask(mine, stream_of(streams)) is None
    assert await ask(theirs, stream_of(streams, OTHER), login_id=OTHER) is None
    streams.close_login(ME)
    await until(lambda: mine.cancelled)
    assert not theirs.cancelled


async def test_a_refusal_that_comes_late_is_told_over_the_stream(
    streams: Streams, ask: Ask
) -> None:
    stream, work = stream_of(streams), Work()
    work.answer = NotFoundError("There is no such call.")
    assert await ask(work, stream) is None
    work.end.set()
    name, data = await sent(stream)
    assert (name, data["call"]) == ("answer", CALL)
    assert data["error"]["message"] == "There is no such call."
    assert data["error"]["data"] == {"reason": "gone"}


async def test_a_refusal_that_comes_early_is_the_responses(streams: Streams, ask: Ask) -> None:
    work = Work()
    work.answer = NotFoundError("There is no such call.")
    work.end.set()
    with pytest.raises(NotFoundError):
        await ask(work, stream_of(streams))


async def test_a_fault_of_our_own_is_logged_and_said_plainly(
    streams: Streams, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    stream, work = stream_of(streams), Work()
    work.answer = ZeroDivisionError("secret detail")
    assert await ask(work, stream) is None
    work.end.set()
    _, data = await sent(stream)
    assert data["error"] == {"code": -32603, "message": "Vitrine failed."}
    assert "secret detail" in caplog.text


async def test_an_answer_that_json_cannot_hold_is_an_error(streams: Streams, ask: Ask) -> None:
    stream, work = stream_of(streams), Work()
    work.answer = {"result": {"n": float("nan")}}
    assert await ask(work, stream) is None
    work.end.set()
    _, data = await sent(stream)
    assert data["error"]["data"] == {"reason": "garbage"}


async def test_the_end_ends_every_call(streams: Streams, calls: LongCalls, ask: Ask) -> None:
    named, unnamed = Work(), Work()
    assert await ask(named, stream_of(streams)) is None
    waiting = asyncio.ensure_future(ask(unnamed, call_id=None))
    await asyncio.sleep(0.01)
    await calls.aclose()
    assert named.cancelled
    assert unnamed.cancelled
    answer = await waiting
    assert answer is not None
    assert "error" in answer
