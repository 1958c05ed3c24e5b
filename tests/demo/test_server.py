"""The demo's MCP server, asked by the official client in both protocol eras."""

from collections.abc import AsyncIterator, Iterator
from importlib.resources import files
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.server.apps import APP_MIME_TYPE
from mcp_types import CallToolResult, TextContent, TextResourceContents

from app.demo.run import serving
from app.demo.server import METHODS_URI, PUBLISHED_URI, VIEW_URI

PEAKS = [100, 200, 400, 800]
ARGUMENTS = {
    "service": "checkout-api",
    "weekly_peaks": PEAKS,
    "first_week": "2026-08-10",
    "capacity": 3200,
    "horizon_weeks": 4,
}
ERAS = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


@pytest.fixture
def url() -> Iterator[str]:
    with serving(0) as address:
        yield address


@pytest.fixture(params=ERAS)
async def client(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Client]:
    async with Client(url, mode=request.param) as connected:
        assert connected.protocol_version == ERAS[request.param]
        yield connected


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


async def called(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def read(client: Client, uri: str) -> TextResourceContents:
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content


async def test_each_tool_says_who_may_call_it(client: Client) -> None:
    tools = {tool.name: (tool.meta or {}).get("ui") for tool in (await client.list_tools()).tools}
    assert tools == {
        "show_capacity": {"resourceUri": VIEW_URI, "visibility": ["model"]},
        "forecast": {"visibility": ["app"]},
        "required_capacity": {"visibility": ["app"]},
        "publish_plan": {"visibility": ["model"]},
    }


async def test_each_tool_describes_its_result(client: Client) -> None:
    for tool in (await client.list_tools()).tools:
        assert tool.description
        assert tool.output_schema is not None, tool.name
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name != "publish_plan")


async def test_show_capacity_gives_text_and_numbers(client: Client) -> None:
    result = await client.call_tool("show_capacity", ARGUMENTS)
    assert "grows by 100.0 % a week" in text_of(result)
    assert "in 2 weeks, in the week of 2026-09-14" in text_of(result)
    shown = result.structured_content
    assert isinstance(shown, dict)
    assert shown["service"] == "checkout-api"
    assert [point["peak"] for point in shown["history"]] == PEAKS
    assert [point["peak"] for point in shown["forecast"]] == [1600, 3200, 6400, 12800]
    assert shown["weeks_left"] == 2
    assert shown["reached"] == "2026-09-14"


async def test_forecast_answers_with_the_chosen_growth(client: Client) -> None:
    arguments = {**ARGUMENTS, "growth_percent": 0}
    del arguments["service"]
    shown = await called(client, "forecast", arguments)
    assert shown["weeks_left"] is None
    assert [point["peak"] for point in shown["forecast"]] == [800] * 4


async def test_required_capacity(client: Client) -> None:
    shown = await called(
        client,
        "required_capacity",
        {"weekly_peaks": PEAKS, "growth_percent": 0, "headroom_percent": 10},
    )
    assert shown == {"capacity": 880, "peak": 800, "headroom_percent": 10}


async def test_a_published_plan_is_listed(client: Client) -> None:
    assert "None yet" in (await read(client, PUBLISHED_URI)).text
    plan = {"service": "a\nb", "capacity": 1200, "growth_percent": 2.8, "note": "Agreed."}
    assert (await called(client, "publish_plan", plan))["number"] == 1
    assert (await called(client, "publish_plan", plan))["number"] == 2
    listed = (await read(client, PUBLISHED_URI)).text
    assert "- 2. a⟨U+000A⟩b: 1200 requests per second, growth 2.8 % a week. Agreed." in listed


async def test_published_plans_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.demo.server.PUBLISHED_KEPT", 2)
    with serving(0) as address:
        async with Client(address) as client:
            for _ in range(3):
                plan = {"service": "a", "capacity": 1, "growth_percent": 0}
                await called(client, "publish_plan", plan)
            listed = (await read(client, PUBLISHED_URI)).text
    assert "- 1." not in listed
    assert "- 3." in listed


@pytest.mark.parametrize(
    "wrong",
    [
        {"weekly_peaks": [100, 200, 0, 400]},
        {"weekly_peaks": [100]},
        {"capacity": 0},
        {"horizon_weeks": 1000},
        {"first_week": "soon"},
    ],
)
async def test_arguments_out_of_range_are_an_error(url: str, wrong: dict[str, Any]) -> None:
    async with Client(url) as client:
        result = await client.call_tool("show_capacity", {**ARGUMENTS, **wrong})
    assert result.is_error


async def test_the_view_is_one_document(client: Client) -> None:
    content = await read(client, VIEW_URI)
    assert content.mime_type == APP_MIME_TYPE
    assert content.text == files("app.demo").joinpath("view.html").read_text(encoding="utf-8")
    [listed] = [item for item in (await client.list_resources()).resources if item.uri == VIEW_URI]
    assert (listed.meta or {})["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}


@pytest.mark.parametrize("word", ["eval(", "new Function", "localStorage", "src=", "import("])
def test_the_view_needs_nothing_that_its_frame_forbids(word: str) -> None:
    assert word not in files("app.demo").joinpath("view.html").read_text(encoding="utf-8")


async def test_the_methods_note_is_markdown(client: Client) -> None:
    content = await read(client, METHODS_URI)
    assert content.mime_type == "text/markdown"
    assert content.text.startswith("# How it is computed\n")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_only_post_is_answered(url: str, method: str) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=5) as http:
        answer = await http.request(method, url, headers={"Accept": "text/event-stream"})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_a_web_page_cannot_reach_it(url: str, headers: dict[str, str], status: int) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(trust_env=False, timeout=5) as http:
        answer = await http.post(url, json=ping, headers={**accept, **headers})
    assert answer.status_code == status


async def test_a_large_request_is_refused(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=5) as http:
        answer = await http.post(
            url,
            content=b" " * (256 * 1024 + 1),
            headers={
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
            },
        )
    assert answer.status_code == 413
