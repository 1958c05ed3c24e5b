"""From the handshake to the teardown, as the official class lives it."""

from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.broker.conftest import Host, until
from e2e.conformance.conftest import Official, tried

INPUT = ["input", {"arguments": {"city": "Bern"}}]
RESULT = ["result", {"content": [{"type": "text", "text": "sunny"}]}]


def test_the_handshake_tells_all(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    assert frame.evaluate("app.getHostVersion()") == {"name": "Vitrine", "version": "0.1.0"}
    context = frame.evaluate("app.getHostContext()")
    assert context["toolInfo"]["tool"]["name"] == "forecast"
    assert context["displayMode"] == "inline"
    assert context["styles"]["variables"]["--color-text-primary"].startswith("light-dark(")
    assert frame.evaluate("app.getHostCapabilities()") == {
        "openLinks": {},
        "downloadFile": {},
        "serverTools": {"listChanged": True},
        "serverResources": {"listChanged": True},
        "logging": {},
        "updateModelContext": {"text": {}, "structuredContent": {}},
        "message": {"text": {}},
        "sandbox": {"csp": {}, "permissions": {}},
    }


def test_input_then_result(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    until(frame, "seen.length >= 2")
    tried(frame, "sendLog({level: 'info', data: 'x'})")
    assert frame.evaluate("seen") == [INPUT, RESULT]


def test_nothing_comes_before_initialized(host: Host, official: Official) -> None:
    """What the official class hears before its own ``connect`` is through, it would lose."""
    frame = host.open(official.view("make(); window.go = () => app.connect();"), wait=False)
    until(frame, "window.go")
    frame.evaluate(
        "window.early = []; addEventListener('message', ({data}) => early.push(data), true)"
    )
    host.page.emulate_media(color_scheme="dark")
    host.page.wait_for_timeout(400)
    assert frame.evaluate("early") == []
    frame.evaluate("go()")
    host.ready()
    until(frame, "early.length >= 3")
    first = frame.evaluate("early")
    assert "result" in first[0]
    assert first[1]["method"] == "ui/notifications/tool-input"
    assert frame.evaluate("app.getHostContext().theme") == "dark"


PLAIN = {"name": "x", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (
            {"toolInput": None, "toolResult": {"isError": None, "_meta": {"id": None}}},
            [["input", {"arguments": {}}], ["result", {"content": [], "_meta": {"id": None}}]],
        ),
        (
            {"state": "interrupted", "toolResult": ...},
            [INPUT, ["cancelled", {"reason": "The call was interrupted"}]],
        ),
        (
            {"state": "failed", "toolResult": ...},
            [INPUT, ["cancelled", {"reason": "The call failed"}]],
        ),
        ({"state": "pending", "toolResult": ...}, [INPUT]),
        (
            {"toolResult": {"structuredContent": {"a": None}, "resultType": "x", "more": 1}},
            [
                INPUT,
                [
                    "result",
                    {
                        "content": [],
                        "structuredContent": {"a": None},
                        "resultType": "x",
                        "more": 1,
                    },
                ],
            ],
        ),
    ],
)
def test_it_accepts_every_state_of_a_call(
    host: Host, official: Official, data: dict[str, Any], seen: list[Any]
) -> None:
    frame = host.open(official.view(), **data)
    until(frame, f"seen.length >= {len(seen)}")
    assert tried(frame, "sendLog({level: 'info', data: 'x'})") is None
    assert frame.evaluate("seen") == seen


@pytest.mark.parametrize(
    "data",
    [
        {"toolInfo": {"id": None, "tool": {**PLAIN, "title": None, "_meta": None}}},
        {
            "toolInfo": {
                "tool": {
                    "name": "x",
                    "inputSchema": {"type": "object", "properties": None, "required": None},
                    "outputSchema": None,
                    "annotations": None,
                    "icons": None,
                    "execution": None,
                }
            }
        },
        {"toolInfo": {"id": 7, "tool": {"name": "x"}}},
        {"toolInfo": {"id": 7, "tool": {"name": "x", "inputSchema": {}}}},
        {"toolInfo": None},
        {"permissions": None, "granted": None},
        {"permissions": ["geolocation", "sideways"], "granted": {"connectDomains": [None, "x"]}},
    ],
)
def test_it_starts_whatever_the_server_says_of_the_tool(
    host: Host, official: Official, data: dict[str, Any]
) -> None:
    """One ``null``, one schema without a type, and the official class would refuse to start."""
    frame = host.open(official.view(), **data)
    until(frame, "seen.length >= 2")
    assert frame.evaluate("seen.filter(([kind]) => kind === 'error')") == []


def test_a_page_that_breaks_the_palette_breaks_no_view(host: Host, official: Official) -> None:
    host.site.extra_head = "<style>:root { --accent: nonsense; --radius: 1furlong }</style>"
    frame = host.open(official.view())
    assert frame.evaluate("Object.keys(app.getHostContext().styles.variables).length") > 60


def test_a_second_connect_is_served(host: Host, official: Official) -> None:
    """React's strict mode makes two of everything, and numbers its requests from zero again."""
    frame = host.open(official.view())
    until(frame, "seen.length >= 2")
    frame.evaluate("make().connect()")
    assert tried(frame, "callServerTool({name: 'x'})") == {"content": []}
    inputs = frame.evaluate("seen.filter(([kind]) => kind === 'input').length")
    assert inputs == 1


def test_it_is_torn_down_before_it_goes(host: Host, official: Official) -> None:
    host.open(official.view())
    log = host.panel().locator(".panel-log")
    kept = log.evaluate_handle("(element) => element")
    host.page.get_by_role("button", name="Reload").click()
    host.ready()
    assert "torn down" in kept.evaluate(
        "(element) => { element.open = true; return new Promise((done) =>"
        " setTimeout(() => done(element.textContent), 300)) }"
    )


def test_it_asks_to_be_torn_down(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    tried(frame, "requestTeardown()")
    expect(host.log()).to_contain_text("torn down")
    expect(host.notice()).to_contain_text("The view closed itself")
    expect(host.iframe()).to_have_count(0)


def test_a_view_without_a_teardown_handler_is_closed_all_the_same(
    host: Host, official: Official
) -> None:
    start = "make(); app.onteardown = undefined; await app.connect();"
    frame = host.open(official.view(start))
    tried(frame, "requestTeardown()")
    expect(host.iframe()).to_have_count(0)
