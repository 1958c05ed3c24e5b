"""The main journeys with official servers, in Firefox ESR; docs/compatibility.md is of Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from e2e.official.outside import Outside
from e2e.official.seen import Seen
from e2e.official.stage import App, Stage, hosts
from e2e.official.test_basics import press_every_button
from e2e.official.test_charts import allocate


@pytest.fixture(scope="module")
def stage(
    firefox: Browser, outside: Outside, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with hosts(firefox, tmp_path_factory.mktemp("firefox")) as found:
        stage = Stage(found, Seen(), outside.url, {})
        yield stage
        stage.stop()


@pytest.mark.official("basic-vanillajs")
def test_basic_vanillajs(app: App) -> None:
    press_every_button("vanillajs", app)


@pytest.mark.official("basic-vue")
def test_basic_vue(app: App) -> None:
    press_every_button("vue", app)


@pytest.mark.official("budget-allocator")
def test_budget_allocator(app: App) -> None:
    allocate(app)
