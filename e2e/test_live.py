"""Sessions that grow while somebody looks at them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.demo.run import sessions_folder
from e2e.pages import PATIENCE_MS, sign_in
from e2e.running import Running, vitrine
from tests.transcripts.making import SESSION_ID, assistant, call, result, user

expect.set_options(timeout=PATIENCE_MS)
[DEMO_SESSION] = (sessions_folder() / "claude-code").rglob("*.jsonl")


class Agent:
    """Writes a transcript, and says what it does, as Claude Code does."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / "projects" / "-home-dev-project" / f"{SESSION_ID}.jsonl"
        self.path.parent.mkdir(parents=True)
        (home / "sessions").mkdir()

    def writes(self, *lines: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(line + b"\n" for line in lines))

    def says(self, *texts: str) -> None:
        self.writes(*(assistant({"type": "text", "text": text}) for text in texts))

    def is_(self, status: str | None) -> None:
        state = self.home / "sessions" / "1.json"
        if status is None:
            state.unlink()
            return
        started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
        whole: dict[str, Any] = {"pid": os.getpid(), "procStart": started, "status": status}
        state.write_text(json.dumps(whole | {"sessionId": SESSION_ID}))


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "claude")


@pytest.fixture
def running(agent: Agent, tmp_path: Path) -> Iterator[Running]:
    watched = str(agent.home / "projects")
    with vitrine("serve", tmp_path / "data", VITRINE_WATCH=watched) as found:
        yield found


def opened(page: Page, running: Running, title: str) -> None:
    sign_in(page, running)
    page.get_by_role("link", name=title).click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    page.evaluate("window.isTheSamePage = true")


def is_the_same_page(page: Page) -> bool:
    return bool(page.evaluate("window.isTheSamePage === true"))


def long_text(number: int) -> str:
    return f"Paragraph {number}.\n\n" + "\n\n".join(f"Line {n}" for n in range(12))


def test_a_new_session_appears_in_the_open_list(page: Page, running: Running, agent: Agent) -> None:
    sign_in(page, running)
    expect(page.get_by_role("heading", name="No sessions yet")).to_be_visible()
    page.evaluate("window.isTheSamePage = true")
    agent.writes(user("Plan the week"))
    expect(page.get_by_role("link", name="Plan the week")).to_be_visible()
    assert is_the_same_page(page)


def test_new_rows_appear_and_a_call_gets_its_result(
    page: Page, running: Running, agent: Agent
) -> None:
    agent.writes(user("Plan the week"), call("toolu_1", "Bash", command="ls"))
    opened(page, running, "Plan the week")
    row = page.locator(".row-tool-call")
    expect(row).to_have_count(1)
    row.locator("summary").click()
    agent.writes(result("toolu_1", "three files"))
    agent.says("There are three.")
    expect(page.locator(".row-assistant")).to_contain_text("There are three.")
    expect(row).to_contain_text("three files")
    # It was open, and is.
    expect(row.locator("details.call")).to_have_attribute("open", "")
    expect(row).to_have_count(1)
    assert is_the_same_page(page)


def test_whoever_reads_at_the_end_follows(page: Page, running: Running, agent: Agent) -> None:
    agent.writes(user("Plan the week"))
    agent.says(*(long_text(number) for number in range(6)))
    opened(page, running, "Plan the week")
    expect(page.locator(".row-assistant")).to_have_count(6)
    page.evaluate("document.getElementById('end').scrollIntoView({block: 'end'})")
    agent.says(long_text(7))
    expect(page.get_by_text("Paragraph 7.")).to_be_attached()
    expect(page.locator("#end")).to_be_in_viewport()


def test_whoever_reads_further_up_stays_and_can_jump(
    page: Page, running: Running, agent: Agent
) -> None:
    agent.writes(user("Plan the week"))
    agent.says(*(long_text(number) for number in range(6)))
    opened(page, running, "Plan the week")
    expect(page.locator(".row-assistant")).to_have_count(6)
    page.evaluate("window.scrollTo({top: 200, behavior: 'instant'})")
    agent.says(long_text(7), long_text(8))
    jump = page.get_by_role("button", name="Jump to newest")
    expect(jump).to_be_visible()
    assert page.evaluate("window.scrollY") == 200
    expect(page.get_by_text("2 new")).to_be_visible()
    jump.click()
    expect(page.locator("#end")).to_be_in_viewport()
    expect(jump).to_have_count(0)


def test_what_came_while_the_connection_was_cut_is_made_up_for(
    page: Page, running: Running, agent: Agent
) -> None:
    agent.writes(user("Plan the week"))
    opened(page, running, "Plan the week")
    page.context.set_offline(True)
    agent.says("Said in between.")
    page.context.set_offline(False)
    agent.says("Said afterwards.")
    rows = page.locator(".row-assistant .prose")
    expect(rows).to_contain_text(["Said in between.", "Said afterwards."])
    expect(rows).to_have_count(2)


def test_each_row_comes_once_however_fast_they_are_written(
    page: Page, running: Running, agent: Agent
) -> None:
    agent.writes(user("Count"))
    opened(page, running, "Count")
    for number in range(150):
        agent.says(f"number {number} said")
    rows = page.locator(".row-assistant .prose")
    expect(page.get_by_text("number 149 said")).to_be_attached()
    texts = [text.strip() for text in rows.all_inner_texts()]
    assert texts == [f"number {number} said" for number in range(150)]


def test_a_transcript_that_was_written_anew_says_so(
    page: Page, running: Running, agent: Agent
) -> None:
    agent.writes(user("Plan the week"), user("more"), user("and more"))
    opened(page, running, "Plan the week")
    agent.path.write_bytes(user("Start again") + b"\n")
    expect(page.get_by_text("This transcript was written anew.")).to_be_visible()
    page.get_by_role("button", name="Load it").click()
    expect(page.get_by_role("heading", name="Start again")).to_be_visible()


def test_the_badge_says_what_the_agent_does(page: Page, running: Running, agent: Agent) -> None:
    agent.writes(user("Plan the week"))
    opened(page, running, "Plan the week")
    badge = page.locator("main .badge-activity")
    expect(badge).to_have_text("ended")
    agent.is_("busy")
    expect(badge).to_have_text("working")
    agent.is_("idle")
    expect(badge).to_have_text("waiting for you")
    page.reload()
    expect(badge).to_have_text("waiting for you")
    agent.is_(None)
    expect(badge).to_have_text("ended")


@pytest.fixture
def demo(agent: Agent, tmp_path: Path) -> Iterator[Running]:
    watched = str(agent.home / "projects")
    with vitrine("demo", tmp_path / "data", VITRINE_WATCH=watched) as found:
        yield found


def test_a_view_that_was_opened_while_its_call_ran_gets_the_result(
    page: Page, demo: Running, agent: Agent
) -> None:
    recorded = json.loads(
        next(
            line
            for line in DEMO_SESSION.read_text().splitlines()
            if '"mcpMeta"' in line and '"structuredContent"' in line
        )
    )
    agent.writes(user("Show it"), call("toolu_1", "mcp__demo__show_capacity", service="checkout"))
    opened(page, demo, "Show it")
    slot = page.locator(".panel-slot")
    slot.scroll_into_view_if_needed()
    expect(slot.locator("[data-panel]")).to_have_attribute("data-panel-state", "ready")
    expect(slot).to_contain_text("The tool has not answered yet")
    frame = slot.locator("iframe")
    frame.evaluate("(element) => { element.isTheSameFrame = true; }")
    agent.writes(
        result("toolu_1", recorded["message"]["content"][0]["content"], mcpMeta=recorded["mcpMeta"])
    )
    expect(slot.frame_locator("iframe").locator("#svg path").first).to_be_attached()
    expect(slot).not_to_contain_text("The tool has not answered yet")
    expect(slot.get_by_text("Recorded result")).to_be_visible()
    assert frame.evaluate("(element) => element.isTheSameFrame === true")
