"""What the panel says around a view: who it is, what it does not get, why it is blank."""

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import NOT_STARTED, STARTED, PanelSpec

WASM = "new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])"


def vitals(host: Host) -> Locator:
    """ "Why is this blank?", unfolded."""
    fold = host.panel().locator(".panel-vitals")
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    return fold


def needs(host: Host) -> Locator:
    return host.notice().locator("[data-note=needs]")


def test_a_running_view_shows_how_it_came_up(host: Host) -> None:
    frame = host.open()
    frame.evaluate("say({method: 'ui/notifications/size-changed', params: {height: 123.4}})")
    fold = vitals(host)
    for line in (
        "Its document loaded after",
        "Its line to Vitrine opened after",
        "It asked to be let in (ui/initialize) after",
        "It said that it has started after",
        "It asked for a height of 123 pixels",
        "Last heard of",
        "Its document answers",
    ):
        expect(fold).to_contain_text(line)
    assert fold.locator("[data-level=warning]").count() == 0


def test_a_view_that_said_nothing_is_told_apart_from_one_that_failed(host: Host) -> None:
    frame = host.open(
        NOT_STARTED + "<script>throw new Error('no \\u202e engine')</script>", wait=False
    )
    fold = vitals(host)
    expect(fold).to_contain_text("It has not asked to be let in (ui/initialize)")
    expect(fold).to_contain_text("It has not said that it has started")
    expect(fold).to_contain_text("Error in the view: Uncaught Error: no ⟨U+202E⟩ engine")
    expect(fold).to_contain_text("It has asked for no height")
    frame.evaluate("ask('ui/initialize', {})")
    expect(fold).to_contain_text("It asked to be let in (ui/initialize) after")


def test_a_view_that_was_closed_says_why(host: Host) -> None:
    frame = host.open()
    fold = vitals(host)
    frame.evaluate("location.href = 'https://a.example/'")
    expect(fold).to_contain_text("The view tried to leave its page and was closed.")


def test_a_view_that_does_not_answer_is_found_out(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        "() => { setTimeout(() => { const end = performance.now() + 8000;"
        " while (performance.now() < end); }, 0) }"
    )
    expect(vitals(host)).to_contain_text("Its document does not answer")


@pytest.mark.parametrize(
    ("does", "sentence"),
    [
        (
            "for (let i = 0; i < 3; i += 1) try { new Function('1') } catch {}",
            "builds code from text (eval), which Vitrine gives no view",
        ),
        (f"WebAssembly.instantiate({WASM}).catch(() => 0)", "runs WebAssembly"),
        (
            "fetch('https://api.example/x?secret=1').catch(() => 0)",
            "tried to contact https://api.example, which its server did not declare",
        ),
        (
            "new Image().src = 'https://cdn.example/a.png'",
            "load a picture from https://cdn.example",
        ),
        (
            "document.body.append(Object.assign(document.createElement('script'),"
            " {src: 'https://cdn.example/a.js'}))",
            "load a script from https://cdn.example",
        ),
        (
            "try { new Worker('https://cdn.example/w.js') } catch {}"
            "document.body.append(Object.assign(document.createElement('iframe'),"
            " {src: 'https://maps.example/'}))",
            "show a page from https://maps.example",
        ),
        ("new Image().src = 'logo.png'", "asks for a file beside its own document"),
    ],
)
def test_what_a_view_does_not_get_is_said_in_words(host: Host, does: str, sentence: str) -> None:
    frame = host.open()
    # In a task of its own: what the test's own tool evaluates may use eval.
    frame.evaluate(f"() => {{ setTimeout(() => {{ {does} }}) }}")
    expect(needs(host)).to_contain_text(sentence)
    expect(needs(host)).not_to_contain_text("secret")
    expect(vitals(host)).to_contain_text(sentence)


def test_one_probe_of_eval_counts_only_while_the_view_has_not_started(host: Host) -> None:
    probe = "<script>try { new Function('') } catch {}</script>"
    host.open(NOT_STARTED + probe, wait=False)
    expect(vitals(host)).to_contain_text("builds code from text (eval)")
    host.frame().evaluate("start()")
    host.ready()
    expect(vitals(host)).not_to_contain_text("builds code")
    expect(needs(host)).to_have_count(0)


def test_a_long_list_of_needs_is_cut(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        "() => { for (let i = 0; i < 60; i += 1) new Image().src = `https://h${i}.example/` }"
    )
    expect(needs(host)).to_contain_text("and 44 more")
    expect(needs(host).get_by_role("listitem")).to_have_count(7)


def test_the_entrys_link_is_copied(host: Host) -> None:
    host.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    host.open()
    host.page.get_by_role("button", name="Copy link").click()
    expect(host.page.get_by_role("button", name="Copied")).to_be_visible()
    assert host.page.evaluate("navigator.clipboard.readText()") == f"{host.site.url}/#entry-0"
    expect(host.page.get_by_role("button", name="Copy link")).to_be_visible()


def test_without_a_clipboard_there_is_no_button_to_copy(host: Host) -> None:
    host.page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    host.open()
    expect(host.page.get_by_role("button", name="Copy link")).to_have_count(0)


def test_fullscreen_names_the_server_for_good(host: Host) -> None:
    host.open()
    host.page.get_by_role("button", name="Fullscreen").click()
    title = host.panel().locator(".panel-title")
    expect(title).to_be_visible()
    assert (
        host.page.evaluate(
            "getComputedStyle(document.querySelector('.panel-title'), '::before').content"
        )
        == '"View from "'
    )
    leave = host.page.get_by_role("button", name="Leave fullscreen")
    expect(leave).to_have_attribute("aria-keyshortcuts", "Escape")


def test_permissions_that_were_granted_are_handed_to_the_frame(host: Host) -> None:
    frame = host.open(permissions=["geolocation", "clipboardWrite", "bluetooth", "constructor"])
    assert host.iframe().get_attribute("allow") == "geolocation; clipboard-write"
    assert frame.evaluate("answer.result.hostCapabilities.sandbox.permissions") == {
        "geolocation": {},
        "clipboardWrite": {},
    }


@pytest.mark.parametrize("given", [..., [], None, "geolocation"])
def test_without_permissions_the_frame_gets_none(host: Host, given: Any) -> None:
    frame = host.open(permissions=given)
    assert host.iframe().get_attribute("allow") is None
    assert frame.evaluate("answer.result.hostCapabilities.sandbox.permissions") == {}


FIELD = "<input id='field'>"
GRABS = STARTED + FIELD + "<script>window.grab = () => { window.focus(); field.focus(); };</script>"


def test_focus_that_a_view_takes_unasked_is_given_back(host: Host) -> None:
    frame = host.open(GRABS)
    host.page.locator("#before").focus()
    frame.evaluate("grab()")
    until(host.page, "document.activeElement.tagName === 'IFRAME'")  # else the test shows nothing
    expect(host.page.locator("#before")).to_be_focused()


def test_focus_that_was_nowhere_goes_back_there(host: Host) -> None:
    frame = host.open(GRABS)
    host.page.locator("#before").focus()
    host.page.evaluate("document.activeElement.blur()")
    host.page.wait_for_timeout(50)
    frame.evaluate("grab()")
    until(host.page, "document.activeElement.tagName === 'IFRAME'")
    until(host.page, "document.activeElement === document.body")


def test_a_press_in_the_view_keeps_the_focus_there(host: Host) -> None:
    frame = host.open(GRABS)
    host.page.locator("#before").focus()
    frame.locator("#field").click()
    host.page.wait_for_timeout(600)  # longer than a view's own grab would last
    host.page.keyboard.type("abc")
    assert frame.evaluate("field.value") == "abc"


def test_the_tab_key_leads_into_a_view(host: Host) -> None:
    frame = host.open(GRABS)
    host.page.get_by_role("button", name="Fullscreen").focus()
    host.page.keyboard.press("Tab")
    host.page.wait_for_timeout(600)
    host.page.keyboard.type("abc")
    assert frame.evaluate("field.value") == "abc"


def test_a_view_cannot_make_up_the_press(host: Host) -> None:
    frame = host.open(GRABS)
    host.page.locator("#before").focus()
    frame.evaluate("dispatchEvent(new PointerEvent('pointerdown')); document.body.click(); grab()")
    until(host.page, "document.activeElement.tagName === 'IFRAME'")
    expect(host.page.locator("#before")).to_be_focused()


def test_focus_stays_with_the_view_that_has_the_screen(host: Host) -> None:
    host.site.panels = [PanelSpec(GRABS)]
    frame = host.go()
    host.page.get_by_role("button", name="Fullscreen").click()
    frame.evaluate("grab()")
    host.page.wait_for_timeout(600)
    assert host.page.evaluate("document.activeElement.tagName") == "IFRAME"
