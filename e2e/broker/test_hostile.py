"""Views that misbehave: nothing in the page breaks, the others go on."""

import pytest
from playwright.sync_api import expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import STARTED, PanelSpec

ODD = [
    "null",
    "7",
    "'text'",
    "[]",
    "[{jsonrpc: '2.0', id: 1, method: 'ping'}]",
    "{}",
    "{method: 'ping', id: 1}",
    "{jsonrpc: '1.0', id: 1, method: 'ping'}",
    "{jsonrpc: '2.0', id: null, method: 'ping'}",
    "{jsonrpc: '2.0', id: {}, method: 'ping'}",
    "{jsonrpc: '2.0', id: NaN, method: 'ping'}",
    "{jsonrpc: '2.0', id: true, method: 'ping'}",
    "{jsonrpc: '2.0', method: {}}",
    "{jsonrpc: '2.0', id: 1}",
    "{jsonrpc: '2.0', id: 99, result: 1}",
    "{jsonrpc: '2.0', method: '__proto__'}",
    "{jsonrpc: '2.0', method: 'constructor', params: {}}",
    "{jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: [1]}",
    "{jsonrpc: '2.0', id: 'vitrine-1', result: {}}",
    "new Map([[1, 2]])",
    "new Date()",
    "{vitrine: 'hello'}",
    "{vitrine: 'pong', n: 1}",
    "{vitrine: 'link', url: 'https://a.example'}",
]


def test_malformed_messages_are_dropped_and_noted(host: Host) -> None:
    frame = host.open()
    before = frame.evaluate("heard.length")
    for message in ODD:
        frame.evaluate(f"parent.postMessage({message}, '*')")
    host.ask("ping")
    # Nothing was answered but the ping that asked for it.
    assert frame.evaluate("heard.length") == before + 1
    expect(host.page.get_by_role("dialog")).to_have_count(0)
    expect(host.log().locator("li")).to_have_count(len(ODD))


@pytest.mark.parametrize("params", ["[1]", "'x'", "7"])
def test_params_that_are_no_object_are_invalid(host: Host, params: str) -> None:
    frame = host.open()
    frame.evaluate(f"say({{id: 'p', method: 'ping', params: {params}}})")
    host.ask("ping")
    errors = frame.evaluate("heard.filter(m => m.id === 'p').map(m => m.error)")
    assert errors == [{"code": -32602, "message": "Invalid params for ping"}]


def test_prototype_keys_do_nothing(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        'say(JSON.parse(\'{"id": "a", "method": "tools/call", "params": {"name": "x",'
        ' "__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}}\'))'
    )
    host.ask("ping")
    assert host.page.evaluate("({}).polluted") is None
    assert host.ask("ping")["result"] == {}


@pytest.mark.parametrize(
    "name", ["sandbox-resource-ready", "sandbox-proxy-ready", "tool-result", "tool-input"]
)
def test_what_only_a_host_says_is_dropped_and_noted(host: Host, name: str) -> None:
    frame = host.open()
    frame.evaluate(
        f"say({{method: 'ui/notifications/{name}', params: {{html: '<h1>x</h1>', content: []}}}})"
    )
    expect(host.log()).to_contain_text(f"ui/notifications/{name}, which is the host's to send")


def test_ids_of_both_kinds_are_echoed(host: Host) -> None:
    frame = host.open()
    for given in ("'text'", "0", "-1", "1.5", "''"):
        frame.evaluate(f"say({{id: {given}, method: 'ping'}})")
    host.ask("ping")
    ids = frame.evaluate(
        "heard.filter(m => m.result && !Object.keys(m.result).length).map(m => m.id)"
    )
    assert ids[:5] == ["text", 0, -1, 1.5, ""]


@pytest.mark.parametrize(
    "params",
    [
        "{data: 'x'.repeat(1_100_000)}",
        "{data: new Uint8Array(50_000_000)}",
        "(() => { let deep = {}; for (let i = 0; i < 500; i += 1) deep = {deep}; return deep; })()",
        "(() => { const loop = {}; loop.loop = loop; return loop; })()",
        "{data: Array(300_000).fill(1)}",
        "{data: 10n}",
        "{data: new Map()}",
    ],
)
def test_a_giant_is_refused_with_an_error(host: Host, params: str) -> None:
    frame = host.open()
    frame.evaluate(f"say({{id: 'g', method: 'ui/message', params: {params}}})")
    until(frame, "heard.some(m => m.id === 'g')")
    assert frame.evaluate("heard.find(m => m.id === 'g').error.code") == -32600
    assert host.site.posts == []
    assert host.ask("ping")["result"] == {}


def test_a_large_message_within_the_cap_passes(host: Host) -> None:
    host.open()
    assert host.ask("ui/message", {"content": "x" * 900_000})["result"] == {}


@pytest.mark.parametrize(
    "flood",
    [
        "for (let i = 0; i < 5000; i += 1) say({id: i + 1000, method: 'ping'});",
        "for (let i = 0; i < 5000; i += 1) parent.postMessage(i, '*');",
        "for (let i = 0; i < 30; i += 1) say({method: 'notifications/message',"
        " params: {data: 'x'.repeat(1_500_000)}});",
        "for (let i = 0; i < 5000; i += 1)"
        " say({id: i, method: 'tools/call', params: {name: 'x'}});",
    ],
)
def test_a_flood_stops_the_view_and_no_other(host: Host, flood: str) -> None:
    host.site.panels = [PanelSpec(STARTED), PanelSpec(STARTED)]
    host.page.goto(host.site.url)
    host.ready(0)
    host.ready(1)
    host.frame(0).evaluate(f"() => {{ setTimeout(() => {{ {flood} }}, 0) }}")
    expect(host.notice()).to_contain_text("sent too many messages and was stopped")
    expect(host.iframe()).to_have_count(0)
    assert host.frame(1).evaluate("ask('ping')")["result"] == {}
    host.notice().get_by_role("button", name="Reload view").click()
    host.ready(0)
    assert host.ask("ping")["result"] == {}


def test_a_busy_view_is_no_flood(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        "Promise.all(Array.from({length: 300}, () => ask('ping'))).then(all => all.length)"
    )
    assert host.ask("ping")["result"] == {}
