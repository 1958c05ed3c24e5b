"""A hostile view sends a hundred thousand messages: nothing breaks, nothing grows, others go on.

The fuzz is seeded, so a failure can be had again. Most of it goes at a pace that the host takes,
through every handler; the rest is a flood, which must stop the view and nothing else.
"""

from playwright.sync_api import CDPSession, expect

from e2e.broker.conftest import Host
from e2e.broker.site import STARTED, PanelSpec

TOTAL = 100_000
STEADY_VIEWS = 8
STEADY_SECONDS = 12
FLOOD = 3_000  # messages of one view at once, far above what it may
KEPT = 200  # entries of a log
HEAP_GROWTH = 40_000_000  # bytes, after collecting
NODE_GROWTH = 2_000

FUZZER = (
    STARTED
    + """<script>
let seed = SEED;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const pick = (list) => list[Math.floor(random() * list.length)];
const methods = ["ui/initialize", "ui/notifications/initialized", "ping", "tools/call",
  "tools/list", "resources/read", "resources/list", "resources/templates/list", "ui/message",
  "ui/update-model-context", "ui/open-link", "ui/download-file", "ui/request-display-mode",
  "ui/notifications/size-changed", "notifications/message", "notifications/cancelled",
  "notifications/progress", "notifications/tools/list_changed", "__proto__", "constructor",
  "toString", "sampling/createMessage", "ui/notifications/sandbox-resource-ready",
  "ui/notifications/sandbox-proxy-ready", "ui/notifications/tool-result",
  "ui/notifications/tool-input", "ui/notifications/host-context-changed", "x", ""];
const keys = ["url", "mode", "height", "width", "name", "requestId", "level", "data", "logger",
  "appCapabilities", "availableDisplayModes", "tools", "contents", "content", "uri", "resource",
  "type", "text", "blob", "mimeType", "_meta", "progressToken", "arguments", "protocolVersion"];
const deep = () => { let at = {}; for (let i = 0; i < 300; i += 1) at = {at}; return at; };
const poisoned = () => JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype":'
  + ' {"polluted": 1}}, "hasOwnProperty": 1, "toString": 1, "then": 1, "length": 1e9}');
// No JSON, or too deep: such a message costs its view as much as forty others.
const monsters = [deep, () => 10n, () => new Map(), () => new Uint8Array(9), () => /x/,
  () => new Error("e"), () => { const loop = {}; loop.loop = loop; return loop; }];
window.monstrous = .0005;
const value = (depth) => random() < monstrous ? pick(monsters)() : pick([
  () => null, () => undefined, () => NaN, () => -1, () => -0, () => 1e308, () => Infinity,
  () => "", () => "\\u202e\\ud800\\u0000", () => true, () => [], () => ({}), () => new Date(NaN),
  () => "javascript:alert(1)", () => "x".repeat(5000), poisoned,
  () => depth > 4 ? 1 : Array.from({length: 3}, () => value(depth + 1)),
  () => depth > 4 ? 1 : Object.fromEntries(keys.filter(() => random() < .3)
    .map((key) => [key, value(depth + 1)])),
])();
const params = {
  "ui/initialize": () => ({protocolVersion: value(4), appCapabilities: value(2)}),
  "tools/call": () => ({name: pick(["x", value(3)]), arguments: value(2), _meta: value(3)}),
  "ui/open-link": () => ({url: pick(["file:///x", value(3)])}),
  "ui/download-file": () => ({contents: [value(2)]}),
  "ui/notifications/size-changed": () => ({height: pick([random() * 900, value(4)])}),
  "ui/request-display-mode": () => ({mode: pick(["inline", "pip", value(4)])}),
  "notifications/message": () => ({level: value(4), data: value(2), logger: value(4)}),
  "notifications/cancelled": () => ({requestId: pick([1, 2, "a", value(4)])}),
};
const message = () => {
  if (random() < .08) return value(0);
  const method = random() < .95 ? pick(methods) : value(3);
  const fitting = typeof method === "string" && Object.hasOwn(params, method) && random() < .5;
  const made = fitting ? params[method]() : value(0);
  const full = {jsonrpc: pick(["2.0", "2.0", "2.0", "2.0", 2, null]), method, params: made};
  if (random() < .6) full.id = pick([1, 1, 2, "a", "vitrine-1", "__proto__", null, {}, NaN, 1.5]);
  if (random() < .1) { delete full.method; full.result = value(1); full.error = value(2); }
  if (random() < .05) full.vitrine = pick(["hello", "port", "open", "pong", "link", "gesture"]);
  return full;
};
window.sent = 0;
const post = () => {
  const made = message();
  // Some go past the port, to the page itself: bogus hellos and plain JSON-RPC.
  if (random() < .1) top.postMessage(random() < .5
    ? {vitrine: "hello", nonce: pick(["", "A".repeat(22), null, {}])} : made, "*");
  else parent.postMessage(made, "*");
  sent += 1;
};
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
window.steady = async (seconds, rate) => {
  const began = performance.now();
  while (performance.now() - began < seconds * 1000) {
    const due = Math.floor((performance.now() - began) / 1000 * rate);
    while (sent < due) post();
    await pause(50);
  }
  return sent;
};
window.flood = (count) => {
  monstrous = .05;
  for (let i = 1; i <= count; i += 1) {
    post();
    if (i % 250 === 0) console.log("flooded 250"); // the frame may be gone before it can answer
  }
};
</script>"""
)


class Gauge:
    """What a page has grown to."""

    def __init__(self, host: Host) -> None:
        self._page = host.page
        self._session: CDPSession = host.page.context.new_cdp_session(host.page)
        self._session.send("Performance.enable")

    def read(self) -> dict[str, float]:
        self._session.send("HeapProfiler.collectGarbage")
        found = self._session.send("Performance.getMetrics")["metrics"]
        metrics = {metric["name"]: metric["value"] for metric in found}
        return {
            "heap": metrics["JSHeapUsedSize"],
            "elements": self._page.evaluate("document.querySelectorAll('*').length"),
        }


def test_a_hundred_thousand_hostile_messages_break_nothing(host: Host) -> None:
    host.site.rpc = lambda _body: (200, {"error": {"code": -32602, "message": "no"}})
    host.site.message = lambda _body: (200, {"error": {"code": -32602, "message": "no"}})
    host.page.add_init_script(
        "if (window === top) { window.problems = [];"
        " addEventListener('error', (event) => problems.push(event.message));"
        " addEventListener('unhandledrejection', (event) => problems.push(String(event.reason)));"
        " const { error } = console; console.error = (...all) => { problems.push(String(all));"
        " error(...all); }; }"
    )
    hostile = [PanelSpec(FUZZER.replace("SEED", str(seed))) for seed in range(1, STEADY_VIEWS + 1)]
    host.site.panels = [PanelSpec(STARTED), *hostile]
    host.page.goto(host.site.url)
    for number in range(len(host.site.panels)):
        host.ready(number)
    gauge = Gauge(host)
    before = gauge.read()

    # At a pace that is taken: through every handler, and no view is stopped.
    frames = [host.frame(number) for number in range(1, STEADY_VIEWS + 1)]
    for frame in frames:
        frame.evaluate(f"() => {{ window.done = steady({STEADY_SECONDS}, 60) }}")
    sent = sum(frame.evaluate("done") for frame in frames)
    assert sent > STEADY_VIEWS * STEADY_SECONDS * 30
    assert host.frame(0).evaluate("ask('ping')")["result"] == {}

    # And floods, each of which stops its view; the person loads it anew, until it is enough.
    flooded: list[str] = []
    host.page.on("console", lambda told: flooded.append(told.text))
    while sent + 250 * flooded.count("flooded 250") < TOTAL:
        flood(host)
        assert host.frame(0).evaluate("ask('ping')")["result"] == {}
        # One after the other: a panel that grows above would take the click of the next one.
        for number in range(1, STEADY_VIEWS + 1):
            host.notice_of(number).get_by_role("button", name="Reload view").click()
            host.ready(number)

    after = gauge.read()
    grown = {name: after[name] - before[name] for name in before}
    assert grown["heap"] < HEAP_GROWTH, grown
    assert grown["elements"] < NODE_GROWTH, grown
    assert host.page.evaluate("problems") == []
    assert host.page.evaluate("({}).polluted ?? null") is None
    assert host.page.evaluate("window.frames.length") == STEADY_VIEWS + 1
    expect(host.page.get_by_role("dialog")).to_have_count(0)
    # The view that behaved was never touched, and its log holds nothing of the others'.
    assert host.frame(0).evaluate("ask('ping')")["result"] == {}
    assert host.panel(0).locator(".panel-log").is_hidden()


def flood(host: Host) -> None:
    """All hostile views flood at once, while the page is busy; each is stopped with a notice."""
    for number in range(1, STEADY_VIEWS + 1):
        host.frame(number).evaluate(f"() => {{ setTimeout(() => flood({FLOOD}), 500) }}")
    host.page.evaluate(
        "() => { setTimeout(() => { const end = performance.now() + 3000;"
        " while (performance.now() < end); }) }"
    )
    for number in range(1, STEADY_VIEWS + 1):
        expect(host.notice_of(number)).to_contain_text("sent too many messages and was stopped")
        expect(host.iframe(number)).to_have_count(0)
        log = host.panel(number).locator(".panel-log")
        log.evaluate("(element) => { element.open = true }")
        expect(log.locator("li").first).to_be_attached()
        assert log.locator("li").count() <= KEPT
