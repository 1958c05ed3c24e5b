"""Pictures, sound and film: shadertoy, sheet-music, video-resource; and the graph of
wiki-explorer.
"""

import base64
import re

import pytest
from playwright.sync_api import Page, Route, expect

from e2e.official.catalog import BARS, SHADER
from e2e.official.outside import Outside, tone
from e2e.official.stage import App

_PIXEL = """async ([png, x, y]) => {
    const bytes = Uint8Array.from(atob(png), (char) => char.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    return [...canvas.getImageData(x, y, 1, 1).data];
}"""


def pixel(page: Page, png: bytes, x: int, y: int) -> list[int]:
    found: list[int] = page.evaluate(_PIXEL, [base64.b64encode(png).decode(), x, y])
    return found


@pytest.mark.official("shadertoy")
def test_shadertoy_draws_in_two_passes_and_fills_the_screen(app: App) -> None:
    view = app.open()
    canvas = view.locator("#canvas")

    def is_red() -> bool:
        red, green, blue, _ = pixel(app.page, canvas.screenshot(), 60, 60)
        return red > 150 and green < 60 and blue < 60

    for _ in range(50):
        if is_red():
            break
        app.page.wait_for_timeout(100)
    assert is_red()
    inline = canvas.bounding_box()
    app.press("#fullscreen-btn")
    expect(app.panel.get_by_role("button", name="Leave fullscreen")).to_be_visible()
    full = canvas.bounding_box()
    assert inline is not None
    assert full is not None
    assert full["width"] > inline["width"]
    app.page.keyboard.press("Escape")
    expect(app.panel.get_by_role("button", name="Fullscreen", exact=True)).to_be_visible()
    app.did("draws in two passes (WebGL)", "fullscreen")


@pytest.mark.official(
    "shadertoy", variant="broken", arguments=SHADER | {"fragmentShader": "not a shader"}
)
def test_shadertoy_tells_the_agent_that_a_shader_is_broken(app: App) -> None:
    app.open()
    expect(app.notice).to_contain_text("set context for the agent")
    app.did("a compile error goes to the agent's context")


@pytest.mark.official("sheet-music")
def test_sheet_music_shows_the_notes_and_plays_them(app: App) -> None:
    sounds: list[str] = []

    def sound(route: Route) -> None:
        sounds.append(route.request.url)
        origin = {"Access-Control-Allow-Origin": "*"}
        route.fulfill(body=tone(), content_type="audio/wav", headers=origin)

    app.page.route("https://paulrosen.github.io/**", sound)
    view = app.open()
    expect(view.locator("#status")).to_have_text("Ready to play!")
    expect(view.locator("#sheet-music .abcjs-note")).to_have_count(4 * BARS)
    app.press(".abcjs-midi-start")
    expect(view.locator(".abcjs-midi-start")).to_have_class(re.compile("abcjs-pushed"))
    expect(view.locator(".abcjs-midi-clock")).not_to_have_text("0:00")
    assert sounds
    app.press(".abcjs-midi-loop")
    expect(view.locator(".abcjs-midi-loop")).to_have_class(re.compile("abcjs-pushed"))
    app.did("notes", "plays them", "repeat")


@pytest.mark.official("video-resource")
def test_video_resource_plays_a_film_and_another(app: App, outside: Outside) -> None:
    view = app.open()
    video = view.locator("#video")
    expect(video).to_be_visible()
    for _ in range(2):
        video.evaluate(
            "(video) => video.readyState >= 2 || new Promise((resolve, reject) => {"
            " video.onloadeddata = resolve; video.onerror = () => reject(video.error); })"
        )
        video.evaluate("async (video) => { video.muted = true; await video.play(); }")
        assert video.evaluate("video => video.videoWidth") == 64
        if view.locator("#video-picker-container").is_visible():
            break
        app.press("#change-video-btn")
        picker = view.locator("#video-picker")
        expect(picker.locator("option")).to_have_count(7)
        picker.select_option("videos://bunny-5mb")
        read = app.answer_to(
            lambda: app.press("#load-video-btn"),
            "resources/read",
            lambda found: "contents" in found.get("result", {}),
            uri="videos://bunny-5mb",
        )
        assert base64.b64decode(read["result"]["contents"][0]["blob"]) == outside.video
        expect(video).to_be_visible()
    assert sum("test-videos.co.uk" in asked for asked in outside.asked) >= 2
    app.did("plays a film", "lists the others", "plays another")


@pytest.mark.official("wiki-explorer")
def test_wiki_explorer_opens_and_expands_an_article_and_starts_anew(app: App) -> None:
    links = "get-first-degree-links"
    view = app.open()
    popup = view.locator("#popup")
    graph = view.locator("#graph canvas").first
    expect(graph).to_be_visible()
    box = graph.bounding_box()
    assert box is not None

    def click_an_article() -> None:
        """The graph is a picture: clicks from its middle outwards, until one is on an article."""
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for ring in range(0, 160, 8):
            for x, y in ((ring, 0), (0, ring), (-ring, 0), (0, -ring), (ring, ring), (-ring, ring)):
                app.page.mouse.move(middle[0] + x, middle[1] + y)
                app.page.mouse.click(middle[0] + x, middle[1] + y)
                # A click too soon would close what this one is about to open.
                app.page.wait_for_timeout(400)
                if popup.is_visible():
                    return
        expect(popup).to_be_visible()

    click_an_article()
    title = popup.locator(".popup-title").inner_text()
    assert title
    app.press("#open-btn")
    dialog = app.page.get_by_role("dialog")
    expect(dialog).to_contain_text("https://en.wikipedia.org/wiki/")
    dialog.get_by_role("button", name="Cancel").click()
    answer = app.answer_to(lambda: app.press("#reset-graph"), "tools/call", name=links)
    assert answer["result"]["structuredContent"]["links"]
    app.press("#zoom-in")
    app.press("#zoom-out")
    app.did("an article's link", "reset", "zoom")
