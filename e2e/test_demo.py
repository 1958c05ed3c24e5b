"""First light: what a newcomer sees behind the printed link, with the real command and browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from e2e.pages import PATIENCE_MS, panel, session_of, sign_in, view
from e2e.running import Running, vitrine

expect.set_options(timeout=PATIENCE_MS)
AGENTS = ("Claude Code", "Codex")
MESSAGE_FROM = "[MCP App message from demo/show_capacity]"


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest) -> Browser:
    browser: Browser = request.getfixturevalue(request.param)
    return browser


@pytest.fixture(scope="module")
def demo(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One for each browser: its link works once."""
    with vitrine("demo", tmp_path_factory.mktemp("demo")) as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(demo: Running, browser: Browser) -> Iterator[Page]:
    """One signed-in page, for all journeys of this module: the printed link works once."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    sign_in(page, demo)
    yield page
    context.close()


@pytest.fixture(scope="module", params=AGENTS)
def session_page(request: pytest.FixtureRequest, demo: Running, signed_in: Page) -> Page:
    """That page on the demo's session of each agent in turn."""
    signed_in.goto(demo.url)
    session_of(signed_in, request.param).get_by_role("link").click()
    expect(signed_in.locator("main .tag", has_text=request.param).first).to_be_visible()
    return signed_in


@pytest.fixture
def capacity(session_page: Page) -> FrameLocator:
    """The demo's view, fresh from the server, initialized."""
    session_page.reload()
    frame = view(session_page)
    expect(frame.locator("#plan")).to_be_visible()
    return frame


def test_the_list_shows_the_session_of_each_agent(demo: Running, signed_in: Page) -> None:
    signed_in.goto(demo.url)
    expect(signed_in.locator("main li")).to_have_count(len(AGENTS))
    for agent in AGENTS:
        expect(session_of(signed_in, agent)).to_have_count(1)


def test_the_view_shows_the_recorded_result(capacity: FrameLocator) -> None:
    expect(capacity.locator("#weeks-left")).to_have_text(re.compile(r"^\d+ weeks?$"))
    expect(capacity.locator("#rows tr").first).to_be_attached()


def test_a_button_calls_an_app_tool_and_the_number_changes(capacity: FrameLocator) -> None:
    before = capacity.locator("#weeks-left").inner_text()
    capacity.locator("#growth").fill("9")
    capacity.locator("#recompute").click()
    expect(capacity.locator("#status")).to_contain_text("Computed")
    expect(capacity.locator("#weeks-left")).not_to_have_text(before)


def test_a_tool_for_the_model_alone_is_refused(capacity: FrameLocator) -> None:
    capacity.locator("#publish").click()
    expect(capacity.locator("#status")).to_contain_text("Unknown tool: publish_plan")


def test_the_view_reads_a_resource_of_its_server(capacity: FrameLocator) -> None:
    capacity.locator("#method").click()
    expect(capacity.locator("#method-text h2")).to_be_visible()


def test_a_message_appears_in_the_outbox_with_its_author(
    demo: Running, session_page: Page, capacity: FrameLocator
) -> None:
    capacity.locator("#ask").click()
    expect(capacity.locator("#status")).to_contain_text("Handed to the host")
    outbox = session_page.context.new_page()
    outbox.goto(f"{demo.url}/outbox")
    expect(outbox.get_by_text(MESSAGE_FROM).first).to_be_visible()
    expect(outbox.get_by_text("Please publish this plan.").first).to_be_visible()
    outbox.close()


def test_fullscreen_and_back(session_page: Page, capacity: FrameLocator) -> None:
    iframe = panel(session_page).locator("iframe")
    inline = iframe.bounding_box()
    capacity.locator("#fullscreen").click()
    expect(capacity.locator("#fullscreen")).to_have_attribute("aria-pressed", "true")
    full = iframe.bounding_box()
    assert inline is not None
    assert full is not None
    assert full["width"] > inline["width"]
    assert full["height"] > 700
    # The bar that names the server stays: a view must not pass for the application.
    expect(panel(session_page).get_by_text("demo", exact=True).first).to_be_visible()
    session_page.keyboard.press("Escape")
    expect(capacity.locator("#fullscreen")).to_have_attribute("aria-pressed", "false")
    expect(capacity.locator("#plan")).to_be_visible()


def test_opening_a_link_asks_first_and_shows_the_whole_address(
    session_page: Page, capacity: FrameLocator
) -> None:
    capacity.locator("#docs").click()
    dialog = session_page.get_by_role("dialog")
    expect(dialog).to_contain_text("https://en.wikipedia.org/wiki/Capacity_planning")
    # The view had the focus; a key that is pressed before it has moved would be the view's.
    dialog.get_by_role("button", name="Cancel").press("Escape")
    expect(capacity.locator("#status")).to_contain_text("not opened")


def test_the_audit_page_tells_of_the_link_that_was_not_opened(
    session_page: Page, capacity: FrameLocator, demo: Running
) -> None:
    capacity.locator("#docs").click()
    session_page.get_by_role("dialog").get_by_role("button", name="Cancel").press("Escape")
    expect(capacity.locator("#status")).to_contain_text("not opened")
    page = session_page.context.new_page()
    page.goto(f"{demo.url}/audit?kind=link")
    event = page.locator(".audit-event").first
    expect(event).to_contain_text("https://en.wikipedia.org/…")
    expect(event).to_contain_text("denied")
    expect(event).to_contain_text("view:demo/show_capacity")
    expect(page.locator("main")).not_to_contain_text("Capacity_planning")
    page.close()


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_goes_wrong_in_the_page(browser: Browser, agent: str, tmp_path: Path) -> None:
    """No script error and no policy violation of the host page itself, start to end."""
    context = browser.new_context()
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: problems.append(message.text) if message.type == "error" else None,
    )
    with vitrine("demo", tmp_path) as running:
        sign_in(page, running)
        session_of(page, agent).get_by_role("link").click()
        expect(view(page).locator("#plan")).to_be_visible()
    context.close()
    assert problems == []


@pytest.mark.usefixtures("signed_in")
def test_the_sign_in_link_works_once(demo: Running, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(demo.link)
    assert answer is not None
    assert answer.status == 410 or answer.status == 401
    page.goto(demo.url)
    expect(page.get_by_role("heading", name="Sessions")).to_have_count(0)
    context.close()


def test_the_demo_says_which_server_it_allows_and_allows_no_other(demo: Running) -> None:
    said = "".join(demo.output)
    assert f"http://127.0.0.1:{demo.demo_port}/mcp" in said


def test_a_taken_port_is_said_in_a_sentence(demo: Running, tmp_path: Path) -> None:
    import subprocess
    import sys

    from e2e.running import ROOT

    again = subprocess.run(
        [sys.executable, "-m", "app.cli", "demo"],
        cwd=ROOT,
        env={
            "PATH": "/usr/bin:/bin",
            "VITRINE_DATA_DIR": str(tmp_path),
            "VITRINE_DEMO_PORT": str(demo.demo_port),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert again.returncode == 1
    assert f"Port {demo.demo_port} is taken" in again.stderr
    assert "Traceback" not in again.stderr
