"""docs/compatibility.md is written by e2e/official; that it is of the servers which are installed
there is seen without a browser.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "compatibility.md").read_text()
SERVER = "@modelcontextprotocol/server-"


def rows() -> dict[str, list[str]]:
    """First cell → the other cells of the table's rows."""
    cells = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in cells[2:]}


def test_every_official_server_that_is_installed_has_a_row_of_its_version() -> None:
    packages = json.loads((ROOT / "e2e" / "package.json").read_text())["devDependencies"]
    installed = {
        name.removeprefix(SERVER): version
        for name, version in packages.items()
        if name.startswith(SERVER)
    }
    assert len(installed) == 20
    assert {name: cells[0] for name, cells in rows().items()} == installed


def test_everything_was_done_in_each_under_one_agent_and_a_press_taken_under_the_other() -> None:
    for name, cells in rows().items():
        assert sorted(cells[1:3]) == ["everything", "starts, one press"], name
        assert cells[3], name


def test_what_three_of_them_need_is_said() -> None:
    said = PAGE.partition("## What is not granted")[2]
    for name in ("map", "threejs", "transcript"):
        assert re.search(rf"^- \*\*{name}\*\*\n  - This view ", said, re.MULTILINE), name
