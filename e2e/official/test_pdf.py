"""The PDF viewer, on a file that the test writes: the person reads, the agent points."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, expect

from e2e.official.pdf_file import PAGES
from e2e.official.stage import App

pytestmark = pytest.mark.official("pdf")


@pytest.fixture
def agent() -> Iterator[ThreadPoolExecutor]:
    """The agent calls tools while the person looks on."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def opened(app: App) -> FrameLocator:
    view = app.open()
    expect(view.locator("#text-layer")).to_contain_text(PAGES[0])
    expect(view.locator("#total-pages")).to_have_text(f"of {len(PAGES)}")
    return view


def interact(agent: ThreadPoolExecutor, app: App, **arguments: Any) -> Future[dict[str, Any]]:
    uuid = app.call.result["_meta"]["viewUUID"]
    return agent.submit(app.call_server, "interact", viewUUID=uuid, **arguments)


def text_of(result: dict[str, Any]) -> str:
    return " ".join(block.get("text", "") for block in result["content"])


def test_the_person_turns_pages_zooms_and_searches(app: App) -> None:
    view = opened(app)
    text, page = view.locator("#text-layer"), view.locator("#page-input")
    app.press("#next-btn")
    expect(text).to_contain_text(PAGES[1])
    app.press("#prev-btn")
    expect(text).to_contain_text(PAGES[0])
    page.fill("3")
    page.press("Enter")
    expect(text).to_contain_text(PAGES[2])
    zoom = view.locator("#zoom-level")
    before = zoom.inner_text()
    app.press("#zoom-in-btn")
    expect(zoom).not_to_have_text(before)
    app.press("#zoom-out-btn")
    app.press("#search-btn")
    view.locator("#search-input").fill("Needle-2")
    expect(view.locator("#search-match-count")).to_contain_text("1")
    view.locator("#search-input").press("Enter")
    expect(text).to_contain_text(PAGES[1])
    app.press("#search-close-btn")
    # What is on the page is told to the agent.
    expect(app.notice).to_contain_text("outbox")
    assert "Needle-2" in app.outbox()
    app.did("pages", "zoom", "search", "context for the agent")


def test_the_agent_turns_the_page_and_reads_another(app: App, agent: ThreadPoolExecutor) -> None:
    view = opened(app)
    turned = interact(agent, app, action="navigate", page=3)
    expect(view.locator("#text-layer")).to_contain_text(PAGES[2])
    assert turned.result().get("isError") is not True
    read = interact(agent, app, action="get_text", page=2)
    assert "Needle-2" in text_of(read.result())
    app.did("the agent turns the page", "the agent reads a page")


def test_fullscreen_download_and_an_address_that_is_no_link(app: App) -> None:
    view = opened(app)
    app.press("#fullscreen-btn")
    expect(app.panel.get_by_role("button", name="Leave fullscreen")).to_be_visible()
    app.page.keyboard.press("Escape")
    expect(app.panel.get_by_role("button", name="Fullscreen", exact=True)).to_be_visible()
    app.press("#pdf-title")
    refused = app.log().filter(has_text="no plain http or https address")
    expect(refused).not_to_have_count(0)
    expect(app.page.get_by_role("dialog")).to_have_count(0)
    app.press("#download-btn")
    dialog = app.page.get_by_role("dialog")
    with app.page.expect_download() as saved:
        dialog.get_by_role("button", name="Save file").click()
    assert saved.value.suggested_filename.endswith(".pdf")
    assert Path(saved.value.path()).read_bytes().startswith(b"%PDF")
    expect(view.locator("#download-btn")).to_be_enabled()
    app.did("fullscreen", "download", "its file: address is refused")


def test_notes_of_the_agent_are_shown_and_saved(
    app: App, agent: ThreadPoolExecutor, pdf_file: Path
) -> None:
    view = opened(app)
    before = pdf_file.read_bytes()
    note = {"id": "n1", "type": "highlight", "page": 1, "content": "Look here."}
    note["rects"] = [{"x": 72, "y": 80, "width": 200, "height": 24}]
    added = interact(agent, app, action="add_annotations", annotations=[note])
    expect(view.locator("#annotations-badge")).to_have_text("1")
    assert added.result().get("isError") is not True
    expect(view.locator("#annotation-layer > *")).not_to_have_count(0)
    app.press("#annotations-btn")
    expect(view.locator("#annotation-panel-list")).to_contain_text("Look here.")
    app.press("#save-btn")
    app.answer_to(
        lambda: app.press(view.locator("#confirm-buttons").get_by_text("Save", exact=True)),
        "tools/call",
        lambda found: "mtimeMs" in found.get("result", {}).get("structuredContent", {}),
        name="save_pdf",
    )
    after = pdf_file.read_bytes()
    assert after.startswith(b"%PDF")
    assert after != before
    app.did("the agent's notes", "save")
