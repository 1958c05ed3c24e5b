"""What views may do, from the settings to the question on a session's real page and back."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from app.mcp import registry
from app.mcp_apps import policy
from e2e.pages import PATIENCE_MS, sign_in, view
from e2e.running import Running, prepared, vitrine
from tests.support.scripted import Scripted, document, scripted, tool
from tests.web.recording import Recording

expect.set_options(timeout=PATIENCE_MS)
SEEN: dict[str, Any] = {"visibility": ["model", "app"]}
TOOLS = [
    tool("show", **SEEN),
    tool("add", view=False, **SEEN),
    tool("look", view=False, **SEEN) | {"annotations": {"readOnlyHint": True}},
    tool("wipe", view=False, **SEEN) | {"annotations": {"destructiveHint": True}},
]
# A button a tool; the page says what came of the last call.
HTML = """<!doctype html><meta charset="utf-8"><style>body{font:14px sans-serif}</style>
<button data-tool="add">add</button> <button data-tool="look">look</button>
<button data-tool="wipe">wipe</button><p id="came">nothing</p><script>
const say = (message) => parent.postMessage({jsonrpc: "2.0", ...message}, "*");
let id = 1;
addEventListener("message", ({data}) => {
  if (data.id === 1) say({method: "ui/notifications/initialized", params: {}});
  else if (data.id !== undefined && data.method === undefined) {
    const {error, result} = data;
    document.getElementById("came").textContent =
      `${data.id}: ${error ? `${error.code} ${error.data?.reason}` : result.content[0].text}`;
  }
});
document.addEventListener("click", ({target}) => {
  const name = target.dataset.tool;
  if (name) say({id: ++id, method: "tools/call", params: {name, arguments: {row: 7}}});
});
say({id: 1, method: "ui/initialize", params: {
  appInfo: {name: "v", version: "1"}, appCapabilities: {}, protocolVersion: "2026-01-26"}});
</script>"""
CSP = {"connectDomains": ["https://a.example", "https://b.example"]}


@dataclass
class Deployment:
    running: Running
    server: Scripted
    session_id: str

    @property
    def called(self) -> list[str]:
        """The tools that the MCP server was asked to run."""
        return [params["name"] for method, params in self.server.asked if method == "tools/call"]


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    with ExitStack() as stack:
        server = stack.enter_context(
            scripted(
                tools_list={"tools": TOOLS},
                tools_call={"content": [{"type": "text", "text": "done"}]},
                resources_read=document(HTML, _meta={"ui": {"csp": CSP}}),
            )
        )
        database = prepared(tmp_path)
        with database.session() as db:
            policy.set_render(db, True)
            registry.add_server(db, "shop", server.url)
            registry.set_allowed(db, server.url, True)
        session_id = (
            Recording()
            .user("Show the shop")
            .call("mcp__shop__show", {"a": 1}, [{"type": "text", "text": "done"}])
            .import_into(database, tmp_path)
        )
        database.dispose()
        running = stack.enter_context(vitrine("serve", tmp_path))
        yield Deployment(running, server, session_id)
        running.assert_nothing_went_wrong()


@pytest.fixture
def page(deployment: Deployment, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    sign_in(page, deployment.running)
    yield page
    context.close()


def settings(page: Page, deployment: Deployment) -> None:
    page.goto(f"{deployment.running.url}/settings/servers")
    page.get_by_role("link", name="shop").first.click()
    expect(page.get_by_role("heading", name="What its views may do")).to_be_visible()


def choose(page: Page, deployment: Deployment, label: str, button: str = "Save calls") -> None:
    settings(page, deployment)
    page.get_by_label(label, exact=True).check()
    page.get_by_role("button", name=button).click()
    expect(page.get_by_text("Saved. Calls follow it at once")).to_be_visible()


def open_view(page: Page, deployment: Deployment) -> FrameLocator:
    page.goto(f"{deployment.running.url}/sessions/{deployment.session_id}")
    return view(page)


def answer(page: Page, name: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_from_the_settings_to_the_question_and_back(page: Page, deployment: Deployment) -> None:
    shown = open_view(page, deployment)
    came = shown.locator("#came")
    shown.get_by_role("button", name="add").click()
    expect(came).to_have_text("2: done")
    shown.get_by_role("button", name="wipe").click()
    expect(page.get_by_role("dialog")).to_contain_text("may delete or overwrite")
    answer(page, "Don’t allow")
    expect(came).to_have_text("3: -32000 denied")
    assert deployment.called == ["add"]

    choose(page, deployment, "Ask me before")
    shown = open_view(page, deployment)
    came = shown.locator("#came")
    shown.get_by_role("button", name="look").click()
    expect(came).to_have_text("2: done")
    shown.get_by_role("button", name="add").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("The view of shop/show asks to call")
    expect(question.get_by_role("group", name="Arguments")).to_have_text('{\n  "row": 7\n}')
    assert deployment.called == ["add", "look"]
    answer(page, "Allow for this session")
    expect(came).to_have_text("3: done")
    shown.get_by_role("button", name="add").click()
    expect(came).to_have_text("4: done")
    assert deployment.called == ["add", "look", "add", "add"]

    # Revoked in another tab, while the view is open.
    other = page.context.new_page()
    settings(other, deployment)
    other.get_by_role("button", name="Revoke add for the view of shop/show").click()
    expect(other.get_by_text("Revoked.")).to_be_visible()
    shown.get_by_role("button", name="add").click()
    expect(question).to_have_count(1)
    # And while the question is open, all calls are taken away: the yes comes too late.
    choose(other, deployment, "Call none")
    other.close()
    answer(page, "Allow once")
    expect(came).to_have_text("5: -32000 denied")
    shown.get_by_role("button", name="look").click()
    expect(came).to_have_text("6: -32000 denied")
    assert deployment.called == ["add", "look", "add", "add"]


def test_a_call_that_was_allowed_is_answered_over_the_event_stream(
    page: Page, deployment: Deployment
) -> None:
    """What takes longer than a second: 202, and the answer later."""

    def slow(_params: Any) -> Any:
        time.sleep(2.5)
        return {"content": [{"type": "text", "text": "late"}]}

    deployment.server.answers["tools/call"] = slow
    shown = open_view(page, deployment)
    with page.expect_response(
        lambda r: r.url.partition("?")[0].endswith("/rpc") and r.status == 202
    ):
        shown.get_by_role("button", name="wipe").click()
        answer(page, "Allow once")
    expect(shown.locator("#came")).to_have_text("2: late")
    assert deployment.called == ["wipe"]


def test_the_domains_that_views_declared_are_chosen_by_ticking(
    page: Page, deployment: Deployment
) -> None:
    open_view(page, deployment)
    details = page.locator(".panel-details summary").first
    expect(details).to_have_text("May contact 2 addresses")
    settings(page, deployment)
    page.get_by_label("https://b.example").check()
    page.get_by_label("Only chosen ones").check()
    page.get_by_label("Others, one a line").fill("https://*.c.example\nnonsense")
    page.get_by_role("button", name="Save addresses").click()
    expect(page.get_by_role("alert")).to_contain_text("“nonsense” cannot be granted")
    expect(page.get_by_label("https://b.example")).to_be_checked()
    page.get_by_label("Others, one a line").fill("https://*.c.example")
    page.get_by_role("button", name="Save addresses").click()
    expect(page.get_by_text("Saved. Calls follow it at once")).to_be_visible()
    open_view(page, deployment)
    expect(details).to_have_text("May contact 1 address; 1 held back")
    details.click()
    expect(page.locator(".panel-details").first).to_contain_text("hold them back")
