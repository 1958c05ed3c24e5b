"""The table of obligations is complete, and what it names is there."""

import ast
from functools import cache
from pathlib import Path

import pytest

from e2e.conformance.obligations import MESSAGES, OBLIGATIONS, Obligation

ROOT = Path(__file__).resolve().parents[2]
EVERY = {**OBLIGATIONS, **MESSAGES}


@cache
def functions_of(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text())
    return frozenset(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )


def test_every_obligation_is_there() -> None:
    assert list(OBLIGATIONS) == [f"L{number}" for number in range(1, 18)]


@pytest.mark.parametrize("name", EVERY)
def test_each_is_shown_by_a_test_or_says_why_not(name: str) -> None:
    obligation: Obligation = EVERY[name]
    assert bool(obligation.tests) != bool(obligation.not_applicable)
    for test in obligation.tests:
        file, _, function = test.partition("::")
        assert function in functions_of(file), test


def test_every_request_that_the_host_knows_is_in_the_table() -> None:
    """A message that is added to the broker without a test here is found out."""
    source = (ROOT / "app/static/js/broker/requests.js").read_text()
    for name in MESSAGES:
        side, _, method = name.partition(": ")
        if side == "view" and not MESSAGES[name].what.startswith("refused"):
            assert f'"{method}"' in source or method == "notifications/cancelled", method
