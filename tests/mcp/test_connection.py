"""Opening, time limits, falling over and coming back, over both transports."""

import asyncio
import time

import httpx2
import pytest

from app.mcp.errors import (
    ConnectionDropped,
    McpError,
    ServerForbidden,
    ServerGarbage,
    ServerRejected,
    ServerTimeout,
    ServerTooLarge,
    ServerUnreachable,
)
from app.mcp.hub import Hub
from app.mcp.target import SSE, Target
from app.settings import Settings
from tests.mcp.scripts import (
    ERAS,
    SECRET,
    a_number,
    call,
    drop_at_once,
    drop_mid_body,
    end_stream_without_answer,
    forbidden,
    html,
    html_500,
    huge,
    huge_stream,
    not_json,
    stream_of_rubbish,
    target,
)
from tests.mcp.servers import (
    LEGACY,
    Request,
    Script,
    Scripted,
    free_port,
    running,
    until,
)


@pytest.mark.parametrize("era", ERAS)
async def test_a_slow_call_ends_in_time_and_the_connection_lives(
    settings: Settings, era: str
) -> None:
    quick = settings.model_copy(update={"call_timeout_seconds": 1})

    async def answer(request: Request) -> None:
        if request.message.get("params", {}).get("name") == "slow":
            await request.hang()
        await request.result({"tools": [], "content": []})

    async with Scripted(answer, era) as server, Hub(quick) as hub:
        where = target(server)
        await hub.tools(where)  # connected, so that the limit is the call's alone
        with pytest.raises(ServerTimeout) as caught:
            await hub.call_tool(where, "slow", {})
        assert caught.value.sentence == "The server did not answer within 1 second."
        assert (await call(hub, where))["content"] == []
        assert server.seen.calls.count("server/discover") == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_that_hangs_on_everything_does_not_hold_the_hub(
    settings: Settings, era: str
) -> None:
    quick = settings.model_copy(update={"listing_timeout_seconds": 0.4})
    async with Scripted(Request.hang, era) as server, Hub(quick) as hub:
        server.opening = Request.hang
        with pytest.raises(ServerTimeout) as caught:
            await hub.tools(target(server))
        assert caught.value.sentence == "The server did not answer within 0.4 seconds."


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_that_falls_silent_later_times_out_every_call(
    settings: Settings, era: str
) -> None:
    """In the earlier era the SDK tells of a call given up, and would wait for that as well."""
    quick = settings.model_copy(update={"call_timeout_seconds": 0.2})
    async with Scripted(Request.hang, era) as server, Hub(quick) as hub:
        where = target(server)
        with pytest.raises(ServerTimeout):
            await call(hub, where)
        server.opening = Request.hang
        outcomes = await asyncio.gather(
            *(call(hub, where) for _ in range(5)), return_exceptions=True
        )
        assert {type(outcome) for outcome in outcomes} == {ServerTimeout}


async def test_the_server_is_told_of_a_call_given_up(settings: Settings) -> None:
    """By notification in the earlier era, by the closed connection in the later one."""

    async def only_lists(request: Request) -> None:
        if request.message["method"] == "tools/call":
            await request.hang()
        await request.result({"tools": []})

    quick = settings.model_copy(update={"call_timeout_seconds": 0.5})
    async with Scripted(only_lists, LEGACY) as server, Hub(quick) as hub:
        await hub.tools(target(server))
        with pytest.raises(ServerTimeout):
            await call(hub, target(server))
        await until(lambda: "notifications/cancelled" in server.seen.calls)


async def test_closing_does_not_wait_for_a_silent_server(settings: Settings) -> None:
    async with Scripted(Request.hang) as server:
        server.opening = Request.hang
        hub = Hub(settings)
        waiting = asyncio.create_task(call(hub, target(server)))
        await until(lambda: server.seen.calls)
        await hub.aclose()
        with pytest.raises(ServerUnreachable):
            await waiting


async def test_a_dead_server_says_so_at_once_to_everyone(settings: Settings) -> None:
    where = Target(f"http://127.0.0.1:{free_port()}/mcp", private_ok=True)
    async with Hub(settings, error_seconds=60) as hub:
        errors = await asyncio.gather(
            *(hub.tools(where) for _ in range(10)), return_exceptions=True
        )
        assert {type(error) for error in errors} == {ServerUnreachable}
        with pytest.raises(ServerUnreachable) as caught:
            await hub.tools(where)
    assert caught.value.sentence == "The server cannot be reached."


async def test_a_server_that_cannot_be_reached_is_not_asked_in_the_other_era(
    settings: Settings,
) -> None:
    tries: list[str] = []

    class Counting(httpx2.AsyncBaseTransport):
        def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
            self._inner = inner

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            tries.append(request.method)
            return await self._inner.handle_async_request(request)

    async with Hub(settings, around=Counting) as hub:
        with pytest.raises(ServerUnreachable):
            await hub.tools(Target(f"http://127.0.0.1:{free_port()}/mcp", private_ok=True))
    assert tries == ["POST"]


async def test_a_failed_connection_is_not_tried_again_at_once(settings: Settings) -> None:
    now = time.monotonic()

    def clock() -> float:
        return now

    async with Scripted(html_500) as server, Hub(settings, backoff_seconds=1, clock=clock) as hub:
        server.opening = html_500
        for _ in range(5):
            with pytest.raises(ServerGarbage):
                await call(hub, target(server))
        tries = len(server.seen.calls)
        assert tries == 2  # one connection, both eras
        now += 2
        with pytest.raises(ServerGarbage) as caught:
            await call(hub, target(server))
        assert len(server.seen.calls) == 2 * tries
        assert caught.value.sentence == "The server answered with HTTP status 500."


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        (html, ServerGarbage),
        (not_json, ServerGarbage),
        (drop_at_once, ConnectionDropped),
        (drop_mid_body, ConnectionDropped),
        (forbidden, ServerForbidden),
        (huge, ServerTooLarge),
        (huge_stream, ServerTooLarge),
        (a_number, ServerGarbage),
        (stream_of_rubbish, ServerGarbage),
        (end_stream_without_answer, ConnectionDropped),
    ],
    ids=lambda one: one.__name__,
)
async def test_a_server_that_cannot_even_open(
    hub: Hub, opening: Script, expected: type[McpError]
) -> None:
    async with Scripted(html) as server:
        server.opening = opening
        with pytest.raises(McpError) as caught:
            await hub.tools(target(server))
        assert type(caught.value) is expected
        assert hub.peek_tools(target(server)) is None


async def test_an_error_in_the_opening_is_the_servers_own(hub: Hub) -> None:
    async def refuse(request: Request) -> None:
        await request.error(200, -32002, "closed on Sundays")

    async with Scripted(html) as server:
        server.opening = refuse
        with pytest.raises(ServerRejected) as caught:
            await hub.tools(target(server))
    assert caught.value.message == "closed on Sundays"


async def test_an_unknown_protocol_version_is_garbage(hub: Hub) -> None:
    async def strange(request: Request) -> None:
        if request.message["method"] == "server/discover":
            await request.error(400, -32601, "?")
            return
        info = {"name": "x", "version": "1"}
        await request.result(
            {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": info}
        )

    async with Scripted(html) as server:
        server.opening = strange
        with pytest.raises(ServerGarbage):
            await hub.tools(target(server))


# The supervisor


class Exploding(httpx2.AsyncBaseTransport):
    """Breaks in a way that the wire does not foresee, when told."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, error: list[BaseException]) -> None:
        self._inner = inner
        self._error = error

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._error and b"broken" in request.content:
            raise self._error[0]
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "error", [RuntimeError("bug"), asyncio.CancelledError(), OSError("odd")], ids=repr
)
async def test_when_the_sdk_falls_over_callers_are_told_and_not_cancelled(
    settings: Settings, era: str, error: BaseException
) -> None:
    async def answer(request: Request) -> None:
        if request.message["params"]["name"] == "waits":
            await request.hang()
        await request.result({"content": []})

    errors = [error]
    async with (
        Scripted(answer, era) as server,
        Hub(settings, around=lambda inner: Exploding(inner, errors)) as hub,
    ):
        where = target(server)
        await call(hub, where)
        beside = asyncio.create_task(hub.call_tool(where, "waits", {}))
        await asyncio.sleep(0.1)
        with pytest.raises(McpError):
            await hub.call_tool(where, "broken", {})
        me = asyncio.current_task()
        assert me is not None
        assert not me.cancelling()
        errors.clear()
        assert await call(hub, where) == {"content": []}
        with pytest.raises(McpError):
            await beside


async def test_a_target_shows_no_secret() -> None:
    shown = repr(Target(f"http://x/?key={SECRET}", headers=(("A", "hidden"),), private_ok=True))
    assert SECRET not in shown
    assert "hidden" not in shown


# Transport sse


async def test_an_sse_server_that_is_dead_or_not_one(hub: Hub) -> None:
    with pytest.raises(ServerUnreachable):
        await hub.tools(Target(f"http://127.0.0.1:{free_port()}/sse", SSE, private_ok=True))
    async with Scripted(html) as server:  # answers GET with 405
        with pytest.raises(ServerGarbage):
            await hub.tools(Target(server.url, SSE, private_ok=True))
    async with Scripted(html) as server:
        server.standing = html
        with pytest.raises(ServerGarbage):
            await hub.tools(Target(server.url, SSE, private_ok=True))


async def test_an_sse_stream_that_ends_takes_its_calls_along(hub: Hub) -> None:
    async with running("sse") as server:
        where = Target(server.url, SSE, private_ok=True)
        await hub.tools(where)
        waiting = asyncio.create_task(hub.call_tool(where, "poll", {"seconds": 30}))
        await asyncio.sleep(0.1)
        await server.stop()
        with pytest.raises(ServerUnreachable):
            await waiting


async def test_an_sse_answer_too_large_says_so(settings: Settings) -> None:
    small = settings.model_copy(update={"result_max_bytes": 20_000})
    async with running("sse") as server, Hub(small) as hub:
        where = Target(server.url, SSE, private_ok=True)
        await hub.tools(where)
        with pytest.raises(ServerTooLarge):
            await hub.call_tool(where, "big", {"size": 50_000})
        result = await hub.call_tool(where, "big", {"size": 5})
        assert result["content"][0]["text"] == "xxxxx"


async def endpoint(request: Request, place: str) -> None:
    await request.stream()
    request.writer.write(f"event: endpoint\ndata: {place}\n\n".encode())
    await request.writer.drain()


@pytest.mark.parametrize(
    "place", ["http://127.0.0.1:1/elsewhere", "//127.0.0.1:1/x", "http://[", "ftp://x/"]
)
async def test_an_sse_server_cannot_send_the_messages_elsewhere(hub: Hub, place: str) -> None:
    async def standing(request: Request) -> None:
        await endpoint(request, place)
        await request.hang()

    async with Scripted(html) as server:
        server.standing = standing
        with pytest.raises(McpError) as caught:
            await hub.tools(
                Target(server.url, SSE, (("Authorization", "Bearer hidden"),), private_ok=True)
            )
        assert type(caught.value) is ServerGarbage
        assert server.seen.calls in (["GET"], ["GET", "server/discover"])


@pytest.mark.parametrize("said", [b"", b": nothing\n\n", b"event: message\ndata: {}\n\n"])
async def test_an_sse_server_that_names_no_place_is_garbage(hub: Hub, said: bytes) -> None:
    async def standing(request: Request) -> None:
        await request.stream()
        request.writer.write(said)
        request.writer.close()

    async with Scripted(html) as server:
        server.standing = standing
        with pytest.raises(ServerGarbage):
            await hub.tools(Target(server.url, SSE, private_ok=True))


async def test_an_sse_message_that_is_refused_costs_its_own_call_only(hub: Hub) -> None:
    """The server's HTTP answer to one message says nothing about the others."""
    async with running("sse") as server:
        where = Target(server.url, SSE, private_ok=True)
        await hub.tools(where)
        beside = asyncio.create_task(hub.call_tool(where, "poll", {"seconds": 1}))
        await until(lambda: server.seen.running == 1)
        server.seen.refused = "tools/call"
        with pytest.raises(ServerGarbage) as caught:
            await hub.call_tool(where, "poll", {"seconds": 0})
        assert caught.value.sentence == "The server answered with HTTP status 400."
        server.seen.refused = ""
        assert (await beside)["content"][0]["text"] == "polled"
        result = await hub.call_tool(where, "poll", {"seconds": 0})
        assert result["content"][0]["text"] == "polled"
        assert server.seen.calls.count("server/discover") == 1
