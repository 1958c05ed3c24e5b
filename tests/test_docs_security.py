"""The table of attacks in docs/security.md: every one is there, and so is every test it names."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ATTACKS = range(1, 52)
_ROW = re.compile(r"\| (\d+) \|")
_TEST = re.compile(r"`((?:tests|e2e)/[\w/]+\.py)::(\w+)`")


def rows() -> dict[int, str]:
    """Number of an attack → its row."""
    found: dict[int, str] = {}
    for line in (ROOT / "docs" / "security.md").read_text().splitlines():
        if match := _ROW.match(line):
            assert int(match[1]) not in found, line
            found[int(match[1])] = line
    return found


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in tree.body if isinstance(node, kinds)}


def test_every_attack_has_a_row_in_order() -> None:
    assert list(rows()) == list(ATTACKS)


def test_every_row_names_tests_that_are_there() -> None:
    for number, row in rows().items():
        named = _TEST.findall(row)
        assert named, f"attack {number} has no test"
        for path, name in named:
            assert name in functions_in(path), f"attack {number}: {path} has no {name}"
