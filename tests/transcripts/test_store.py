"""What is stored of a session: titles, times, and what no database would take."""

import os
from pathlib import Path

import pytest

from app.db import tables
from app.db.engine import Database
from app.transcripts import files, store, timeline
from app.transcripts.ingest import import_paths
from app.transcripts.redaction import SECRETS, Redactor
from tests.transcripts.conftest import Write
from tests.transcripts.making import (
    assistant,
    call,
    line,
    load,
    picture,
    result,
    user,
)

TEXT = {"type": "text", "text": "answer"}


def _title(database: Database, path: Path) -> str:
    session_id = load(database, path)
    with database.session() as db:
        return timeline.session(db, session_id).title


def test_titles(database: Database, write: Write) -> None:
    path = write(user("ctx", isMeta=True), assistant(TEXT), user("Fix\n\tthe  tests " + "x" * 200))
    title = _title(database, path)
    assert title.startswith("Fix the tests xxx")
    assert len(title) == 120
    lines = [user("ctx", isMeta=True), assistant(TEXT), user("Fix\n\tthe  tests " + "x" * 200)]
    write(*lines, user("later"), line("summary", summary="Tests \u202efixed\n"))
    assert _title(database, path) == "Tests ⟨U+202E⟩fixed"
    write(
        *lines,
        user("later"),
        line("summary", summary="Tests \u202efixed\n"),
        user("still later"),
        line("custom-title", customTitle="Mine\x1b[0m\0"),
    )
    assert _title(database, path) == "Mine⟨U+001B⟩[0m⟨U+0000⟩"


def test_a_clock_that_runs_ahead_does_not_stay_on_top(database: Database, write: Write) -> None:
    session_id = load(database, write(user("one", timestamp="2990-01-01T00:00:00Z")))
    with database.session() as db:
        assert timeline.session(db, session_id).updated_at <= tables.now()


def test_a_transcript_without_times_is_as_old_as_its_file(database: Database, write: Write) -> None:
    path = write(user("one", timestamp=None))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    session_id = load(database, path)
    with database.session() as db:
        row = timeline.session(db, session_id)
    assert row.updated_at.timestamp() == 1_700_000_000
    assert row.started_at is None


NUL = "a\0b\ud800"


def test_what_no_database_takes_is_stored(database: Database, write: Write) -> None:
    path = write(
        user(NUL, cwd=f"/home/{NUL}"),
        call(NUL, name=f"mcp__{NUL}", value=NUL),
        result(NUL, NUL),
        line("custom-title", customTitle=NUL),
        name="notes.jsonl",
    )
    session_id = load(database, path)
    with database.session() as db:
        rows = timeline.window(db, session_id, timeline.Level.CONDENSED, []).rows
        assert rows[1].call is not None
        known_id = rows[1].call.tool_call_id
        assert known_id == "a\ufffdb\ufffd"
        got = timeline.recorded_call(db, session_id, known_id, rows[1].address)
        assert got == timeline.recorded_call(db, session_id, NUL)
    assert got.name == "mcp__a\ufffdb\ufffd"
    assert got.arguments == {"value": "a\0b\ufffd"}
    assert got.state is tables.CallState.DONE


def test_a_session_id_that_no_database_takes(database: Database, write: Write) -> None:
    path = write(user("x", sessionId="\0" + "x" * 5_000), name="notes.jsonl")
    session_id = load(database, path)
    with database.session() as db:
        assert timeline.session(db, session_id).external_id == "\ufffd" + "x" * 127


def test_ids_and_names_too_long_for_an_index(database: Database, write: Write) -> None:
    long = "x" * 100_000
    session_id = load(database, write(call(long), call("t1", name=long), result(long)))
    with database.session() as db:
        rows = timeline.window(db, session_id, timeline.Level.VERBOSE, []).rows
    first, second, orphan = rows
    assert first.call is not None
    assert first.call.tool_call_id is None
    assert second.call is not None
    assert second.call.name == "x" * 512
    assert orphan.text == "ok"


def test_a_second_call_with_the_same_id_does_not_replace_the_first(
    database: Database, write: Write
) -> None:
    path = write(call("t1", x=1), result("t1", "one"), call("t1", "mcp__evil__other", x=2))
    session_id = load(database, path)
    with database.session() as db:
        rows = timeline.window(db, session_id, timeline.Level.CONDENSED, []).rows
        got = timeline.recorded_call(db, session_id, "t1")
    assert (got.name, got.arguments) == ("mcp__probe__structured", {"x": 1})
    calls = [row.call for row in rows if row.call]
    assert [(one.tool_call_id, one.result_text) for one in calls] == [("t1", "one"), (None, None)]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can pass: lines of 4,000 bytes, in pieces of 1,000."""
    for module in (files, store):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", 4_000)
        monkeypatch.setattr(module, "PIECE_BYTES", 1_000)
    monkeypatch.setattr("app.transcripts.rows.WINDOW_LINE_BYTES", 4_000)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("block", [500, 3_000, 1_000_000])
def test_a_line_too_large_is_stored_and_not_looked_into(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    path = write(user("before"), user("x" * 9_500), user("after"))
    import_paths(database, [path], source="as one block")
    monkeypatch.setattr(files, "_BLOCK_BYTES", block)
    import_paths(database, [path], source="local")
    (one,) = picture(database).values()
    assert picture(database) == picture(database, "as one block")
    assert [entry["kind"] for entry in one["entries"]] == ["user", "unreadable", "user"]
    assert b"".join(chunk for _, _, chunk in one["chunks"]) == path.read_bytes()
    assert max(len(chunk) for _, _, chunk in one["chunks"]) == 1_000
    with database.session() as db:
        page = timeline.sessions(db).rows
        rows = timeline.window(db, page[0].id, timeline.Level.CONDENSED, []).rows
    assert [row.text for row in rows][0::2] == ["before", "after"]
    assert "too large" in rows[1].text


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("place", [0, 930, 960, 1_500, 9_000])
def test_a_secret_in_a_line_too_large_is_hidden_wherever_its_pieces_are_cut(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr(files, "_BLOCK_BYTES", 500)
    secret = "ghp_" + "a1B2" * 9
    text = " ".join(("x" * place, secret, "x" * (9_500 - place)))
    path = write(user("before"), user(text), user("after"))
    import_paths(database, [path], redact=Redactor(SECRETS))
    (one,) = picture(database).values()
    stored = b"".join(chunk for _, _, chunk in one["chunks"])
    assert stored == path.read_bytes().replace(secret.encode(), b"*" * len(secret))


@pytest.mark.usefixtures("tiny")
def test_a_torn_line_too_large_waits(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BLOCK_BYTES", 500)
    path = write(user("before"))
    with path.open("ab") as file:
        file.write(user("x" * 9_500))
    assert import_paths(database, [path]).entries_new == 1
    with path.open("ab") as file:
        file.write(b"\n" + user("after") + b"\n")
    assert import_paths(database, [path]).entries_new == 2
    import_paths(database, [path], source="once")
    assert picture(database) == picture(database, "once")
