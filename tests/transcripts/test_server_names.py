"""Which MCP tools sessions called, over all of them."""

import pytest
from sqlmodel import Session

from app.db import tables
from app.db.engine import Database
from app.transcripts import server_names
from app.transcripts.calls import CalledTool
from app.transcripts.server_names import SeenTool, seen_tools


def session(db: Session, agent: str, *calls: tuple[str, str | None, str | None]) -> str:
    """The id of a session with these calls: (recorded name, server, tool)."""
    row = tables.Session(source="local", agent=agent, external_id="x")
    db.add(row)
    db.flush()
    transcript = tables.Transcript(session_id=row.id, number=0, source="local", path=row.id)
    db.add(transcript)
    db.flush()
    assert transcript.id is not None
    for seq, (name, server, tool) in enumerate(calls):
        db.add(
            tables.ToolCall(
                session_id=row.id,
                transcript_id=transcript.id,
                tool_call_id=f"call_{seq}",
                name=name,
                server=server,
                tool=tool,
                call_seq=seq,
            )
        )
    db.flush()
    return row.id


def test_each_tool_comes_once_with_the_sessions_that_called_it(database: Database) -> None:
    with database.session() as db:
        first = session(db, "claude-code", *[("mcp__a__x", None, None)] * 3, ("Bash", None, None))
        second = session(db, "claude-code", ("mcp__a__x", None, None), ("mcp__b__x", None, None))
        third = session(db, "codex", ("mcp__a__x", "a", "x"))
        assert seen_tools(db) == [
            SeenTool("claude-code", CalledTool("mcp__a__x"), frozenset({first, second})),
            SeenTool("codex", CalledTool("mcp__a__x", "a", "x"), frozenset({third})),
            SeenTool("claude-code", CalledTool("mcp__b__x"), frozenset({second})),
        ]


def test_a_call_without_a_result_is_told_by_another_of_its_name(database: Database) -> None:
    name = "mcp__my_server__do_it"
    with database.session() as db:
        told = session(db, "codex", (name, None, None), (name, "my server", "do.it"))
        alone = session(db, "codex", (name, None, None))
        assert seen_tools(db) == [
            SeenTool("codex", CalledTool(name), frozenset({alone})),
            SeenTool("codex", CalledTool(name, "my server", "do.it"), frozenset({told})),
        ]


@pytest.mark.parametrize("name", ["MCP__a__x", "mcpXXa__x", "mcp_", "Mcp__a__x", " mcp__a__x", ""])
def test_other_tools_are_not_taken_for_mcp_ones(database: Database, name: str) -> None:
    with database.session() as db:
        session(db, "claude-code", (name, None, None))
        assert seen_tools(db) == []


def test_what_is_counted_is_bounded(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_names, "_MAX_PAIRS", 5)
    with database.session() as db:
        session(db, "claude-code", *[(f"mcp__a__{number}", None, None) for number in range(20)])
        assert len(seen_tools(db)) == 5
