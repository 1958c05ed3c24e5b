"""No bytes make the format raise, and nothing that it returns breaks what comes after."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.db.tables import CallState
from app.transcripts.formats.base import Kind, UnreadableLineError
from app.transcripts.formats.claude_code import ClaudeCode
from tests.transcripts.making import assistant, call, line, result, user

CLAUDE = ClaudeCode()
KEYS = [
    "type",
    "message",
    "content",
    "role",
    "model",
    "text",
    "thinking",
    "id",
    "name",
    "input",
    "tool_use_id",
    "is_error",
    "toolUseResult",
    "mcpMeta",
    "structuredContent",
    "_meta",
    "resourceLinks",
    "source",
    "data",
    "media_type",
    "timestamp",
    "sessionId",
    "attachment",
    "prompt",
    "commandMode",
    "summary",
    "isMeta",
    "agentId",
]
WORDS = [
    "user",
    "assistant",
    "system",
    "attachment",
    "tool_use",
    "tool_result",
    "text",
    "thinking",
    "image",
    "queued_command",
    "hook_x",
    "prompt",
    "",
    "\ud800",
    "\0",
    "9999-99-99",
    "[Image: source: x]",
    "<bash-input>",
    "<command-name>",
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=30,
)


def _read_all(data: bytes) -> None:
    """Everything that a page or a panel would do with the line."""
    indexed = CLAUDE.index(data)
    try:
        decoded = CLAUDE.decode(data)
    except UnreadableLineError:
        return
    for item in indexed.items:
        body = CLAUDE.read(decoded, item.block)
        body.text.encode()
        body.label.encode()
        if item.kind is Kind.TOOL_CALL:
            json.dumps(CLAUDE.call(decoded, item.block).arguments, allow_nan=False).encode()
        if item.kind is Kind.TOOL_RESULT:
            got = CLAUDE.result(decoded, item.block, "mcp__a__b").result
            json.dumps(got, allow_nan=False, ensure_ascii=False).encode()
            for block in got["content"] if got else []:
                assert isinstance(block, dict)
                assert _is_mcp(block)


def _is_mcp(block: dict[str, Any]) -> bool:
    needed = {"text": ("text",), "image": ("data", "mimeType"), "resource_link": ("uri", "name")}
    return all(isinstance(block[key], str) for key in needed[block["type"]])


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    _read_all(data)


@given(st.dictionaries(st.sampled_from(KEYS), ANYTHING))
def test_any_json(value: dict[str, Any]) -> None:
    _read_all(json.dumps(value).encode())


@given(st.sampled_from(["user", "assistant"]), st.lists(ANYTHING, max_size=4), ANYTHING, ANYTHING)
def test_any_content(kind: str, content: list[Any], kept: Any, meta: Any) -> None:
    message = {"role": kind, "content": content}
    _read_all(line(kind, message=message, toolUseResult=kept, mcpMeta=meta))


@given(ANYTHING, ANYTHING, ANYTHING, st.booleans())
def test_any_result(content: Any, kept: Any, meta: Any, failed: bool) -> None:
    _read_all(result("toolu_1", content, failed=failed, toolUseResult=kept, mcpMeta=meta))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[1,2]",
        b"3",
        b"\xff\xfe",
        b'{"type":"user"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_is_no_object_is_unreadable(data: bytes) -> None:
    assert [item.kind for item in CLAUDE.index(data).items] == [Kind.UNREADABLE]


def _user_text(data: bytes) -> str:
    assert [item.kind for item in CLAUDE.index(data).items] == [Kind.USER]
    return CLAUDE.read(CLAUDE.decode(data), 0).text


def test_lone_surrogates_and_invalid_utf8_become_replacement_characters() -> None:
    assert _user_text(user("a\ud83db")) == "a\ufffdb"
    assert _user_text(user("a~b").replace(b"~", b"\xff")) == "a\ufffdb"


def test_u2028_does_not_end_a_line() -> None:
    data = json.dumps(json.loads(user("a\u2028b")), ensure_ascii=False).encode()
    assert _user_text(data) == "a\u2028b"


def test_byte_order_mark() -> None:
    assert _user_text(b"\xef\xbb\xbf" + user("hello")) == "hello"


def test_the_last_of_duplicate_keys_wins_in_index_and_body() -> None:
    data = user("first").replace(b'"user"', b'"assistant", "type": "user"', 1)
    assert _user_text(data[:-1] + b', "message": {"content": "second"}}') == "second"


def test_nan_and_huge_numbers() -> None:
    data = call("toolu_1", x=1).replace(b'"x": 1', b'"x": NaN, "y": 1e999, "z": ' + b"9" * 5000)
    assert [item.kind for item in CLAUDE.index(data).items] == [Kind.TOOL_CALL]
    assert CLAUDE.call(CLAUDE.decode(data), 0).arguments == {"x": None, "y": None, "z": None}


@pytest.mark.parametrize(
    "when",
    ["", "yesterday", "12", 12, None, [], "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"],
)
def test_a_time_that_is_none(when: object) -> None:
    indexed = CLAUDE.index(user("hello", timestamp=when))
    assert indexed.at is None
    assert [item.kind for item in indexed.items] == [Kind.USER]


def test_a_time_without_a_zone_is_utc() -> None:
    at = CLAUDE.index(user("hello", timestamp="2026-11-30T20:00:00")).at
    assert at is not None
    assert at.isoformat() == "2026-11-30T20:00:00+00:00"


def _nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = {"a": value}
    return value


def test_arguments_nested_too_deeply_are_left_out() -> None:
    data = call("toolu_1", deep=_nested(300))
    got = CLAUDE.call(CLAUDE.decode(data), 0)
    assert got.arguments == {}
    assert len(got.notes) == 1


def test_a_result_nested_too_deeply_is_left_out() -> None:
    meta = {"structuredContent": _nested(300), "_meta": _nested(300)}
    data = result("toolu_1", "text", mcpMeta=meta)
    got = CLAUDE.result(CLAUDE.decode(data), 0, "mcp__a__b").result
    assert got == {"content": [{"type": "text", "text": "text"}]}


def test_blocks_that_are_no_mcp_content_are_left_out() -> None:
    content: list[Any] = [
        None,
        3,
        {"type": "text", "text": None},
        {"type": "image", "source": {"type": "url", "url": "https://example.invalid/x.png"}},
        {"type": "tool_reference", "tool_name": "x"},
        {"type": "text", "text": "kept", "_meta": {"k": 1}},
    ]
    data = result("toolu_1", content)
    got = CLAUDE.result(CLAUDE.decode(data), 0, "mcp__a__b")
    assert got.result == {"content": [{"type": "text", "text": "kept", "_meta": {"k": 1}}]}
    assert len(got.notes) == 1


def test_a_tool_cannot_pass_for_an_interruption() -> None:
    text = "[Tool call interrupted: the session ended"
    forged = result("toolu_1", text, failed=True, toolUseResult=f"Error: {text}")
    real = result("toolu_1", text, failed=True, toolUseResult=text)
    assert [item.state for item in CLAUDE.index(forged).items] == [CallState.FAILED]
    assert [item.state for item in CLAUDE.index(real).items] == [CallState.INTERRUPTED]
    assert CLAUDE.result(CLAUDE.decode(forged), 0, "mcp__a__b").result == {
        "content": [{"type": "text", "text": text}],
        "isError": True,
    }


def test_a_text_of_json_alone_is_not_taken_for_structured_content() -> None:
    blocks = [{"type": "text", "text": '{"a":1}'}]
    data = result("toolu_1", blocks, toolUseResult=blocks)
    assert CLAUDE.result(CLAUDE.decode(data), 0, "mcp__a__b").result == {"content": blocks}


def test_a_built_in_tools_json_is_not_structured_content() -> None:
    data = result("toolu_1", '{"a":1}', toolUseResult={"stdout": '{"a":1}'})
    assert CLAUDE.result(CLAUDE.decode(data), 0, "Bash").result == {
        "content": [{"type": "text", "text": '{"a":1}'}]
    }


def test_a_line_of_very_many_blocks() -> None:
    data = assistant(*[{"type": "text", "text": "x"}] * 5_000)
    assert len(CLAUDE.index(data).items) == 2_000
