"""Panels that come, go and come again: htmx swaps, reloads, a page kept by the browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.broker.conftest import Host, until
from e2e.broker.site import STARTED, PanelSpec

# Saves something at its server when it is told to end, and agrees only afterwards.
TELLS = STARTED + (
    "<script>mute = true; addEventListener('message', async ({data: {id, method, params}}) => {"
    " if (method !== 'ui/resource-teardown') return;"
    " await ask('tools/call', {name: 'save', arguments: params});"
    " say({id, result: {}}); });</script>"
)
HTMX = (
    "<meta name='htmx-config' content='{\"includeIndicatorCSS\": false, \"history\": false}'>"
    "<script src='/static/dist/htmx.js' defer></script>"
)


def torn_down(host: Host) -> list[Any]:
    return [body["params"]["arguments"]["reason"] for body in host.site.posted("/rpc")]


def test_reload_asks_for_the_whole_panel_again(host: Host) -> None:
    host.open(TELLS)
    first = host.panel().get_attribute("data-fragment-url")
    host.page.get_by_role("button", name="Reload").focus()
    host.page.keyboard.press("Enter")
    expect(host.panel()).not_to_have_attribute("data-fragment-url", first or "")
    host.ready()
    assert host.site.panel_requests == 1
    assert torn_down(host) == ["The panel is reloaded"]
    assert len(host.heard("ui/notifications/tool-input")) == 1
    expect(host.page.locator("[data-panel]")).to_have_count(1)
    expect(host.page.locator(".panel-slot")).to_be_focused()


def test_a_reload_that_fails_can_be_tried_again(host: Host) -> None:
    host.open()
    host.page.route("**/panel?*", lambda route: route.abort())
    host.page.get_by_role("button", name="Reload").click()
    again = host.page.get_by_role("button", name="could not be reached")
    expect(again).to_be_enabled()
    host.page.unroute("**/panel?*")
    again.click()
    host.ready()


def test_a_reload_shows_what_the_server_says_instead(host: Host) -> None:
    host.open()
    host.site.panel_answer = lambda _number: (
        503,
        '<div class="panel panel-without-view"><p>The server is stopped.</p>'
        '<button type="button" data-panel-reload>Try again</button></div>',
    )
    host.page.get_by_role("button", name="Reload").click()
    expect(host.page.get_by_text("The server is stopped.")).to_be_visible()
    host.errors.clear()
    host.site.panel_answer = None
    host.page.get_by_role("button", name="Try again").click()
    host.ready()


def test_a_removed_panel_leaves_nothing_behind(host: Host) -> None:
    host.open()
    host.page.evaluate("document.querySelector('.row').remove()")
    expect(host.iframe()).to_have_count(0)
    # A panel that comes later starts all the same.
    host.page.evaluate(
        "async () => { const slot = document.createElement('div'); slot.className = 'panel-slot';"
        " slot.setAttribute('hx-get', '/panel?number=0');"
        " slot.innerHTML = await (await fetch('/panel?number=0')).text();"
        " document.querySelector('main').append(slot); }"
    )
    host.ready()
    assert host.ask("ping")["result"] == {}


def test_htmx_loads_a_lazy_panel(host: Host) -> None:
    host.site.panels = [PanelSpec(STARTED)]
    host.site.extra_head = HTMX
    page = host.site.page()
    start = page.index('<section class="panel"')
    lazy = page[:start] + page[page.index("</section>") + len("</section>") :]
    lazy = lazy.replace('hx-get="/panel?number=0"', 'hx-get="/panel?number=0" hx-trigger="load"')
    host.page.route(
        host.site.url + "/", lambda route: route.fulfill(body=lazy, content_type="text/html")
    )
    host.page.goto(host.site.url)
    host.ready()
    assert host.site.panel_requests == 1


@pytest.mark.parametrize("style", ["innerHTML", "outerHTML", "delete"])
def test_a_swap_waits_until_the_views_have_ended(host: Host, style: str) -> None:
    host.site.extra_head = HTMX
    host.site.extra_body = (
        f'<button type="button" hx-get="/panel?number=0" hx-target="#slot-0" hx-swap="{style}">'
        "swap</button>"
    )
    host.site.panels = [PanelSpec(TELLS)]
    host.go()
    first = host.panel().get_attribute("data-fragment-url") or ""
    host.page.get_by_role("button", name="swap").click()
    expect(host.page.locator(f"[data-fragment-url='{first}']")).to_have_count(0)
    assert torn_down(host) == ["The panel is removed"]
    if style == "delete":
        expect(host.panel()).to_have_count(0)
    else:
        host.ready()


def test_a_swap_elsewhere_leaves_the_views_alone(host: Host) -> None:
    host.site.extra_head = HTMX
    host.site.extra_body = (
        '<p id="other"></p><button type="button" hx-get="/static/css/panel.css" hx-target="#other">'
        "swap</button>"
    )
    host.site.panels = [PanelSpec(TELLS)]
    frame = host.go()
    frame.evaluate("window.mark = 1")
    host.page.get_by_role("button", name="swap").click()
    expect(host.page.locator("#other")).to_contain_text("panel")
    assert frame.evaluate("window.mark") == 1
    assert torn_down(host) == []


def test_a_kept_page_with_a_dead_view_gets_a_fresh_one(host: Host) -> None:
    host.open()
    first = host.panel().get_attribute("data-fragment-url") or ""
    host.page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    host.ask("ping")
    assert host.site.panel_requests == 0  # it is alive: nothing is loaded again
    host.frame().evaluate(
        "() => { setTimeout(() => { const end = performance.now() + 6000;"
        " while (performance.now() < end); }, 0) }"
    )
    host.page.wait_for_timeout(200)
    host.page.evaluate(
        "() => { dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true})) }"
    )
    expect(host.panel()).not_to_have_attribute("data-fragment-url", first)
    host.ready()


def test_back_and_forward_give_a_running_view(host: Host) -> None:
    host.open()
    host.page.goto(host.site.url + "/static/css/panel.css")
    host.page.go_back()
    host.ready()
    assert host.ask("ping")["result"] == {}
    host.page.reload()
    host.ready()
    assert host.ask("ping")["result"] == {}


def test_views_are_told_when_the_page_goes(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        "addEventListener('message', ({data}) => { if (data.method === 'ui/resource-teardown')"
        " console.log('told ' + data.params.reason); })"
    )
    with host.page.expect_console_message(lambda m: m.text.startswith("told")) as told:
        # What a page that is not kept sends last.
        host.page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', {persisted: false}))")
    assert told.value.text == "told The page is closed"


def test_a_panel_that_cannot_be_read_does_not_stop_the_others(host: Host) -> None:
    host.site.panels = [PanelSpec(STARTED), PanelSpec(STARTED)]
    page = host.site.page().replace("data-panel-data>{", "data-panel-data>{broken", 1)
    host.page.route(
        host.site.url + "/", lambda route: route.fulfill(body=page, content_type="text/html")
    )
    host.page.goto(host.site.url)
    host.ready(1)
    assert any("could not be started" in error for error in host.errors)
    host.errors.clear()


def test_nothing_of_a_removed_panel_is_kept(host: Host) -> None:
    """Listeners on window and document end with the panel, so the frame can be collected."""
    host.site.panels = [PanelSpec(STARTED)]
    host.page.goto(host.site.url)
    host.ready()
    host.page.evaluate("document.querySelector('.row').remove()")
    expect(host.iframe()).to_have_count(0)
    session = host.page.context.new_cdp_session(host.page)
    session.send("HeapProfiler.collectGarbage")
    until(host.page, "document.querySelector('[data-panel]') === null")
    prototype = session.send("Runtime.evaluate", {"expression": "HTMLIFrameElement.prototype"})[
        "result"
    ]["objectId"]
    found = session.send("Runtime.queryObjects", {"prototypeObjectId": prototype})
    count = session.send(
        "Runtime.callFunctionOn",
        {
            "objectId": found["objects"]["objectId"],
            "functionDeclaration": "function () { return this.length }",
            "returnByValue": True,
        },
    )
    assert count["result"]["value"] == 0
