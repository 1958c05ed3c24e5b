"""What a tool declares, read so that nothing malformed lets a view do more."""

from typing import Any

import pytest

from app.mcp.tool_index import MAX_PROBLEMS, parse_tools, resolve_tool


def one(meta: Any = None, **tool: Any) -> Any:
    raw = {"name": "t", **tool} if meta is None else {"name": "t", "_meta": meta, **tool}
    index = parse_tools([raw])
    return index.tools["t"], index.problems


@pytest.mark.parametrize(
    "meta",
    [
        {"ui": {"resourceUri": "ui://a"}},
        {"ui/resourceUri": "ui://a"},
        {"ui": {"resourceUri": "ui://a"}, "ui/resourceUri": "ui://b"},
        {"ui": {"resourceUri": None}, "ui/resourceUri": "ui://a"},
        {"ui": {"visibility": ["app"]}, "ui/resourceUri": "ui://a"},
        {"ui": "odd", "ui/resourceUri": "ui://a"},
    ],
)
def test_the_view_is_nested_first_then_flat(meta: Any) -> None:
    tool, _ = one(meta)
    assert tool.resource_uri == "ui://a"


@pytest.mark.parametrize(
    "uri",
    [
        "https://a",
        "UI://a",
        " ui://a",
        "ui:a",
        "",
        5,
        ["ui://a"],
        {"a": 1},
        True,
        "ui://a\n",
        "ui://\x00",
        "ui://\u202ea",
        "ui://" + "a" * 2_048,
    ],
)
@pytest.mark.parametrize("nested", [True, False])
def test_what_is_no_ui_address_is_no_view(uri: Any, nested: bool) -> None:
    tool, problems = one({"ui": {"resourceUri": uri}} if nested else {"ui/resourceUri": uri})
    assert tool.resource_uri is None
    assert problems == ("“t” declares a view that is not a ui:// address.",)


def test_a_bad_nested_address_is_not_replaced_by_the_flat_one() -> None:
    tool, _ = one({"ui": {"resourceUri": "https://a"}, "ui/resourceUri": "ui://a"})
    assert tool.resource_uri is None


@pytest.mark.parametrize("meta", [None, {}, {"ui": {}}, {"ui": {"resourceUri": "ui://a"}}])
def test_no_visibility_is_not_an_empty_one(meta: Any) -> None:
    tool, problems = one(meta)
    assert tool.visibility is None
    assert problems == ()


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (["app"], {"app"}),
        (["model", "app"], {"model", "app"}),
        (["model", "internal"], {"model", "internal"}),
        ([], set()),
    ],
)
def test_a_declared_visibility_is_taken_as_it_is(declared: Any, expected: set[str]) -> None:
    tool, problems = one({"ui": {"visibility": declared}})
    assert tool.visibility == expected
    assert problems == ()


@pytest.mark.parametrize(
    "declared", ["app", None, 5, {"app": True}, ["app", 5], [["app"]], ["app", None], True]
)
def test_a_malformed_visibility_lets_nobody_call(declared: Any) -> None:
    tool, problems = one({"ui": {"visibility": declared}})
    assert tool.visibility == frozenset()
    assert len(problems) == 1


@pytest.mark.parametrize("meta", ["ui", 5, [], True, {"ui": "x"}, {"ui": ["app"]}, {"ui": False}])
def test_unreadable_metadata_lets_nobody_call(meta: Any) -> None:
    tool, _ = one(meta)
    assert tool.visibility == frozenset()


def test_the_tool_is_kept_as_it_came() -> None:
    raw = {"name": "t", "title": None, "future": [1], "_meta": {"x": {"y": 1}}}
    assert parse_tools([raw]).tools["t"].raw == raw


def test_the_first_of_two_equal_names_counts() -> None:
    index = parse_tools([{"name": "t", "n": 1}, {"name": "t", "n": 2}])
    assert index.tools["t"].raw["n"] == 1
    assert index.problems == ("“t” is listed twice; the first one counts.",)


def test_problems_are_bounded_and_hide_nothing() -> None:
    index = parse_tools([{"name": "a\u202eb" * 60, "_meta": {"ui": {"resourceUri": 5}}}, *[0] * 99])
    assert len(index.problems) == MAX_PROBLEMS + 1
    assert "\u202e" not in "".join(index.problems)
    assert len(index.problems[0]) < 900


def test_invalid_header_marks_drop_a_tool_of_the_modern_era_only() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "x-mcp-header": "A"}}}
    raw = {"name": "t", "inputSchema": schema}
    assert not parse_tools([raw], modern=True).tools
    assert parse_tools([raw]).tools


def test_a_recorded_tool_is_found_exactly_or_by_its_only_likeness() -> None:
    index = parse_tools({"name": name} for name in ["a.b", "c_d", "c.d", "e.f", "e f", "é"])
    assert resolve_tool(index, "a_b") is index.tools["a.b"]
    assert resolve_tool(index, "c_d") is index.tools["c_d"]  # exact, though c.d is recorded alike
    assert resolve_tool(index, "e_f") is None
    assert resolve_tool(index, "nothing") is None
    assert resolve_tool(index, "_") is index.tools["é"]


def test_views_are_noticed() -> None:
    assert not parse_tools([{"name": "t"}]).has_views
    assert parse_tools([{"name": "t", "_meta": {"ui/resourceUri": "ui://a"}}]).has_views
