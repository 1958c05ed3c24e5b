"""Tools that a view itself offers: kept for its life, shown, and gone with it."""

from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import STARTED

# Answers the host's requests from `tools` and `run`; `pages` splits the list.
OFFERS = STARTED.replace(
    "window.start();",
    """
window.mute = true;
window.capabilities = {tools: {listChanged: true}};
window.tools = ["pan", "zoom"].map(
  (name) => ({name, description: `${name}s the map`, inputSchema: {type: "object"}}));
window.pageSize = 1000;
window.asked = [];
window.run = (params) => ({content: [{type: "text", text: JSON.stringify(params.arguments)}]});
addEventListener("message", async ({data: {id, method, params}}) => {
  if (id === undefined || method === undefined) return;
  asked.push([method, params]);
  if (method === "tools/list") {
    const from = Number(params.cursor ?? 0);
    const to = from + pageSize;
    say({id, result: {tools: tools.slice(from, to),
      ...(to < tools.length ? {nextCursor: String(to)} : {})}});
  } else if (method === "tools/call") {
    try { say({id, result: await run(params)}); }
    catch (error) { say({id, error: {code: -32603, message: error.message}}); }
  } else say({id, result: {}});
});
window.start();
""",
)


def call(host: Host, name: str, args: Any = None) -> Any:
    """Through the panel, as an agent's call will come; the result or the error."""
    return host.page.evaluate(
        """([name, args]) => import("/static/js/broker/panel.js")
          .then(({panelsIn}) => (window.thePanel ??= panelsIn(document)[0]).callAppTool(name, args))
          .catch(({code, message, data}) => ({code, message, ...(data ? {data} : {})}))""",
        [name, args or {}],
    )


def offers(host: Host) -> Any:
    return host.panel().locator(".panel-tools")


def test_tools_are_listed_once_the_view_is_up_and_shown(host: Host) -> None:
    frame = host.open(OFFERS)
    fold = offers(host)
    expect(fold.locator("summary")).to_have_text("This view offers the agent 2 tools")
    fold.locator("summary").click()
    expect(fold.get_by_role("listitem")).to_have_text(["pan pans the map", "zoom zooms the map"])
    expect(fold).to_contain_text("Vitrine hands them to no agent yet")
    assert frame.evaluate("asked[0]") == ["tools/list", {}]


def test_a_tool_is_called_and_answers(host: Host) -> None:
    host.open(OFFERS)
    expect(offers(host)).to_be_visible()
    assert call(host, "pan", {"x": 1, "none": None}) == {
        "content": [{"type": "text", "text": '{"x":1,"none":null}'}]
    }


def test_an_unknown_tool_and_a_failing_one_are_errors(host: Host) -> None:
    frame = host.open(OFFERS)
    expect(offers(host)).to_be_visible()
    assert call(host, "publish") == {"code": -32602, "message": "Unknown tool: publish"}
    assert call(host, "__proto__") == {"code": -32602, "message": "Unknown tool: __proto__"}
    assert frame.evaluate("asked.filter(([m]) => m === 'tools/call')") == []
    frame.evaluate("() => { window.run = () => { throw new Error('no map') } }")
    assert call(host, "pan") == {"code": -32603, "message": "no map"}


def test_a_closed_views_tools_are_gone(host: Host) -> None:
    frame = host.open(OFFERS)
    expect(offers(host)).to_be_visible()
    call(host, "pan")
    frame.evaluate("say({method: 'ui/notifications/request-teardown'})")
    expect(host.iframe()).to_have_count(0)
    gone = {"code": -32000, "message": "The view is closed", "data": {"reason": "gone"}}
    assert call(host, "pan") == gone
    expect(offers(host)).to_be_hidden()


def test_a_call_under_way_ends_with_the_view(host: Host) -> None:
    frame = host.open(OFFERS)
    expect(offers(host)).to_be_visible()
    frame.evaluate("() => { window.run = () => new Promise(() => {}) }")
    host.page.evaluate(
        """() => { window.running = import("/static/js/broker/panel.js").then(({panelsIn}) =>
          panelsIn(document)[0].callAppTool("pan", {})).catch((error) => error.message) }"""
    )
    until(frame, "asked.some(([m]) => m === 'tools/call')")
    frame.evaluate("say({method: 'ui/notifications/request-teardown'})")
    assert host.page.evaluate("running") == "The view is closed"


def test_a_changed_list_is_read_again_but_not_for_every_word(host: Host) -> None:
    frame = host.open(OFFERS)
    expect(offers(host)).to_be_visible()
    frame.evaluate(
        "tools.pop();"
        "for (let i = 0; i < 100; i += 1) say({method: 'notifications/tools/list_changed'});"
    )
    expect(offers(host).locator("summary")).to_have_text("This view offers the agent 1 tool")
    assert frame.evaluate("asked.filter(([m]) => m === 'tools/list').length") == 2


def test_a_view_that_declares_no_tools_is_not_asked(host: Host) -> None:
    frame = host.open(OFFERS.replace("window.capabilities = {tools", "window.other = {tools"))
    frame.evaluate("say({method: 'notifications/tools/list_changed'})")
    host.ask("ping")
    assert frame.evaluate("asked") == []
    assert call(host, "pan") == {"code": -32602, "message": "Unknown tool: pan"}


def test_pages_are_followed_up_to_fifty_tools(host: Host) -> None:
    many = OFFERS.replace('["pan", "zoom"]', "Array.from({length: 70}, (_, i) => `t${i}`)").replace(
        "pageSize = 1000", "pageSize = 20"
    )
    frame = host.open(many)
    expect(offers(host).locator("summary")).to_have_text("This view offers the agent 50 tools")
    cursors = frame.evaluate("asked.map(([, params]) => params)")
    assert cursors == [{}, {"cursor": "20"}, {"cursor": "40"}]


@pytest.mark.parametrize(
    "answer",
    [
        "null",
        "{tools: null}",
        "{tools: [null, 7, {}, {name: 5}, {name: 'x'}, {name: 'x', inputSchema: null}]}",
        "{tools: 'x', nextCursor: 'again'}",
    ],
)
def test_a_list_that_is_none_offers_nothing(host: Host, answer: str) -> None:
    frame = host.open(
        OFFERS.replace(
            "say({id, result: {tools: tools.slice(from, to),\n"
            "      ...(to < tools.length ? {nextCursor: String(to)} : {})}});",
            f"say({{id, result: {answer}}});",
        )
    )
    until(frame, "asked.length > 0")
    host.ask("ping")
    expect(offers(host)).to_have_count(0)


def test_a_view_that_never_answers_is_told_that_nobody_waits(host: Host) -> None:
    host.page.clock.install()
    frame = host.open(OFFERS)
    expect(offers(host)).to_be_visible()
    frame.evaluate("() => { window.run = () => new Promise(() => {}) }")
    host.page.evaluate(
        """() => { window.running = import("/static/js/broker/panel.js").then(({panelsIn}) =>
          panelsIn(document)[0].callAppTool("pan", {})).catch(({code, data}) => ({code, data})) }"""
    )
    until(frame, "asked.some(([m]) => m === 'tools/call')")
    host.page.clock.run_for(30_100)
    assert host.page.evaluate("running") == {"code": -32603, "data": {"reason": "timeout"}}
    until(frame, "heard.some(m => m.method === 'notifications/cancelled')")
    asked_id = frame.evaluate("heard.find(m => m.method === 'tools/call').id")
    told = frame.evaluate("heard.find(m => m.method === 'notifications/cancelled').params")
    assert told == {"requestId": asked_id, "reason": "No answer in time"}


def test_a_giant_result_is_no_result(host: Host) -> None:
    frame = host.open(OFFERS)
    expect(offers(host)).to_be_visible()
    frame.evaluate("() => { window.run = () => ({content: ['x'.repeat(2_000_000)]}) }")
    assert call(host, "pan")["code"] == -32603
    expect(host.log()).to_contain_text("over 1 MB")


def test_hostile_names_are_shown_as_text(host: Host) -> None:
    frame = OFFERS.replace('"pan"', "'<img src=x onerror=alert(1)>\\u202e'")
    host.open(frame)
    offers(host).locator("summary").click()
    expect(offers(host)).to_contain_text("<img src=x onerror=alert(1)>⟨U+202E⟩")
    assert offers(host).locator("img").count() == 0
