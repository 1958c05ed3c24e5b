"""What each version keeps of an MCP result, by the reference's tables of versions."""

from pathlib import Path

import pytest
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.transcripts.formats import claude_code_result as claude
from app.transcripts.formats import codex_result as codex
from app.transcripts.ingest import import_paths
from app.transcripts.recorded_call import RecordedCall, recorded_call

CONTENT, STRUCTURED, META, ERROR = "content", "structuredContent", "_meta", "isError"
WHOLE = {CONTENT, STRUCTURED, META}
OLD = "claude-old/cc-2.0."


def calls(database: Database, folder: Path, tool: str) -> list[RecordedCall]:
    """The calls of a tool that reached it, of main transcripts first."""
    import_paths(database, [folder])
    with database.session() as db:
        rows = db.exec(
            select(tables.ToolCall).where(
                tables.ToolCall.name == f"mcp__probe__{tool}", tables.ToolCall.state != "pending"
            )
        ).all()
        found = [
            recorded_call(db, row.session_id, row.tool_call_id)
            for row in sorted(rows, key=lambda row: (row.transcript_id, row.call_seq))
        ]
    refused = {codex.NOTE_REFUSED, claude.NOTE_REFUSED}
    return [call for call in found if not refused & set(call.notes)]


@pytest.mark.parametrize(
    ("folder", "tool", "keys", "said"),
    [
        # 2.0.0: the server's own text; structuredContent is lost, images are kept.
        (f"{OLD}0", "structured", {CONTENT}, claude.NOTE_NO_STRUCTURED),
        (f"{OLD}0", "image", {CONTENT}, claude.NOTE_NO_STRUCTURED),
        # 2.0.72: the JSON in place of everything, and no mcpMeta.
        (f"{OLD}72", "structured", {CONTENT, STRUCTURED}, claude.NOTE_RECOVERED),
        (f"{OLD}72", "image", {CONTENT, STRUCTURED}, claude.NOTE_ALL_REPLACED),
        (f"{OLD}72", "textonly", {CONTENT}, claude.NOTE_NO_META),
        (f"{OLD}72", "fails", {CONTENT, ERROR}, claude.NOTE_ERROR_TEXT),
        # 2.1.197: mcpMeta in the main transcript, none of it in a sub-agent's.
        ("claude-2.1.197/o-structured", "structured", WHOLE, claude.NOTE_TEXT_REPLACED),
        ("claude-2.1.197/o-sub", "structured", {CONTENT, STRUCTURED}, claude.NOTE_NO_META),
        # 2.1.332: _meta in a sub-agent's too.
        ("claude-2.1.332/structured_resume", "structured", WHOLE, claude.NOTE_TEXT_REPLACED),
        ("claude-2.1.332/subagent", "structured", WHOLE, claude.NOTE_RECOVERED),
        ("claude-2.1.332/iserror_rpcerror", "fails", {CONTENT, META, ERROR}, None),
        ("claude-2.1.332/iserror_rpcerror", "rpcerror", {CONTENT, ERROR}, None),
        # Codex 0.53 to 0.125: only what the model was given.
        (
            "codex-old/cx-0.53.0",
            "structured",
            {CONTENT, STRUCTURED},
            codex.NOTE_FOR_THE_MODEL,
        ),
        ("codex-old/cx-0.53.0", "textonly", {CONTENT}, codex.NOTE_FOR_THE_MODEL),
        ("codex-old/cx-0.53.0", "rpcerror", {CONTENT, ERROR}, codex.NOTE_ERROR),
        (
            "codex-old/cx-0.115.0",
            "structured",
            {CONTENT, STRUCTURED},
            codex.NOTE_FOR_THE_MODEL,
        ),
        ("codex-old/cx-0.115.0", "rpcerror", {CONTENT, ERROR}, codex.NOTE_ERROR),
        # From 0.130 on the whole result.
        ("codex-old/cx-0.130.0", "structured", WHOLE, None),
        ("codex-old/cx-0.130.0", "fails", WHOLE | {ERROR}, None),
        ("codex-old/cx-0.130.0", "image", WHOLE, None),
        ("codex-old/cx-0.130.0", "rpcerror", {CONTENT, ERROR}, codex.NOTE_ERROR),
        ("codex-0.171.0", "fails", WHOLE | {ERROR}, None),
        ("codex-0.171.0", "image", WHOLE, codex.NOTE_AUDIO),
        ("codex-0.171.0", "rpcerror", {CONTENT, ERROR}, codex.NOTE_ERROR),
    ],
)
def test_what_a_version_keeps(
    database: Database, recorded: Path, folder: str, tool: str, keys: set[str], said: str | None
) -> None:
    found = calls(database, recorded / folder, tool)
    assert found
    for call in found:
        assert call.result is not None
        assert set(call.result) == keys
        assert said is None or said in call.notes
    if said is None and folder.startswith("codex"):
        assert [call.notes for call in found] == [[] for _ in found]


@pytest.mark.parametrize(
    ("folder", "tool", "types"),
    [
        (f"{OLD}0", "image", ["text", "image", "text", "text"]),
        (f"{OLD}72", "image", ["text"]),
        (
            "claude-2.1.332/image_resource_audio",
            "image",
            ["image", "resource_link", "text", "audio", "text"],
        ),
        ("codex-old/cx-0.130.0", "image", ["text", "image", "resource_link", "resource", "audio"]),
        ("codex-0.171.0", "image", ["text", "image", "resource_link", "resource", "text"]),
    ],
)
def test_what_becomes_of_content_that_is_no_text(
    database: Database, recorded: Path, folder: str, tool: str, types: list[str]
) -> None:
    (call,) = calls(database, recorded / folder, tool)
    assert call.result is not None
    assert [block["type"] for block in call.result["content"]] == types
