"""A view that does not start, or dies: the panel says so, and why as far as that is known."""

from playwright.sync_api import expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import NOT_STARTED, STARTED, PanelSpec

BLOCKED = NOT_STARTED + (
    "<img src='https://cdn.example/x.png'><script>"
    "fetch('https://api.example/').catch(() => 0); try { eval('1') } catch {}"
    "Promise.reject(new Error('no network'));</script>"
    "<script>throw new Error('no \\u202e engine')</script>"
)
RELOAD = "Reload view"


def loaded(host: Host) -> None:
    """The document has loaded and the broker has seen it."""
    until(host.frame(), "document.readyState === 'complete'")
    host.page.wait_for_timeout(300)


def test_loading_is_said_until_the_view_has_started(host: Host) -> None:
    frame = host.open(NOT_STARTED, wait=False)
    expect(host.notice()).to_contain_text("Loading the view")
    frame.evaluate("start()")
    host.ready()
    expect(host.notice()).to_be_empty()


def test_a_view_that_never_starts_is_explained(host: Host) -> None:
    host.page.clock.install()
    host.open(BLOCKED, wait=False)
    loaded(host)
    host.page.clock.fast_forward(5_000)  # the clock itself goes on, and a busy machine is slow
    expect(host.notice()).to_contain_text("Loading")
    host.page.clock.fast_forward(5_500)
    notice = host.notice()
    expect(notice).to_contain_text("The view has not started")
    for reason in (
        "tried to load a picture from https://cdn.example",
        "tried to contact https://api.example",
        "builds code from text (eval)",
        "no ⟨U+202E⟩ engine",
        "no network",
    ):
        expect(notice).to_contain_text(reason)
    expect(notice.get_by_role("button", name=RELOAD)).to_be_visible()
    # It may still come.
    host.frame().evaluate("start()")
    host.ready()
    expect(host.notice()).to_be_empty()


def test_initialize_alone_is_no_start(host: Host) -> None:
    host.page.clock.install()
    frame = host.open(NOT_STARTED, wait=False)
    loaded(host)
    frame.evaluate("ask('ui/initialize', {})")
    host.page.clock.fast_forward(11_000)
    expect(host.notice()).to_contain_text("has not started, and reported no reason")


def test_a_caught_eval_probe_is_in_the_log_only(host: Host) -> None:
    host.open(STARTED + "<script>try { new Function('') } catch {}</script>")
    expect(host.log()).to_contain_text("(harmless where it is the view's own probe)")
    expect(host.notice()).to_be_empty()


def test_a_document_that_never_finishes_loading_is_explained(host: Host) -> None:
    host.page.clock.install()
    host.site.panels = [PanelSpec(NOT_STARTED)]
    host.page.route("**/fragments/*", lambda route: None)  # no answer at all
    host.page.goto(host.site.url, wait_until="commit")
    expect(host.iframe()).to_be_attached()
    host.page.clock.fast_forward(31_000)
    expect(host.notice()).to_contain_text("document did not load")
    expect(host.iframe()).to_have_count(0)


def test_a_view_that_stops_answering_is_noticed_and_may_come_back(host: Host) -> None:
    host.page.clock.install()
    host.page.add_init_script(
        "const post = MessagePort.prototype.postMessage;"
        "MessagePort.prototype.postMessage = function (message) {"
        " if (!(window.lost && message.vitrine === 'ping')) post.call(this, message); };"
    )
    host.open()
    host.page.evaluate("window.lost = true")
    host.page.clock.run_for(20_100)
    host.page.clock.run_for(10_100)
    expect(host.notice()).to_contain_text("does not answer")
    expect(host.notice().get_by_role("button", name=RELOAD)).to_be_visible()
    host.page.evaluate("window.lost = false")
    host.page.clock.run_for(20_100)
    expect(host.notice()).to_be_empty()
    assert host.ask("ping")["result"] == {}


def test_a_flood_of_violations_is_no_flood_of_messages(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        "for (let i = 0; i < 2000; i += 1) new Image().src = `https://cdn.example/${i}`;"
    )
    expect(host.panel().locator(".panel-log summary")).to_have_text("View log (100)")
    assert host.ask("ping")["result"] == {}


def test_a_policy_that_keeps_the_view_out_is_said_at_once(host: Host) -> None:
    host.site.views_from = "vitrine:8420"
    host.site.panels = [PanelSpec(STARTED)]
    host.page.goto(host.site.url)
    expect(host.notice()).to_contain_text(
        f"This page lets in views from vitrine:8420/fragments/ only, and they come from "
        f"{host.site.host}."
    )
    expect(host.iframe()).to_have_count(0)
    expect(host.notice().get_by_role("button", name=RELOAD)).to_be_visible()
    assert [text for text in host.errors if "frame-src" not in text] == []
    host.errors.clear()
