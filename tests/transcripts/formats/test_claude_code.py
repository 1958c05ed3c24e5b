"""Which lines make which entries, and which file belongs where."""

from pathlib import Path, PurePath
from typing import Any

import pytest

from app.db.tables import CallState
from app.transcripts.formats.base import Kind, Place
from app.transcripts.formats.claude_code import ClaudeCode
from tests.transcripts.making import SESSION_ID, assistant, line, result, user

CLAUDE = ClaudeCode()


def _kinds(data: bytes) -> list[Kind]:
    return [item.kind for item in CLAUDE.index(data).items]


@pytest.mark.parametrize(
    ("data", "kinds"),
    [
        (user("hello"), [Kind.USER]),
        (user([{"type": "text", "text": "hello"}]), [Kind.USER]),
        (user([{"type": "image"}, {"type": "text", "text": "look"}]), [Kind.USER]),
        (user("hello", isMeta=True), [Kind.SYSTEM]),
        (user("so far", isCompactSummary=True), [Kind.SYSTEM]),
        (user("prompt", isSidechain=True), [Kind.SYSTEM]),
        (user("prompt", isSidechain=True, agentId="a1"), [Kind.USER]),
        (user("  "), []),
        (user("<local-command-stdout>x</local-command-stdout>"), [Kind.SYSTEM]),
        (user("<task-notification>x</task-notification>"), [Kind.SYSTEM]),
        (user("<command-name>/compact</command-name>"), [Kind.USER]),
        (user("[Request interrupted by user]"), [Kind.ERROR]),
        (
            user(
                [
                    {"type": "tool_result", "tool_use_id": "t", "content": "x"},
                    {"type": "text", "text": "and go on"},
                ]
            ),
            [Kind.TOOL_RESULT, Kind.USER],
        ),
        (
            assistant(
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "yes"},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {}},
            ),
            [Kind.THINKING, Kind.ASSISTANT, Kind.TOOL_CALL],
        ),
        (assistant({"type": "thinking", "thinking": "", "signature": "x"}), []),
        (assistant({"type": "something_new"}), []),
        (line("assistant", message={"model": "<synthetic>", "content": []}), []),
        (
            line(
                "assistant",
                isApiErrorMessage=True,
                message={
                    "model": "<synthetic>",
                    "content": [{"type": "text", "text": "API Error: 500"}],
                },
            ),
            [Kind.ERROR],
        ),
        (line("system", subtype="api_error", retryAttempt=1), [Kind.SYSTEM]),
        (line("attachment", attachment={"type": "hook_blocking_error"}), [Kind.SYSTEM]),
        (line("attachment", attachment={"type": "skill_listing"}), []),
        (
            line(
                "attachment",
                attachment={"type": "queued_command", "commandMode": "prompt", "prompt": "hi"},
            ),
            [Kind.USER],
        ),
        (
            line(
                "attachment",
                attachment={"type": "queued_command", "commandMode": "task-notification"},
            ),
            [Kind.SYSTEM],
        ),
        (line("queue-operation", operation="enqueue"), []),
        (line("mode"), []),
        (line("some-future-type", message={"content": "x"}), []),
    ],
)
def test_entries_of_a_line(data: bytes, kinds: list[Kind]) -> None:
    assert _kinds(data) == kinds


@pytest.mark.parametrize(
    ("fields", "content", "state", "synthetic"),
    [
        ({"toolUseResult": "Error: no"}, "no", CallState.FAILED, False),
        ({"toolUseResult": "User rejected tool use"}, "x", CallState.INTERRUPTED, False),
        ({"toolDenialKind": "interrupted"}, "x", CallState.INTERRUPTED, True),
        ({}, "[Tool call interrupted: x", CallState.INTERRUPTED, True),
        ({}, "The user doesn't want to proceed with this tool use.", CallState.INTERRUPTED, False),
        ({"toolDenialKind": "user-rejected", "toolUseResult": "Error: x"}, "x", "failed", False),
    ],
)
def test_state_of_a_failed_result(
    fields: dict[str, Any], content: str, state: CallState, synthetic: bool
) -> None:
    (item,) = CLAUDE.index(result("t", content, failed=True, **fields)).items
    assert (item.state, item.synthetic) == (state, synthetic)


def test_facts() -> None:
    indexed = CLAUDE.index(user("Please\nfix it"))
    assert (indexed.session_id, indexed.folder) == (SESSION_ID, "/home/dev/project")
    assert indexed.prompt == "Please\nfix it"
    assert CLAUDE.index(line("summary", summary="A title")).title == "A title"
    assert CLAUDE.index(line("custom-title", customTitle="Mine")).title == "Mine"


@pytest.mark.parametrize("tag", ["command-name", "bash-input", "local-command-stdout"])
def test_what_is_no_title(tag: str) -> None:
    assert CLAUDE.index(user(f"<{tag}>x</{tag}>")).prompt == ""


def test_what_a_person_typed_stands_after_the_editors_block() -> None:
    blocks = [
        {"type": "text", "text": "<ide_opened_file>x</ide_opened_file>"},
        {"type": "text", "text": "fix it"},
    ]
    assert CLAUDE.index(user(blocks)).prompt == "fix it"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            user("<command-name>/compact</command-name><command-args>short</command-args>"),
            "/compact short",
        ),
        (user("<command-message>x</command-message><command-name>/x</command-name>"), "/x"),
        (user("<bash-input>ls -l</bash-input>"), "! ls -l"),
        (user([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "a\n\nb"),
        (
            user([{"type": "image", "source": {"media_type": "image/png"}}]),
            "[image: image/png]",
        ),
        (line("attachment", attachment={"type": "hook_x", "content": ["a", "b"]}), "a\nb"),
        (line("system", subtype="turn", ms=3), '{\n  "ms": 3\n}'),
    ],
)
def test_text_of_an_entry(data: bytes, text: str) -> None:
    (item,) = CLAUDE.index(data).items
    assert CLAUDE.read(CLAUDE.decode(data), item.block).text == text


ONE = user("hello") + b"\n"


@pytest.mark.parametrize(
    "head",
    [
        ONE,
        b"\n" + ONE,
        b"broken\n" + ONE,
        b'{"type":"summary","summary":"x","leafUuid":"y"}\n',
        b'{"type":"queue-operation","content":"' + b"x" * 300_000,
    ],
)
def test_detects(head: bytes) -> None:
    assert CLAUDE.detect(PurePath("x.jsonl"), head)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n",
        b"hello\n",
        b'{"debug":"x","sessionId":"y","cwd":"z"}\n',  # the agent's own MCP log
        b'{"timestamp":"x","type":"session_meta","payload":{}}\n',  # Codex
        b'{"type":"user","text":"somebody else"}\n',
    ],
)
def test_does_not_detect(head: bytes) -> None:
    assert not CLAUDE.detect(PurePath("x.jsonl"), head)


LONG = b"x" * 300_000


@pytest.mark.parametrize(
    "head",
    [
        b'{"parentUuid":null,"message":"' + LONG,
        b'{"isSidechain":false,"message":"' + LONG,
        b'{"type":"queue-operation","content":"' + LONG,
        b'{"type":"last-prompt","lastPrompt":"' + LONG,
        b'{"type":"user","message":{"content":"' + LONG,
        b'{"type":"a type of tomorrow"}\n{"parentUuid":null,"message":"' + LONG,
    ],
)
def test_detects_a_first_prompt_that_is_longer_than_what_is_read(head: bytes) -> None:
    assert CLAUDE.detect(PurePath("x.jsonl"), head)


@pytest.mark.parametrize(
    "head",
    [
        b'{"type":"system","subtype":"init","session_id":"x"}\n{"type":"user","message":{"' + LONG,
        b'{"type":"other","message":{"content":"' + LONG,
        b'{"debug":"' + LONG,
        LONG,
    ],
)
def test_does_not_detect_other_long_lines(head: bytes) -> None:
    """The first is the agent's own output on a terminal, which is no transcript."""
    assert not CLAUDE.detect(PurePath("x.jsonl"), head)


def test_does_not_detect_recorded_logs(recorded: Path) -> None:
    log = recorded / "not-transcripts" / "mcp-log.jsonl"
    assert not CLAUDE.detect(log, log.read_bytes())


OTHER_ID = "aaaaaaaa-2222-4333-8444-555555555555"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (f"/p/{OTHER_ID}.jsonl", Place(PurePath(f"/p/{OTHER_ID}.jsonl"), OTHER_ID)),
        ("/p/notes.jsonl", Place(PurePath("/p/notes.jsonl"), SESSION_ID)),
        (
            f"/p/{OTHER_ID}/subagents/agent-a1.jsonl",
            Place(PurePath(f"/p/{OTHER_ID}.jsonl"), OTHER_ID, "a1"),
        ),
        (
            f"/p/{OTHER_ID}/subagents/deep/er/agent-a1.jsonl",
            Place(PurePath(f"/p/{OTHER_ID}.jsonl"), OTHER_ID, "a1"),
        ),
        ("/p/agent-a1.jsonl", Place(PurePath(f"/p/{SESSION_ID}.jsonl"), SESSION_ID, "a1")),
        (
            "/subagents/agent-a1.jsonl",
            Place(PurePath(f"/subagents/{SESSION_ID}.jsonl"), SESSION_ID, "a1"),
        ),
    ],
)
def test_where_a_file_belongs(path: str, place: Place) -> None:
    assert CLAUDE.place(PurePath(path), ONE) == place


def test_a_session_id_cannot_leave_the_folder() -> None:
    path = PurePath("/p/agent-a1.jsonl")
    head = user("x", sessionId="../../etc/x") + b"\n"
    assert CLAUDE.place(path, head).main_path == path
