"""Real calls to the SDK's own server, in both eras and over both transports."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from app import __version__
from app.mcp.errors import NotPermitted, ServerRejected, ServerUnreachable
from app.mcp.hub import Hub
from app.mcp.target import Target
from app.settings import Settings
from tests.mcp.servers import MODERN, URI, VIEW, Running, running, start, until

PREFIX = "io.modelcontextprotocol/"
KINDS = ["modern", "legacy", "legacy-json", "sse"]


@pytest.fixture(params=KINDS)
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    kind: str = request.param
    async with running(kind.removesuffix("-json"), json_response=kind.endswith("-json")) as one:
        yield one


def target(server: Running, **headers: str) -> Target:
    transport = "sse" if server.url.endswith("/sse") else "streamable-http"
    return Target(server.url, transport, tuple(headers.items()), private_ok=True)


async def test_the_index_says_what_a_tool_declares(hub: Hub, server: Running) -> None:
    index = await hub.tools(target(server))
    assert index.problems == ()
    show = index.tools["show"]
    assert show.resource_uri == URI
    assert show.visibility == frozenset({"model", "app"})
    assert show.raw["inputSchema"]["type"] == "object"
    assert index.tools["poll"].resource_uri is None
    assert index.tools["poll"].visibility == frozenset({"app"})
    assert index.tools["big"].visibility is None


async def test_a_result_comes_whole(hub: Hub, server: Running) -> None:
    result = await hub.call_tool(target(server), "show", {"city": "Rome"})
    assert result["content"] == [{"type": "text", "text": "Time in Rome"}]
    assert result["structuredContent"] == {"city": "Rome"}
    assert result["_meta"]["com.example/only"] == {"for": "the view"}
    assert result["isError"] is False


async def test_a_tools_own_error_is_a_result(hub: Hub, server: Running) -> None:
    result = await hub.call_tool(target(server), "show", {"town": "Rome"})
    assert result["isError"] is True


async def test_a_view_is_read(hub: Hub, server: Running) -> None:
    result = await hub.read_resource(target(server), URI)
    content = result["contents"][0]
    assert content["text"] == VIEW
    assert content["mimeType"] == "text/html;profile=mcp-app"


async def test_resources_are_listed(hub: Hub, server: Running) -> None:
    listed = await hub.list_resources(target(server))
    assert {entry["uri"] for entry in listed} == {URI, "ui://clock/large.html"}


async def test_the_servers_own_error_is_passed_on(hub: Hub, server: Running) -> None:
    with pytest.raises(ServerRejected) as caught:
        await hub.read_resource(target(server), "ui://none")
    assert caught.value.code == -32602
    assert caught.value.message == "Unknown resource: ui://none"
    assert caught.value.data == {"uri": "ui://none"}
    assert "none" not in caught.value.sentence


async def test_vitrine_says_who_it_is_and_what_it_can(hub: Hub, server: Running) -> None:
    await hub.tools(target(server))
    told: dict[str, Any] = server.seen.client
    name = told.get("clientInfo") or told[f"{PREFIX}clientInfo"]
    can = told.get("capabilities") or told[f"{PREFIX}clientCapabilities"]
    assert name == {"name": "Vitrine", "version": __version__}
    assert can["extensions"] == {f"{PREFIX}ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}


async def test_headers_go_with_every_request(hub: Hub, server: Running) -> None:
    await hub.call_tool(target(server, Authorization="Bearer t"), "show", {"city": "Rome"})
    assert len(server.seen.headers) >= 2
    assert all(headers["authorization"] == "Bearer t" for headers in server.seen.headers)


async def test_calls_run_side_by_side_on_one_connection(hub: Hub, server: Running) -> None:
    """Each of them is answered when all have come."""
    where = target(server)
    await asyncio.gather(
        *(hub.call_tool(where, "gather", {"number": n, "all": 8}) for n in range(8))
    )
    assert server.seen.most_running == 8
    opened = [call for call in server.seen.calls if call in ("server/discover", "initialize")]
    assert len(opened) == len(set(opened))


async def test_calls_one_after_the_other_open_no_new_connection(hub: Hub, server: Running) -> None:
    where = target(server)
    await hub.tools(where)
    await hub.call_tool(where, "show", {"city": "Rome"})
    if server.seen.client.get(f"{PREFIX}protocolVersion") == MODERN and not server.seen.standing:
        # Its subscription is a connection of its own.
        await until(lambda: "subscriptions/listen" in server.seen.calls)
    before = hub.connections_opened
    for _ in range(10):
        await hub.call_tool(where, "show", {"city": "Rome"})
    assert hub.connections_opened == before
    assert before <= 3


async def test_a_caller_who_gives_up_leaves_the_connection_to_the_others(
    hub: Hub, server: Running
) -> None:
    where = target(server)
    await hub.tools(where)
    slow = asyncio.create_task(hub.call_tool(where, "poll", {"seconds": 30}))
    other = asyncio.create_task(hub.call_tool(where, "poll", {"seconds": 0.3}))
    await asyncio.sleep(0.1)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert (await other)["content"][0]["text"] == "polled"


async def test_an_idle_connection_is_closed_and_opened_again(
    settings: Settings, server: Running
) -> None:
    async with Hub(settings, idle_seconds=0.05) as hub:
        where = target(server)
        await hub.call_tool(where, "show", {"city": "Rome"})
        await until(lambda: not hub._live)
        result = await hub.call_tool(where, "show", {"city": "Oslo"})
    assert result["structuredContent"] == {"city": "Oslo"}
    opened = [call for call in server.seen.calls if call in ("server/discover", "initialize")]
    assert opened.count(opened[-1]) == 2


async def test_a_connection_in_use_is_not_idle(settings: Settings, server: Running) -> None:
    async with Hub(settings, idle_seconds=0.05) as hub:
        result = await hub.call_tool(target(server), "poll", {"seconds": 0.4})
    assert result["content"][0]["text"] == "polled"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_restarted_server_is_found_again(hub: Hub, kind: str) -> None:
    json_response = kind.endswith("-json")
    kind = kind.removesuffix("-json")
    first = await start(kind, json_response=json_response)
    where = target(first)
    await hub.call_tool(where, "show", {"city": "Rome"})
    await first.stop()
    port = int(first.url.split(":")[2].split("/")[0])
    second = await start(kind, port=port, json_response=json_response)
    try:
        assert (await hub.read_resource(where, URI))["contents"][0]["text"] == VIEW
        result = await hub.call_tool(where, "show", {"city": "Oslo"})
        assert result["structuredContent"] == {"city": "Oslo"}
        assert second.seen.ran == 1
    finally:
        await second.stop()


@pytest.mark.parametrize("kind", ["modern", "legacy", "legacy-json"])
async def test_a_call_after_a_restart_runs_once(hub: Hub, kind: str) -> None:
    json_response = kind.endswith("-json")
    kind = kind.removesuffix("-json")
    first = await start(kind, json_response=json_response)
    where = target(first)
    await hub.call_tool(where, "show", {"city": "Rome"})
    await first.stop()
    port = int(first.url.split(":")[2].split("/")[0])
    second = await start(kind, port=port, json_response=json_response)
    try:
        await hub.call_tool(where, "show", {"city": "Oslo"})
        assert second.seen.ran == 1
    finally:
        await second.stop()


async def test_a_stopped_server_is_unreachable_until_it_is_back(hub: Hub) -> None:
    first = await start()
    where = target(first)
    await hub.tools(where)
    await first.stop()
    with pytest.raises(ServerUnreachable) as caught:
        await hub.call_tool(where, "show", {"city": "Rome"})
    assert caught.value.sentence == "The server cannot be reached."
    second = await start(port=int(first.url.split(":")[2].split("/")[0]))
    try:
        await hub.call_tool(where, "show", {"city": "Rome"})
    finally:
        await second.stop()
    assert second.seen.ran == 1


async def test_other_headers_mean_another_connection_and_cache(hub: Hub) -> None:
    async with running() as server:
        await hub.tools(target(server, Authorization="Bearer one"))
        assert hub.peek_tools(target(server, authorization="Bearer one")) is not None
        assert hub.peek_tools(target(server, Authorization="Bearer two")) is None
        await hub.tools(target(server, Authorization="Bearer two"))
    assert server.seen.calls.count("server/discover") == 2


async def test_a_closed_hub_leaves_nothing_behind(settings: Settings, server: Running) -> None:
    hub = Hub(settings)
    where = target(server)
    await hub.tools(where)
    waiting = asyncio.create_task(hub.call_tool(where, "poll", {"seconds": 30}))
    await asyncio.sleep(0.1)
    await hub.aclose()
    with pytest.raises(ServerUnreachable):
        await waiting
    with pytest.raises(ServerUnreachable):
        await hub.call_tool(where, "show", {"city": "Rome"})
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "mcp-connection"]


async def test_a_permission_that_is_withdrawn_meanwhile_opens_nothing(settings: Settings) -> None:
    """Switched off between the answer and the connection: the answer is asked for again."""
    answers = [True, False]
    asked = asyncio.Event()
    go_on = asyncio.Event()

    async def permit(_target: Target) -> bool:
        answer = answers.pop(0)
        asked.set()
        await go_on.wait()
        return answer

    async with running("modern") as server, Hub(settings, permit=permit) as hub:
        reading = asyncio.create_task(hub.tools(target(server)))
        await asked.wait()
        hub.drop(target(server))
        go_on.set()
        with pytest.raises(NotPermitted):
            await reading
        assert hub.connections_opened == 0
        assert answers == []
