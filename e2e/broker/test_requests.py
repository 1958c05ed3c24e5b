"""What a view asks of its server and of the agent, and every way in which that fails."""

import threading
from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.broker.conftest import Host
from e2e.broker.site import STARTED, PanelSpec


def test_a_tool_call_goes_to_the_proxy_as_the_view_made_it(host: Host) -> None:
    host.site.rpc = lambda _body: (
        200,
        {"result": {"content": [], "structuredContent": {"n": None}, "isError": None}},
    )
    host.open()
    params = {"name": "poll", "arguments": {"a": [1, None]}, "_meta": {"progressToken": 3}}
    answer = host.ask("tools/call", params)
    assert host.site.calls() == [{"method": "tools/call", "params": params}]
    assert answer["result"] == {"content": [], "structuredContent": {"n": None}}
    headers = host.site.posts[0].headers
    assert headers["Content-Type"] == "application/json"
    assert headers["Origin"] == host.site.url


def test_a_resource_is_read_through_the_proxy_and_left_as_it_came(host: Host) -> None:
    contents = {"contents": [{"uri": "x://y", "text": "t", "_meta": None}], "nextCursor": None}
    host.site.rpc = lambda _body: (200, {"result": contents})
    host.open()
    assert host.ask("resources/read", {"uri": "x://y"})["result"] == contents
    assert host.site.calls() == [{"method": "resources/read", "params": {"uri": "x://y"}}]


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ],
)
def test_lists_come_from_the_server_as_they_are(host: Host, method: str, name: str) -> None:
    listing = {name: [{"name": "a", "title": None}], "nextCursor": "2"}
    host.site.rpc = lambda _body: (200, {"result": listing})
    host.open()
    assert host.ask(method, {"cursor": "1"})["result"] == listing
    assert host.site.calls() == [{"method": method, "params": {"cursor": "1"}}]


def test_the_servers_own_error_is_passed_on(host: Host) -> None:
    error = {"code": -32602, "message": "Unknown tool: publish", "data": {"reason": "x"}}
    host.site.rpc = lambda _body: (200, {"error": error})
    host.open()
    assert host.ask("tools/call", {"name": "publish"})["error"] == error


@pytest.mark.parametrize(
    "error", [{"code": "many", "message": None, "data": None}, {}, {"code": 1.5, "message": 7}]
)
def test_a_malformed_error_still_is_one(host: Host, error: dict[str, Any]) -> None:
    host.site.rpc = lambda _body: (200, {"error": error})
    host.open()
    assert host.ask("tools/call", {"name": "x"})["error"] == {
        "code": -32603,
        "message": "The server answered with an error",
    }


@pytest.mark.parametrize(
    ("status", "code", "data"),
    [
        (401, -32000, {"reason": "signed-out"}),
        (403, -32000, {"reason": "denied"}),
        (404, -32000, {"reason": "gone"}),
        (410, -32000, {"reason": "gone"}),
        (413, -32000, {"reason": "too-large"}),
        (429, -32000, {"reason": "limit", "retryAfterMs": 7000}),
        (500, -32603, {"reason": "server-error"}),
        (503, -32603, {"reason": "server-error"}),
    ],
)
def test_http_refusals_become_errors_with_the_servers_sentence(
    host: Host, status: int, code: int, data: dict[str, Any]
) -> None:
    host.site.rpc = lambda _body: (status, {"error": {"code": status, "message": "A sentence."}})
    host.open()
    assert host.ask("tools/call", {"name": "x"})["error"] == {
        "code": code,
        "message": "A sentence.",
        "data": data,
    }


@pytest.mark.parametrize("answer", [(200, "<p>sign in</p>"), (200, []), (200, {"result": "x"})])
def test_an_answer_that_is_none_is_said(host: Host, answer: tuple[int, Any]) -> None:
    host.site.rpc = lambda _body: answer
    host.open()
    error = host.ask("tools/call", {"name": "x"})["error"]
    assert (error["code"], error["data"]) == (-32603, {"reason": "garbage"})


def test_a_redirect_means_signed_out(host: Host) -> None:
    host.site.rpc = lambda _body: (303, "go there")
    host.open()
    assert host.ask("tools/call", {"name": "x"})["error"]["data"] == {"reason": "signed-out"}


def test_an_unreachable_server_is_said(host: Host) -> None:
    host.open()
    host.page.route("**/rpc", lambda route: route.abort())
    error = host.ask("tools/call", {"name": "x"})["error"]
    assert (error["code"], error["data"]) == (-32603, {"reason": "unreachable"})


def test_a_call_without_a_name_is_refused_here(host: Host) -> None:
    host.open()
    assert host.ask("tools/call", {"arguments": {}})["error"]["code"] == -32602
    assert host.site.posts == []


@pytest.mark.parametrize(
    "method",
    [
        "prompts/list",
        "completion/complete",
        "resources/subscribe",
        "elicitation/create",
        "sampling/createMessage",
        "ui/nonsense",
        "constructor",
        "__proto__",
        "toString",
        "ui/notifications/initialized",
    ],
)
def test_what_is_not_served_is_method_not_found(host: Host, method: str) -> None:
    host.open()
    assert host.ask(method)["error"]["code"] == -32601


def test_a_cancelled_call_is_aborted_and_never_answered(host: Host) -> None:
    release = threading.Event()

    def slow(_body: Any) -> tuple[int, Any]:
        release.wait(20)
        return 200, {"result": {"content": []}}

    host.site.rpc = slow
    frame = host.open()
    with host.page.expect_event("requestfailed", lambda r: r.url.endswith("/rpc")):
        frame.evaluate("say({id: 'c', method: 'tools/call', params: {name: 'slow'}})")
        host.wait(lambda: host.site.posts)
        frame.evaluate("say({method: 'notifications/cancelled', params: {requestId: 'c'}})")
    release.set()
    frame.evaluate("ask('ping')")
    assert frame.evaluate("heard.filter(m => m.id === 'c')") == []


class Gate:
    """A tool that answers once it is let through, and how many calls of it there were at once."""

    def __init__(self) -> None:
        self.through = threading.Semaphore(0)
        self._lock = threading.Lock()
        self.running = self.most = 0

    def __call__(self, _body: Any) -> tuple[int, Any]:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        assert self.through.acquire(timeout=60)
        with self._lock:
            self.running -= 1
        return 200, {"result": {"content": []}}


def test_slow_calls_of_all_views_leave_connections_to_the_page(host: Host) -> None:
    """Six connections an origin, one of them the event stream's: four at once for all views, and
    a view that asks for much does not keep the others waiting.
    """
    host.site.rpc = gate = Gate()
    host.site.late_after = 60
    host.site.panels = [PanelSpec(STARTED), PanelSpec(STARTED)]
    host.page.goto(host.site.url)
    host.ready(0)
    host.ready(1)
    many = (
        "([count, name]) => { window.all = Promise.all("
        "Array.from({length: count}, () => ask('tools/call', {name}))); }"
    )
    host.frame(0).evaluate(many, [20, "greedy"])
    host.wait(lambda: len(host.site.posts) >= 3)
    host.frame(1).evaluate(many, [2, "modest"])
    host.wait(lambda: len(host.site.posts) >= 4)
    assert host.page.evaluate("fetch('/panel?number=0').then(r => r.ok)")
    for _ in range(4):
        gate.through.release()
    host.wait(lambda: len(host.site.posts) >= 8)
    names = [call["params"]["name"] for call in host.site.calls()]
    assert names.count("modest") == 2  # among the first eight, though twelve had come before
    for _ in range(18):
        gate.through.release()
    assert len(host.frame(0).evaluate("all")) == 20
    assert len(host.frame(1).evaluate("all")) == 2
    assert gate.most == 4


def test_too_many_calls_at_once_are_refused(host: Host) -> None:
    host.site.rpc = gate = Gate()
    frame = host.open()
    frame.evaluate(
        "() => { window.all = Promise.all("
        "Array.from({length: 103}, () => ask('tools/call', {name: 'x'}))); }"
    )
    for _ in range(100):
        gate.through.release()
    errors = [answer["error"] for answer in frame.evaluate("all") if "error" in answer]
    busy = {"code": -32000, "message": "Too many requests at once", "data": {"reason": "busy"}}
    assert errors == [busy] * 3


def test_slow_calls_leave_connections_to_the_page(host: Host) -> None:
    """Three at once for one view, the others wait their turn."""
    host.site.rpc = gate = Gate()
    host.site.late_after = 60
    frame = host.open()
    frame.evaluate(
        "() => { window.all = Promise.all("
        "Array.from({length: 9}, () => ask('tools/call', {name: 'x'}))); }"
    )
    host.wait(lambda: len(host.site.posts) >= 3)
    assert host.page.evaluate("fetch('/panel?number=0').then(r => r.ok)")
    for _ in range(9):
        gate.through.release()
    assert len(frame.evaluate("all")) == 9
    assert gate.most == 3


def test_messages_and_context_go_to_the_agent_as_sent(host: Host) -> None:
    host.open()
    message = {"role": "user", "content": {"type": "text", "text": "one object, no list"}}
    context = {"structuredContent": {"a": None}}
    assert host.ask("ui/message", message)["result"] == {}
    expect(host.notice()).to_contain_text("sent a message to the agent")
    assert host.notice().get_by_role("link", name="Outbox").get_attribute("href") == "/outbox"
    assert host.ask("ui/update-model-context", context)["result"] == {}
    assert host.site.posted("/message") == [
        {"kind": "message", "params": message},
        {"kind": "context", "params": context},
    ]
    host.ask("ui/message", message)
    expect(host.notice()).to_contain_text("sent 2 messages")


def test_a_message_that_is_refused_is_a_result_with_is_error(host: Host) -> None:
    host.site.message = lambda _body: (200, {"error": {"code": -32000, "message": "Limit reached"}})
    host.open()
    assert host.ask("ui/message", {"role": "user", "content": []})["result"] == {"isError": True}
    assert host.ask("ui/update-model-context", {})["error"]["message"] == "Limit reached"
    expect(host.log()).to_contain_text("ui/message was refused: Limit reached")
    expect(host.notice()).not_to_contain_text("sent")


def test_a_malformed_message_is_an_error(host: Host) -> None:
    host.site.message = lambda _body: (200, {"error": {"code": -32602, "message": "No text"}})
    host.open()
    assert host.ask("ui/message", {})["error"] == {"code": -32602, "message": "No text"}


def test_log_messages_are_kept_and_shown_safely(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        "say({method: 'notifications/message', params: {level: 'error', logger: 'net',"
        " data: {why: '<img src=x onerror=alert(1)>\\u202e'}}});"
        "say({method: 'notifications/message', params: {level: 'bogus', data: 'x'.repeat(9000)}});"
        "say({method: 'notifications/message', params: {}})"
    )
    log = host.log()
    expect(log).to_contain_text('[net] {"why":"<img src=x onerror=alert(1)>⟨U+202E⟩"}')
    assert log.locator("img").count() == 0
    assert len(log.locator("li").nth(1).inner_text()) < 600


def test_the_log_is_bounded(host: Host) -> None:
    frame = host.open()
    for start in (0, 150):
        frame.evaluate(
            "start => { for (let i = start; i < start + 150; i += 1)"
            " say({method: 'notifications/message', params: {data: `line ${i}`}}) }",
            start,
        )
        frame.evaluate("new Promise(done => setTimeout(done, 1200))")
    log = host.log()
    expect(log.locator("li")).to_have_count(200)
    expect(log.locator("li").last).to_contain_text("line 299")
    expect(host.panel().locator(".panel-log summary")).to_have_text("View log (300)")
