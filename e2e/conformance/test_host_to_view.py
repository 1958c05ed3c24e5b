"""What the host asks and tells by itself, as the official class takes it."""

from typing import Any

from playwright.sync_api import expect

from e2e.broker.conftest import Host, until
from e2e.conformance.conftest import Official, tried

WITH_TOOLS = """
make({tools: {listChanged: true}});
app.onlisttools = async () => ({tools: tools.map((name) =>
  ({name, inputSchema: {type: "object", properties: {x: {type: "number"}}}}))});
app.oncalltool = async ({name, arguments: args}) => {
  if (name === "broken") throw new Error("no map");
  return {content: [{type: "text", text: `${name} ${JSON.stringify(args)}`}]};
};
await app.connect();
"""


def call(host: Host, name: str, args: Any) -> Any:
    return host.page.evaluate(
        """([name, args]) => import("/static/js/broker/panel.js")
          .then(({panelsIn}) => (window.thePanel ??= panelsIn(document)[0]).callAppTool(name, args))
          .catch(({code, message}) => ({code, message}))""",
        [name, args],
    )


def test_its_own_tools_are_listed_called_and_gone_with_it(host: Host, official: Official) -> None:
    frame = host.open(official.view("window.tools = ['pan', 'broken'];" + WITH_TOOLS))
    summary = host.panel().locator(".panel-tools summary")
    expect(summary).to_have_text("This view offers the agent 2 tools")
    answer = call(host, "pan", {"x": 1})
    assert answer["content"] == [{"type": "text", "text": 'pan {"x":1}'}]
    assert "no map" in call(host, "broken", {})["message"]
    frame.evaluate("() => { tools.push('zoom'); return app.sendToolListChanged() }")
    expect(summary).to_have_text("This view offers the agent 3 tools")
    tried(frame, "requestTeardown()")
    expect(host.iframe()).to_have_count(0)
    assert call(host, "pan", {}) == {"code": -32000, "message": "The view is closed"}


def test_it_hears_of_changed_lists(host: Host, official: Official) -> None:
    frame = host.open(official.view())
    host.wait(lambda: host.site.streams)
    for what in ("tools", "resources"):
        host.site.emit("listed", {"server": "weather-key", "what": what})
    for what in ("tools", "resources"):
        until(frame, f"seen.some(([kind]) => kind === 'notifications/{what}/list_changed')")
    assert frame.evaluate("seen.filter(([kind]) => kind === 'error')") == []
