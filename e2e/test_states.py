"""Every way a panel can be without its view, or with less than it should have, says so itself:
one sentence, and what a person can do about it. Read off the real page.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from app.db.engine import Database
from app.mcp import registry
from app.mcp_apps import policy
from e2e.pages import PATIENCE_MS, sign_in, view
from e2e.running import Running, prepared, vitrine
from tests.support.listeners import garbage, hung, stopped
from tests.support.scripted import document, scripted, tool
from tests.web.recording import Recording

expect.set_options(timeout=PATIENCE_MS)
LARGEST = 3000
TOOLS = {"tools": [tool("show")]}
DONE = [{"type": "text", "text": "done"}]
TOO_LONG = (
    "Error: result (120,000 characters) exceeds maximum allowed tokens. Output has been saved to "
    "/home/dev/result.txt."
)
# A view as small as they come: it starts, and says what it was given.
HTML = """<p id="given">nothing</p><script>
addEventListener("message", ({data}) => {
  if (data.id === 1) parent.postMessage(
    {jsonrpc: "2.0", method: "ui/notifications/initialized", params: {}}, "*");
  if (data.method === "ui/notifications/tool-result")
    document.getElementById("given").textContent = "result " + (data.params.isError === true);
  if (data.method === "ui/notifications/tool-cancelled")
    document.getElementById("given").textContent = "cancelled";
});
parent.postMessage({jsonrpc: "2.0", id: 1, method: "ui/initialize", params: {
  appInfo: {name: "v", version: "1"}, appCapabilities: {}, protocolVersion: "2026-01-26"}}, "*");
</script>"""


@dataclass
class Case:
    """A recorded call, and what the page must say about it; ``action`` is a link or a button."""

    sentence: str
    action: str = ""
    result: Any = field(default_factory=lambda: DONE)
    failed: bool = False
    given: str = ""  # what the view shows, where there is one


CASES = {
    "unknown": Case("is not known here", "server"),
    "not-allowed": Case("are not allowed", "Change under MCP Apps"),
    "unreachable": Case("The server cannot be reached.", "Try again"),
    "slow": Case("The server did not answer within 2 seconds.", "Try again"),
    "garbage": Case("The server gave an answer that Vitrine cannot read.", "Try again"),
    "tool-gone": Case("no longer lists the tool of this call", "Try again"),
    "missing": Case("does not hold the document that the tool names", "Try again"),
    "wrong-type": Case("a view is text/html;profile=mcp-app", "Try again"),
    "too-large": Case(f"at most {LARGEST:,} are shown", "Try again"),
    "pending": Case("The tool has not answered yet.", "Reload view", result=None, given="nothing"),
    "interrupted": Case(
        "The call was interrupted",
        result="[Tool call interrupted: the session ended before this call's result was recorded]",
        failed=True,
        given="cancelled",
    ),
    "truncated": Case("the agent", result=TOO_LONG),
    "error": Case("out of paint", result="Error: out of paint", failed=True, given="result true"),
}
ANSWERS: dict[str, dict[str, Any]] = {
    "tool-gone": {"tools_list": {"tools": [tool("other")]}, "resources_read": document(HTML)},
    "missing": {"tools_list": TOOLS, "resources_read": {"contents": []}},
    "wrong-type": {"tools_list": TOOLS, "resources_read": document(HTML, mimeType="text/plain")},
    "too-large": {"tools_list": TOOLS, "resources_read": document(HTML + "x" * LARGEST)},
}


def _servers(stack: ExitStack) -> dict[str, str]:
    """The URL of every case's server; most are well."""
    well = {"tools_list": TOOLS, "resources_read": document(HTML)}
    urls = {
        name: stack.enter_context(scripted(**ANSWERS.get(name, well))).url
        for name in CASES.keys() - {"unreachable", "slow", "garbage"}
    }
    urls["unreachable"] = stack.enter_context(stopped()).url
    urls["slow"] = stack.enter_context(hung()).url
    urls["garbage"] = stack.enter_context(garbage()).url
    return urls


def _sessions(database: Database, folder: Path, urls: dict[str, str]) -> dict[str, str]:
    """A session for every case, whose server is known under the case's name."""
    with database.session() as db:
        policy.set_render(db, True)
        for name, url in urls.items():
            if name != "unknown":
                registry.add_server(db, name, url)
                registry.set_allowed(db, url, name != "not-allowed")
    return {
        name: Recording()
        .user(f"case {name}")
        .call(f"mcp__{name}__show", {"a": 1}, case.result, failed=case.failed)
        .import_into(database, folder, source=name)
        for name, case in CASES.items()
    }


@pytest.fixture(scope="module")
def sessions(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Running, dict[str, str]]]:
    data_dir = tmp_path_factory.mktemp("states")
    limits = {"VITRINE_LISTING_TIMEOUT_SECONDS": "2", "VITRINE_VIEW_MAX_BYTES": str(LARGEST)}
    with ExitStack() as stack:
        database = prepared(data_dir)
        found = _sessions(database, data_dir, _servers(stack))
        database.dispose()
        yield stack.enter_context(vitrine("serve", data_dir, **limits)), found


@pytest.fixture(scope="module")
def context(sessions: tuple[Running, dict[str, str]], browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, sessions[0])
    page.close()
    yield context
    context.close()


def action(page: Page, name: str) -> Locator:
    button = page.locator("main").get_by_role("button", name=name)
    return button.or_(page.locator("main").get_by_role("link", name=name)).first


@pytest.mark.parametrize("name", CASES)
def test_the_page_says_it_and_what_can_be_done(
    name: str, sessions: tuple[Running, dict[str, str]], context: BrowserContext
) -> None:
    running, found = sessions
    case = CASES[name]
    page = context.new_page()
    page.goto(f"{running.url}/sessions/{found[name]}")
    slot = page.locator(".panel-slot")
    if slot.count():
        slot.first.scroll_into_view_if_needed()
    # What is folded away says it too; what counts is what a person sees.
    said = page.locator("main").get_by_text(case.sentence).filter(visible=True)
    expect(said.first).to_be_visible()
    if case.action:
        expect(action(page, case.action)).to_be_visible()
    if case.given:
        expect(view(page).locator("#given")).to_have_text(case.given)
    page.close()


def test_a_restart_with_the_servers_stopped_still_shows_what_was_shown(
    browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context()
    page = context.new_page()
    with vitrine("demo", tmp_path) as running:
        sign_in(page, running)
        page.locator("main a[href*='/sessions/']").first.click()
        expect(view(page).locator("#plan")).to_be_visible()
        path = page.url.removeprefix(running.url)
    # The same database, without the demo's server beside it.
    with vitrine("serve", tmp_path / "demo") as again:
        sign_in(page, again)
        page.goto(again.url + path)
        shown = view(page)
        expect(shown.locator("#weeks-left")).to_be_visible()
        expect(page.get_by_text("This is the view as it was read on").first).to_be_visible()
        shown.locator("#growth").fill("9")
        shown.locator("#recompute").click()
        expect(shown.locator("#status")).to_contain_text("The server cannot be reached.")
    context.close()
