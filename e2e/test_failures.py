"""A server that is stopped, hung or talks nonsense: the page stays, the panel says what happened.

And the two switches: with either off nothing is contacted and no frame is there.
"""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from app.mcp import registry
from app.mcp_apps import policy
from app.transcripts.ingest import import_paths
from e2e.pages import PATIENCE_MS, panel, session_of, settled, sign_in
from e2e.running import prepared, vitrine
from tests.support.listeners import Listener, garbage, hung, stopped

expect.set_options(timeout=PATIENCE_MS)
SESSION = Path(__file__).parent.parent / "app" / "demo" / "sessions"
SECONDS = "2"


def configure(data_dir: Path, url: str, *, render: bool = True, allowed: bool = True) -> None:
    """A deployment that holds the demo's recorded session and knows its server at ``url``."""
    database = prepared(data_dir)
    with database.session() as db:
        registry.add_server(db, "demo", url)
        registry.set_allowed(db, url, allowed=allowed)
        policy.set_render(db, render)
    import_paths(database, [SESSION])
    database.dispose()


def session_url(context: BrowserContext, base: str) -> str:
    page = context.new_page()
    page.goto(base)
    link = session_of(page, "Claude Code").get_by_role("link").first
    href = link.get_attribute("href")
    page.close()
    return f"{base}{href}"


def call_with_a_view() -> str:
    """The id of that session's first call whose tool has a view."""
    (transcript,) = (SESSION / "claude-code").rglob("*.jsonl")
    for line in transcript.read_text().splitlines():
        content = json.loads(line).get("message", {}).get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("name") == "mcp__demo__show_capacity":
                return str(block["id"])
    raise AssertionError("the recorded session calls show_capacity")


@pytest.mark.parametrize(
    ("server", "sentence"),
    [
        (stopped, "The server cannot be reached."),
        (hung, f"The server did not answer within {SECONDS} seconds."),
        (garbage, "The server gave an answer that Vitrine cannot read."),
    ],
)
def test_the_page_contacts_nobody_and_the_panel_says_what_happened(
    server: Callable[[], AbstractContextManager[Listener]],
    sentence: str,
    browser: Browser,
    tmp_path: Path,
) -> None:
    with server() as listener:
        configure(tmp_path, listener.url)
        with vitrine("serve", tmp_path, VITRINE_LISTING_TIMEOUT_SECONDS=SECONDS) as running:
            context = browser.new_context()
            page = context.new_page()
            sign_in(page, running)
            url = session_url(context, running.url)
            answer = context.request.get(url)
            assert answer.ok
            assert "panel-slot" in answer.text()
            assert listener.connections == 0
            page.goto(url)
            slot = panel(page)
            expect(slot.get_by_text(sentence)).to_be_visible()
            expect(slot.get_by_role("button", name="Try again")).to_be_visible()
            expect(page.locator("iframe")).to_have_count(0)
            context.close()


def test_try_again_shows_the_view_once_the_server_is_back(browser: Browser, tmp_path: Path) -> None:
    from app.demo.run import serving
    from e2e.running import free_port

    port = free_port()
    configure(tmp_path, f"http://127.0.0.1:{port}/mcp")
    with vitrine("serve", tmp_path) as running:
        context = browser.new_context()
        page = context.new_page()
        sign_in(page, running)
        page.goto(session_url(context, running.url))
        again = panel(page).get_by_role("button", name="Try again")
        expect(again).to_be_visible()
        with serving(port):
            # A failure is remembered for a moment, so that ten panels do not each wait for it.
            page.wait_for_timeout(6000)
            again.click()
            expect(panel(page).frame_locator("iframe").locator("#plan")).to_be_visible()
        context.close()


@pytest.mark.parametrize(("render", "allowed"), [(False, True), (True, False)])
def test_with_a_switch_off_nothing_is_contacted_and_no_frame_is_there(
    render: bool, allowed: bool, browser: Browser, tmp_path: Path
) -> None:
    with hung() as listener:
        configure(tmp_path, listener.url, render=render, allowed=allowed)
        with vitrine("serve", tmp_path) as running:
            context = browser.new_context()
            page = context.new_page()
            sign_in(page, running)
            url = session_url(context, running.url)
            # The last thing that an opened page asks for by itself: what came since it was made.
            with page.expect_response(lambda answer: "live=true" in answer.url):
                page.goto(f"{url}?level=verbose")
            page.mouse.wheel(0, 100_000)
            expect(page.get_by_text("show_capacity").first).to_be_visible()
            settled(page)
            expect(page.locator(".panel-slot")).to_have_count(0)
            expect(page.locator("iframe")).to_have_count(0)
            # Nor by asking for the panel by its address.
            asked = context.request.get(f"{url}/mcp_apps/{call_with_a_view()}")
            assert asked.ok
            state = "not-allowed" if render else "off"
            assert f'data-panel-state="{state}"' in asked.text()
            assert listener.connections == 0
            context.close()
