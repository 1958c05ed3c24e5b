"""A real Chromium for every browser test: one process a run, a fresh profile a test."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import hatch_build
from e2e.running import ROOT

NO_BROWSER = (
    "The browser tests need Chromium: run `apt-get install chromium`, "
    "or set VITRINE_TEST_CHROMIUM to its path."
)
_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def chromium_path() -> str:
    """The browser that ``VITRINE_TEST_CHROMIUM`` names, else the first one on PATH."""
    named = os.environ.get("VITRINE_TEST_CHROMIUM", "")
    found = (
        shutil.which(named) if named else shutil.which("chromium") or shutil.which("google-chrome")
    )
    if found is None:
        pytest.fail(NO_BROWSER, pytrace=False)
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium. Its loop keeps running, so no asyncio test may follow in the same
    process: pytest runs ``tests`` before ``e2e``.
    """
    path = chromium_path()
    hatch_build.build(ROOT)  # the pages load the bundles, and a test is of what lies here now
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(_ARGS))
        try:
            yield chromium
        finally:
            chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a profile of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        yield context.new_page()
    finally:
        context.close()
