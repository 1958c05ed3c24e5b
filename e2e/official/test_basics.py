"""The six basic servers: one view, in six frameworks."""

import re

import pytest
from playwright.sync_api import expect

from e2e.official.stage import App

ISO_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
LINK = "https://modelcontextprotocol.io/"
BASICS = [
    pytest.param(name, marks=pytest.mark.official(f"basic-{name}"))
    for name in ("vanillajs", "react", "preact", "svelte", "solid", "vue")
]


def recorded_time(app: App) -> str:
    result = app.call.result
    structured = result.get("structuredContent")
    return str(structured["time"] if structured else result["content"][0]["text"])


@pytest.mark.parametrize("framework", BASICS)
def test_every_button_does_what_it_says(framework: str, app: App) -> None:
    press_every_button(framework, app)


def press_every_button(framework: str, app: App) -> None:
    view = app.open()
    time = view.locator("code").first
    expect(time).to_have_text(recorded_time(app))

    app.press(view.get_by_role("button", name="Get Server Time"))
    expect(time).not_to_have_text(recorded_time(app))
    expect(time).to_have_text(ISO_TIME)

    view.locator("textarea").fill(f"Hello from {framework}.")
    app.press(view.get_by_role("button", name="Send Message"))
    expect(app.notice).to_contain_text("outbox")
    waiting = app.outbox()
    assert f"[MCP App message from basic-{framework}/get-time]" in waiting
    assert f"Hello from {framework}." in waiting

    view.locator("input[type=text]").fill(f"Logged by {framework}.")
    app.press(view.get_by_role("button", name="Send Log"))
    expect(app.log().filter(has_text=f"Logged by {framework}.")).to_contain_text("view info")

    # Answered here, so that nothing leaves the machine.
    app.page.context.route(f"{LINK}**", lambda route: route.fulfill(body="elsewhere"))
    app.press(view.get_by_role("button", name="Open Link"))
    dialog = app.page.get_by_role("dialog")
    expect(dialog).to_contain_text(LINK)
    with app.page.expect_popup() as opened:
        dialog.get_by_role("button", name="Open link").click()
    opened.value.wait_for_url(LINK)
    assert opened.value.evaluate("window.opener") is None
    opened.value.close()
    app.page.context.unroute(f"{LINK}**")
    app.did("shows the recorded time", "gets it anew", "message", "log", "link")
