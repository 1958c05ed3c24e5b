"""Which result of a call counts, and what a call records of its tool."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.transcripts import timeline
from app.transcripts.formats.base import Kind
from app.transcripts.ingest import import_paths
from app.transcripts.timeline import CalledTool, CallRow, Level, Row
from tests.transcripts.codex_making import (
    OK,
    VIEW,
    call,
    item,
    legacy_mcp,
    mcp,
    meta,
    output,
    user,
)
from tests.transcripts.conftest import Write
from tests.transcripts.making import load, picture

PROBE = CalledTool("mcp__probe__structured", "probe", "structured", VIEW)


def rows(database: Database, session_id: str, level: Level = Level.VERBOSE) -> list[Row]:
    with database.session() as db:
        return timeline.window(db, session_id, level, []).rows


def only_call(database: Database, session_id: str) -> CallRow:
    (made,) = [row.call for row in rows(database, session_id) if row.call]
    return made


def grown(database: Database, write: Write, *lines: bytes) -> str:
    """Import line by line, so that every one has a transaction of its own."""
    session_id = ""
    for end in range(1, len(lines) + 1):
        session_id = load(database, write(*lines[:end]))
    return session_id


@pytest.mark.parametrize("lines", list(permutations([mcp("c"), output("c"), output("c", "late")])))
@pytest.mark.parametrize("load_lines", [grown, lambda db, write, *lines: load(db, write(*lines))])
def test_the_whole_result_wins_in_any_order(
    database: Database, write: Write, lines: tuple[bytes, ...], load_lines: Any
) -> None:
    session_id = load_lines(database, write, meta(), call("c"), *lines)
    assert [row.kind for row in rows(database, session_id)] == [Kind.TOOL_CALL]  # shown once
    with database.session() as db:
        got = timeline.recorded_call(db, session_id, "c")
    assert (got.result, got.called, got.agent) == (OK, PROBE, "codex")


def test_until_there_is_a_result_the_name_is_all_that_is_known(
    database: Database, write: Write
) -> None:
    session_id = load(database, write(meta(), call("c")))
    made = only_call(database, session_id)
    assert (made.called, made.state) == (CalledTool(PROBE.name), "pending")
    import_paths(database, [write(meta(), call("c"), mcp("c"))])
    made = only_call(database, session_id)
    assert (made.called, made.state, made.result_text) == (PROBE, "done", "ok")


def test_an_interruption_gives_way_to_the_result(database: Database, write: Write) -> None:
    aborted = output("c", "aborted by user after 1s")
    session_id = grown(database, write, meta(), call("c"), aborted, mcp("c"))
    assert only_call(database, session_id).state == "done"
    with database.session() as db:
        assert timeline.recorded_call(db, session_id, "c").result == OK


@pytest.mark.parametrize(
    ("data", "called", "arguments"),
    [
        (mcp("c", arguments={"q": 1}), PROBE, {"q": 1}),
        (legacy_mcp("c", {"Ok": OK}), PROBE, {"q": 1}),
        (item("WebSearch", id="c", query="cats"), CalledTool("web_search"), {"query": "cats"}),
        (
            item("CommandExecution", id="c", source="user_shell", command=["ls"]),
            CalledTool("user_shell"),
            {"command": ["ls"]},
        ),
    ],
)
@pytest.mark.parametrize("load_lines", [grown, lambda db, write, *lines: load(db, write(*lines))])
def test_a_result_without_its_call_stands_for_it(
    database: Database,
    write: Write,
    data: bytes,
    called: CalledTool,
    arguments: dict[str, Any],
    load_lines: Any,
) -> None:
    session_id = load_lines(database, write, meta(), user("go"), data)
    shown = rows(database, session_id, Level.CONDENSED)
    assert [row.kind for row in shown] == [Kind.USER, Kind.TOOL_CALL]
    made = only_call(database, session_id)
    assert (made.called, made.state, made.tool_call_id) == (called, "done", "c")
    with database.session() as db:
        got = timeline.recorded_call(db, session_id, "c", "0-1")
        assert timeline.session(db, session_id).call_count == 1
    assert got.arguments == arguments
    assert got.result is not None


def test_a_command_of_the_agent_without_its_call_is_a_result_alone(
    database: Database, write: Write
) -> None:
    data = item("CommandExecution", id="c", source="agent", aggregated_output="x")
    session_id = load(database, write(meta(), data))
    (row,) = rows(database, session_id)
    assert (row.kind, row.text) == (Kind.TOOL_RESULT, "x")
    assert rows(database, session_id, Level.CONDENSED) == []


def test_an_output_without_its_call_is_a_result_alone(database: Database, write: Write) -> None:
    (row,) = rows(database, load(database, write(meta(), output("c", "x"))))
    assert (row.kind, row.text) == (Kind.TOOL_RESULT, "x")


def test_a_link_to_an_output_leads_to_its_call(database: Database, write: Write) -> None:
    session_id = load(database, write(meta(), call("c"), mcp("c"), output("c")))
    with database.session() as db:
        found = timeline.window(db, session_id, Level.CONDENSED, [], at="0-2")
    assert found.focus == "0-0"


def test_every_mcp_call_is_found_by_its_name(database: Database, write: Write) -> None:
    """Even where the agent leaves ``mcp__`` out of the names for the model."""
    session_id = grown(database, write, meta(), call("c", namespace="probe"), mcp("c"))
    assert only_call(database, session_id).called == PROBE
    with database.session() as db:
        assert timeline.called_tools(db, session_id) == [PROBE]


def test_what_cannot_be_a_name_is_not_recorded(database: Database, write: Write) -> None:
    """Nothing is cut: the beginning of a long name may be the name of another tool."""
    lines = [
        call("long"),
        mcp("long", tool="structured" + "x" * 600),
        call("empty"),
        mcp("empty", server=""),
        call("uri"),
        mcp("uri", mcpAppResourceUri="ui://" + "x" * 3_000),
        call("nul"),
        mcp("nul", server="probe\0", tool="a\ud800"),
    ]
    load(database, write(meta(), *lines))
    with database.session() as db:
        stored = {row.tool_call_id: row for row in db.exec(select(tables.ToolCall))}
    assert (stored["long"].server, stored["long"].tool) == (None, None)
    assert stored["empty"].server is None
    assert (stored["uri"].server, stored["uri"].resource_uri) == ("probe", None)
    assert (stored["nul"].server, stored["nul"].tool) == ("probe\ufffd", "a\ufffd")


def test_called_tools_know_what_some_call_recorded(database: Database, write: Write) -> None:
    lines = [line for n in range(5) for line in (call(f"p{n}"), output(f"p{n}", "aborted by user"))]
    lines += [call("c"), mcp("c"), call("d", "other"), call("e", "exec_command", None)]
    session_id = load(database, write(meta(), *lines))
    with database.session() as db:
        assert timeline.called_tools(db, session_id) == [CalledTool("mcp__probe__other"), PROBE]


def test_two_machines_sub_agents_stay_apart(
    database: Database, recorded: Path, tmp_path: Path
) -> None:
    folder = recorded / "codex-0.171.0" / "sessions"
    [parent] = folder.rglob("*b665-7112*.jsonl")
    [child] = folder.rglob("*b6df-7783*.jsonl")
    import_paths(database, [parent], source="one")
    import_paths(database, [child], source="two")
    with database.session() as db:
        assert len(timeline.sessions(db).rows) == 2
    import_paths(database, [child], source="one")
    import_paths(database, [parent], source="two")
    one, two = picture(database, "one"), picture(database, "two")
    assert {path: part["entries"] for path, part in one.items()} == {
        path: part["entries"] for path, part in two.items()
    }
    with database.session() as db:
        assert len(timeline.sessions(db).rows) == 2
