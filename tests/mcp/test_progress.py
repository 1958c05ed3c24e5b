"""How far a call has come, and a call that is given up: both are heard on the other side."""

import asyncio

import httpx2
import pytest

from app.mcp import notices
from app.mcp.errors import ServerTimeout
from app.mcp.hub import Hub
from app.mcp.target import SSE, Target
from app.settings import Settings
from tests.mcp.scripts import ERAS, target
from tests.mcp.servers import Request, Scripted, running, until

Told = list[tuple[float, float | None, str | None]]


def place(url: str) -> Target:
    return Target(url, SSE if url.endswith("/sse") else "streamable-http", private_ok=True)


async def tell(request: Request, **params: object) -> None:
    token = request.message["params"]["_meta"]["progressToken"]
    await request.say("notifications/progress", **{"progressToken": token, **params})


@pytest.mark.parametrize("kind", ["modern", "legacy", "sse"])
async def test_a_call_tells_how_far_it_has_come(hub: Hub, kind: str) -> None:
    told: Told = []
    async with running(kind) as server:
        where = place(server.url)
        result = await hub.call_tool(
            where, "steps", {"count": 3}, on_progress=lambda *step: told.append(step)
        )
    assert result["content"][0]["text"] == "done"
    assert told[0] == (1, 3, "step 1")
    assert told[-1] == (3, 3, "step 3")


@pytest.mark.parametrize("kind", ["modern", "legacy"])
async def test_nobody_who_did_not_ask_is_told(hub: Hub, kind: str) -> None:
    async with running(kind) as server:
        result = await hub.call_tool(place(server.url), "steps", {"count": 3})
    assert result["content"][0]["text"] == "done"


@pytest.mark.parametrize("era", ERAS)
async def test_each_call_hears_of_itself_alone(hub: Hub, era: str) -> None:
    """Also where the server turns the number that it was given into a text."""
    both = asyncio.Barrier(2)

    async def answer(request: Request) -> None:
        await request.stream()
        await both.wait()
        name = request.message["params"]["name"]
        token = request.message["params"]["_meta"]["progressToken"]
        await tell(request, progressToken=str(token), progress=1, message=name)
        await request.finish({"content": []})

    told: dict[str, Told] = {"a": [], "b": []}
    async with Scripted(answer, era) as server:
        where = target(server)
        await asyncio.gather(
            *(
                hub.call_tool(where, name, {}, on_progress=lambda *x, n=name: told[n].append(x))
                for name in told
            )
        )
    assert told == {"a": [(1, None, "a")], "b": [(1, None, "b")]}


@pytest.mark.parametrize("era", ERAS)
async def test_progress_that_makes_no_sense_is_not_passed_on(hub: Hub, era: str) -> None:
    async def answer(request: Request) -> None:
        await request.stream()
        senseless: list[object] = ["many", None, [], {}, float("nan"), float("inf"), 10**400]
        for progress in senseless:
            await tell(request, progress=progress)
        await tell(request, progress=1, total="all")
        await tell(request, progress=1, message={"a": 1})
        await tell(request, progressToken=1, progress=1)
        await tell(request, progressToken="x" * 6_000, progress=1)
        await tell(request, progressToken="9" * 6_000, progress=1)
        await tell(request, progressToken=None, progress=1)
        await tell(request, progress=2, total=float("nan"), message="x" * 10_000)
        await request.finish({"content": []})

    told: Told = []
    async with Scripted(answer, era) as server:
        where = target(server)
        await hub.call_tool(where, "t", {}, on_progress=lambda *step: told.append(step))
        assert await hub.call_tool(where, "t", {}, on_progress=lambda *_: None) == {"content": []}
        assert server.seen.calls.count("server/discover") == 1
    assert told[-1] == (2, None, "x" * notices.MAX_PROGRESS_TEXT)
    assert len(told) == 1


async def test_a_flood_of_progress_is_thinned(hub: Hub) -> None:
    async def answer(request: Request) -> None:
        await request.stream()
        for number in range(500):
            await tell(request, progress=number)
        await request.finish({"content": []})

    told: Told = []
    async with Scripted(answer) as server:
        await hub.call_tool(target(server), "t", {}, on_progress=lambda *step: told.append(step))
    assert told[-1][0] == 499
    assert len(told) < 100


async def test_a_listener_that_fails_costs_the_call_nothing(hub: Hub) -> None:
    def fail(*_step: object) -> None:
        raise ValueError("the listener's own")

    async with running() as server:
        result = await hub.call_tool(place(server.url), "steps", {"count": 2}, on_progress=fail)
    assert result["content"][0]["text"] == "done"


@pytest.mark.parametrize("era", ERAS)
async def test_progress_does_not_keep_a_call_alive(settings: Settings, era: str) -> None:
    async def answer(request: Request) -> None:
        await request.stream()
        number = 0
        while True:
            number += 1
            await tell(request, progress=number)
            await request.writer.drain()
            await asyncio.sleep(0.02)

    told: Told = []
    quick = settings.model_copy(update={"call_timeout_seconds": 1})
    async with Scripted(answer, era) as server, Hub(quick) as hub:
        with pytest.raises(ServerTimeout):
            await hub.call_tool(
                target(server), "t", {}, on_progress=lambda *step: told.append(step)
            )
        heard = len(told)
        assert heard > 1
        await asyncio.sleep(2 * notices.PROGRESS_SECONDS)
        assert len(told) == heard


# Giving up


@pytest.mark.parametrize("kind", ["modern", "legacy", "sse"])
async def test_a_call_that_is_given_up_ends_at_the_server(hub: Hub, kind: str) -> None:
    """The server's own code is cancelled, in each era and over both transports."""
    async with running(kind) as server:
        where = place(server.url)
        slow = asyncio.create_task(hub.call_tool(where, "poll", {"seconds": 30}))
        await until(lambda: server.seen.running == 1)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        await until(lambda: server.seen.cancelled == 1)
        assert server.seen.running == 0
        result = await hub.call_tool(where, "poll", {"seconds": 0})
        assert result["content"][0]["text"] == "polled"
        assert ("notifications/cancelled" in server.seen.calls) == (kind == "legacy") or (
            kind == "sse"
        )


@pytest.mark.parametrize("kind", ["modern", "legacy", "sse"])
async def test_a_call_out_of_time_ends_at_the_server(settings: Settings, kind: str) -> None:
    quick = settings.model_copy(update={"call_timeout_seconds": 1})
    async with running(kind) as server, Hub(quick) as hub:
        where = place(server.url)
        await hub.tools(where)
        with pytest.raises(ServerTimeout):
            await hub.call_tool(where, "poll", {"seconds": 30})
        await until(lambda: server.seen.running == 0)


async def test_a_server_that_takes_no_cancellation_holds_nobody_up(hub: Hub) -> None:
    """Over SSE everything goes through one door, which such a server would keep shut."""
    async with running("sse") as server:
        where = place(server.url)
        slow = asyncio.create_task(hub.call_tool(where, "poll", {"seconds": 30}))
        await until(lambda: server.seen.running == 1)
        server.seen.held = "notifications/cancelled"
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        result = await hub.call_tool(where, "poll", {"seconds": 0})
        assert result["content"][0]["text"] == "polled"


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_may_take_as_long_as_the_setting_says(settings: Settings, era: str) -> None:
    """Fifteen minutes, say: no limit of the SDK or of the transport comes before."""
    waits: list[float] = []

    class Noted(httpx2.AsyncBaseTransport):
        def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
            self._inner = inner

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            if b"tools/call" in request.content:
                waits.append(request.extensions["timeout"]["read"])
            return await self._inner.handle_async_request(request)

        async def aclose(self) -> None:
            await self._inner.aclose()

    async def slowly(request: Request) -> None:
        await asyncio.sleep(1.5)
        await request.result({"content": []})

    patient = settings.model_copy(
        update={"call_timeout_seconds": 900, "listing_timeout_seconds": 1}
    )
    async with (
        Scripted(slowly, era) as server,
        Hub(patient, idle_seconds=0.05, around=Noted) as hub,
    ):
        assert await hub.call_tool(target(server), "t", {}) == {"content": []}
    assert waits
    assert min(waits) > 900
