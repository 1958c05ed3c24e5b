"""Calls that take long: answered over the event stream, with progress, cancelled, and lost."""

import threading
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import STARTED, PanelSpec

TEXT = {"result": {"content": [{"type": "text", "text": "late"}]}}


class Slow:
    """A tool that answers when it is told to."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.release = threading.Semaphore(0)

    def __call__(self, body: Any) -> tuple[int, Any]:
        self.bodies.append(body)
        assert self.release.acquire(timeout=30)
        return 200, TEXT


@pytest.fixture
def slow(host: Host) -> Slow:
    host.site.rpc = tool = Slow()
    return tool


def streaming(host: Host, count: int = 1) -> None:
    """Wait until the page's stream is open, as a call that names it shows."""
    host.wait(lambda: len(host.site.streams) >= count)
    # The browser has heard of it once a call names it.
    host.wait(lambda: "stream" in probe(host))


def probe(host: Host) -> Any:
    """The body of a call that is answered at once."""
    kept, host.site.rpc = host.site.rpc, lambda _body: (200, TEXT)
    host.ask("tools/call", {"name": "probe"})
    host.site.rpc = kept
    return host.site.posted("/rpc")[-1]


def call(host: Host, params: str = "{name: 'slow'}", name: str = "later") -> None:
    host.frame().evaluate(f"() => {{ window.{name} = ask('tools/call', {params}) }}")


def reached(host: Host, slow: Slow, count: int = 1) -> None:
    host.wait(lambda: len(slow.bodies) >= count)


def test_a_late_answer_comes_over_the_stream(host: Host, slow: Slow) -> None:
    frame = host.open()
    streaming(host)
    with host.page.expect_response("**/rpc") as response:
        call(host)
    assert response.value.status == 202
    body = slow.bodies[0]
    assert len(body["call"]) >= 16
    slow.release.release()
    assert frame.evaluate("later")["result"] == TEXT["result"]
    assert host.site.cancelled() == []


def test_an_error_may_be_late_too(host: Host, slow: Slow) -> None:
    frame = host.open()
    streaming(host)
    error = {"code": -32602, "message": "Unknown tool: x"}

    def failing(body: Any) -> tuple[int, Any]:
        slow(body)
        return 200, {"error": error}

    host.site.rpc = failing
    with host.page.expect_response("**/rpc"):
        call(host)
    slow.release.release()
    assert frame.evaluate("later")["error"] == error


def test_progress_reaches_the_view_under_its_own_token(host: Host, slow: Slow) -> None:
    frame = host.open()
    streaming(host)
    call(host, "{name: 'slow', _meta: {progressToken: 0}}")
    reached(host, slow)
    body = slow.bodies[0]
    host.site.progress(body, progress=1, total=4, message="a quarter")
    host.site.progress(body, progress=2.5, total=None, message=None)
    for odd in ("3", None, True, [3]):
        host.site.progress(body, progress=odd)
    host.site.emit("progress", {"call": "somebody-else's", "progress": 9})
    host.site.emit("progress", None)
    until(frame, "heard.filter(m => m.method === 'notifications/progress').length >= 2")
    slow.release.release()
    frame.evaluate("later")
    host.site.progress(body, progress=4)
    host.ask("ping")
    assert host.heard("notifications/progress") == [
        {"progressToken": 0, "progress": 1, "total": 4, "message": "a quarter"},
        {"progressToken": 0, "progress": 2.5},
    ]


def test_without_a_token_no_progress_is_told(host: Host, slow: Slow) -> None:
    frame = host.open()
    streaming(host)
    call(host, "{name: 'slow', _meta: {progressToken: {}}}")
    reached(host, slow)
    host.site.progress(slow.bodies[0], progress=1)
    slow.release.release()
    frame.evaluate("later")
    assert host.heard("notifications/progress") == []


def test_a_cancelled_late_call_is_taken_back_and_never_answered(host: Host, slow: Slow) -> None:
    frame = host.open()
    streaming(host)
    with host.page.expect_response("**/rpc"):
        frame.evaluate("say({id: 'c', method: 'tools/call', params: {name: 'slow'}})")
    with host.page.expect_request("**/cancel"):
        frame.evaluate("say({method: 'notifications/cancelled', params: {requestId: 'c'}})")
    slow.release.release()
    host.ask("ping")
    assert frame.evaluate("heard.filter(m => m.id === 'c')") == []
    assert host.site.cancelled() == [slow.bodies[0]["call"]]


def test_a_closed_view_takes_its_calls_back(host: Host, slow: Slow) -> None:
    frame = host.open()
    streaming(host)
    with host.page.expect_response("**/rpc"):
        call(host)
    with host.page.expect_request("**/cancel"):
        frame.evaluate("say({method: 'ui/notifications/request-teardown'})")
    expect(host.iframe()).to_have_count(0)
    host.wait(lambda: host.site.cancelled())
    assert host.site.cancelled() == [slow.bodies[0]["call"]]
    slow.release.release()


def test_a_page_that_goes_takes_its_calls_back(host: Host, slow: Slow) -> None:
    host.open()
    streaming(host)
    with host.page.expect_response("**/rpc"):
        call(host)
    host.page.evaluate("location.href = '/static/css/panel.css'")
    host.wait(lambda: host.site.cancelled())
    assert host.site.cancelled() == [slow.bodies[0]["call"]]
    slow.release.release()


def test_a_stream_that_breaks_and_comes_back_loses_nothing(host: Host, slow: Slow) -> None:
    frame = host.open()
    streaming(host)
    with host.page.expect_response("**/rpc"):
        call(host)
    host.site.drop_streams()
    slow.release.release()  # perhaps while nobody listens
    assert frame.evaluate("later")["result"] == TEXT["result"]
    assert len(host.site.streams) == 1


def test_calls_fail_when_the_server_has_forgotten_the_stream(host: Host, slow: Slow) -> None:
    frame = host.open()
    streaming(host)
    with host.page.expect_response("**/rpc"):
        call(host)
    host.site.drop_streams(forget=True)
    error = frame.evaluate("later")["error"]
    assert (error["code"], error["data"]) == (-32603, {"reason": "unreachable"})
    slow.release.release()
    assert "stream" in probe(host)  # the new one is used


def test_calls_fail_when_the_stream_is_refused(host: Host, slow: Slow) -> None:
    frame = host.open()
    streaming(host)
    with host.page.expect_response("**/rpc"):
        call(host)
    host.site.stream_status = 500
    host.site.drop_streams(forget=True)
    host.wait(lambda: "stream" not in probe(host))  # such calls wait in their response meanwhile
    host.site.stream_status = 200
    assert frame.evaluate("later")["error"]["data"] == {"reason": "unreachable"}
    slow.release.release()
    # Refusals of a stream are the browser's to print, not a fault of the page.
    host.errors.clear()


def test_ten_views_that_wait_for_long_leave_the_page_usable(host: Host, slow: Slow) -> None:
    host.site.panels = [PanelSpec(STARTED) for _ in range(10)]
    host.page.goto(host.site.url)
    for number in range(10):
        host.ready(number)
    streaming(host)
    for number in range(10):
        host.frame(number).evaluate("() => { window.later = ask('tools/call', {name: 'slow'}) }")
    reached(host, slow, 10)
    assert host.page.evaluate("fetch('/panel?number=0').then(r => r.ok)")
    for _ in range(10):
        slow.release.release()
    for number in range(10):
        assert host.frame(number).evaluate("later")["result"] == TEXT["result"]


def test_tabs_share_one_stream_and_hear_only_their_own_answers(host: Host, slow: Slow) -> None:
    host.page.add_init_script(
        "const {set} = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage');"
        "window.answers = [];"
        "Object.defineProperty(MessagePort.prototype, 'onmessage', {configurable: true,"
        " set(listener) { set.call(this, listener && ((event) => {"
        " if (event.data?.event === 'answer') answers.push(event.data);"
        " listener(event); })); }});"
    )
    host.site.panels = [PanelSpec(STARTED)]
    host.page.goto(host.site.url)
    host.ready()
    streaming(host)
    with host.page.expect_response("**/rpc"):
        call(host)
    slow.release.release()
    host.frame().evaluate("later")
    assert host.page.evaluate("answers.length") == 1
    second = Host(host.page.context.new_page(), host.site)
    frame = second.go()
    streaming(second)
    assert len(host.site.streams) == 1
    with second.page.expect_response("**/rpc"):
        call(second)
    slow.release.release()
    assert frame.evaluate("later")["result"] == TEXT["result"]
    assert host.page.evaluate("answers.length") == 1
    host.page.close()  # the stream outlives the tab that opened it
    with second.page.expect_response("**/rpc") as response:
        call(second)
    assert response.value.status == 202
    slow.release.release()
    assert frame.evaluate("later")["result"] == TEXT["result"]
    assert second.errors == []


def test_without_shared_workers_a_tab_has_its_own_stream(host: Host, slow: Slow) -> None:
    host.page.add_init_script("delete window.SharedWorker")
    frame = host.open()
    streaming(host)
    with host.page.expect_response("**/rpc") as response:
        call(host)
    assert response.value.status == 202
    slow.release.release()
    assert frame.evaluate("later")["result"] == TEXT["result"]


def test_a_worker_that_cannot_start_is_done_without(host: Host, slow: Slow, page: Page) -> None:
    page.add_init_script(
        "if (window === top) window.SharedWorker = function () {"
        " const port = {postMessage() {}};"
        " const worker = {port}; setTimeout(() => worker.onerror(new Event('error')), 50);"
        " return worker; };"
    )
    frame = host.open()
    streaming(host)
    call(host)
    slow.release.release()
    assert frame.evaluate("later")["result"] == TEXT["result"]


@pytest.mark.parametrize("what", ["tools", "resources"])
def test_a_changed_list_is_told_to_the_views_of_its_server(host: Host, what: str) -> None:
    host.site.panels = [PanelSpec(STARTED), PanelSpec(STARTED, {"serverKey": "other"})]
    host.page.goto(host.site.url)
    host.ready(0)
    host.ready(1)
    streaming(host)
    for odd in ("prompts", None, "__proto__"):
        host.site.emit("listed", {"server": "weather-key", "what": odd})
    host.site.emit("listed", {"server": "weather-key", "what": what})
    until(host.frame(0), f"heard.some(m => m.method === 'notifications/{what}/list_changed')")
    host.frame(1).evaluate("ask('ping')")
    changed = "heard.filter(m => /list_changed/.test(m.method)).map(m => [m.method, m.params])"
    assert host.frame(0).evaluate(changed) == [[f"notifications/{what}/list_changed", {}]]
    assert host.frame(1).evaluate(changed) == []
