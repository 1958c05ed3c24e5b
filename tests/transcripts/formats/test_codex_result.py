"""The MCP result that a rollout's line holds."""

from typing import Any

import pytest

from app.transcripts.formats import codex_result
from app.transcripts.formats.codex import Codex
from tests.transcripts.codex_making import legacy_mcp, mcp, output

CODEX = Codex()


def result(data: bytes, tool: str = "mcp__probe__structured") -> tuple[Any, tuple[str, ...]]:
    got = CODEX.result(CODEX.decode(data), 0, tool)
    return got.result, got.notes


def test_a_result_is_given_back_as_the_server_sent_it() -> None:
    block = {"type": "text", "text": "a", "_meta": {"b": 1}, "annotations": {"audience": ["user"]}}
    sent = {"content": [block], "structuredContent": {"a": 1}, "_meta": {"k": [1]}, "isError": True}
    assert result(mcp("c", sent)) == (sent, ())
    assert result(legacy_mcp("c", {"Ok": sent})) == (sent, ())


def test_what_is_null_is_absent() -> None:
    sent: dict[str, Any] = {
        "content": [],
        "structuredContent": None,
        "_meta": None,
        "isError": None,
    }
    assert result(mcp("c", sent)) == ({"content": []}, ())


@pytest.mark.parametrize(
    "data",
    [mcp("c", None, error={"message": "-32050: no"}), legacy_mcp("c", {"Err": "-32050: no"})],
)
def test_a_json_rpc_error_is_an_error_result_with_a_note(data: bytes) -> None:
    error = {"content": [{"type": "text", "text": "-32050: no"}], "isError": True}
    assert result(data) == (error, (codex_result.NOTE_ERROR,))


def test_no_result_and_no_error_is_none() -> None:
    assert result(mcp("c", None)) == (None, (codex_result.NOTE_NOT_KEPT,))


def cut(head: str, tail: str = '"}]}') -> dict[str, Any]:
    """A result of which the agent kept 65,536 bytes."""
    text = head + "x" * 65_000 + "…752080 chars truncated…" + tail
    return {"content": [{"type": "text", "text": text}]}


def test_a_cut_result_is_no_result() -> None:
    sent = cut('{"content":[{"type":"text","text":"line')
    assert result(mcp("c", sent)) == (None, (codex_result.NOTE_CUT,))
    assert "chars truncated" in CODEX.read(CODEX.decode(mcp("c", sent)), 0).text  # a person sees


def test_of_a_cut_result_only_what_is_certain_is_kept() -> None:
    head = '{"content":[{"type":"text","text":"short \\ud800"}],"structuredContent":{"rows":["'
    tail = '"]},"isError":true,"_meta":{"a":1}}'
    kept = {"content": [{"type": "text", "text": "short \ufffd"}]}
    assert result(mcp("c", cut(head, tail))) == (kept, (codex_result.NOTE_CUT,))


@pytest.mark.parametrize(
    "sent",
    [
        # Shorter than what the agent cuts: the server's own words.
        {"content": [{"type": "text", "text": '{"content":[],…5 chars truncated…}'}]},
        {**cut('{"content":['), "_meta": {}},
        {"content": [*cut('{"content":[')["content"], {"type": "text", "text": "b"}]},
        {"content": [{"type": "text", "text": "{" + "x" * 65_000 + "…5 chars truncated…"}]},
    ],
)
def test_what_only_looks_cut_is_whole(sent: dict[str, Any]) -> None:
    assert result(mcp("c", sent)) == (sent, ())


def test_audio_that_the_agent_left_out_is_said() -> None:
    text = "<audio content omitted because you do not support audio input>"
    sent = {"content": [{"type": "text", "text": text}]}
    assert result(mcp("c", sent)) == (sent, (codex_result.NOTE_AUDIO,))


@pytest.mark.parametrize(
    ("text", "kept", "note"),
    [
        ("aborted by user after 3.9s", None, codex_result.NOTE_INTERRUPTED),
        (
            "unsupported call: x",
            {"content": [{"type": "text", "text": "unsupported call: x"}], "isError": True},
            codex_result.NOTE_REFUSED,
        ),
        (
            'Wall time: 0.1 seconds\nOutput:\n{"a":1}',
            {"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}},
            codex_result.NOTE_FOR_THE_MODEL,
        ),
        (
            '[{"type":"text","text":"a"}]',
            {"content": [{"type": "text", "text": "a"}]},
            codex_result.NOTE_FOR_THE_MODEL,
        ),
        (
            [
                {"type": "input_text", "text": "Wall time: 0.1 seconds\nOutput:"},
                {"type": "input_text", "text": "a"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            ],
            {
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                ]
            },
            codex_result.NOTE_FOR_THE_MODEL,
        ),
        ('{"rows":[1,2…12 tokens truncated…', None, codex_result.NOTE_NOT_KEPT),
    ],
)
def test_a_result_of_which_there_is_only_what_the_model_was_given(
    text: object, kept: dict[str, Any] | None, note: str
) -> None:
    assert result(output("c", text)) == (kept, (note,))


def test_a_built_in_tools_json_is_not_structured_content() -> None:
    assert result(output("c", '{"a":1}'), "exec_command") == (
        {"content": [{"type": "text", "text": '{"a":1}'}]},
        (),
    )
