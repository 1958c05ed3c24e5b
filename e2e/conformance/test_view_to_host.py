"""Everything that a view may ask, asked with the official class."""

import threading
from typing import Any

from playwright.sync_api import expect

from e2e.broker.conftest import Host, until
from e2e.conformance.conftest import Official, raw, tried, with_rpc

TEXT = {"content": [{"type": "text", "text": "42"}]}


def test_ping_is_answered_both_ways(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    assert raw(frame, "ping")["result"] == {}
    answered = host.page.evaluate(
        """() => import("/static/js/broker/panel.js").then(({panelsIn}) =>
          panelsIn(document)[0].ask("ping", {}, 5000))"""
    )
    assert answered["result"] == {}


def test_it_calls_its_server(host: Host, official: Official) -> None:
    host.site.rpc = lambda body: (
        (200, {"result": {"contents": [{"uri": "x://y", "text": "t"}]}})
        if body["method"] == "resources/read"
        else (200, {"error": {"code": -32602, "message": "Unknown tool: publish"}})
        if body["params"]["name"] == "publish"
        else (200, {"result": {**TEXT, "isError": None}})
    )
    frame = host.open(official.view())
    answer = tried(frame, "callServerTool({name: 'compute', arguments: {a: 1}})")
    assert answer["content"] == TEXT["content"]
    assert "Unknown tool: publish" in tried(frame, "callServerTool({name: 'publish'})")
    assert tried(frame, "readServerResource({uri: 'x://y'})")["contents"][0]["text"] == "t"
    with_rpc(host.site, {"error": {"code": 429, "message": "Slow down."}}, 429)
    assert "Slow down." in tried(frame, "callServerTool({name: 'compute'})")


def test_it_lists_what_its_server_has(host: Host, official: Official) -> None:
    """The class has a word for resources only; the other lists are asked for as they are."""
    listing = {
        "tools": [{"name": "a", "inputSchema": {"type": "object"}}],
        "resources": [{"uri": "x://y", "name": "y"}],
        "resourceTemplates": [{"uriTemplate": "x://{y}", "name": "y"}],
    }
    with_rpc(host.site, {"result": listing})
    frame = host.open(official.view())
    assert tried(frame, "listServerResources()")["resources"] == listing["resources"]
    for method in ("tools/list", "resources/templates/list"):
        assert raw(frame, method)["result"] == listing


def test_what_is_not_offered_is_refused(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    assert "rror" in tried(frame, "createSamplingMessage({messages: [], maxTokens: 1})")
    for method in ("sampling/createMessage", "prompts/list", "elicitation/create"):
        assert raw(frame, method)["error"]["code"] == -32601
    capabilities = frame.evaluate("Object.keys(app.getHostCapabilities())")
    assert {"sampling", "prompts", "elicitation"}.isdisjoint(capabilities)


def test_it_speaks_to_the_agent(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    message = "{role: 'user', content: [{type: 'text', text: 'hello'}]}"
    assert tried(frame, f"sendMessage({message})") == {}
    assert tried(frame, "updateModelContext({structuredContent: {a: 1}})") == {}
    host.site.message = lambda _body: (200, {"error": {"code": -32000, "message": "Limit"}})
    assert tried(frame, f"sendMessage({message})") == {"isError": True}
    assert "Limit" in tried(frame, "updateModelContext({content: []})")
    kinds = [body["kind"] for body in host.site.posted("/message")]
    assert kinds == ["message", "context", "message", "context"]


def test_it_opens_a_link(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    assert tried(frame, "openLink({url: 'file:///etc/passwd'})") == {"isError": True}
    frame.evaluate("() => { window.link = app.openLink({url: 'https://docs.example/'}) }")
    expect(host.page.get_by_role("dialog")).to_contain_text("https://docs.example/")
    host.page.keyboard.press("Escape")
    assert frame.evaluate("link") == {"isError": True}


def test_it_saves_a_file(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    link = "{type: 'resource_link', uri: 'https://a.example/x', name: 'x'}"
    assert tried(frame, f"downloadFile({{contents: [{link}]}})") == {"isError": True}
    frame.evaluate(
        "() => { window.saved = app.downloadFile({contents: [{type: 'resource', resource:"
        " {uri: 'file:///a.csv', mimeType: 'text/csv', text: 'a,b'}}]}) }"
    )
    with host.page.expect_download() as download:
        host.page.get_by_role("dialog").get_by_role("button", name="Save file").click()
    assert download.value.suggested_filename == "a.csv"
    assert frame.evaluate("saved") == {}


def test_it_logs_and_sizes(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    tried(frame, "sendLog({level: 'warning', logger: 'net', data: {slow: true}})")
    expect(host.log()).to_contain_text('[net] {"slow":true}')
    tried(frame, "sendSizeChanged({width: 5, height: 123})")
    until(host.page, "document.querySelector('iframe').getBoundingClientRect().height === 123")


def test_it_changes_mode_and_hears_of_it(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    frame.locator("#press").click()
    until(frame, "window.mode === 'fullscreen'")
    host.page.keyboard.press("Escape")
    until(
        frame,
        "seen.some(([kind, params]) => kind === 'context' && params.displayMode === 'inline')",
    )
    assert tried(frame, "requestDisplayMode({mode: 'pip'})") == {"mode": "inline"}
    host.page.emulate_media(color_scheme="dark")
    until(frame, "app.getHostContext().theme === 'dark'")
    assert frame.evaluate("seen.filter(([kind]) => kind === 'error')") == []


class Held:
    """A tool that answers when it is told to."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.release = threading.Event()

    def __call__(self, body: Any) -> tuple[int, Any]:
        self.bodies.append(body)
        assert self.release.wait(60)
        return 200, {"result": TEXT}


def test_progress_keeps_its_call_alive(host: Host, official: Official) -> None:
    """The class gives up after a time that each report begins anew."""
    frame = host.open(official.view())
    host.wait(lambda: host.site.streams)
    host.site.rpc = held = Held()
    frame.evaluate(
        "() => { window.told = []; window.answer = app.callServerTool({name: 'slow'},"
        " {timeout: 5000, resetTimeoutOnProgress: true, onprogress: (p) => told.push(p)})"
        ".catch(String) }"
    )
    host.wait(lambda: held.bodies)
    for step in range(1, 5):
        host.page.wait_for_timeout(1500)
        host.site.progress(held.bodies[0], progress=step, total=4, message="working")
    until(frame, "told.length === 4")
    held.release.set()
    assert frame.evaluate("answer")["content"] == TEXT["content"]
    assert frame.evaluate("told[3]") == {"progress": 4, "total": 4, "message": "working"}


def test_it_gives_up_a_call(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    host.site.rpc = held = Held()
    frame.evaluate(
        "() => { const stop = window.stop = new AbortController();"
        " window.answer = app.callServerTool({name: 'slow'}, {signal: stop.signal}).catch(String) }"
    )
    host.wait(lambda: held.bodies)
    frame.evaluate("stop.abort('enough')")
    assert "enough" in frame.evaluate("answer")
    host.wait(host.site.cancelled)
    assert host.site.cancelled() == [held.bodies[0]["call"]]
    held.release.set()
