"""Real browsers: Chromium for every test, Firefox ESR for the journeys that are to work there too.
One process a run, a fresh profile a test.
"""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

import hatch_build
from e2e.running import ROOT

NO_BROWSER = (
    "The browser tests need Chromium: run `apt-get install chromium`, "
    "or set VITRINE_TEST_CHROMIUM to its path."
)
NO_FIREFOX = (
    "The Firefox tests need Firefox ESR: run `apt-get install firefox-esr`, "
    "or set VITRINE_TEST_FIREFOX to its path."
)
# Playwright's own defaults turn preconnect off; on loopback Firefox gathers no candidates.
_PREFS: dict[str, str | float | bool] = {
    "network.http.speculative-parallel-limit": 20,
    "media.peerconnection.ice.loopback": True,
}
_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


class _ByModule(LoadFileScheduling):  # type: ignore[misc] # xdist has no types
    """Of several processes one takes a whole module, so that modules keep their own fixtures; and
    the official servers whole, for they and the table of what was seen are kept for their folder.

    Not xdist's marks for groups: they write a test's name anew, which pytest 9.2 does not read.
    """

    def _split_scope(self, nodeid: str) -> str:
        module = super()._split_scope(nodeid)
        return "e2e/official" if module.startswith("e2e/official/") else module


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _ByModule:
    return _ByModule(config, log)


def chromium_path() -> str:
    """The browser that ``VITRINE_TEST_CHROMIUM`` names, else the first one on PATH."""
    named = os.environ.get("VITRINE_TEST_CHROMIUM", "")
    found = (
        shutil.which(named) if named else shutil.which("chromium") or shutil.which("google-chrome")
    )
    if found is None:
        pytest.fail(NO_BROWSER, pytrace=False)
    return found


def firefox_path() -> str:
    """The browser that ``VITRINE_TEST_FIREFOX`` names, else the first one on PATH."""
    named = os.environ.get("VITRINE_TEST_FIREFOX", "")
    found = shutil.which(named) if named else shutil.which("firefox-esr") or shutil.which("firefox")
    if found is None:
        pytest.fail(NO_FIREFOX, pytrace=False)
    return found


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Its loop keeps running, so no asyncio test may follow in the same process: pytest runs
    ``tests`` before ``e2e``.
    """
    hatch_build.build(ROOT)  # the pages load the bundles, and a test is of what lies here now
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """One headless Chromium."""
    chromium = playwright.chromium.launch(executable_path=chromium_path(), args=list(_ARGS))
    try:
        yield chromium
    finally:
        chromium.close()


@pytest.fixture(scope="session")
def firefox(playwright: Playwright) -> Iterator[Browser]:
    """One headless Firefox of the system's, in which nothing that could leak is held back."""
    firefox = playwright.firefox.launch(
        channel="moz-firefox", executable_path=firefox_path(), firefox_user_prefs=_PREFS
    )
    try:
        yield firefox
    finally:
        firefox.close()


@pytest.fixture(scope="session")
def browser(chromium: Browser) -> Browser:
    """The browser that a test gets which says nothing of it. A module that is to run in both gives
    this name to a fixture of its own.
    """
    return chromium


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a profile of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        yield context.new_page()
    finally:
        context.close()
