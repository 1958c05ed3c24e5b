"""What comes from a server reaches the caller as it was sent: whole, large, and odd."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.mcp.errors import ServerTooLarge
from app.mcp.hub import Hub
from app.mcp.target import SSE, Target
from app.settings import Settings
from tests.mcp.scripts import ERAS, pages, target
from tests.mcp.servers import Request, Running, Scripted, running

KINDS = ["modern", "modern-json", "legacy", "legacy-json", "sse"]
META = {"com.example/any": {"deep": [1, {"null": None}]}, "ui": {"x": "ß"}, "progressToken": 5}


@pytest.fixture(params=KINDS)
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    kind: str = request.param
    async with running(kind.removesuffix("-json"), json_response=kind.endswith("-json")) as one:
        yield one


def place(server: Running) -> Target:
    return Target(
        server.url, SSE if server.url.endswith("/sse") else "streamable-http", private_ok=True
    )


@pytest.fixture
async def wide(settings: Settings) -> AsyncIterator[Hub]:
    """A hub with the cap that Vitrine has where nobody sets one, and time for large answers."""
    usual = Settings.model_fields["result_max_bytes"].default
    update = {
        "result_max_bytes": usual,
        "connect_timeout_seconds": 30,
        "listing_timeout_seconds": 60,
        "call_timeout_seconds": 60,
    }
    async with Hub(settings.model_copy(update=update)) as hub:
        yield hub


# Size


async def test_a_view_of_several_mebibytes_is_read(wide: Hub, server: Running) -> None:
    server.seen.view = "<!doctype html>" + "ü" * 2_000_000
    result = await wide.read_resource(place(server), "ui://clock/large.html")
    assert result["contents"][0]["text"] == server.seen.view


async def test_a_result_of_several_mebibytes_is_read(wide: Hub, server: Running) -> None:
    result = await wide.call_tool(place(server), "big", {"size": 3_000_000})
    assert len(result["content"][0]["text"]) == 3_000_000


async def test_the_cap_holds_for_each_way_of_answering(hub: Hub, server: Running) -> None:
    with pytest.raises(ServerTooLarge) as caught:
        await hub.call_tool(place(server), "big", {"size": 200_000})
    assert caught.value.sentence == "The server's answer is larger than 100000 bytes."
    result = await hub.call_tool(place(server), "big", {"size": 5})
    assert result["content"][0]["text"] == "xxxxx"


# Many at once


async def test_fifty_calls_run_at_once_on_one_connection(wide: Hub, server: Running) -> None:
    where = place(server)
    await wide.tools(where)
    results = await asyncio.gather(
        *(wide.call_tool(where, "gather", {"number": n, "all": 50}) for n in range(50))
    )
    # Each waited at the server for the fifty to be there.
    assert [result["content"][0]["text"] for result in results] == [str(n) for n in range(50)]
    assert server.seen.most_running == 50
    opened = [call for call in server.seen.calls if call in ("server/discover", "initialize")]
    assert len(opened) == len(set(opened))


# Untouched


@pytest.mark.parametrize("era", ERAS)
async def test_meta_is_untouched_at_every_level(hub: Hub, era: str) -> None:
    tool = {
        "name": "t",
        "title": "T",
        "inputSchema": {"type": "object", "x-odd": {"_meta": META}},
        "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "annotations": {"readOnlyHint": True, "odd": META},
        "icons": [{"src": "data:,", "_meta": META}],
        "_meta": META,
        "future": {"_meta": META},
    }
    entry = {"uri": "ui://x", "name": "x", "_meta": META, "annotations": {"odd": META}, "new": 1}
    template = {"uriTemplate": "t://{x}", "name": "x", "_meta": META, "new": [None]}
    read = {
        "contents": [
            {"uri": "ui://x", "mimeType": "text/html", "text": "", "_meta": META, "new": None},
            {"uri": "ui://y", "blob": "AA==", "_meta": {}},
        ],
        "_meta": META,
        "new": {"_meta": META},
    }
    called = {
        "content": [
            {"type": "text", "text": "", "_meta": META, "annotations": {"odd": META}},
            {"type": "resource", "resource": {"uri": "ui://x", "text": "", "_meta": META}},
            {"type": "resource_link", "uri": "ui://x", "name": "x", "_meta": META},
            {"type": "hologram", "beam": {"_meta": META}},
            {"no": "type"},
        ],
        "structuredContent": {"n": "not a number", "_meta": META},
        "_meta": META,
        "isError": False,
        "resultType": "complete",
    }
    answers: dict[str, dict[str, Any]] = {
        "tools/list": {"tools": [tool], "_meta": META},
        "resources/list": {"resources": [entry]},
        "resources/templates/list": {"resourceTemplates": [template]},
        "resources/read": read,
        "tools/call": called,
    }

    async def answer(request: Request) -> None:
        await request.result(answers[request.message["method"]])

    async with Scripted(answer, era) as server:
        where = target(server)
        assert (await hub.tools(where)).tools["t"].raw == tool
        assert await hub.list_resources(where) == [entry]
        assert await hub.list_resource_templates(where) == [template]
        assert await hub.read_resource(where, "ui://x") == read
        assert await hub.call_tool(where, "t", {}) == called


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("structured", [None, "text", 5, [1], {"n": "text"}, {}])
async def test_a_result_that_does_not_fit_its_schema_is_passed_on(
    hub: Hub, era: str, structured: object
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}

    async def answer(request: Request) -> None:
        if request.message["method"] == "tools/list":
            await request.result({"tools": [tool]})
        else:
            await request.result({"structuredContent": structured})

    async with Scripted(answer, era) as server:
        await hub.tools(target(server))
        result = await hub.call_tool(target(server), "t", {})
    assert result == {"structuredContent": structured}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("read", "field"),
    [("list_resources", "resources"), ("list_resource_templates", "resourceTemplates")],
)
async def test_resources_and_templates_come_in_pages_too(
    hub: Hub, era: str, read: str, field: str
) -> None:
    def answer(cursor: str | None) -> object:
        page = int(cursor or 0)
        more = {"nextCursor": str(page + 1)} if page < 3 else {}
        return {field: [{"name": f"n{page}"}, "no object"], **more}

    async with Scripted(pages(answer), era) as server:
        listed = await getattr(hub, read)(target(server))
    assert listed == [{"name": f"n{page}"} for page in range(4)]


async def test_templates_are_listed(hub: Hub, server: Running) -> None:
    listed = await hub.list_resource_templates(place(server))
    assert [entry["uriTemplate"] for entry in listed] == ["test://item/{number}"]


async def test_a_server_without_templates_has_none(hub: Hub) -> None:
    async def unknown(request: Request) -> None:
        await request.error(200, -32601, "Method not found")

    async with Scripted(unknown) as server:
        assert await hub.list_resource_templates(target(server)) == []
