"""The front door and the servers' settings, as a person uses them: with the keyboard alone."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from e2e.pages import PATIENCE_MS, sign_in
from e2e.running import Running, prepared, vitrine
from tests.web.recording import Recording

expect.set_options(timeout=PATIENCE_MS)
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest) -> Browser:
    browser: Browser = request.getfixturevalue(request.param)
    return browser


def tab_to(control: Locator) -> None:
    """Press Tab until ``control`` has the focus, and see that it shows."""
    expect(control).to_be_visible()
    for _ in range(60):
        control.page.keyboard.press("Tab")
        if control.evaluate("element => element === document.activeElement"):
            outline = control.evaluate("element => getComputedStyle(element).outlineStyle")
            assert outline != "none"
            return
    pytest.fail("Tab never reaches it")


@pytest.fixture
def with_session(tmp_path: Path) -> Path:
    """A data folder with a session whose server nobody knows yet."""
    database = prepared(tmp_path)
    Recording().user("Plan.").call("mcp__plans__compare", {"a": 1}, "done").import_into(
        database, tmp_path
    )
    database.dispose()
    return tmp_path


def test_a_password_from_the_link_to_the_next_start(browser: Browser, with_session: Path) -> None:
    with vitrine("serve", with_session) as running:
        first = browser.new_context().new_page()
        sign_in(first, running)
        other = browser.new_context().new_page()
        other.goto(running.url)
        expect(other.get_by_text("vitrine sign-in-link")).to_be_visible()
        first.bring_to_front()  # Firefox shows no focus in a window behind
        tab_to(first.get_by_role("link", name="Settings"))
        first.keyboard.press("Enter")
        tab_to(first.get_by_role("link", name="Account"))
        first.keyboard.press("Enter")
        tab_to(first.get_by_label("New password", exact=True))
        first.keyboard.type("short")
        first.keyboard.press("Enter")
        expect(first.get_by_role("alert")).to_contain_text("at least 10 characters")
        expect(first.locator("#new")).to_be_focused()
        first.keyboard.type(PASSWORD)
        first.keyboard.press("Tab")
        first.keyboard.type(PASSWORD)
        first.keyboard.press("Enter")
        expect(first.get_by_role("status")).to_contain_text("The password is set.")
    with vitrine("serve", with_session) as running:
        assert running.link == ""
        assert "/sign-in/" not in "".join(running.output)
        refused = other.goto(f"{running.url}/settings/servers?name=weather")
        other.bring_to_front()
        assert refused is not None
        assert refused.status == 401
        expect(other.get_by_label("Password")).to_be_focused()
        other.keyboard.type("wrong password")
        other.keyboard.press("Enter")
        expect(other.get_by_role("alert")).to_contain_text("This is not the password.")
        expect(other.get_by_label("Password")).to_be_focused()
        other.keyboard.type(PASSWORD)
        other.keyboard.press("Enter")
        # Where they wanted to go, with the form filled in and ready for the address.
        expect(other.get_by_label("Name in the session")).to_have_value("weather")
        expect(other.get_by_label("Address", exact=True)).to_be_focused()
    first.context.close()
    other.context.close()


def open_servers(page: Page, running: Running) -> None:
    sign_in(page, running)
    page.goto(f"{running.url}/settings/servers")


def test_a_seen_name_gets_an_address_another_one_and_goes(page: Page, with_session: Path) -> None:
    with vitrine("serve", with_session) as running:
        open_servers(page, running)
        seen = page.locator("section", has_text="Seen in sessions")
        expect(seen).to_contain_text("recorded as mcp__plans__compare")
        tab_to(page.get_by_role("link", name="Add plans"))
        page.keyboard.press("Enter")
        expect(page.get_by_label("Address", exact=True)).to_be_focused()
        page.keyboard.type("https://mcp.example/mcp?key=hunter2")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Added.")
        expect(page.locator("main")).to_contain_text("https://mcp.example/mcp?key=•••")
        expect(page.locator("main")).to_contain_text("Used in 1 session")
        expect(seen).to_have_count(0)
        tab_to(page.get_by_role("link", name="Edit plans"))
        page.keyboard.press("Enter")
        tab_to(page.get_by_role("checkbox", name="Views may call tools"))
        page.keyboard.press("Space")
        tab_to(page.get_by_role("button", name="Save choice"))
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Saved.")
        expect(page.get_by_role("checkbox", name="Views may call tools")).to_be_checked()
        tab_to(page.get_by_label("Address", exact=True))
        page.keyboard.type("https://mcp.example/elsewhere")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("views stay off")
        # Permission went with the address.
        expect(page.get_by_role("checkbox", name="Views may call tools")).not_to_be_checked()
        tab_to(page.get_by_text("Remove this server…"))
        page.keyboard.press("Enter")
        expect(page.get_by_text("Sessions stay as they are.")).to_be_visible()
        tab_to(page.get_by_role("button", name="Remove it"))
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Removed.")
        expect(seen).to_contain_text("plans")


def test_a_second_person_comes_in_and_sees_what_a_viewer_sees(
    chromium: Browser, with_session: Path
) -> None:
    # Two people at once: Firefox shows the focus of the window in front alone.
    with vitrine("serve", with_session) as running:
        mine = chromium.new_context().new_page()
        sign_in(mine, running)
        mine.goto(f"{running.url}/settings/people")
        tab_to(mine.get_by_label("Name"))
        mine.keyboard.type("anna")
        mine.keyboard.press("Enter")
        link = mine.locator("#new-link").inner_text()
        hers = chromium.new_context().new_page()
        hers.goto(link)
        expect(hers.get_by_role("link", name="Plan.")).to_be_visible()
        hers.get_by_role("link", name="Plan.").click()
        expect(hers.get_by_text("Download the transcript")).to_be_visible()
        expect(hers.get_by_text("Delete this session…")).to_have_count(0)
        hers.get_by_role("link", name="Settings").click()
        expect(hers.get_by_text("You are signed in as anna, viewer.")).to_be_visible()
        expect(hers.get_by_role("navigation", name="Settings").get_by_role("link")).to_have_count(1)
        hers.get_by_label("New password", exact=True).fill(PASSWORD)
        hers.get_by_label("New password again").fill(PASSWORD)
        hers.get_by_role("button", name="Set password").click()
        expect(hers.get_by_role("status")).to_contain_text("The password is set.")
        hers.get_by_role("button", name="Sign out").click()
        expect(hers.get_by_label("Name")).to_be_focused()
        hers.keyboard.type("anna")
        hers.keyboard.press("Tab")
        hers.keyboard.type(PASSWORD)
        hers.keyboard.press("Enter")
        expect(hers.get_by_role("link", name="Plan.")).to_be_visible()
        # Mine may still do what hers may not, and ends hers.
        mine.goto(f"{running.url}/settings/people")
        tab_to(mine.get_by_text("Change… anna"))
        mine.keyboard.press("Enter")
        tab_to(mine.get_by_role("button", name="Sign out everywhere (anna)"))
        mine.keyboard.press("Enter")
        expect(mine.get_by_role("status")).to_contain_text("Signed out everywhere")
        hers.reload()
        expect(hers.get_by_label("Password")).to_be_visible()
        mine.context.close()
        hers.context.close()


def test_the_two_switches(page: Page, with_session: Path) -> None:
    with vitrine("serve", with_session) as running:
        open_servers(page, running)
        page.get_by_label("Name in the session").fill("plans")
        page.get_by_label("Address", exact=True).fill("https://mcp.example/mcp")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Added.")
        page.goto(f"{running.url}/settings/mcp-apps")
        both = [
            page.get_by_role("checkbox", name="Render MCP App views"),
            page.get_by_role("checkbox", name="plans"),
        ]
        for switch in both:
            expect(switch).not_to_be_checked()
            tab_to(switch)
            page.keyboard.press("Space")
        tab_to(page.get_by_role("button", name="Save"))
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_be_visible()
        page.reload()
        for switch in both:
            expect(switch).to_be_checked()
