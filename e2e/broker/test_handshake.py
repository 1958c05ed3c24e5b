"""Who gets the port: the document that the host framed, once, and nobody else."""

from playwright.sync_api import Route, expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import STARTED, PanelSpec


def test_a_second_hello_and_a_wrong_nonce_get_nothing_and_are_noted(host: Host) -> None:
    frame = host.open()
    got = frame.evaluate(
        """() => new Promise((done) => {
          const got = [];
          // Past the stand-in: window.top is the real host page.
          addEventListener("message", (event) => { if (event.ports.length) got.push(1); }, true);
          top.postMessage({vitrine: "hello", nonce: "AAAAAAAAAAAAAAAAAAAA"}, "*");
          top.postMessage({vitrine: "hello"}, "*");
          top.postMessage({jsonrpc: "2.0", id: 1, method: "ping"}, "*");
          top.postMessage(null, "*");
          setTimeout(() => done(got.length), 300);
        })"""
    )
    assert got == 0
    assert host.ask("ping")["result"] == {}
    expect(host.log().locator("li", has_text="past its port")).to_have_count(4)


def test_the_right_nonce_a_second_time_gets_nothing(host: Host) -> None:
    frame = host.open()
    nonce = host.panel().get_attribute("data-nonce")
    frame.evaluate("nonce => top.postMessage({vitrine: 'hello', nonce}, '*')", nonce)
    expect(host.log()).to_contain_text("past its port")
    assert host.ask("ping")["result"] == {}


NO_PRELUDE = """<!doctype html><script>
window.ports = 0;
addEventListener("message", (event) => { ports += event.ports.length; });
</script>"""


def without_prelude(host: Host, number: int, html: str = NO_PRELUDE) -> None:
    """Answer the fragment of one panel with a document that has no prelude."""

    def answer(route: Route) -> None:
        path = route.request.url.rpartition("/")[2]
        if host.site.tickets.get(path, (-1, ""))[0] == number:
            route.fulfill(body=html, content_type="text/html")
        else:
            route.fallback()

    host.page.route("**/fragments/*", answer)


def test_a_document_with_a_wrong_nonce_gets_no_port(host: Host) -> None:
    host.site.panels = [PanelSpec("")]
    guess = "top.postMessage({vitrine: 'hello', nonce: 'AAAAAAAAAAAAAAAAAAAAAA'}, '*');</script>"
    without_prelude(host, 0, NO_PRELUDE.replace("</script>", guess))
    host.page.goto(host.site.url)
    expect(host.log()).to_contain_text("past its port")
    assert host.frame().evaluate("ports") == 0


def test_a_sibling_cannot_say_hello_for_another_panel(host: Host) -> None:
    """The nonce alone is not enough: the hello must come from the frame's own window."""
    host.site.panels = [PanelSpec(STARTED), PanelSpec("")]
    without_prelude(host, 1)
    host.page.goto(host.site.url)
    host.ready(0)
    nonce = host.panel(1).get_attribute("data-nonce")
    host.frame(0).evaluate("nonce => top.postMessage({vitrine: 'hello', nonce}, '*')", nonce)
    expect(host.log()).to_contain_text("past its port")  # said to whoever sent it
    assert host.frame(1).evaluate("ports") == 0


def test_a_sibling_cannot_speak_to_a_view(host: Host) -> None:
    """A view that forgets to look at `source` must not hear a forged result."""
    trusting = STARTED.replace("if (source !== window.parent) return;", "")
    host.site.panels = [PanelSpec(trusting), PanelSpec(STARTED)]
    host.page.goto(host.site.url)
    host.ready(0)
    host.ready(1)
    host.frame(1).evaluate("top.frames[0].postMessage({jsonrpc: '2.0', method: 'forged'}, '*')")
    # The same from the host page itself: only the port counts.
    host.page.evaluate("frames[0].postMessage({jsonrpc: '2.0', method: 'forged'}, '*')")
    host.frame(0).evaluate("ask('ping')")
    host.frame(0).evaluate("postMessage({jsonrpc: '2.0', method: 'mine'}, '*')")
    until(host.frame(0), "heard.some(m => m.method === 'mine')")
    assert host.heard("forged", 0) == []


def test_a_frame_inside_a_view_can_speak_to_it(host: Host) -> None:
    child = STARTED.replace("if (source !== window.parent) return;", "").replace(
        "window.start();",
        "window.start(); const inner = document.createElement('iframe');"
        "inner.srcdoc = `<script>parent.postMessage({method: 'inner'}, '*')<\\/script>`;"
        "document.body.append(inner);",
    )
    host.site.panels = [PanelSpec(child, declared_csp={"frameDomains": ["https://a.example"]})]
    frame = host.go()
    until(frame, "heard.some(m => m.method === 'inner')")


def test_a_document_that_the_frame_goes_to_gets_no_port(host: Host) -> None:
    frame = host.open()
    frame.evaluate("location.href = '/fragments/anything'")
    expect(host.iframe()).to_have_count(0)
    expect(host.notice()).to_contain_text("was closed")
    expect(host.notice().get_by_role("button", name="Reload view")).to_be_visible()


def test_a_navigation_that_the_page_blocks_closes_the_view(host: Host) -> None:
    frame = host.open()
    frame.evaluate("location.href = 'https://a.example/?secret'")
    expect(host.iframe()).to_have_count(0)
    expect(host.notice()).to_contain_text("was closed")
    host.notice().get_by_role("button", name="Reload view").click()
    host.ready()
    assert host.heard("ui/notifications/tool-input") == [{"arguments": {"city": "Bern"}}]


def test_a_view_that_leaves_before_it_has_loaded_is_closed(host: Host) -> None:
    host.page.clock.install()
    host.open("<script>location.href = 'https://a.example/'</script>", wait=False)
    host.page.clock.fast_forward(3_000)
    expect(host.notice()).to_contain_text("document did not load")
    host.page.clock.fast_forward(9_000)
    expect(host.iframe()).to_have_count(0)


def test_a_document_without_the_prelude_is_said_to_be_missing(host: Host) -> None:
    host.site.panels = [PanelSpec(STARTED)]
    host.site.tickets.clear()
    page = host.site.page()
    host.site.tickets.clear()  # every ticket is spent
    host.page.route(
        host.site.url + "/", lambda route: route.fulfill(body=page, content_type="text/html")
    )
    host.page.goto(host.site.url)
    expect(host.notice()).to_contain_text("document did not load")
    host.notice().get_by_role("button", name="Reload view").click()
    host.ready()


def test_what_a_view_sends_before_the_port_is_kept_in_order(host: Host) -> None:
    early = STARTED.replace(
        "window.start();",
        "const shared = {jsonrpc: '2.0', method: 'notifications/message', params: {data: 'one'}};"
        "parent.postMessage(shared, '*'); shared.params.data = 'two';"
        "parent.postMessage(shared, '*'); window.start();",
    )
    host.open(early)
    lines = host.log().locator("li", has_text="view info")
    expect(lines.nth(0)).to_contain_text("one")
    expect(lines.nth(1)).to_contain_text("two")


def test_a_spent_frame_is_never_moved_or_loaded_again(host: Host) -> None:
    frame = host.open()
    frame.evaluate("window.mark = 1")
    host.page.get_by_role("button", name="Fullscreen").click()
    host.page.get_by_role("button", name="Leave fullscreen").click()
    assert frame.evaluate("window.mark") == 1
