"""Height, fullscreen and the focus that must come back."""

import struct
import zlib
from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import STARTED, PanelSpec

WITH_BUTTON = STARTED + (
    "<button id='full'>full</button><script>document.getElementById('full').onclick = () => {"
    " window.mode = ask('ui/request-display-mode', {mode: 'fullscreen'}); };</script>"
)
INITIAL = 352  # 22rem, until the view has asked


def height(host: Host) -> float:
    box = host.iframe().bounding_box()
    assert box is not None
    return box["height"]


def report(host: Host, value: str) -> None:
    """Report a height and wait until the page has had two frames to follow."""
    host.frame().evaluate(
        "say({method: 'ui/notifications/size-changed',"
        f" params: {{height: {value}, width: 9999}}}})"
    )
    host.ask("ping")
    host.page.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")


@pytest.mark.parametrize(
    ("asked", "given"),
    [("300", 300), ("300.2", 301), ("3", 40), ("641", 640), ("1e9", 640), ("50000", 640)],
)
def test_a_height_is_followed_within_bounds(host: Host, asked: str, given: int) -> None:
    host.open()
    box = host.iframe().bounding_box()
    report(host, asked)
    assert height(host) == given
    after = host.iframe().bounding_box()
    assert box is not None
    assert after is not None
    assert after["width"] == box["width"]


@pytest.mark.parametrize(
    "value", ["NaN", "-5.5", "0", "'300'", "null", "undefined", "Infinity", "[300]", "{}"]
)
def test_what_is_no_height_is_ignored(host: Host, value: str) -> None:
    host.open()
    report(host, value)
    assert height(host) == INITIAL


def test_small_shrinks_are_ignored_and_larger_ones_followed(host: Host) -> None:
    host.open()
    for asked, given in ((300, 300), (297, 300), (296, 300), (301, 301), (296, 296), (100, 100)):
        report(host, str(asked))
        assert height(host) == given


def following(step: int) -> str:
    """A view whose content is as tall as its window and ``step``."""
    return STARTED + (
        "<script>new ResizeObserver(() => say({method: 'ui/notifications/size-changed',"
        f" params: {{height: innerHeight + {step}}}}})).observe(document.documentElement)</script>"
        "<style>html{height:100vh}</style>"
    )


@pytest.mark.parametrize("step", [16, 1, -5, -30])
def test_a_height_that_follows_the_frame_is_held_where_that_began(host: Host, step: int) -> None:
    host.open(following(step))
    expect(host.log()).to_contain_text("the view's height follows its own frame's")
    until(
        host.page,
        f"document.querySelector('iframe').getBoundingClientRect().height === {INITIAL}",
    )
    report(host, str(INITIAL + step))  # and again, as such a view would for ever
    assert height(host) == INITIAL
    report(host, "400")  # a height of its own is followed, and held as the first was
    until(host.page, "document.querySelector('iframe').getBoundingClientRect().height === 400")


def test_steady_growth_arrives_where_it_leads(host: Host) -> None:
    """Something that unfolds by the same bit in every frame is no loop, or not for good."""
    host.open()
    for end in (432, 600):  # as many steps as make a loop, and more
        host.frame().evaluate(
            "async (end) => { for (let height = 360; height <= end; height += 8) {"
            " say({method: 'ui/notifications/size-changed', params: {height}});"
            " await new Promise(requestAnimationFrame);"
            " await new Promise(requestAnimationFrame); } }",
            end,
        )
        until(
            host.page,
            f"document.querySelector('iframe').getBoundingClientRect().height === {end}",
        )
    host.page.wait_for_timeout(2_500)
    assert height(host) == 600


def test_a_flood_of_heights_moves_the_page_once_a_frame(host: Host) -> None:
    host.open()
    host.page.evaluate(
        "() => { window.changes = 0; new MutationObserver((all) => { changes += all.length; })"
        ".observe(document.querySelector('[data-panel-frame]'), {attributeFilter: ['style']}) }"
    )
    host.frame().evaluate(
        "for (let i = 0; i < 300; i += 1)"
        " say({method: 'ui/notifications/size-changed', params: {height: 200 + i}})"
    )
    host.ask("ping")
    until(host.page, "document.querySelector('iframe').getBoundingClientRect().height === 499")
    assert host.page.evaluate("changes") < 60


def test_the_bound_follows_the_window(host: Host) -> None:
    host.open()
    report(host, "5000")
    host.page.set_viewport_size({"width": 1280, "height": 1000})
    until(host.page, "document.querySelector('iframe').getBoundingClientRect().height === 800")


def test_a_narrower_page_is_told(host: Host) -> None:
    host.page.set_viewport_size({"width": 600, "height": 800})
    frame = host.open()
    host.page.set_viewport_size({"width": 390, "height": 800})
    until(frame, "heard.some(m => m.params?.containerDimensions?.width < 390)")


def test_fullscreen_from_the_bar_and_back_by_keyboard(host: Host) -> None:
    frame = host.open()
    frame.evaluate("window.mark = 1")
    report(host, "200")
    button = host.page.get_by_role("button", name="Fullscreen")
    button.focus()
    host.page.keyboard.press("Enter")
    until(frame, "heard.some(m => m.params?.displayMode === 'fullscreen')")
    told = host.heard("ui/notifications/host-context-changed")[-1]
    box = host.iframe().bounding_box()
    assert box is not None
    assert box["width"] == 1280
    assert told["containerDimensions"] == {"width": 1280, "height": round(box["height"])}
    assert box["y"] + box["height"] > 700
    # The bar stays, names the server and holds the way out; the page behind cannot be reached.
    expect(host.panel().locator(".panel-bar")).to_be_visible()
    expect(host.panel().locator(".panel-server")).to_have_text("weather")
    expect(host.page.get_by_role("button", name="Leave fullscreen")).to_be_focused()
    assert host.page.evaluate("document.querySelector('#before').inert")
    report(host, "100")
    assert height(host) == box["height"]
    host.page.keyboard.press("Escape")
    until(frame, "heard.filter(m => m.params?.displayMode).at(-1).params.displayMode === 'inline'")
    expect(host.page.get_by_role("button", name="Fullscreen")).to_be_focused()
    assert not host.page.evaluate("document.querySelector('#before').inert")
    assert height(host) == 200
    assert frame.evaluate("window.mark") == 1


def test_a_view_may_ask_for_fullscreen_when_it_was_pressed(host: Host) -> None:
    frame = host.open(WITH_BUTTON)
    frame.locator("#full").click()
    assert frame.evaluate("mode")["result"] == {"mode": "fullscreen"}
    expect(host.panel()).to_have_class("panel is-fullscreen")
    back = host.ask("ui/request-display-mode", {"mode": "inline"})
    assert back["result"] == {"mode": "inline"}
    expect(host.panel()).to_have_class("panel")


def test_escape_inside_the_view_leaves_fullscreen(host: Host) -> None:
    greedy = WITH_BUTTON + (
        "<script>addEventListener('keydown', (e) => { e.preventDefault();"
        " e.stopImmediatePropagation(); }, true)</script>"
    )
    frame = host.open(greedy)
    frame.locator("#full").click()
    expect(host.panel()).to_have_class("panel is-fullscreen")
    frame.locator("#full").press("Escape")
    expect(host.panel()).to_have_class("panel")


def test_a_view_must_not_take_the_screen_unasked(host: Host) -> None:
    frame = host.open()
    answer = host.ask("ui/request-display-mode", {"mode": "fullscreen"})
    assert answer["result"] == {"mode": "inline"}
    # Nor by a press that it makes up.
    frame.evaluate("document.body.click(); dispatchEvent(new PointerEvent('pointerup'))")
    answer = host.ask("ui/request-display-mode", {"mode": "fullscreen"})
    assert answer["result"] == {"mode": "inline"}


def test_a_press_on_the_hosts_own_chrome_gives_a_view_no_screen(host: Host) -> None:
    """Refusing what a view asks for must not hand it something else."""
    frame = host.open()
    frame.evaluate("void ask('ui/open-link', {url: 'https://example.com/'})")
    cancel = host.page.get_by_role("dialog").get_by_role("button", name="Cancel")
    expect(cancel).to_be_enabled()
    box = cancel.bounding_box()
    assert box is not None
    host.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(host.page.get_by_role("dialog")).to_have_count(0)
    answer = host.ask("ui/request-display-mode", {"mode": "fullscreen"})
    assert answer["result"] == {"mode": "inline"}


@pytest.mark.parametrize("mode", ["pip", "sideways", None, 3])
def test_an_unknown_mode_gives_the_one_in_force(host: Host, mode: Any) -> None:
    host.open()
    answer = host.ask("ui/request-display-mode", {"mode": mode})
    assert answer["result"] == {"mode": "inline"}


def test_a_mode_that_the_view_did_not_list_is_not_entered(host: Host) -> None:
    limited = WITH_BUTTON.replace(
        "window.start();", "window.capabilities = {availableDisplayModes: ['inline']}; start();"
    )
    frame = host.open(limited)
    frame.locator("#full").click()
    assert frame.evaluate("mode")["result"] == {"mode": "inline"}


def test_one_panel_has_the_screen(host: Host) -> None:
    host.site.panels = [PanelSpec(WITH_BUTTON), PanelSpec(WITH_BUTTON)]
    host.page.goto(host.site.url)
    host.ready(0)
    host.ready(1)
    host.frame(0).locator("#full").click()
    expect(host.panel(0)).to_have_class("panel is-fullscreen")
    host.frame(1).evaluate("document.getElementById('full').click()")
    assert host.frame(1).evaluate("mode")["result"] == {"mode": "inline"}


def test_a_question_in_fullscreen_is_above_the_view_and_escape_closes_it_first(host: Host) -> None:
    frame = host.open(WITH_BUTTON)
    frame.locator("#full").click()
    frame.evaluate("() => { ask('ui/open-link', {url: 'https://docs.example/'}) }")
    dialog = host.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    host.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(host.panel()).to_have_class("panel is-fullscreen")


def test_a_closed_panel_gives_the_screen_back(host: Host) -> None:
    frame = host.open(WITH_BUTTON)
    frame.locator("#full").click()
    frame.evaluate("say({method: 'ui/notifications/request-teardown'})")
    expect(host.iframe()).to_have_count(0)
    expect(host.panel()).to_have_class("panel")
    assert not host.page.evaluate("document.querySelector('#before').inert")
    expect(host.page.get_by_role("button", name="Fullscreen")).to_have_count(0)


def first_pixel(png: bytes) -> bytes:
    """Its red, green and blue: no filter of the format changes the very first one."""
    data = b""
    at = 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    return zlib.decompress(data)[1:4]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_view_without_a_background_has_no_opaque_backdrop(host: Host, scheme: Any) -> None:
    """A browser paints one where page and view differ in their colour schemes."""
    host.page.emulate_media(color_scheme=scheme)
    host.open(STARTED + "<style>:root { color-scheme: light dark } body { margin: 40px }</style>")
    box = host.panel().locator("[data-panel-frame]")
    shown = first_pixel(box.screenshot())
    host.iframe().evaluate("(frame) => { frame.style.visibility = 'hidden'; }")
    assert shown == first_pixel(box.screenshot())
