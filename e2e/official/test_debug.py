"""The debug server: a view with a button for everything that a view may ask of its host."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.official.stage import App

LINK = "https://modelcontextprotocol.io/"


@pytest.mark.official("debug")
def test_it_is_told_everything_about_the_call_and_its_host(app: App, debug_log: Path) -> None:
    view = app.open()
    log = view.locator("#event-log")
    for event in ("connected:", "ontoolinput:", "ontoolresult:"):
        expect(log).to_contain_text(event)
    entry = view.locator(".log-entry", has_text="ontoolresult:")
    app.press(entry)
    # Every kind of content that the server sent, and the result's _meta.
    if app.host.agent == "codex":
        for kind in ("image", "audio", "resource", "resource_link"):
            expect(entry.locator(".log-payload-full")).to_contain_text(f'"type": "{kind}"')
    expect(entry.locator(".log-payload-full")).to_contain_text("debugInfo")
    about = view.locator("#host-context-info")
    expect(about).to_contain_text("Vitrine v")
    expect(about).to_contain_text("inline")
    expect(view.locator("#host-capabilities-info")).not_to_contain_text("✗")
    expect(view.locator("#host-styles-sample > *")).not_to_have_count(0)
    for button in view.locator("[data-toggle]").all():
        app.press(button)
    view.locator("#log-filter").select_option("ontoolinput")
    expect(log).not_to_contain_text("connected:")
    app.press("#clear-log-btn")
    expect(log.locator(".log-entry")).to_have_count(0)
    assert "ontoolresult" in debug_log.read_text()
    app.did("is told the call and its host", "event log, filter, clear")


@pytest.mark.official("debug")
def test_messages_logs_and_context_reach_the_agent_and_the_panel(app: App) -> None:
    view = app.open()
    view.locator("#message-text").fill("Hello from the debug view.")
    app.press("#send-message-text-btn")
    expect(app.notice).to_contain_text("sent a message to the agent")
    # Only text goes to an agent, as the host says from the start.
    app.press("#send-message-image-btn")
    expect(app.log().filter(has_text="ui/message")).not_to_have_count(0)
    view.locator("#log-data").fill("Logged by the debug view.")
    for level in ("debug", "info", "warning", "error"):
        app.press(f"#log-{level}-btn")
        line = app.log().filter(has_text="Logged by the debug view.").filter(has_text=level)
        expect(line).not_to_have_count(0)
    view.locator("#context-text").fill("State of the debug view.")
    app.press("#update-context-text-btn")
    expect(app.notice).to_contain_text("outbox")
    app.press("#update-context-structured-btn")
    app.press("#update-context-image-btn")
    waiting = app.outbox()
    assert "[MCP App message from debug/debug-tool]" in waiting
    assert "Hello from the debug view." in waiting
    app.did("message", "log at four levels", "context")


@pytest.mark.official("debug")
def test_display_modes_links_and_sizes(app: App) -> None:
    view = app.open()
    mode = view.locator("#host-context-info")
    app.press("#display-fullscreen-btn")
    expect(mode).to_contain_text("fullscreen")
    expect(app.panel.get_by_role("button", name="Leave fullscreen")).to_be_visible()
    app.press("#display-inline-btn")
    expect(mode).to_contain_text("inline")
    # Picture in picture is not offered: it stays as it is.
    app.press("#display-pip-btn")
    expect(mode).to_contain_text("inline")
    app.press("#open-link-btn")
    dialog = app.page.get_by_role("dialog")
    expect(dialog).to_contain_text(LINK)
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    frame = app.panel.locator("iframe")
    view.locator("#auto-resize-toggle").uncheck()
    for size, height in (("200x100", 100), ("400x300", 300), ("800x600", 600)):
        # By the key: the button may lie outside of the small frame that it asked for.
        view.locator(f"#resize-{size}-btn").press("Enter")
        expect(frame).to_have_css("height", f"{height}px")
    app.did("fullscreen and back", "link", "three sizes")


@pytest.mark.official("debug")
def test_its_servers_tools_answer_with_every_kind_of_content(app: App) -> None:
    view = app.open()

    def called(count: int, kind: str) -> dict[str, Any]:
        found = app.answer_to(
            lambda: app.press("#call-debug-tool-btn"),
            "tools/call",
            lambda answer: [block["type"] for block in contents(answer)].count(kind) >= count,
            name="debug-tool",
        )
        result: dict[str, Any] = found["result"]
        return result

    def contents(answer: dict[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = answer.get("result", {}).get("content", [])
        return found

    kinds = {"image": "image", "audio": "audio", "resource": "resource"}
    for chosen, kind in (kinds | {"resourceLink": "resource_link", "mixed": "image"}).items():
        view.locator("#tool-content-type").select_option(chosen)
        called(1, kind)
    view.locator("#tool-content-type").select_option("image")
    view.locator("#tool-multiple-blocks").check()
    view.locator("#tool-include-meta").check()
    assert called(3, "image")["_meta"]
    view.locator("#tool-simulate-error").check()
    app.press("#call-debug-tool-btn")
    expect(view.locator("#event-log")).to_contain_text('"isError": true')
    app.answer_to(lambda: app.press("#call-debug-refresh-btn"), "tools/call", name="debug-refresh")
    expect(view.locator("#event-log")).to_contain_text("server-tool-result:")
    # The page takes the view down, after it has had its say.
    with app.page.expect_request(lambda request: "onteardown" in (request.post_data or "")):
        app.panel.locator(".panel-bar").get_by_role("button", name="Reload").click()
    expect(app.panel).to_have_attribute("data-panel-state", "ready")
    expect(view.locator("#event-log")).to_contain_text("ontoolresult:")
    app.did("its tools, with every kind of content", "an error result", "teardown")
