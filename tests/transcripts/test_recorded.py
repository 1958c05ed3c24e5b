"""Every call of the recorded transcripts, as it comes back from the store."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from app.db import tables
from app.db.engine import Database
from app.transcripts import timeline
from app.transcripts.formats import claude_code_result
from app.transcripts.formats.base import Kind
from app.transcripts.ingest import NOT_A_TRANSCRIPT, import_paths
from app.transcripts.recorded_call import RecordedCall, recorded_call
from tests.transcripts.making import load

NEW = "claude-2.1.332"


def _calls(database: Database, recorded: Path) -> list[dict[str, Any]]:
    found = []
    query = select(tables.ToolCall, tables.Transcript).join(
        tables.Transcript, col(tables.Transcript.id) == col(tables.ToolCall.transcript_id)
    )
    with database.session() as db:
        for call, transcript in db.exec(query):
            at = f"{transcript.number}-{call.call_seq}"
            got = recorded_call(db, call.session_id, call.tool_call_id, at)
            content = got.result["content"] if got.result else None
            found.append(
                {
                    "file": str(Path(transcript.path).relative_to(recorded)),
                    "address": got.address,
                    "name": got.name,
                    "server": got.called.server,
                    "tool": got.called.tool,
                    "arguments": got.arguments,
                    "state": got.state.value,
                    "keys": sorted(got.result) if got.result else None,
                    "content": [(block.get("text") or block["type"])[:60] for block in content]
                    if content is not None
                    else None,
                    "notes": got.notes,
                }
            )
    return sorted(found, key=lambda call: (call["file"], int(call["address"].split("-")[1])))


def test_every_call_of_every_version(database: Database, recorded: Path) -> None:
    folders = [*recorded.glob("claude-*"), recorded / "not-transcripts"]
    summary = import_paths(database, folders)
    assert summary.sessions_new == 25
    assert [why for _, why in summary.files_skipped] == [NOT_A_TRANSCRIPT]  # the agent's MCP log
    golden = json.loads((recorded / "golden.json").read_text())
    assert len(golden) == 66
    assert _calls(database, recorded) == golden


def _only(database: Database, path: Path, name: str) -> RecordedCall:
    session_id = load(database, path)
    with database.session() as db:
        row = db.exec(select(tables.ToolCall).where(tables.ToolCall.name == name)).one()
        return recorded_call(db, session_id, row.tool_call_id)


def test_structured_content_and_meta_are_whole(database: Database, recorded: Path) -> None:
    got = _only(database, recorded / NEW / "compact", "mcp__probe__structured")
    rows = [{"id": 1, "label": "eins"}, {"id": 2, "label": "zwei"}]
    assert got.result == {
        "content": [
            {
                "type": "text",
                "text": '{"q":"alpha","rows":[{"id":1,"label":"eins"},{"id":2,"label":"zwei"}]}',
            }
        ],
        "structuredContent": {"q": "alpha", "rows": rows},
        "_meta": {"example.com/view": {"secretForView": True}, "ui": {"note": "result meta"}},
    }
    assert got.notes == [claude_code_result.NOTE_TEXT_REPLACED]


def test_sub_agents_structured_content_is_read_back(database: Database, recorded: Path) -> None:
    got = _only(database, recorded / NEW / "subagent", "mcp__probe__structured")
    assert got.address == "1-2"
    assert got.result is not None
    assert got.result["structuredContent"]["q"] == "from-subagent"
    assert got.result["_meta"]["ui"] == {"note": "result meta"}
    assert claude_code_result.NOTE_RECOVERED in got.notes


def test_error_text_without_the_agents_hint(database: Database, recorded: Path) -> None:
    got = _only(database, recorded / NEW / "iserror_rpcerror", "mcp__probe__fails")
    assert got.result == {
        "content": [{"type": "text", "text": "tool failed: bad q"}],
        "isError": True,
        "_meta": {"err": "meta"},
    }


def test_image_and_link_become_mcp_blocks(database: Database, recorded: Path) -> None:
    got = _only(database, recorded / NEW / "image_resource_audio", "mcp__probe__image")
    assert got.result is not None
    image, link, resource, audio, structured = got.result["content"]
    assert set(image) == {"type", "data", "mimeType"}
    assert image["mimeType"] == "image/png"
    assert image["data"].startswith("iVBORw0KGgo")
    assert link == {
        "type": "resource_link",
        "uri": "file:///x/readme.md",
        "name": "readme",
        "mimeType": "text/markdown",
    }
    assert {block["type"] for block in (resource, structured)} == {"text"}
    assert (audio["type"], audio["mimeType"]) == ("audio", "audio/wav")  # from its file
    assert "[Image: source:" not in json.dumps(got.result)
    assert claude_code_result.NOTE_FLATTENED in got.notes


@pytest.mark.parametrize(
    ("folder", "note"),
    [
        ("interrupted-sigint", claude_code_result.NOTE_INTERRUPTED),
        ("killed_resumed", claude_code_result.NOTE_INTERRUPTED),
    ],
)
def test_interrupted_calls_have_no_result(
    database: Database, recorded: Path, folder: str, note: str
) -> None:
    got = _only(database, recorded / NEW / folder, "mcp__probe__slow")
    assert (got.state, got.result, got.notes) == (tables.CallState.INTERRUPTED, None, [note])


def test_of_two_results_the_made_up_one_loses(database: Database, recorded: Path) -> None:
    got = _only(database, recorded / NEW / "two-writers-same-session", "mcp__probe__slow")
    assert got.state is tables.CallState.DONE
    assert got.result is not None
    assert got.result["structuredContent"] == {"slow": True}


def test_too_large_text_is_a_result_where_its_file_is_kept(
    database: Database, recorded: Path
) -> None:
    session_id = load(database, recorded / NEW / "size-thresholds")
    with database.session() as db:
        rows = db.exec(select(tables.ToolCall).order_by(col(tables.ToolCall.call_seq))).all()
        calls = [recorded_call(db, session_id, row.tool_call_id) for row in rows]
    inline, persisted, from_file, *lost = calls
    for kept in (inline, persisted, from_file):
        assert kept.result is not None
        assert kept.result["content"][0]["text"].startswith("line 000000 of a big text")
        assert kept.result["_meta"] == {"t": 2}
    assert claude_code_result.NOTE_SIDE_FILE in from_file.notes
    assert [call.result for call in lost] == [None] * 2
    assert all(claude_code_result.NOTE_TOO_LARGE in call.notes for call in lost)


def _window(database: Database, path: Path, level: timeline.Level) -> list[timeline.Row]:
    session_id = load(database, path)
    with database.session() as db:
        return timeline.window(db, session_id, level, []).rows


def test_what_kinds_a_resumed_and_compacted_session_has(database: Database, recorded: Path) -> None:
    rows = _window(database, recorded / NEW / "compact", timeline.Level.VERBOSE)
    kinds = Counter(row.kind for row in rows)
    assert kinds == {
        Kind.USER: 3,
        Kind.ASSISTANT: 3,
        Kind.TOOL_CALL: 1,
        Kind.SYSTEM: 4,
        Kind.THINKING: 1,
    }
    labels = [row.label for row in rows if row.kind is Kind.SYSTEM]
    assert labels == [
        "compact boundary",
        "summary of the conversation so far",
        "note to the agent",
        "command output",
    ]
    assert "/compact keep it short" in [row.text for row in rows if row.kind is Kind.USER]


def test_a_prompt_sent_while_busy_is_a_user_entry(database: Database, recorded: Path) -> None:
    rows = _window(database, recorded / NEW / "stream-input", timeline.Level.MINIMAL)
    texts = [row.text for row in rows if row.kind is Kind.USER]
    assert texts[:2] == [
        "turn one [[scenario:slow8]]",
        "turn two sent while busy [[scenario:structured]]",
    ]
    assert [row.text for row in rows if row.kind is Kind.ERROR] == [
        "[Request interrupted by user for tool use]"
    ]


def test_made_up_answers_are_hidden(database: Database, recorded: Path) -> None:
    rows = _window(database, recorded / NEW / "killed_resumed", timeline.Level.VERBOSE)
    assert "No response requested." not in [row.text for row in rows]


def test_a_broken_line_is_shown(database: Database, recorded: Path) -> None:
    rows = _window(database, recorded / NEW / "truncated-line_resume", timeline.Level.CONDENSED)
    broken = [row for row in rows if row.kind is Kind.UNREADABLE]
    assert len(broken) == 1
    assert '{"parentUuid":"36823d1f' in broken[0].text
    assert rows[-1].text == "Hello. This is plain text."


def test_sub_agents_of_2_0_72_beside_the_main_file(database: Database, recorded: Path) -> None:
    session_id = load(database, recorded / "claude-old" / "cc-2.0.72")
    with database.session() as db:
        found = timeline.transcripts(db, session_id)
        rows = timeline.window(db, session_id, timeline.Level.CONDENSED, []).rows
        sub = timeline.window(db, session_id, timeline.Level.CONDENSED, [], at="2-2")
    assert [(row.number, row.agent_id) for row in found] == [
        (0, ""),
        (1, "a0af066"),
        (2, "a371a88"),
        (3, "abcf318"),
    ]
    task = next(row.call for row in rows if row.call and row.call.name == "Task")
    assert task.sub_agent is not None
    assert task.sub_agent.number == 2
    assert sub.transcript == 2
    assert sub.focus == "2-2"


def test_sub_agents_of_2_0_0_inside_the_main_file(database: Database, recorded: Path) -> None:
    rows = _window(database, recorded / "claude-old" / "cc-2.0.0", timeline.Level.VERBOSE)
    inside = [row for row in rows if row.sidechain]
    assert [row.kind for row in inside] == [Kind.SYSTEM, Kind.ASSISTANT, Kind.ASSISTANT]
    assert inside[0].text == "Please do [[scenario:substep]] now"  # no person's prompt
