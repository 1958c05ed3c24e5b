"""A server at home and its token, entered with the keyboard, and used by its view."""

from pathlib import Path

from playwright.sync_api import Page, expect

from app.mcp_apps import policy
from e2e.pages import PATIENCE_MS, sign_in, view
from e2e.running import prepared, vitrine
from e2e.test_sign_in import tab_to
from tests.support.scripted import document, scripted, tool
from tests.web.recording import Recording

expect.set_options(timeout=PATIENCE_MS)
TOKEN = "sentinel-token-of-a-person"
VIEW = "<p id=seen>The view of plans</p>"


def test_a_server_at_home_gets_its_token_and_nobody_sees_it(page: Page, tmp_path: Path) -> None:
    database = prepared(tmp_path)
    Recording().user("Plan.").call("mcp__plans__compare", {"a": 1}, "done").import_into(
        database, tmp_path
    )
    with database.session() as db:
        policy.set_render(db, True)
    database.dispose()
    with (
        scripted(tools_list={"tools": [tool("compare")]}, resources_read=document(VIEW)) as server,
        vitrine("serve", tmp_path) as running,
    ):
        # Until it gets its token, as a real one would.
        server.status = 401
        sign_in(page, running)
        page.goto(f"{running.url}/settings/servers?name=plans")
        expect(page.get_by_label("Address")).to_be_focused()
        page.keyboard.type(server.url)
        page.keyboard.press("Enter")
        asked = page.get_by_role("checkbox", name="in my own network")
        expect(page.get_by_role("alert")).to_contain_text("in your own network")
        expect(asked).to_be_focused()
        expect(page.get_by_label("Name in the session")).to_have_value("plans")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Added.")
        page.goto(f"{running.url}/settings/mcp-apps")
        tab_to(page.get_by_role("checkbox", name="plans"))
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Saved.")

        page.goto(running.url)
        page.get_by_role("link", name="Plan.").first.click()
        expect(page.locator("main")).to_contain_text("give it a credential under Settings")

        page.goto(f"{running.url}/settings/servers/1")
        expect(page.get_by_role("checkbox", name="in my own network")).to_be_checked()
        tab_to(page.get_by_label("Token or value"))
        page.keyboard.type(TOKEN)
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("goes along with every request")
        expect(page.locator("#credentials")).to_contain_text("Authorization")
        assert TOKEN not in page.content()
        server.status = 0
        page.goto(running.url)
        page.get_by_role("link", name="Plan.").first.click()
        expect(view(page).locator("#seen")).to_be_visible()
        assert server.headers[-1]["authorization"] == f"Bearer {TOKEN}"
        assert TOKEN not in "".join(running.output)
        running.assert_nothing_went_wrong()
