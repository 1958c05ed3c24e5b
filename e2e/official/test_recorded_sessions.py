"""Sessions that the real agents recorded of three official servers, all on one page: their views
show what was recorded, and get only what the operator allows.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FrameLocator,
    Locator,
    Page,
    expect,
)

from app.db.engine import Database
from app.mcp import registry
from app.mcp_apps import policy
from app.transcripts.ingest import import_paths
from e2e.pages import PATIENCE_MS, answer_to, keep_what_views_hear, panel, settled, sign_in
from e2e.running import prepared, vitrine
from e2e.servers import official_server

expect.set_options(timeout=PATIENCE_MS)
FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "transcripts"
SESSIONS = {
    "claude-code": FIXTURES / "claude-2.1.332" / "three-real-apps",
    "codex": FIXTURES / "codex-0.171.0" / "three-real-apps",
}
# In the order of their calls in both sessions, which is the order of their panels.
SERVERS = ["budget-allocator", "cohort-heatmap", "basic-vanillajs"]
ISO_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
COHORTS = "get-cohort-data"


def transcript(agent: str) -> Path:
    [path] = SESSIONS[agent].glob("*.jsonl")
    return path


def recorded_time(agent: str) -> str:
    """The time that the agent got, read from the transcript without Vitrine's code."""
    lines = [json.loads(line) for line in transcript(agent).read_text().splitlines()]
    if agent == "codex":
        items = [line["payload"].get("item", {}) for line in lines]
        [result] = [item["result"] for item in items if item.get("tool") == "get-time"]
        return str(result["structuredContent"]["time"])
    blocks = [
        (line, block)
        for line in lines
        if line.get("type") in ("user", "assistant")
        for block in line["message"]["content"]
        if isinstance(block, dict)
    ]
    [call] = [b["id"] for _, b in blocks if b.get("name") == "mcp__basic-vanillajs__get-time"]
    [line] = [line for line, block in blocks if block.get("tool_use_id") == call]
    return str(line["mcpMeta"]["structuredContent"]["time"])


@dataclass
class Host:
    """A Vitrine that holds the session of one agent; ``urls`` are the servers' by name."""

    agent: str
    base_url: str
    session_url: str
    database: Database
    urls: dict[str, str]
    context: BrowserContext


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(official_server(name)) for name in SERVERS}


@pytest.fixture(scope="module", params=list(SESSIONS))
def host(
    request: pytest.FixtureRequest,
    browser: Browser,
    servers: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Host]:
    agent: str = request.param
    data_dir = tmp_path_factory.mktemp(agent)
    database = prepared(data_dir)
    with database.session() as db:
        for name, url in servers.items():
            registry.add_server(db, name, url)
            registry.set_allowed(db, url, allowed=True)
        policy.set_render(db, True)
    summary = import_paths(database, [transcript(agent)])
    assert summary.files_skipped == []
    with vitrine("serve", data_dir, VITRINE_REQUESTS_PER_MINUTE="600") as running:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        sign_in(page, running)
        page.locator("main a[href*='/sessions/']").first.click()
        expect(page.locator(".panel-slot")).to_have_count(len(SERVERS))
        url = page.url
        page.close()
        yield Host(agent, running.url, url, database, servers, context)
        context.close()
        running.assert_nothing_went_wrong()
    database.dispose()


@pytest.fixture
def page(host: Host) -> Iterator[Page]:
    """A page on the session, fresh from the server."""
    page = host.context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    keep_what_views_hear(page)
    page.goto(host.session_url)
    yield page
    page.close()


@pytest.fixture
def unmarked_tools(host: Host) -> Iterator[None]:
    """The operator's choice: tools that no server marked are for views too."""

    def choose(treated_as_visible: bool) -> None:
        with host.database.session() as db:
            for url in host.urls.values():
                registry.set_unmarked_tools(db, url, treated_as_visible)

    choose(True)
    yield
    choose(False)


def panel_of(page: Page, server: str) -> Locator:
    """The panel of a server's one call, its view initialized or about to be."""
    found = panel(page, SERVERS.index(server))
    expect(found.locator("[data-panel]")).to_have_attribute(
        "aria-label", re.compile(rf"^View of {server}/")
    )
    return found


def view_of(page: Page, server: str) -> FrameLocator:
    """The view, once it has started: before that, its buttons do nothing yet."""
    expect(panel_of(page, server).locator("[data-panel]")).to_have_attribute(
        "data-panel-state", "ready"
    )
    settled(page)
    return panel_of(page, server).frame_locator("[data-panel-frame] iframe")


# --- basic-vanillajs ------------------------------------------------------------------------


def test_vanillajs_shows_the_recorded_time(host: Host, page: Page) -> None:
    view = view_of(page, "basic-vanillajs")
    expect(view.locator("#server-time")).to_have_text(recorded_time(host.agent))


@pytest.mark.usefixtures("unmarked_tools")
def test_vanillajs_gets_the_time_anew(host: Host, page: Page) -> None:
    view = view_of(page, "basic-vanillajs")
    time = view.locator("#server-time")
    expect(time).to_have_text(recorded_time(host.agent))
    view.locator("#get-time-btn").click()
    expect(time).not_to_have_text(recorded_time(host.agent))
    expect(time).to_have_text(ISO_TIME)


def test_vanillajs_is_refused_its_unmarked_tool(host: Host, page: Page) -> None:
    view = view_of(page, "basic-vanillajs")
    expect(view.locator("#server-time")).to_have_text(recorded_time(host.agent))
    answer = answer_to(view, view.locator("#get-time-btn").click, "tools/call", name="get-time")
    assert answer["error"] == {"code": -32602, "message": "Unknown tool: get-time"}
    expect(view.locator("#server-time")).to_have_text("[ERROR]")


def test_vanillajs_sends_a_message_to_the_outbox(host: Host, page: Page) -> None:
    view_of(page, "basic-vanillajs").locator("#send-message-btn").click()
    expect(panel_of(page, "basic-vanillajs").locator("[data-panel-notice]")).to_contain_text(
        "outbox"
    )
    page.goto(f"{host.base_url}/outbox")
    held = page.locator("main")
    expect(held).to_contain_text("[MCP App message from basic-vanillajs/get-time]")
    expect(held).to_contain_text("This is message text.")


# --- budget-allocator -----------------------------------------------------------------------


def test_budget_allocator_allocates_and_says_when_it_is_over(page: Page) -> None:
    view = view_of(page, "budget-allocator")
    status = view.locator("#status-bar")
    expect(status).to_contain_text("Allocated: $100,000 / $100,000")
    slider = view.locator(".slider-row[data-category-id=marketing] input.slider")
    slider.focus()
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    expect(view.locator(".slider-row[data-category-id=marketing] .percent")).to_have_text("40.0%")
    expect(status).to_contain_text("Allocated: $115,000 / $100,000")
    expect(status).to_contain_text("Over")
    view.locator("#budget-selector").select_option("500000")
    expect(status).to_contain_text("Allocated: $575,000 / $500,000")


# --- cohort-heatmap -------------------------------------------------------------------------


def is_of(metric: str) -> Callable[[dict[str, Any]], bool]:
    return lambda answer: answer["result"]["structuredContent"]["metric"] == metric


@pytest.mark.usefixtures("unmarked_tools")
def test_cohort_heatmap_asks_its_server_for_what_is_selected(page: Page) -> None:
    view = view_of(page, "cohort-heatmap")
    expect(view.locator("body")).to_contain_text("Cohort Retention Analysis")
    # The agent had asked for six periods: these twelve are the view's own call.
    expect(view.locator("body")).to_contain_text("M11")
    choose = view.locator("select").first
    changed = answer_to(
        view,
        lambda: choose.select_option("revenue"),
        "tools/call",
        is_of("revenue"),
        name=COHORTS,
        metric="revenue",
    )
    assert changed["result"]["structuredContent"]["cohorts"]


def test_cohort_heatmap_is_refused_its_unmarked_tool(page: Page) -> None:
    view = view_of(page, "cohort-heatmap")
    choose = view.locator("select").first
    answer = answer_to(
        view, lambda: choose.select_option("revenue"), "tools/call", lambda found: "error" in found
    )
    assert answer["error"] == {"code": -32602, "message": f"Unknown tool: {COHORTS}"}
