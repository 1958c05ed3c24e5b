"""Listings to their end and not beyond, what is kept of them, and leave to ask for them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.mcp import listing
from app.mcp.errors import (
    NotPermitted,
    ServerGarbage,
    ServerTimeout,
    ServerTooLarge,
)
from app.mcp.hub import Hub
from app.mcp.target import Target
from app.settings import Settings
from tests.mcp.scripts import (
    ERAS,
    call,
    html,
    pages,
    target,
)
from tests.mcp.servers import (
    MODERN,
    Request,
    Script,
    Scripted,
)


async def tools(hub: Hub, script: Script, era: str = MODERN) -> Any:
    async with Scripted(script, era) as server:
        return await hub.tools(target(server))


@pytest.mark.parametrize("era", ERAS)
async def test_one_bad_tool_spoils_no_other(hub: Hub, era: str) -> None:
    good = {"name": "good", "inputSchema": {"type": "object"}}
    listed: list[Any] = [None, 5, {"name": 3}, {"name": "odd", "inputSchema": {}, "x": None}, good]
    index = await tools(hub, pages(lambda _: {"tools": listed}), era)
    assert set(index.tools) == {"good", "odd"}
    assert index.tools["odd"].raw == listed[3]
    assert len(index.problems) == 3


async def test_pages_are_read_to_their_end(hub: Hub) -> None:
    def answer(cursor: str | None) -> object:
        page = int(cursor or 0)
        entry = {"tools": [{"name": f"t{page}"}]}
        return entry | ({"nextCursor": str(page + 1)} if page < 4 else {})

    index = await tools(hub, pages(answer))
    assert list(index.tools) == ["t0", "t1", "t2", "t3", "t4"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda cursor: {"tools": [], "nextCursor": "again"},
        lambda cursor: {"tools": [], "nextCursor": str(int(cursor or 0) + 1)},
        lambda cursor: {"tools": [], "nextCursor": 5},
        lambda cursor: {"tools": [], "nextCursor": {"a": 1}},
        lambda cursor: {"tools": {"a": 1}},
        lambda cursor: {"toolz": []},
        lambda cursor: {"tools": [{}] * 3000, "nextCursor": str(int(cursor or 0) + 1)},
    ],
    ids=["repeated", "endless", "number", "object", "not a list", "missing", "too many"],
)
async def test_a_listing_that_makes_no_sense_is_garbage(
    hub: Hub, answer: Callable[[str | None], object]
) -> None:
    with pytest.raises(ServerGarbage):
        await tools(hub, pages(answer))


async def test_the_bound_of_pages_is_a_hundred(hub: Hub) -> None:
    asked = 0

    def answer(cursor: str | None) -> object:
        nonlocal asked
        asked += 1
        return {"tools": [{"name": f"t{asked}"}], "nextCursor": str(asked)}

    with pytest.raises(ServerGarbage):
        await tools(hub, pages(answer))
    assert asked == listing.MAX_PAGES


async def test_a_repeated_cursor_is_noticed_at_once(hub: Hub) -> None:
    asked: list[str | None] = []

    def answer(cursor: str | None) -> object:
        asked.append(cursor)
        return {"tools": [], "nextCursor": "again"}

    with pytest.raises(ServerGarbage):
        await tools(hub, pages(answer))
    assert asked == [None, "again"]


async def test_pages_together_are_capped_in_size(hub: Hub) -> None:
    def answer(cursor: str | None) -> object:
        number = int(cursor or 0) + 1
        return {"tools": [{"name": f"t{number}", "d": "x" * 30_000}], "nextCursor": str(number)}

    with pytest.raises(ServerTooLarge):
        await tools(hub, pages(answer))


async def test_a_listing_is_bounded_in_all_and_not_by_page(settings: Settings) -> None:
    async def slow_pages(request: Request) -> None:
        await asyncio.sleep(0.1)
        cursor = int(request.message.get("params", {}).get("cursor", 0)) + 1
        await request.result({"tools": [], "nextCursor": str(cursor)})

    quick = settings.model_copy(update={"listing_timeout_seconds": 0.5})
    async with Hub(quick) as hub:
        with pytest.raises(ServerTimeout):
            await tools(hub, slow_pages)


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_without_tools_or_resources_has_none(hub: Hub, era: str) -> None:
    async def unknown(request: Request) -> None:
        await request.error(200, -32601, "Method not found")

    async with Scripted(unknown, era) as server:
        assert (await hub.tools(target(server))).tools == {}
        assert await hub.list_resources(target(server)) == []


async def test_resource_entries_that_are_no_objects_are_left_out(hub: Hub) -> None:
    script = pages(lambda _: {"resources": [{"uri": "ui://a"}, "ui://b", None]})
    async with Scripted(script) as server:
        assert await hub.list_resources(target(server)) == [{"uri": "ui://a"}]


async def test_marked_arguments_are_mirrored_into_headers(hub: Hub) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "x-mcp-header": "City"}},
    }

    async def answer(request: Request) -> None:
        if request.message["method"] == "tools/list":
            await request.result({"tools": [{"name": "t", "inputSchema": schema}]})
        else:
            await request.result({"content": []})

    async with Scripted(answer) as server:
        await hub.tools(target(server))
        await hub.call_tool(target(server), "t", {"city": "Rome"})
        assert server.seen.headers[-1]["mcp-param-city"] == "Rome"
        assert server.seen.headers[-1]["mcp-name"] == "t"


async def test_permission_is_asked_before_any_traffic(settings: Settings) -> None:
    asked: list[Target] = []

    async def permit(where: Target) -> bool:
        asked.append(where)
        return False

    async with Scripted(html) as server, Hub(settings, permit=permit) as hub:
        for ask in (hub.tools, hub.list_resources):
            with pytest.raises(NotPermitted):
                await ask(target(server))
        with pytest.raises(NotPermitted):
            await call(hub, target(server))
        assert server.seen.sockets == 0
    assert asked == [target(server)] * 3


async def test_a_forbidden_address_is_not_contacted(hub: Hub) -> None:
    with pytest.raises(NotPermitted) as caught:
        await hub.tools(Target("http://169.254.169.254/mcp", private_ok=True))
    assert caught.value.sentence == "This server's address is one that Vitrine does not contact."
    with pytest.raises(NotPermitted):
        await hub.tools(Target("http://127.0.0.1:1/mcp", private_ok=False))
    assert hub.connections_opened == 0


async def test_peeking_makes_no_traffic(hub: Hub) -> None:
    async with Scripted(html) as server:
        assert hub.peek_tools(target(server)) is None
        assert hub.peek_tools_stale(target(server)) is None
        await asyncio.sleep(0.05)
        assert server.seen.sockets == 0


async def test_an_old_index_is_only_found_when_asked_for(settings: Settings) -> None:
    now = 0.0
    async with (
        Scripted(pages(lambda _: {"tools": [{"name": "t"}]})) as server,
        Hub(settings, clock=lambda: now) as hub,
    ):
        where = target(server)
        index = await hub.tools(where)
        assert hub.peek_tools(where) is index
        now = settings.cache_seconds + 1
        assert hub.peek_tools(where) is None
        assert hub.peek_tools_stale(where) is index
        assert await hub.tools(where) is not index


async def test_dropping_a_target_forgets_and_disconnects(hub: Hub) -> None:
    async with Scripted(pages(lambda _: {"tools": []})) as server:
        where = target(server)
        await hub.tools(where)
        hub.drop(where)
        assert hub.peek_tools_stale(where) is None
        await hub.tools(where)
        assert server.seen.calls.count("server/discover") == 2
