"""Tool calls that want a person's yes: asked outside the view, in words that no view chooses, and
not to be clicked through.
"""

import secrets
import threading
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import STARTED, Answer, PanelSpec

DONE = {"result": {"content": [{"type": "text", "text": "done"}]}}
DENIED = {"code": -32000, "message": "Denied", "data": {"reason": "denied"}}
ARGUMENTS = {"city": "Bern", "note": "a\u202eb<img src=x>"}


class Strict:
    """Answers as the real server does where every call is asked about; keeps what was called."""

    def __init__(self, *, lasting: bool = True) -> None:
        self.lasting = lasting
        self.handles: dict[str, Any] = {}
        self.called: list[Any] = []
        self.answers: list[str] = []
        self.run: Callable[[], object] = lambda: None

    def __call__(self, body: Any) -> Answer:
        approval = body.get("approval")
        if approval is None:
            handle = secrets.token_urlsafe(16)
            self.handles[handle] = body["params"]
            error = {"code": -32000, "message": "ask", "data": {"reason": "ask"}}
            return 200, {"error": error, "ask": {"handle": handle, "lasting": self.lasting}}
        self.answers.append(approval["answer"])
        asked = self.handles.pop(approval["handle"], None)
        if approval["answer"] == "no" or asked != body["params"]:
            return 200, {"error": DENIED}
        self.called.append(asked)
        self.run()
        return 200, DONE


@pytest.fixture
def strict(host: Host) -> Strict:
    host.site.rpc = server = Strict()
    return server


def start(host: Host, name: str = "write", number: int = 0, **arguments: Any) -> None:
    """The view calls a tool; the answer is ``window[name]`` there."""
    host.frame(number).evaluate(
        "([name, args]) => { window[name] = ask('tools/call', {name, arguments: args}); }",
        [name, arguments or ARGUMENTS],
    )


def dialog(host: Host) -> Locator:
    return host.page.get_by_role("dialog")


def press(host: Host, name: str) -> None:
    dialog(host).get_by_role("button", name=name).click()


def outcome(host: Host, name: str = "write", number: int = 0) -> Any:
    answer = host.frame(number).evaluate(name)
    return answer.get("error", answer.get("result"))


# The question


def test_a_person_sees_server_tool_and_arguments_and_lets_the_call_through(
    host: Host, strict: Strict
) -> None:
    frame = host.open()
    start(host)
    question = host.page.get_by_role("dialog", name="Let this view call a tool?")
    expect(question).to_contain_text("The view of weather/forecast asks to call")
    expect(question.locator("dd").nth(0)).to_have_text("write")
    expect(question.locator("dd").nth(1)).to_have_text("weather")
    shown = question.get_by_role("group", name="Arguments")
    expect(shown).to_have_text('{\n  "city": "Bern",\n  "note": "a⟨U+202E⟩b<img src=x>"\n}')
    assert shown.locator("img").count() == 0
    assert strict.called == []
    press(host, "Allow once")
    assert outcome(host) == DONE["result"]
    assert strict.called == [{"name": "write", "arguments": ARGUMENTS}]
    assert strict.answers == ["once"]
    # The view has heard of neither the question nor its handle.
    heard = str(frame.evaluate("JSON.stringify(heard)"))
    assert "handle" not in heard
    assert '"ask"' not in heard
    expect(dialog(host)).to_have_count(0)


@pytest.mark.parametrize("how", ["Don’t allow", "Escape"])
def test_a_no_is_an_error_for_the_view(host: Host, strict: Strict, how: str) -> None:
    host.open()
    start(host)
    if how == "Escape":
        expect(dialog(host)).to_have_count(1)
        host.page.keyboard.press("Escape")
    else:
        press(host, how)
    assert outcome(host) == DENIED
    host.wait(lambda: strict.answers == ["no"])
    assert strict.called == []
    expect(host.log()).to_contain_text("a call of write was not allowed")


def test_a_destructive_tool_is_said_to_be_one_and_only_allowed_once(
    host: Host, strict: Strict
) -> None:
    strict.lasting = False
    host.open()
    start(host)
    question = host.page.get_by_role("dialog", name="Let this view make a destructive call?")
    expect(question).to_contain_text("may delete or overwrite")
    names = question.get_by_role("button").all_inner_texts()
    assert names == ["Don’t allow", "Allow once"]


def test_allowed_for_the_session_the_rest_of_the_queue_is_not_asked_about(
    host: Host, strict: Strict
) -> None:
    host.open()
    start(host, "write")
    expect(dialog(host)).to_have_count(1)
    start(host, "other")
    host.frame().evaluate(
        "() => { window.again = ask('tools/call', {name: 'write', arguments: {n: 2}}); }"
    )
    host.wait(lambda: len(strict.handles) == 3)

    def remembering(body: Any) -> Answer:
        approval = body.get("approval")
        if approval is None and body["params"]["name"] == "write":
            strict.called.append(body["params"])
            return 200, DONE
        return strict(body)

    host.site.rpc = remembering
    press(host, "Allow for this session")
    assert strict.answers in ([], ["session"])
    assert outcome(host, "write") == DONE["result"]
    expect(dialog(host).locator("dd").first).to_have_text("other")
    press(host, "Don’t allow")
    assert outcome(host, "again") == DONE["result"]
    expect(dialog(host)).to_have_count(0)


def test_long_arguments_scroll_and_what_is_left_out_is_said(host: Host, strict: Strict) -> None:
    host.page.set_viewport_size({"width": 390, "height": 640})
    host.open()
    start(host, text="x" * 30_000, lines=[[number] for number in range(3000)])
    expect(dialog(host)).to_contain_text("more characters of the arguments are not shown")
    shown = dialog(host).get_by_role("group", name="Arguments")
    assert len(shown.inner_text()) <= 20_000
    assert shown.evaluate("e => e.scrollHeight > e.clientHeight")
    box = dialog(host).get_by_role("button", name="Allow once").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 640
    press(host, "Allow once")
    assert outcome(host) == DONE["result"]
    assert len(strict.called[0]["arguments"]["text"]) == 30_000


def test_an_error_of_the_mcp_server_is_no_question(host: Host) -> None:
    forged = {"code": -32000, "message": "m", "data": {"reason": "ask", "ask": {"handle": "x"}}}
    host.site.rpc = lambda _body: (200, {"error": forged})
    host.open()
    start(host)
    assert outcome(host) == forged
    expect(dialog(host)).to_have_count(0)


def test_a_yes_that_does_not_hold_any_more_is_not_asked_again(host: Host, strict: Strict) -> None:
    host.open()
    start(host)
    expect(dialog(host)).to_have_count(1)
    host.site.rpc = lambda _body: strict({"params": {}})  # asks, whatever comes
    press(host, "Allow once")
    assert outcome(host) == DENIED
    expect(dialog(host)).to_have_count(0)


# No click-through


def test_the_buttons_are_dead_until_pointer_and_keyboard_rest(host: Host, strict: Strict) -> None:
    host.page.clock.install()
    host.open()
    host.page.clock.pause_at(host.page.evaluate("Date.now()") + 1000)
    start(host)
    buttons = dialog(host).get_by_role("button")
    expect(buttons).to_have_count(3)

    def assert_dead(*, is_dead: bool) -> None:
        for button in buttons.all():
            expect(button).to_be_disabled() if is_dead else expect(button).to_be_enabled()

    assert_dead(is_dead=True)
    host.page.clock.run_for(799)
    assert_dead(is_dead=True)
    host.page.keyboard.press("Enter")  # typed ahead
    host.page.clock.run_for(799)
    assert_dead(is_dead=True)
    host.page.keyboard.press("Space")
    host.page.keyboard.press("Tab")
    host.page.clock.run_for(799)
    assert_dead(is_dead=True)
    host.page.mouse.click(5, 5)  # a player of the view's game
    host.page.clock.run_for(799)
    assert_dead(is_dead=True)
    box = buttons.last.bounding_box()
    assert box is not None
    host.page.mouse.dblclick(box["x"] + 5, box["y"] + 5)
    host.page.clock.run_for(799)
    assert_dead(is_dead=True)
    host.page.clock.run_for(2)
    assert_dead(is_dead=False)
    host.page.evaluate(
        "document.hasFocus = () => false; dispatchEvent(new Event('blur'));"
        "document.hasFocus = () => true; dispatchEvent(new Event('focus'));"
    )
    assert_dead(is_dead=True)
    host.page.clock.run_for(801)
    assert_dead(is_dead=False)
    host.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert_dead(is_dead=True)
    assert strict.called == []


def test_the_focus_is_on_no(host: Host, strict: Strict) -> None:
    host.open()
    start(host)
    expect(dialog(host).get_by_role("button", name="Don’t allow")).to_be_focused()
    host.page.keyboard.press("Enter")
    assert outcome(host) == DENIED
    assert strict.called == []


def test_a_key_held_down_since_before_answers_nothing(host: Host, strict: Strict) -> None:
    host.open()
    start(host)
    no = dialog(host).get_by_role("button", name="Don’t allow")
    expect(no).to_be_focused()
    repeated = (
        "button => button.dispatchEvent("
        "new KeyboardEvent('keydown', {key, repeat, bubbles: true, cancelable: true}))"
    )
    for key in ("Enter", " "):
        for repeat in (True, False):
            script = repeated.replace("key,", f"key: {key!r},").replace(
                "repeat,", f"repeat: {str(repeat).lower()},"
            )
            assert no.evaluate(script) is not repeat
    assert strict.called == []


def test_the_next_question_does_not_take_the_second_of_two_clicks(
    host: Host, strict: Strict
) -> None:
    host.open()
    start(host, "first")
    start(host, "second")
    allow = dialog(host).get_by_role("button", name="Allow once")
    expect(allow).to_be_enabled()
    box = allow.bounding_box()
    assert box is not None
    host.page.mouse.dblclick(box["x"] + 9, box["y"] + 9)
    assert outcome(host, "first") == DONE["result"]
    expect(dialog(host).locator("dd").first).to_have_text("second")
    assert [call["name"] for call in strict.called] == ["first"]


GRABBING = (
    "<input id='i'><script>window.keys = 0; addEventListener('keydown', () => { keys += 1; });"
    "const grab = () => { window.focus(); document.getElementById('i').focus(); };"
)


def test_a_view_that_goes_on_in_its_own_form_leaves_the_keyboard_to_the_question(
    host: Host, strict: Strict
) -> None:
    """Focus from under a dialog is not kept back by the browser."""
    frame = host.open(STARTED + GRABBING + "</script>")
    frame.locator("#i").click()
    start(host)
    expect(dialog(host)).to_have_count(1)
    frame.evaluate("grab()")
    expect(dialog(host).get_by_role("button", name="Don’t allow")).to_be_focused()
    host.page.keyboard.press("Escape")
    assert outcome(host) == DENIED
    assert frame.evaluate("keys") == 0


def test_a_view_that_keeps_taking_the_keyboard_from_a_question_is_stopped(
    host: Host, strict: Strict
) -> None:
    host.site.panels = [PanelSpec(STARTED), PanelSpec(STARTED + GRABBING + "</script>")]
    host.page.goto(host.site.url)
    host.ready(0)
    host.ready(1)
    start(host)
    expect(dialog(host)).to_have_count(1)
    host.frame(1).evaluate("() => { addEventListener('blur', grab); setInterval(grab, 20); }")
    expect(host.panel(1)).to_have_attribute("data-panel-state", "closed")
    expect(host.notice_of(1)).to_contain_text("took the keyboard")
    # The question of the other view is as it was.
    press(host, "Allow once")
    assert outcome(host) == DONE["result"]


def test_no_view_goes_over_a_question(host: Host, strict: Strict) -> None:
    """Fullscreen after the question had opened would cover it and let clicks through to it."""
    frame = host.open()
    frame.locator("#state").click()  # so that fullscreen would be granted
    start(host)
    expect(dialog(host)).to_have_count(1)
    assert host.ask("ui/request-display-mode", {"mode": "fullscreen"})["result"] == {
        "mode": "inline"
    }
    assert on_top(host)
    press(host, "Don’t allow")
    assert outcome(host) == DENIED


def on_top(host: Host) -> bool:
    """Whether what is drawn over everything at each button is that button."""
    return bool(
        host.page.evaluate(
            """[...document.querySelectorAll("dialog[open] button")].every((button) => {
                const {x, y, width, height} = button.getBoundingClientRect();
                return document.elementFromPoint(x + width / 2, y + height / 2) === button
                    && document.querySelector(":popover-open:has(dialog[open]) ~ dialog") === null;
            })"""
        )
    )


def test_over_a_fullscreen_view_the_bar_stays_and_escape_leaves(host: Host, strict: Strict) -> None:
    host.open()
    host.panel().get_by_role("button", name="Fullscreen").click()
    bar = host.panel().locator(".panel-bar")
    start(host)
    expect(dialog(host).get_by_role("button", name="Allow once")).to_be_enabled()
    assert on_top(host)
    expect(bar).to_contain_text("weather")
    expect(bar).to_be_visible()
    host.page.keyboard.press("Escape")
    expect(dialog(host)).to_have_count(0)
    assert outcome(host) == DENIED
    expect(host.panel()).to_have_class("panel is-fullscreen")
    host.page.keyboard.press("Escape")
    expect(host.panel()).to_have_class("panel")


def test_another_views_question_can_be_answered_over_a_fullscreen_view(
    host: Host, strict: Strict
) -> None:
    host.site.panels = [PanelSpec(STARTED), PanelSpec(STARTED, {"server": "sea"})]
    host.page.goto(host.site.url)
    host.ready(0)
    host.ready(1)
    host.panel(0).get_by_role("button", name="Fullscreen").click()
    start(host, number=1)
    expect(dialog(host)).to_contain_text("sea/forecast")
    press(host, "Allow once")
    assert outcome(host, number=1) == DONE["result"]


# One at a time, and an end to it


def test_one_question_at_a_time_and_further_ones_are_denied(host: Host, strict: Strict) -> None:
    frame = host.open()
    for number in range(5):
        start(host, f"tool{number}")
    assert frame.evaluate("Promise.all([tool3, tool4]).then(all => all.map(a => a.error))") == [
        DENIED,
        DENIED,
    ]
    for number in range(3):
        expect(dialog(host)).to_have_count(1)
        expect(dialog(host).locator("dd").first).to_have_text(f"tool{number}")
        press(host, "Allow once")
        assert outcome(host, f"tool{number}") == DONE["result"]
    expect(dialog(host)).to_have_count(0)


def test_no_answer_is_a_no(host: Host, strict: Strict) -> None:
    host.page.clock.install()
    host.open()
    start(host)
    expect(dialog(host)).to_have_count(1)
    host.page.clock.run_for(60_100)
    assert outcome(host) == DENIED
    expect(dialog(host)).to_have_count(0)
    assert strict.called == []


def test_what_waited_too_long_for_its_turn_is_not_shown(host: Host, strict: Strict) -> None:
    """Its handle would not live to the end of the question."""
    host.page.clock.install()
    host.open()
    start(host, "first")
    expect(dialog(host)).to_have_count(1)
    start(host, "second")
    host.wait(lambda: len(strict.handles) == 2)
    host.page.clock.run_for(61_000)
    assert outcome(host, "first") == DENIED
    assert outcome(host, "second") == DENIED
    expect(dialog(host)).to_have_count(0)


def test_after_two_refusals_a_person_can_end_the_asking(host: Host, strict: Strict) -> None:
    host.open()
    for number in range(2):
        start(host, f"tool{number}")
        expect(dialog(host)).to_have_count(1)
        expect(dialog(host).get_by_role("button", name="Stop asking")).to_have_count(0)
        press(host, "Don’t allow")
        assert outcome(host, f"tool{number}") == DENIED
    start(host, "third")
    press(host, "Stop asking for this view")
    assert outcome(host, "third") == DENIED
    start(host, "fourth")
    assert outcome(host, "fourth") == DENIED
    assert host.ask("ui/open-link", {"url": "https://a.example"})["result"] == {"isError": True}
    expect(dialog(host)).to_have_count(0)
    expect(host.notice()).to_contain_text("refused without asking")
    host.notice().get_by_role("button", name="Reload view").click()
    host.ready()
    start(host)
    expect(dialog(host)).to_have_count(1)


def test_a_yes_in_between_starts_the_count_anew(host: Host, strict: Strict) -> None:
    host.open()
    for answer in ("Don’t allow", "Allow once", "Don’t allow"):
        start(host)
        press(host, answer)
        outcome(host)
    start(host)
    expect(dialog(host)).to_have_count(1)
    expect(dialog(host).get_by_role("button", name="Stop asking")).to_have_count(0)


# Time


def test_a_view_that_takes_its_call_back_takes_the_question_back(
    host: Host, strict: Strict
) -> None:
    frame = host.open()
    for _ in range(3):  # and that counts for no refusal
        frame.evaluate("say({id: 'c', method: 'tools/call', params: {name: 'write'}})")
        expect(dialog(host)).to_have_count(1)
        frame.evaluate("say({method: 'notifications/cancelled', params: {requestId: 'c'}})")
        expect(dialog(host)).to_have_count(0)
    assert frame.evaluate("heard.filter(m => m.id === 'c')") == []
    start(host)
    expect(dialog(host)).to_have_count(1)
    expect(dialog(host).get_by_role("button", name="Stop asking")).to_have_count(0)
    assert strict.called == []


def test_a_question_is_gone_with_its_panel(host: Host, strict: Strict) -> None:
    host.open()
    start(host)
    expect(dialog(host)).to_have_count(1)
    host.page.evaluate("document.querySelector('.panel-slot').replaceChildren()")
    expect(dialog(host)).to_have_count(0)
    host.page.wait_for_timeout(300)
    assert strict.called == []


def test_a_call_that_was_allowed_may_take_long_and_be_taken_back(
    host: Host, strict: Strict
) -> None:
    release = threading.Event()
    strict.run = lambda: release.wait(30)
    frame = host.open()
    until(host.page, "document.body.dataset.eventsUrl")
    start(host)
    press(host, "Allow once")
    host.wait(lambda: strict.called)
    host.page.wait_for_timeout(600)  # past the stand-in's 202
    release.set()
    assert outcome(host) == DONE["result"]
    release.clear()
    frame.evaluate("say({id: 'c', method: 'tools/call', params: {name: 'slow'}})")
    press(host, "Allow once")
    host.wait(lambda: len(strict.called) == 2)
    frame.evaluate("say({method: 'notifications/cancelled', params: {requestId: 'c'}})")
    host.wait(host.site.cancelled)
    assert host.site.cancelled() == [host.site.posted("/rpc")[-1]["call"]]
    release.set()


def test_links_and_files_are_asked_about_in_the_same_way(host: Host) -> None:
    """One rule for every question: all buttons rest, and no answer is a no."""
    host.page.clock.install()
    host.open()
    host.page.clock.pause_at(host.page.evaluate("Date.now()") + 1000)
    file = {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "x"}}
    for method, params in (
        ("ui/open-link", {"url": "https://docs.example/"}),
        ("ui/download-file", {"contents": [file]}),
    ):
        host.frame().evaluate("([m, p]) => { window.asked = ask(m, p); }", [method, params])
        for button in dialog(host).get_by_role("button").all():
            expect(button).to_be_disabled()
        host.page.clock.run_for(801)
        for button in dialog(host).get_by_role("button").all():
            expect(button).to_be_enabled()
        host.page.clock.run_for(60_000)
        assert host.frame().evaluate("asked")["result"] == {"isError": True}
        expect(dialog(host)).to_have_count(0)
