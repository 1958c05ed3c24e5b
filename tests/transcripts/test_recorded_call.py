"""`at` is a hint, verified and never trusted."""

import pytest

from app.db.engine import Database
from app.errors import NotFoundError
from app.transcripts import chunks
from app.transcripts.ingest import import_paths
from app.transcripts.recorded_call import (
    NOTE_RESULT_UNREADABLE,
    NOTE_UNREADABLE,
    recorded_call,
)
from tests.transcripts.conftest import Write
from tests.transcripts.making import SESSION_ID, call, load, result, user

LINES = [user("a"), call("t1", x=1), result("t1", "one"), call("t2", x=2), result("t2", "two")]


def test_with_and_without_a_hint(database: Database, write: Write) -> None:
    session_id = load(database, write(*LINES))
    with database.session() as db:
        got = recorded_call(db, session_id, "t2")
        assert got.address == "0-3"
        assert recorded_call(db, session_id, "t2", "0-3") == got
        assert recorded_call(db, session_id, "t2", "0-4") == got  # where its result is
    assert got.session_id == session_id
    assert (got.arguments, got.notes) == ({"x": 2}, [])


@pytest.mark.parametrize(
    "at", ["0-0", "0-1", "0-2", "0-5", "1-3", "", "0-3 ", "0--3", "x", "999999999-3", "0-03x"]
)
def test_a_hint_at_anything_else_is_not_found(database: Database, write: Write, at: str) -> None:
    session_id = load(database, write(*LINES))
    with database.session() as db, pytest.raises(NotFoundError):
        recorded_call(db, session_id, "t2", at)


@pytest.mark.parametrize("tool_call_id", ["", "t3", "\0", "\ud800", "x" * 5_000])
def test_unknown_ids(database: Database, write: Write, tool_call_id: str) -> None:
    session_id = load(database, write(*LINES))
    for at in (None, "0-3"):
        with database.session() as db, pytest.raises(NotFoundError):
            recorded_call(db, session_id, tool_call_id, at)


def test_calls_of_another_session(database: Database, write: Write) -> None:
    other = load(database, write(*LINES))
    path = write(call("t9"), name="aaaaaaaa-2222-4333-8444-555555555555.jsonl")
    import_paths(database, [path])
    with database.session() as db, pytest.raises(NotFoundError):
        recorded_call(db, other, "t9")
    with database.session() as db, pytest.raises(NotFoundError):
        recorded_call(db, other, "t9", "0-0")
    with database.session() as db, pytest.raises(NotFoundError):
        recorded_call(db, "no such session", "t1")


def test_the_same_id_in_a_sub_agents_transcript(database: Database, write: Write) -> None:
    main = write(call("t1", of="main"))
    write(
        user("do it", agentId="a1"),
        call("t1", of="sub"),
        name=f"{SESSION_ID}/subagents/agent-a1.jsonl",
    )
    session_id = load(database, main.parent)
    with database.session() as db:
        assert recorded_call(db, session_id, "t1").arguments == {"of": "main"}
        assert recorded_call(db, session_id, "t1", "1-1").arguments == {"of": "sub"}
        with pytest.raises(NotFoundError):
            recorded_call(db, session_id, "t1", "1-0")


def test_only_two_lines_chunks_are_read(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = [user("x" * 50_000 + str(number)) for number in range(40)]
    session_id = load(database, write(call("t1"), *filler, result("t1"), *filler))
    inflated: list[int] = []
    decompress = chunks.decompress

    def counting(data: bytes, size: int) -> bytes:
        inflated.append(size)
        return decompress(data, size)

    monkeypatch.setattr(chunks, "decompress", counting)
    with database.session() as db:
        recorded_call(db, session_id, "t1")
    assert len(inflated) == 2


def test_a_line_that_cannot_be_decoded_any_more(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = load(database, write(*LINES))
    monkeypatch.setattr("app.transcripts.recorded_call.MAX_LINE_BYTES", 10)
    with database.session() as db:
        got = recorded_call(db, session_id, "t1")
    assert (got.name, got.arguments, got.result) == ("mcp__probe__structured", {}, None)
    assert got.notes == [NOTE_UNREADABLE, NOTE_RESULT_UNREADABLE]
