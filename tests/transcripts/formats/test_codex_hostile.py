"""No bytes make the format raise, and nothing that it returns breaks what comes after."""

import json
from pathlib import PurePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.transcripts.formats.base import RESULT_KINDS, Kind, UnreadableLineError
from app.transcripts.formats.codex import Codex
from tests.transcripts.codex_making import call, event, item, legacy_mcp, line, mcp, output, user

CODEX = Codex()
KEYS = [
    "type",
    "payload",
    "item",
    "id",
    "call_id",
    "name",
    "namespace",
    "arguments",
    "output",
    "message",
    "content",
    "text",
    "summary_text",
    "raw_content",
    "result",
    "error",
    "Ok",
    "Err",
    "structuredContent",
    "_meta",
    "isError",
    "server",
    "tool",
    "mcpAppResourceUri",
    "invocation",
    "status",
    "source",
    "subagent",
    "parent_thread_id",
    "session_id",
    "command",
    "changes",
    "receiver_thread_ids",
    "receiver_agents",
    "fragments",
    "images",
    "action",
    "timestamp",
    "thread_name",
    "resource",
    "mimeType",
]
WORDS = [
    "session_meta",
    "response_item",
    "event_msg",
    "compacted",
    "item_completed",
    "mcp_tool_call_end",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "local_shell_call",
    "task_complete",
    "turn_aborted",
    "user_message",
    "thread_name_updated",
    "UserMessage",
    "AgentMessage",
    "Reasoning",
    "McpToolCall",
    "CommandExecution",
    "FileChange",
    "CollabAgentToolCall",
    "WebSearch",
    "HookPrompt",
    "EnteredReviewMode",
    "spawn_agent",
    "user_shell",
    "text",
    "image",
    "resource",
    "input_image",
    "failed",
    "mcp__a",
    "",
    "{",
    '{"a":1}',
    "[1]",
    '{"output":"x"}',
    "Wall time: 1 seconds\nOutput:\n[{}]",
    "aborted by user",
    "unsupported call: x",
    "data:image/png;base64,AA",
    "\ud800",
    "\0",
    "9999-99-99",
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=30,
)
FIELDS = st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=8)


def _read_all(data: bytes) -> None:
    """Everything that a page or a panel would do with the line."""
    indexed = CODEX.index(data)
    CODEX.detect(PurePath("x.jsonl"), data + b"\n")
    place = CODEX.place(PurePath("/x.jsonl"), data + b"\n")
    assert place.main_path in (None, PurePath("/x.jsonl"))
    try:
        decoded = CODEX.decode(data)
    except UnreadableLineError:
        return
    for made in indexed.items:
        body = CODEX.read(decoded, made.block)
        body.text.encode()
        body.label.encode()
        if made.kind is Kind.TOOL_CALL or made.tool_name:
            got = CODEX.call(decoded, made.block)
            got.name.encode()
            json.dumps(got.arguments, allow_nan=False, ensure_ascii=False).encode()
        if made.kind in RESULT_KINDS:
            for tool in ("mcp__a__b", "exec_command"):
                found = CODEX.result(decoded, made.block, tool).result
                json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
                for block in found["content"] if found else []:
                    assert _is_mcp(block)


def _is_mcp(block: dict[str, Any]) -> bool:
    needed = {
        "text": ("text",),
        "image": ("data", "mimeType"),
        "audio": ("data", "mimeType"),
        "resource_link": ("uri", "name"),
        "resource": (),
    }
    strings = all(isinstance(block[key], str) for key in needed[block["type"]])
    return strings and (block["type"] != "resource" or isinstance(block["resource"]["uri"], str))


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    _read_all(data)


@given(FIELDS)
def test_any_json(value: dict[str, Any]) -> None:
    _read_all(json.dumps(value).encode())


@given(st.sampled_from(["session_meta", "response_item", "event_msg", "compacted"]), FIELDS)
def test_any_payload(kind: str, payload: dict[str, Any]) -> None:
    _read_all(line(kind, payload))


@given(FIELDS | ANYTHING)
def test_any_item(value: Any) -> None:
    _read_all(event("item_completed", item=value))


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_any_result(content: Any, structured: Any, meta: Any, error: Any) -> None:
    result = {"content": content, "structuredContent": structured, "_meta": meta, "isError": error}
    _read_all(mcp("c", result))
    _read_all(mcp("c", content, error=error))
    _read_all(legacy_mcp("c", {"Ok": result, "Err": error}))
    _read_all(output("c", content))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[1,2]",
        b"3",
        b"\xff\xfe",
        b'{"type":"event_msg"',
        b"[" * 100_000,
        b'{"payload":' * 100_000,
    ],
)
def test_what_is_no_object_is_unreadable(data: bytes) -> None:
    assert [made.kind for made in CODEX.index(data).items] == [Kind.UNREADABLE]


def _user_text(data: bytes) -> str:
    assert [made.kind for made in CODEX.index(data).items] == [Kind.USER]
    return CODEX.read(CODEX.decode(data), 0).text


def test_lone_surrogates_and_invalid_utf8_become_replacement_characters() -> None:
    assert _user_text(user("a\ud83db")) == "a\ufffdb"
    assert _user_text(user("a~b").replace(b"~", b"\xff")) == "a\ufffdb"


def test_u2028_does_not_end_a_line() -> None:
    data = json.dumps(json.loads(user("a\u2028b")), ensure_ascii=False).encode()
    assert _user_text(data) == "a\u2028b"


def test_byte_order_mark() -> None:
    assert _user_text(b"\xef\xbb\xbf" + user("hello")) == "hello"


def test_the_last_of_duplicate_keys_wins_in_index_and_body() -> None:
    data = (
        user("first")[:-1]
        + b', "payload": '
        + json.dumps(json.loads(user("second"))["payload"]).encode()
        + b"}"
    )
    assert _user_text(data) == "second"


def test_values_of_a_wrong_type_spoil_no_other() -> None:
    data = mcp("c", server=7, mcpAppResourceUri=["x"], status={})
    (made,) = CODEX.index(data).items
    assert (made.tool_call_id, made.server, made.tool) == ("c", None, "structured")
    assert made.resource_uri is None


def test_nan_and_huge_numbers() -> None:
    data = mcp("c", {"content": [], "structuredContent": {"x": 1}})
    data = data.replace(b'"x": 1', b'"x": NaN, "y": 1e999, "z": ' + b"9" * 5000)
    got = CODEX.result(CODEX.decode(data), 0, "mcp__a__b").result
    assert got == {"content": [], "structuredContent": {"x": None, "y": None, "z": None}}


@pytest.mark.parametrize(
    "when",
    ["", "yesterday", "12", 12, None, [], "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"],
)
def test_a_time_that_is_none(when: object) -> None:
    data = json.dumps(json.loads(user("hello")) | {"timestamp": when}).encode()
    indexed = CODEX.index(data)
    assert indexed.at is None
    assert [made.kind for made in indexed.items] == [Kind.USER]


def _nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = {"a": value}
    return value


def test_what_is_nested_too_deeply_is_left_out() -> None:
    arguments = CODEX.call(CODEX.decode(call("c", deep=_nested(300))), 0)
    assert arguments.arguments == {}
    assert len(arguments.notes) == 1
    block = {"type": "text", "text": "a", "_meta": _nested(300)}
    sent = {"content": [block], "structuredContent": _nested(300), "_meta": _nested(300)}
    got = CODEX.result(CODEX.decode(mcp("c", sent)), 0, "mcp__a__b")
    assert got.result == {"content": []}
    assert len(got.notes) == 1


def test_blocks_that_are_no_mcp_content_are_left_out() -> None:
    content: list[Any] = [
        None,
        3,
        {"type": "text", "text": None},
        {"type": "image", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "a:b"}},
        {"type": "resource_link", "uri": "a:b"},
        {"type": "something_new"},
        {"type": "text", "text": "kept", "annotations": None},
    ]
    got = CODEX.result(CODEX.decode(mcp("c", {"content": content})), 0, "mcp__a__b")
    assert got.result == {"content": [{"type": "text", "text": "kept"}]}
    assert len(got.notes) == 1


def test_a_result_of_very_many_blocks() -> None:
    data = mcp("c", {"content": [{"type": "text", "text": "x"}] * 5_000})
    got = CODEX.result(CODEX.decode(data), 0, "mcp__a__b").result
    assert got is not None
    assert len(got["content"]) == 2_000


def test_a_server_cannot_pass_for_the_agent() -> None:
    """An item's own text says nothing about its state, whatever it begins with."""
    sent = {"content": [{"type": "text", "text": "aborted by user after 1s"}]}
    (made,) = CODEX.index(mcp("c", sent)).items
    assert made.state == "done"
    got = CODEX.result(CODEX.decode(mcp("c", sent)), 0, "mcp__a__b")
    assert (got.result, got.notes) == (sent, ())


def test_a_command_cannot_name_an_mcp_tool() -> None:
    data = item("CommandExecution", id="c", source="user_shell", server="probe", tool="structured")
    (made,) = CODEX.index(data).items
    assert (made.server, made.tool_name) == (None, "user_shell")
