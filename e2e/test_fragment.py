"""A view's document, opened where it does not belong."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect

from e2e.pages import PATIENCE_MS, sign_in
from e2e.running import Running, vitrine

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with vitrine("demo", tmp_path_factory.mktemp("demo")) as running:
        yield running


@pytest.fixture(scope="module")
def context(demo: Running, browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, demo)
    page.close()
    yield context
    context.close()


def unused_ticket(demo: Running, context: BrowserContext) -> str:
    """The address of a document that no frame has loaded: the panel fetched without a browser."""
    page = context.new_page()
    page.route("**/mcp_apps/**", lambda route: route.abort())
    page.goto(demo.url)
    page.locator("main a[href*='/sessions/']").first.click()
    slot = page.locator(".panel-slot").first
    panel_url = slot.get_attribute("hx-get")
    page.close()
    assert panel_url is not None
    html = context.request.get(f"{demo.url}{panel_url}").text()
    path = html.split('data-fragment-url="')[1].split('"')[0]
    return f"{demo.url}{path}"


def origin_and_port(page: Page) -> tuple[str, bool]:
    origin = page.evaluate("self.origin")
    return str(origin), bool(page.evaluate("window.parent === window"))


def test_in_a_tab_it_runs_in_an_opaque_origin_without_a_port(
    demo: Running, context: BrowserContext
) -> None:
    page = context.new_page()
    page.goto(unused_ticket(demo, context))
    # The document ran: without a host it says so itself.
    expect(page.locator("#waiting")).to_contain_text("needs a host")
    assert origin_and_port(page) == ("null", True)
    # The prelude's stand-in hides that the real cookies are out of reach; ask the browser itself.
    real = "Object.getOwnPropertyDescriptor(Document.prototype, 'cookie').get.call(document)"
    with pytest.raises(Error, match="sandboxed"):
        page.evaluate(real)
    page.close()


def test_a_second_use_is_gone(demo: Running, context: BrowserContext) -> None:
    url = unused_ticket(demo, context)
    assert context.request.get(url).status == 200
    assert context.request.get(url).status == 410


def test_another_sign_in_cannot_use_it_and_does_not_use_it_up(
    demo: Running, context: BrowserContext, browser: Browser, tmp_path: Path
) -> None:
    url = unused_ticket(demo, context)
    stranger = browser.new_context()
    assert stranger.request.get(url).status == 401
    stranger.close()
    assert context.request.get(url).status == 200
