"""Fixtures of the official servers' tests. A test says with ``@pytest.mark.official(NAME)`` whose
view it is about, and gets ``app``: that view under the agent whose turn it is (catalog.py).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from e2e.official.catalog import OFFICIAL
from e2e.official.film import film
from e2e.official.outside import Outside
from e2e.official.pdf_file import three_pages
from e2e.official.seen import Seen
from e2e.official.stage import App, Stage, hosts
from e2e.pages import PATIENCE_MS

expect.set_options(timeout=PATIENCE_MS)
FOLDER = Path(__file__).parent
TABLE = "test_table.py"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "official(name, agent=…, variant=…, arguments=…): the view that a test is about"
    )


@pytest.fixture(scope="session")
def outside(chromium: Browser) -> Iterator[Outside]:
    """What the servers and views would fetch from elsewhere."""
    with Outside(film(chromium)) as stand_in:
        yield stand_in


@pytest.fixture(scope="session")
def pdf_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pdf") / "acceptance.pdf"
    path.write_bytes(three_pages())
    return path


@pytest.fixture(scope="session")
def debug_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the debug server writes what its view sends."""
    return tmp_path_factory.mktemp("debug") / "log"


@pytest.fixture(scope="session")
def seen() -> Seen:
    return Seen()


@pytest.fixture(scope="session")
def stage(
    browser: Browser,
    outside: Outside,
    pdf_file: Path,
    debug_log: Path,
    seen: Seen,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    options = {
        "pdf": ["--enable-interact", str(pdf_file)],
        "debug": [f"--log-file={debug_log}"],
    }
    with hosts(browser, tmp_path_factory.mktemp("official")) as found:
        stage = Stage(found, seen, outside.url, options)
        yield stage
        stage.stop()


@pytest.fixture
def app(request: pytest.FixtureRequest, stage: Stage, pdf_file: Path) -> Iterator[App]:
    marker = request.node.get_closest_marker("official")
    assert marker is not None, "say whose view: @pytest.mark.official(NAME)"
    [name] = marker.args
    agent: str = marker.kwargs.get("agent", OFFICIAL[name].full)
    arguments: dict[str, Any] = {"url": pdf_file.as_uri()} if name == "pdf" else {}
    arguments |= marker.kwargs.get("arguments", {})
    app = stage.opened(name, marker.kwargs.get("variant", ""), agent, arguments)
    yield app
    app.page.close()


def _whole(config: pytest.Config) -> bool:
    """Whether all of this folder runs."""
    parts = [Path(arg.partition("::")[0]).resolve() for arg in config.args]
    chosen = config.option.keyword or config.option.markexpr
    return not chosen and any(FOLDER.is_relative_to(part) for part in parts)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A server's tests stay together, so that it is started once; the table of what was seen comes
    after everything that is to be seen, and is no part of a run that does not see everything.
    """
    if not _whole(config):
        table = [item for item in items if item.path == FOLDER / TABLE]
        config.hook.pytest_deselected(items=table)
        items[:] = [item for item in items if item not in table]
    ours = [item for item in items if item.path.parent == FOLDER]
    if not ours:
        return
    names = list(OFFICIAL)

    def place(item: pytest.Item) -> int:
        marker = item.get_closest_marker("official")
        if marker is not None:
            return names.index(marker.args[0])
        return len(names) if item.path.name == TABLE else -1

    ours.sort(key=place)
    first = min(items.index(item) for item in ours)
    rest = [item for item in items if item.path.parent != FOLDER]
    items[:] = [*rest[:first], *ours, *rest[first:]]
