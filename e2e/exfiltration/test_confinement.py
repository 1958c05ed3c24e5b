"""The panel says how far the reader's browser keeps its view in."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from e2e.exfiltration import hostile
from e2e.exfiltration.ways import BY_NAME
from e2e.pages import sign_in

FULL = "This browser holds views to that: it refuses every other connection that Vitrine knows of."
PARTIAL = "two ways to any address stay open: WebRTC, and connections opened ahead of time"
UNKNOWN = "could not be found out. Take it that it does so only in part."


@pytest.fixture(scope="module")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hostile.Theatre]:
    view = hostile.View("calm", BY_NAME["history-state"].document(9))
    with hostile.theatre(tmp_path_factory.mktemp("vitrine"), [[view]]) as theatre:
        yield theatre


@pytest.fixture(scope="module")
def signed_in(chromium: Browser, theatre: hostile.Theatre) -> Iterator[BrowserContext]:
    context = chromium.new_context()
    sign_in(context.new_page(), theatre.running)
    yield context
    context.close()


def said(page: Page, url: str) -> Locator:
    hostile.unfold(page, url)
    summary = page.locator("summary", has_text="May contact")
    summary.click()
    return page.locator("[data-confinement]")


def test_chromium_holds_a_view_to_it(signed_in: BrowserContext, theatre: hostile.Theatre) -> None:
    page = signed_in.new_page()
    expect(said(page, theatre.sessions[0])).to_have_text(FULL)
    # Nothing of the trial is left on the page.
    expect(page.locator("iframe:not(.panel-view)")).to_have_count(0)
    page.close()


def test_a_proxy_that_drops_the_header_is_found_out(
    signed_in: BrowserContext, theatre: hostile.Theatre
) -> None:
    def without(route: Route) -> None:
        answer = route.fetch()
        headers = {k: v for k, v in answer.headers.items() if k != "connection-allowlist"}
        route.fulfill(response=answer, headers=headers)

    page = signed_in.new_page()
    page.route("**/fragments/confinement", without)
    expect(said(page, theatre.sessions[0])).to_contain_text(PARTIAL)
    page.close()


def test_where_the_trial_fails_nothing_is_promised(
    signed_in: BrowserContext, theatre: hostile.Theatre
) -> None:
    page = signed_in.new_page()
    page.route("**/fragments/confinement", lambda route: route.fulfill(status=502))
    expect(said(page, theatre.sessions[0])).to_contain_text(UNKNOWN)
    page.close()


def test_firefox_holds_a_view_to_it_in_part(firefox: Browser, tmp_path: Path) -> None:
    view = hostile.View("calm", BY_NAME["history-state"].document(9))
    with hostile.theatre(tmp_path, [[view]]) as theatre:
        context = firefox.new_context()
        page = context.new_page()
        sign_in(page, theatre.running)
        expect(said(page, theatre.sessions[0])).to_contain_text(PARTIAL)
        context.close()
