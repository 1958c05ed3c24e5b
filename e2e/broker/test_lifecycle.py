"""The life of a view: what it is told, when, and in what form."""

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import NOT_STARTED, STARTED

VARIABLES = 37 + 2 + 4 + 8 + 14 + 6 + 1 + 4  # colours, fonts, weights, text, headings, radii, …


def test_the_frame_is_sandboxed_and_named(host: Host) -> None:
    frame = host.open()
    assert host.iframe().get_attribute("sandbox") == "allow-scripts allow-forms"
    assert host.iframe().get_attribute("title") == "View of weather/forecast"
    assert frame.evaluate("self.origin") == "null"


def test_the_initialize_result_has_all_that_views_require(host: Host) -> None:
    result = host.open().evaluate("answer.result")
    assert set(result) == {"protocolVersion", "hostInfo", "hostCapabilities", "hostContext"}
    assert result["protocolVersion"] == "2026-01-26"
    assert result["hostInfo"] == {"name": "Vitrine", "version": "0.1.0"}
    context = result["hostContext"]
    assert context["toolInfo"]["tool"]["name"] == "forecast"
    assert context["theme"] in ("light", "dark")
    assert context["displayMode"] == "inline"
    assert context["availableDisplayModes"] == ["inline", "fullscreen"]
    assert context["userAgent"] == "vitrine/0.1.0"
    assert context["platform"] == "web"
    assert context["locale"]
    assert context["timeZone"]
    assert set(context["deviceCapabilities"]) == {"touch", "hover"}
    assert context["safeAreaInsets"] == {"top": 0, "right": 0, "bottom": 0, "left": 0}
    dimensions = context["containerDimensions"]
    box = host.iframe().bounding_box()
    assert box is not None
    assert abs(dimensions["width"] - box["width"]) <= 1
    assert dimensions["maxHeight"] == 640  # 80 % of a window of 800


def test_only_what_is_wired_is_advertised(host: Host) -> None:
    host.site.panels = []
    frame = host.open(
        granted={"connectDomains": ["https://a.example"], "resourceDomains": []},
        permissions=["geolocation"],
    )
    assert frame.evaluate("answer.result.hostCapabilities") == {
        "openLinks": {},
        "downloadFile": {},
        "serverTools": {"listChanged": True},
        "serverResources": {"listChanged": True},
        "logging": {},
        "updateModelContext": {"text": {}, "structuredContent": {}},
        "message": {"text": {}},
        "sandbox": {
            "csp": {"connectDomains": ["https://a.example"]},
            "permissions": {"geolocation": {}},
        },
    }


def test_the_palette_is_complete_concrete_and_holds_standard_keys_only(host: Host) -> None:
    variables = host.open().evaluate("answer.result.hostContext.styles.variables")
    assert len(variables) == VARIABLES
    for key, value in variables.items():
        assert isinstance(value, str)
        assert value
        assert "var(" not in value, key
        if key.startswith("--color-"):
            assert value.startswith("light-dark("), key
    assert (
        variables["--color-background-primary"] == "light-dark(rgb(255, 255, 255), rgb(35, 37, 41))"
    )


def test_the_view_gets_input_once_then_the_result(host: Host) -> None:
    frame = host.open()
    methods = frame.evaluate("heard.filter(m => m.method).map(m => m.method)")
    assert methods[:2] == ["ui/notifications/tool-input", "ui/notifications/tool-result"]
    assert host.heard("ui/notifications/tool-input") == [{"arguments": {"city": "Bern"}}]
    assert host.heard("ui/notifications/tool-result") == [
        {"content": [{"type": "text", "text": "sunny"}]}
    ]


@pytest.mark.parametrize("given", [..., None, [], "text"])
def test_a_call_without_arguments_gives_an_empty_object(host: Host, given: Any) -> None:
    host.open(toolInput=given)
    assert host.heard("ui/notifications/tool-input") == [{"arguments": {}}]


def test_nothing_is_sent_before_initialized(host: Host) -> None:
    frame = host.open(NOT_STARTED, wait=False)
    expect(host.iframe()).to_be_visible()
    frame.evaluate("ask('ui/initialize', {protocolVersion: '2026-01-26'})")
    host.page.emulate_media(color_scheme="dark")
    host.page.set_viewport_size({"width": 500, "height": 800})
    frame.evaluate("new Promise(done => setTimeout(done, 700))")
    assert frame.evaluate("heard.filter(m => m.method)") == []
    frame.evaluate("say({method: 'ui/notifications/initialized'})")
    host.ready()
    until(frame, "heard.some(m => m.method === 'ui/notifications/host-context-changed')")
    methods = frame.evaluate("heard.filter(m => m.method).map(m => m.method)")
    assert methods[:2] == ["ui/notifications/tool-input", "ui/notifications/tool-result"]
    changed = host.heard("ui/notifications/host-context-changed")[0]
    assert changed["theme"] == "dark"
    assert "containerDimensions" in changed
    assert "locale" not in changed


def test_nothing_of_the_hosts_own_holds_a_null(host: Host) -> None:
    tool = {
        "name": "forecast",
        "title": None,
        "description": None,
        "annotations": {"readOnlyHint": None, "title": None, "destructiveHint": False},
        "inputSchema": {
            "type": "object",
            "properties": {"a": True, "b": {"default": None}},
            "required": ["b", None],
        },
        "outputSchema": {"type": "array"},
        "_meta": None,
        "icons": None,
    }
    frame = host.open(toolInfo={"id": None, "tool": tool})
    host.page.emulate_media(color_scheme="dark")
    until(frame, "heard.some(m => m.method === 'ui/notifications/host-context-changed')")
    text = json.dumps(frame.evaluate("heard"))
    assert "null" not in text
    given = frame.evaluate("answer.result.hostContext.toolInfo")
    assert given == {
        "tool": {
            "name": "forecast",
            "annotations": {"destructiveHint": False},
            "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"]},
        }
    }


@pytest.mark.parametrize(
    "tool", [{"name": "x"}, {"name": "x", "inputSchema": {}}, {"inputSchema": {"type": "object"}}]
)
def test_a_tool_that_views_would_refuse_is_left_out(host: Host, tool: dict[str, Any]) -> None:
    frame = host.open(toolInfo={"id": "1", "tool": tool})
    assert "toolInfo" not in frame.evaluate("answer.result.hostContext")


def test_a_recorded_result_is_passed_as_it_is_but_for_what_breaks_views(host: Host) -> None:
    recorded = {
        "content": [{"type": "text", "text": "a"}, None, {"type": "later-kind", "x": None}],
        "structuredContent": {"nothing": None, "list": [None]},
        "_meta": {"viewUUID": "u", "none": None},
        "isError": None,
        "resultType": "complete",
    }
    host.open(toolResult=recorded)
    assert host.heard("ui/notifications/tool-result") == [
        {
            "content": [{"type": "text", "text": "a"}, {"type": "later-kind", "x": None}],
            "structuredContent": {"nothing": None, "list": [None]},
            "_meta": {"viewUUID": "u", "none": None},
            "resultType": "complete",
        }
    ]


def test_null_members_of_a_result_are_dropped(host: Host) -> None:
    host.open(toolResult={"content": None, "structuredContent": None, "_meta": None})
    assert host.heard("ui/notifications/tool-result") == [{"content": []}]


def test_a_pending_call_has_no_result_and_the_panel_says_so(host: Host) -> None:
    frame = host.open(state="pending", toolResult=...)
    expect(host.notice()).to_contain_text("has not answered yet")
    frame.evaluate("ask('ping')")
    methods = frame.evaluate("heard.filter(m => m.method).map(m => m.method)")
    assert methods == ["ui/notifications/tool-input"]


@pytest.mark.parametrize(
    ("state", "reason", "said"),
    [
        ("interrupted", "The call was interrupted", "was interrupted"),
        ("failed", "The call failed", "does not hold"),
        ("done", "The transcript does not hold the result", "does not hold"),
    ],
)
def test_a_call_without_result_is_cancelled_with_a_reason(
    host: Host, state: str, reason: str, said: str
) -> None:
    host.open(state=state, toolResult=...)
    assert host.heard("ui/notifications/tool-cancelled") == [{"reason": reason}]
    assert host.heard("ui/notifications/tool-result") == []
    expect(host.notice()).to_contain_text(said)


def test_an_error_result_goes_to_the_view_and_is_shown_as_text(host: Host) -> None:
    result = {"content": [{"type": "text", "text": "no such \u202ecity"}], "isError": True}
    host.open(state="failed", toolResult=result)
    assert host.heard("ui/notifications/tool-result") == [result]
    expect(host.notice()).to_contain_text("no such ⟨U+202E⟩city")


def test_a_second_initialize_is_answered_and_input_stays_one(host: Host) -> None:
    frame = host.open()
    frame.evaluate("start()")
    frame.evaluate("start()")
    frame.evaluate("ask('ping')")
    assert len(host.heard("ui/notifications/tool-input")) == 1
    assert frame.evaluate("answer.result.protocolVersion") == "2026-01-26"


@pytest.mark.parametrize("params", [{}, {"protocolVersion": "1999-01-01", "appInfo": {"name": 5}}])
def test_a_bare_initialize_is_enough(host: Host, params: dict[str, Any]) -> None:
    host.open()
    assert host.ask("ui/initialize", params)["result"]["protocolVersion"] == "2026-01-26"


def test_a_call_before_initialize_is_served(host: Host) -> None:
    early = STARTED.replace(
        "window.start();", "window.early = ask('tools/call', {name: 'x'}); setTimeout(start, 300);"
    )
    frame = host.open(early)
    assert frame.evaluate("early")["result"] == {"content": []}


def test_ping_is_answered_at_any_time(host: Host) -> None:
    frame = host.open(NOT_STARTED, wait=False)
    until(frame, "window.ask !== undefined")
    assert frame.evaluate("ask('ping')")["result"] == {}


def test_a_theme_switch_is_told(host: Host) -> None:
    host.page.emulate_media(color_scheme="light")
    frame = host.open()
    assert frame.evaluate("answer.result.hostContext.theme") == "light"
    host.page.emulate_media(color_scheme="dark")
    until(frame, "heard.some(m => m.params?.theme === 'dark')")
    assert frame.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


def test_a_theme_chosen_on_the_page_wins(host: Host) -> None:
    frame = host.open()
    host.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    until(frame, "heard.some(m => m.params?.theme === 'dark')")


def test_a_view_that_asks_to_be_closed_is_told_first(host: Host) -> None:
    frame = host.open()
    # What it says before its answer still arrives; after it, the frame may be gone.
    frame.evaluate(
        "mute = true;"
        "addEventListener('message', ({data}) => {"
        " if (data.method !== 'ui/resource-teardown') return;"
        " say({method: 'notifications/message',"
        "  params: {level: 'info', data: 'told ' + data.params.reason}});"
        " say({id: data.id, result: {}})});"
        "say({method: 'ui/notifications/request-teardown', params: {}})"
    )
    expect(host.iframe()).to_have_count(0)
    expect(host.log()).to_contain_text("told The view asked to be closed")
    expect(host.notice()).to_contain_text("The view closed itself")
    expect(host.notice().get_by_role("button", name="Reload view")).to_be_visible()


def test_a_view_that_does_not_answer_teardown_is_closed_all_the_same(host: Host) -> None:
    frame = host.open()
    frame.evaluate("mute = true; say({method: 'ui/notifications/request-teardown'})")
    expect(host.iframe()).to_have_count(0)


def test_requests_are_served_while_the_view_is_ending(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        "mute = true; addEventListener('message', ({data}) => {"
        " if (data.method === 'ui/resource-teardown') ask('tools/call', {name: 'save'});});"
        "say({method: 'ui/notifications/request-teardown'})"
    )
    expect(host.iframe()).to_have_count(0)
    assert host.site.calls() == [{"method": "tools/call", "params": {"name": "save"}}]
