"""Links: the host's own question, the whole address, a person's click."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from e2e.broker.conftest import Host
from e2e.broker.site import STARTED, PanelSpec

OPENED = (
    "window.opened = []; window.open = (...args) => { window.opened.push(args); return null; };"
)


def start_asking(host: Host, url: Any, name: str = "link") -> None:
    host.frame().evaluate(
        "([url, name]) => { window[name] = ask('ui/open-link', {url}); }", [url, name]
    )


def opened(page: Page) -> Any:
    return page.evaluate("opened")


@pytest.fixture(autouse=True)
def _recorded(page: Page) -> None:
    page.add_init_script(f"if (window === window.top) {{ {OPENED} }}")


def test_a_person_sees_the_whole_address_and_opens_it(host: Host) -> None:
    frame = host.open()
    start_asking(host, "https://docs.example/a/very/long?path=1#end")
    dialog = host.page.get_by_role("dialog", name="Open this link?")
    expect(dialog).to_contain_text("weather")
    expect(dialog).to_contain_text("https://docs.example/a/very/long?path=1#end")
    assert opened(host.page) == []
    dialog.get_by_role("button", name="Open link").click()
    assert frame.evaluate("link")["result"] == {}
    told = {"kind": "link", "answer": "confirmed"}
    host.wait(lambda: len(host.site.posted("/seen")) >= 1)
    assert host.site.posted("/seen") == [
        told | {"url": "https://docs.example/a/very/long?path=1#end"}
    ]
    assert opened(host.page) == [
        ["https://docs.example/a/very/long?path=1#end", "_blank", "noopener,noreferrer"]
    ]
    expect(dialog).to_have_count(0)


@pytest.mark.parametrize("how", ["Cancel", "Escape"])
def test_a_refusal_is_a_result_with_is_error(host: Host, how: str) -> None:
    frame = host.open()
    host.page.locator("#before").focus()
    start_asking(host, "https://docs.example/")
    dialog = host.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    if how == "Escape":
        host.page.keyboard.press("Escape")
    else:
        host.page.keyboard.press("Enter")  # the harmless button has the focus
    assert frame.evaluate("link")["result"] == {"isError": True}
    assert opened(host.page) == []
    expect(host.page.locator("#before")).to_be_focused()
    host.wait(lambda: len(host.site.posted("/seen")) >= 1)
    assert [said["answer"] for said in host.site.posted("/seen")] == ["declined"]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "vscode://file/x",
        "mailto:a@b.example",
        "/relative",
        "https://google.com@evil.example/",
        "https://:secret@evil.example/",
        "https://" + "a" * 9000 + ".example",
        "",
        None,
        7,
        {"href": "https://a.example"},
    ],
)
def test_other_addresses_are_refused_without_a_question(host: Host, url: Any) -> None:
    host.open()
    assert host.ask("ui/open-link", {"url": url})["result"] == {"isError": True}
    expect(host.page.get_by_role("dialog")).to_have_count(0)
    expect(host.log()).to_contain_text("was refused")
    host.wait(lambda: len(host.site.posted("/seen")) >= 1)
    (told,) = host.site.posted("/seen")
    assert (told["kind"], told["answer"]) == ("link", "refused")
    assert len(told["url"]) <= 8000


def test_a_look_alike_host_is_shown_in_punycode_and_bidi_is_spelt_out(host: Host) -> None:
    host.open()
    start_asking(host, "https://аpple.example/\u202egpj.exe")
    dialog = host.page.get_by_role("dialog")
    expect(dialog).to_contain_text("https://xn--pple-43d.example/%E2%80%AEgpj.exe")
    expect(dialog).not_to_contain_text("\u202e")


def test_the_button_is_dead_for_a_moment(host: Host) -> None:
    """A click aimed at the view must not open what pops up under it."""
    host.page.clock.install()
    host.open()
    host.page.clock.pause_at(host.page.evaluate("Date.now()") + 1000)
    start_asking(host, "https://docs.example/")
    button = host.page.get_by_role("dialog").get_by_role("button", name="Open link")
    expect(button).to_be_disabled()
    host.page.clock.run_for(799)
    expect(button).to_be_disabled()
    host.page.clock.run_for(2)
    expect(button).to_be_enabled()
    host.page.evaluate("dispatchEvent(new Event('focus'))")  # from the view: no absence
    expect(button).to_be_enabled()
    host.page.evaluate(
        "document.hasFocus = () => false; dispatchEvent(new Event('blur'));"
        "document.hasFocus = () => true; dispatchEvent(new Event('focus'));"
    )
    expect(button).to_be_disabled()


def test_one_question_at_a_time_and_few_waiting(host: Host) -> None:
    frame = host.open()
    for number in range(6):
        start_asking(host, f"https://docs.example/{number}", f"link{number}")
    assert frame.evaluate("Promise.all([link3, link4, link5])") == [
        {"jsonrpc": "2.0", "id": number + 2, "result": {"isError": True}} for number in (3, 4, 5)
    ]
    dialog = host.page.get_by_role("dialog")
    for number in range(3):
        expect(dialog).to_have_count(1)
        expect(dialog).to_contain_text(f"https://docs.example/{number}")
        dialog.get_by_role("button", name="Open link").click()
        assert frame.evaluate(f"link{number}")["result"] == {}
    expect(dialog).to_have_count(0)


def test_questions_of_two_panels_come_one_after_the_other(host: Host) -> None:
    host.site.panels = [PanelSpec(STARTED), PanelSpec(STARTED)]
    host.page.goto(host.site.url)
    for number in (0, 1):
        host.ready(number)
        host.frame(number).evaluate(
            "n => { ask('ui/open-link', {url: `https://docs.example/${n}`}) }", number
        )
        expect(host.page.get_by_role("dialog")).to_have_count(1)
    expect(host.page.get_by_role("dialog")).to_contain_text("https://docs.example/0")
    host.page.keyboard.press("Escape")
    expect(host.page.get_by_role("dialog")).to_contain_text("https://docs.example/1")


def test_a_view_that_is_refused_three_times_is_not_listened_to(host: Host) -> None:
    frame = host.open()
    for number in range(3):
        start_asking(host, f"https://docs.example/{number}")
        expect(host.page.get_by_role("dialog")).to_have_count(1)
        host.page.keyboard.press("Escape")
        frame.evaluate("link")
    assert host.ask("ui/open-link", {"url": "https://docs.example/"})["result"] == {"isError": True}
    expect(host.page.get_by_role("dialog")).to_have_count(0)
    host.wait(lambda: len(host.site.posted("/seen")) >= 4)
    said = [told["answer"] for told in host.site.posted("/seen")]
    assert said == ["declined", "declined", "declined", "refused"]


def test_a_question_goes_away_with_its_panel(host: Host) -> None:
    host.open()
    start_asking(host, "https://docs.example/")
    expect(host.page.get_by_role("dialog")).to_have_count(1)
    host.page.evaluate("document.querySelector('.panel-slot').replaceChildren()")
    expect(host.page.get_by_role("dialog")).to_have_count(0)
    # And nothing waits behind it for ever.
    host.site.panels = [PanelSpec(STARTED)]
    host.go()
    start_asking(host, "https://docs.example/")
    expect(host.page.get_by_role("dialog")).to_have_count(1)


def test_a_plain_link_in_a_view_asks_instead_of_closing_the_view(host: Host) -> None:
    linked = STARTED + (
        '<a id="out" href="https://docs.example/page"><b>out</b></a>'
        '<a id="hash" href="#here">h</a>'
        '<a id="own" href="/settings">own</a>'
        '<a id="taken" href="https://docs.example/taken">taken</a>'
        "<script>document.getElementById('taken').onclick = (e) => e.preventDefault();</script>"
    )
    frame = host.open(linked)
    for link in ("#taken", "#hash", "#own"):
        frame.locator(link).click()
    expect(host.log()).to_contain_text("/settings")
    frame.locator("#out b").click()
    dialog = host.page.get_by_role("dialog")
    expect(dialog).to_contain_text("https://docs.example/page")
    dialog.get_by_role("button", name="Open link").click()
    expect(dialog).to_have_count(0)
    assert [args[0] for args in opened(host.page)] == ["https://docs.example/page"]
    assert host.ask("ping")["result"] == {}
