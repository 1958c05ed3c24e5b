"""Fixtures of the broker's tests: a stand-in server, and a page that notices its own errors."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Error, Frame, Locator, Page, expect

from e2e.broker.site import STARTED, PanelSpec, Site
from e2e.pages import settled

PATIENCE_MS = 20_000


def until(where: Frame | Page, expression: str) -> None:
    """Wait until ``expression`` is true there. ``wait_for_function`` polls with ``eval``, which
    the policies of page and view forbid.
    """
    page = where.page if isinstance(where, Frame) else where
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not where.evaluate(f"() => Boolean({expression})"):
        if time.monotonic() > deadline:
            pytest.fail(f"never came true: {expression}")
        page.wait_for_timeout(50)


@pytest.fixture
def site() -> Iterator[Site]:
    server = Site()
    yield server
    server.close()


class Host:
    """The host page with its panels, and the steps that the tests repeat."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page = page
        self.site = site
        self.errors: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)

    def _on_console(self, message: ConsoleMessage) -> None:
        """Errors of the broker's own scripts; a view's are the view's affair."""
        if message.type == "error" and self._is_own(message.location["url"]):
            self.errors.append(message.text)

    def _on_error(self, error: Error) -> None:
        if self._is_own(error.stack or ""):
            self.errors.append(str(error))

    def _is_own(self, place: str) -> bool:
        return f"{self.site.url}/static/js" in place

    def open(self, html: str = STARTED, *, wait: bool = True, **data: Any) -> Frame:
        """One panel with ``html``; its frame, after the view has started where ``wait``."""
        self.site.panels = [PanelSpec(html, data)]
        return self.go(wait=wait)

    def go(self, *, wait: bool = True) -> Frame:
        self.page.goto(self.site.url)
        if wait:
            self.ready()
        return self.frame()

    def ready(self, number: int = 0) -> None:
        expect(self.panel(number)).to_have_attribute("data-panel-state", "ready")
        settled(self.page)

    def wait(self, condition: Callable[[], object]) -> None:
        """Let the page go on until ``condition()``, which looks at the server's side, is true."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not condition():
            if time.monotonic() > deadline:
                pytest.fail("what was waited for never came true")
            self.page.wait_for_timeout(20)

    def panel(self, number: int = 0) -> Locator:
        return self.page.locator("[data-panel]").nth(number)

    def iframe(self, number: int = 0) -> Locator:
        return self.panel(number).locator("iframe")

    def frame(self, number: int = 0) -> Frame:
        frame = self.iframe(number).element_handle().content_frame()
        assert frame is not None
        return frame

    def heard(self, method: str, number: int = 0) -> list[Any]:
        """Params of the messages with this method that the view has got so far."""
        found: list[Any] = self.frame(number).evaluate(
            "method => heard.filter(m => m.method === method).map(m => m.params)", method
        )
        return found

    def ask(self, method: str, params: Any = None) -> Any:
        """The view's request; its whole answer."""
        return self.frame().evaluate(
            "([m, p]) => Promise.race([ask(m, p), new Promise((_, fail) =>"
            " setTimeout(() => fail(new Error(`no answer to ${m}`)), 15_000))])",
            [method, params or {}],
        )

    def notice(self) -> Locator:
        return self.notice_of(0)

    def notice_of(self, number: int) -> Locator:
        return self.panel(number).locator("[data-panel-notice]")

    def log(self) -> Locator:
        """The panel's log, unfolded."""
        details = self.panel().locator(".panel-log")
        if details.get_attribute("open") is None:
            details.locator("summary").click()
        return details.locator("ol")


@pytest.fixture
def host(page: Page, site: Site) -> Iterator[Host]:
    opened = Host(page, site)
    yield opened
    assert opened.errors == []
