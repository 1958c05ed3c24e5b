"""Which tools of a server ask before a view calls them, by the server's own hints."""

from typing import Any

import pytest

from app.mcp_apps.grants import Verdict, judge

READ_ONLY = {"readOnlyHint": True}
DESTRUCTIVE = {"destructiveHint": True}


def verdict(calls: str, annotations: Any = ...) -> Verdict:
    raw = {"name": "x"} if annotations is ... else {"name": "x", "annotations": annotations}
    return judge(calls, raw)


@pytest.mark.parametrize("annotations", [..., None, {}, {"title": "x"}, {"destructiveHint": False}])
def test_a_tool_that_says_nothing_is_free_unless_the_operator_wants_to_be_asked(
    annotations: Any,
) -> None:
    assert verdict("allowed", annotations) == Verdict.FREE
    assert verdict("ask", annotations) == Verdict.ASK
    assert verdict("none", annotations) == Verdict.NO


def test_a_tool_that_is_marked_read_only_is_free() -> None:
    assert verdict("allowed", READ_ONLY) == Verdict.FREE
    assert verdict("ask", READ_ONLY) == Verdict.FREE
    assert verdict("none", READ_ONLY) == Verdict.NO


@pytest.mark.parametrize("annotations", [DESTRUCTIVE, READ_ONLY | DESTRUCTIVE])
def test_a_destructive_tool_asks_each_time_whatever_else_it_says(annotations: Any) -> None:
    assert verdict("allowed", annotations) == Verdict.ASK_EACH_TIME
    assert verdict("ask", annotations) == Verdict.ASK_EACH_TIME
    assert verdict("none", annotations) == Verdict.NO


@pytest.mark.parametrize("value", ["true", "false", "", 1, 0, 0.0, [], [False], {}])
def test_a_hint_that_is_no_boolean_is_read_the_way_that_gives_less(value: Any) -> None:
    assert verdict("allowed", READ_ONLY | {"destructiveHint": value}) == Verdict.ASK_EACH_TIME
    assert verdict("ask", {"readOnlyHint": value}) == Verdict.ASK


@pytest.mark.parametrize("annotations", ["x", [], [READ_ONLY], 0, False, True])
def test_annotations_that_are_no_object_ask(annotations: Any) -> None:
    assert verdict("allowed", annotations) == Verdict.ASK_EACH_TIME


@pytest.mark.parametrize("calls", ["", "ALLOWED", "all", "free"])
def test_a_choice_that_cannot_be_read_means_none(calls: str) -> None:
    assert verdict(calls, READ_ONLY) == Verdict.NO
