"""Every call of the recorded rollouts, as it comes back from the store."""

import json
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlmodel import col, select

from app.db import tables
from app.db.engine import Database
from app.db.tables import CallState
from app.transcripts import timeline
from app.transcripts.formats import codex_result
from app.transcripts.formats.base import Kind
from app.transcripts.ingest import import_paths
from app.transcripts.recorded_call import RecordedCall, recorded_call
from app.transcripts.timeline import Level
from tests.transcripts.making import load, picture

FOLDER = "codex-0.171.0"


@pytest.fixture
def rollouts(recorded: Path) -> Path:
    return recorded / FOLDER


def rollout(rollouts: Path, part: str) -> Path:
    """The recorded rollout with this part of a thread id in its name."""
    [path] = rollouts.rglob(f"rollout-*{part}*.jsonl")
    return path


def _calls(database: Database) -> list[dict[str, Any]]:
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
                    "thread": Path(transcript.path).stem[-36:],
                    "address": got.address,
                    "name": got.called.name,
                    "server": got.called.server,
                    "tool": got.called.tool,
                    "view": got.called.resource_uri,
                    "arguments": got.arguments,
                    "state": got.state.value,
                    "keys": sorted(got.result) if got.result else None,
                    "content": [(block.get("text") or block["type"])[:60] for block in content]
                    if content is not None
                    else None,
                    "notes": got.notes,
                }
            )
    return sorted(found, key=lambda call: (call["thread"], int(call["address"].split("-")[1])))


def test_every_call_of_every_version(database: Database, recorded: Path) -> None:
    summary = import_paths(database, [*recorded.glob("codex-*")])
    assert summary.files_skipped == []
    assert summary.sessions_new == 29  # 30 files, one of them a sub-agent's
    golden = json.loads((recorded / "golden-codex.json").read_text())
    assert len(golden) == 85
    assert _calls(database) == golden


def _only(database: Database, path: Path, name: str) -> RecordedCall:
    session_id = load(database, path)
    with database.session() as db:
        row = db.exec(select(tables.ToolCall).where(tables.ToolCall.name == name)).one()
        return recorded_call(db, session_id, row.tool_call_id)


def test_a_failed_result_keeps_what_the_server_sent(database: Database, rollouts: Path) -> None:
    got = _only(database, rollout(rollouts, "f196-7193"), "mcp__probe__fails")
    assert got.state is CallState.FAILED
    assert got.result == {
        "content": [{"type": "text", "text": "tool failed: bad q"}],
        "structuredContent": {"code": 17},
        "_meta": {"err": "meta"},
        "isError": True,
    }
    assert got.notes == []


def test_blocks_keep_their_meta_and_annotations(database: Database, rollouts: Path) -> None:
    got = _only(database, rollout(rollouts, "f519-7792"), "mcp__probe__audience")
    assert got.result is not None
    assert got.result["content"][1] == {
        "type": "text",
        "text": "for the assistant only",
        "_meta": {"b": 1},
        "annotations": {"audience": ["assistant"]},
    }


def test_images_links_and_resources_are_whole(database: Database, rollouts: Path) -> None:
    got = _only(database, rollout(rollouts, "f1d9-70d0"), "mcp__probe__image")
    assert got.result is not None
    _, image, link, resource, _ = got.result["content"]
    assert image["mimeType"] == "image/png"
    assert image["data"].startswith("iVBORw0KGgo")
    assert (link["uri"], link["name"]) == ("file:///x/readme.md", "readme")
    assert resource["resource"]["text"] == "embedded resource text"


def test_a_result_that_the_log_cut(database: Database, rollouts: Path) -> None:
    """65,536 bytes of 800,000: the agent's own words, not a test's."""
    got = _only(database, rollout(rollouts, "b031-7ba3"), "mcp__probe__bigstructured")
    assert got.state is CallState.DONE
    assert got.result == {"content": [{"type": "text", "text": "short"}]}
    assert got.notes == [codex_result.NOTE_CUT]


def _window(
    database: Database, path: Path, level: Level, views: list[str] | None = None
) -> list[timeline.Row]:
    session_id = load(database, path)
    with database.session() as db:
        return timeline.window(db, session_id, level, views or []).rows


def test_each_thing_is_shown_once(database: Database, rollouts: Path) -> None:
    rows = _window(database, rollout(rollouts, "f15e-72a2"), Level.VERBOSE)
    assert Counter(row.kind for row in rows) == {
        Kind.USER: 8,
        Kind.ASSISTANT: 10,
        Kind.THINKING: 3,
        Kind.TOOL_CALL: 4,
        Kind.SYSTEM: 1,
        Kind.ERROR: 1,
    }
    assert [row.text for row in rows if row.kind is Kind.USER][:4] == [
        "Prompt x-structured [[scenario:x.structured]]",
        "Prompt x-resume [[scenario:x.more]]",
        "From app-server [[scenario:x.slow8]]",
        "Steered mid-turn message",
    ]
    (summary,) = [row for row in rows if row.kind is Kind.SYSTEM]
    assert summary.label == "summary of the conversation so far"
    assert summary.text.endswith("FAKE COMPACT SUMMARY of the conversation so far.")


def test_the_levels(database: Database, rollouts: Path) -> None:
    path = rollout(rollouts, "f1a6-7933")
    view = "mcp__basic_vanillajs__get_time"
    shown = {level: [row.kind for row in _window(database, path, level, [view])] for level in Level}
    assert shown[Level.MINIMAL] == [Kind.USER, Kind.ASSISTANT, Kind.TOOL_CALL, Kind.ASSISTANT]
    assert shown[Level.CONDENSED] == shown[Level.MINIMAL]
    assert shown[Level.VERBOSE] == [
        Kind.USER,
        Kind.THINKING,
        Kind.ASSISTANT,
        Kind.TOOL_CALL,
        Kind.ASSISTANT,
    ]
    without = [row.kind for row in _window(database, path, Level.MINIMAL)]
    assert without == [Kind.USER, Kind.ASSISTANT, Kind.ASSISTANT]


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("7560-7722", "The turn was interrupted."),
        ("08a7-7812", "The model is overloaded on purpose"),
    ],
)
def test_what_ended_a_turn_is_shown_at_every_level(
    database: Database, rollouts: Path, part: str, text: str
) -> None:
    rows = _window(database, rollout(rollouts, part), Level.MINIMAL)
    assert (rows[-1].kind, rows[-1].text) == (Kind.ERROR, text)


def test_commands_and_changes_read_well(database: Database, rollouts: Path) -> None:
    rows = _window(database, rollout(rollouts, "f579-7382"), Level.CONDENSED)
    calls = [row.call for row in rows if row.call]
    assert [(call.name, call.state, call.result_text) for call in calls] == [
        ("exec_command", "done", "hello from shell\n"),
        ("apply_patch", "failed", "unsupported custom tool call: apply_patch"),
        (
            "exec_command",
            "done",
            "Success. Updated the following files:\nA note2.txt\n\n"
            "add /home/dev/ws/proj-c/note2.txt\none\ntwo",
        ),
        ("update_plan", "failed", "unsupported call: update_plan"),
    ]


def test_a_broken_line_is_shown(database: Database, rollouts: Path) -> None:
    rows = _window(database, rollout(rollouts, "6dbd-7fb3"), Level.CONDENSED)
    (broken,) = [row for row in rows if row.kind is Kind.UNREADABLE]
    assert '"ordinal":20' in broken.text
    assert rows[-1].text == "Hello. This is plain text."


def test_the_session_s_facts(database: Database, rollouts: Path) -> None:
    session_id = load(database, rollout(rollouts, "f572-78b1"))
    with database.session() as db:
        row = timeline.session(db, session_id)
    assert row.agent == "codex"
    assert row.external_id == "01a22e22-f572-78b1-846d-848438763c9a"
    assert row.title == "Prompt x-parallel [[scenario:x.parallel]]"
    assert row.folder == "/home/dev/ws/proj-c"  # resumed in another one later
    assert row.started_at is not None
    assert row.started_at.isoformat().startswith("2026-11-30T20:26:13")
    assert row.updated_at > row.started_at


# Sub-agents: each is a thread of its own, in a file of its own

PARENT, CHILD = "b665-7112", "b6df-7783"


@pytest.mark.parametrize("first", [PARENT, CHILD])
def test_a_sub_agent_joins_its_parent_in_any_order(
    database: Database, rollouts: Path, first: str
) -> None:
    parent, child = rollout(rollouts, PARENT), rollout(rollouts, CHILD)
    order = [parent, child] if first == PARENT else [child, parent]
    assert import_paths(database, [order[0]]).sessions_new == 1
    assert import_paths(database, [order[1]]).sessions_new == 0
    with database.session() as db:
        [session] = timeline.sessions(db).rows
        parts = timeline.transcripts(db, session.id)
        rows = timeline.window(db, session.id, Level.CONDENSED, []).rows
        inside = timeline.window(db, session.id, Level.CONDENSED, [], at="1-0").rows
    assert session.external_id == parent.stem[-36:]
    assert session.title == "Prompt x-sub [[scenario:x.sub]]"
    assert [(part.number, part.agent_id) for part in parts] == [(0, ""), (1, child.stem[-36:])]
    started = next(row.call for row in rows if row.call)
    assert started.name == "multi_agent_v1.spawn_agent"
    assert started.sub_agent is not None
    assert started.sub_agent.number == 1
    assert inside[0].text == "Please do [[scenario:x.substep]] now"
    again = import_paths(database, [parent, child])
    assert (again.files_unchanged, again.entries_new) == (2, 0)


def test_a_sub_agent_whose_parent_never_comes_is_a_session(
    database: Database, rollouts: Path
) -> None:
    session_id = load(database, rollout(rollouts, CHILD))
    with database.session() as db:
        rows = timeline.window(db, session_id, Level.CONDENSED, []).rows
    assert [row.address for row in rows] == ["1-0", "1-1", "1-2", "1-4"]


# Again, and in pieces

_sources = (f"cut-{number}" for number in count())


@pytest.mark.parametrize("part", ["f15e-72a2", "f196-7193", "f579-7382", "6dbd-7fb3"])
@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_imported_in_pieces_is_the_same(
    database: Database, rollouts: Path, tmp_path: Path, part: str, data: st.DataObject
) -> None:
    original = rollout(rollouts, part)
    whole = original.read_bytes()
    path = tmp_path / original.name
    path.write_bytes(whole)
    import_paths(database, [path], source="once")  # a no-op after the first example
    newlines = [at for at, byte in enumerate(whole) if byte == 10]
    near = st.sampled_from(newlines).flatmap(lambda at: st.integers(at - 1, at + 2))
    cuts = data.draw(st.lists(near | st.integers(0, len(whole)), max_size=5))
    source = next(_sources)
    for cut in [*sorted(cuts), len(whole)]:
        path.write_bytes(whole[:cut])
        import_paths(database, [path], source=source)
    assert picture(database, source) == picture(database, "once")


def test_line_by_line_is_the_same(database: Database, rollouts: Path, tmp_path: Path) -> None:
    """Every line in a transaction of its own: a result never sees its call in the same batch."""
    original = rollout(rollouts, "f572-78b1")
    path = tmp_path / original.name
    path.write_bytes(original.read_bytes())
    import_paths(database, [path], source="once")
    path.write_bytes(b"")
    for line in original.read_bytes().splitlines(keepends=True):
        with path.open("ab") as file:
            file.write(line)
        import_paths(database, [path], source="by line")
    assert picture(database, "by line") == picture(database, "once")
