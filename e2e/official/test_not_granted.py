"""Views that need what no sandboxed view gets: the panel says what that is, and why not."""

import pytest
from playwright.sync_api import Route, expect

from e2e.official.stage import App

EVAL = (
    "This view builds code from text (eval), which Vitrine gives no view, because code that is "
    "made up on the way cannot be held to what the server declared."
)
MICROPHONE = (
    "This view asks for the microphone. Browsers give it to no sandboxed view, so what needs it "
    "will fail."
)
CLIPBOARD = (
    "This view asks for writing to the clipboard, which its server is not allowed. What needs it "
    "will fail."
)
# What the real library does first of all: its bindings are made from text.
CESIUM = 'window.Cesium = { bind: new Function("value", "return value") };'


@pytest.mark.official("threejs")
def test_threejs_needs_eval(app: App) -> None:
    view = app.open()
    expect(view.locator("body")).to_contain_text("Evaluating a string as JavaScript")
    app.says(EVAL)
    app.did("starts, and shows its own error")


@pytest.mark.official("map")
def test_map_needs_eval(app: App) -> None:
    asked: list[str] = []

    def library(route: Route) -> None:
        asked.append(route.request.url)
        script = route.request.url.endswith("Cesium.js")
        kind = "text/javascript" if script else "text/css"
        route.fulfill(body=CESIUM if script else "", content_type=kind)

    app.page.route("https://cesium.com/**", library)
    app.open(starts=False)
    expect(app.notice).to_contain_text("The view has not started.")
    app.says(EVAL)
    assert any(url.endswith("Cesium.js") for url in asked)
    app.did("does not start")


@pytest.mark.official("transcript")
def test_transcript_needs_the_microphone(app: App) -> None:
    view = app.open()
    app.says(MICROPHONE, CLIPBOARD)
    app.press("#start-btn")
    expect(view.locator("body")).to_contain_text("Microphone access denied")
    app.press("#clear-btn")
    app.did("starts", "Start says that the microphone is denied", "clear")
