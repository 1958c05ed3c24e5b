"""Importing: once, again, in pieces, interrupted, replaced, by two at once."""

import os
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.transcripts import files, ingest, timeline
from app.transcripts.formats import FORMATS
from app.transcripts.ingest import import_paths
from app.transcripts.store import Appender, StaleTranscriptError
from tests.transcripts.conftest import Write
from tests.transcripts.making import (
    RECORDED,
    SESSION_ID,
    assistant,
    call,
    load,
    picture,
    result,
    user,
)

TEXT = {"type": "text", "text": "answer"}


def test_again_changes_nothing(database: Database, recorded: Path) -> None:
    first = import_paths(database, [recorded])
    before = picture(database)
    again = import_paths(database, [recorded, recorded / "claude-old"])
    assert picture(database) == before
    assert (again.sessions_new, again.sessions_grown, again.entries_new) == (0, 0, 0)
    assert again.files_unchanged == len(before) > 20
    assert first.entries_new == sum(len(one["entries"]) for one in before.values())


def test_counts_add_up(database: Database, recorded: Path) -> None:
    import_paths(database, [recorded])
    for one in picture(database).values():
        transcript = one["transcript"]
        assert transcript["entry_count"] == len(one["entries"])
        assert [entry["seq"] for entry in one["entries"]] == list(range(len(one["entries"])))
        data = b"".join(chunk for _, _, chunk in one["chunks"])
        assert len(data) == transcript["bytes_read"]


def test_the_stored_bytes_are_the_files(database: Database, recorded: Path) -> None:
    import_paths(database, [recorded])
    for path, one in picture(database).items():
        assert b"".join(chunk for _, _, chunk in one["chunks"]) == Path(path).read_bytes()


_sources = (f"cut-{number}" for number in count())
# Of every agent and version; the largest would only be cut in more places of the same kind.
FILES = sorted(path for path in RECORDED.rglob("*.jsonl") if path.stat().st_size < 300_000)


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_any_file_in_any_pieces_is_the_same(
    database: Database, tmp_path: Path, data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(FILES) - 1))
    whole = FILES[number].read_bytes()
    path = tmp_path / str(number) / FILES[number].relative_to(RECORDED)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(whole)
    once, pieces = f"once-{number}", next(_sources)
    import_paths(database, [path], source=once)  # a no-op after the file's first example
    # Around newlines is where it hurts; anywhere else must do as well.
    newlines = [at for at, byte in enumerate(whole) if byte == 10]
    near = st.sampled_from(newlines).flatmap(lambda at: st.integers(at - 1, at + 2))
    cuts = data.draw(st.lists(near | st.integers(0, len(whole)), max_size=5))
    for cut in [*sorted(cuts), len(whole)]:
        path.write_bytes(whole[:cut])
        import_paths(database, [path], source=pieces)
    assert picture(database, pieces) == picture(database, once)


def test_a_torn_last_line_waits(database: Database, write: Write) -> None:
    path = write(user("one"))
    with path.open("ab") as file:
        file.write(assistant(TEXT)[:40])
    assert import_paths(database, [path]).entries_new == 1
    with path.open("ab") as file:
        file.write(assistant(TEXT)[40:] + b"\n")
    again = import_paths(database, [path])
    assert (again.entries_new, again.sessions_grown, again.sessions_new) == (1, 1, 0)


def test_a_result_that_comes_later_completes_its_call(database: Database, write: Write) -> None:
    path = write(call("t1"))
    session_id = load(database, path)
    with database.session() as db:
        assert timeline.recorded_call(db, session_id, "t1").state is tables.CallState.PENDING
    write(call("t1"), result("t1", "late"))
    import_paths(database, [path])
    with database.session() as db:
        got = timeline.recorded_call(db, session_id, "t1")
    assert got.state is tables.CallState.DONE
    assert got.result == {"content": [{"type": "text", "text": "late"}]}


@pytest.mark.parametrize("real_first", [True, False])
def test_the_made_up_result_loses_in_any_order(
    database: Database, write: Write, real_first: bool
) -> None:
    text = "[Tool call interrupted: x"
    made_up = result("t1", text, failed=True, toolUseResult=text)
    results = [result("t1", "real"), made_up]
    path = write(call("t1"))
    import_paths(database, [path])
    for count_of_results in (1, 2):  # each import sees one more
        write(call("t1"), *(results if real_first else results[::-1])[:count_of_results])
        session_id = load(database, path)
    with database.session() as db:
        got = timeline.recorded_call(db, session_id, "t1")
    assert (got.state, got.result) == (
        tables.CallState.DONE,
        {"content": [{"type": "text", "text": "real"}]},
    )


def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_BLOCK_BYTES", 2_000)


@pytest.mark.parametrize("batches", [1, 3])
def test_a_killed_import_goes_on(
    database: Database,
    recorded: Path,
    monkeypatch: pytest.MonkeyPatch,
    batches: int,
) -> None:
    folder = recorded / "claude-2.1.332" / "three-real-apps"
    import_paths(database, [folder], source="whole")
    _small_batches(monkeypatch)
    append = Appender._write
    left = iter(range(batches))

    def dies(self: Appender, *args: Any) -> int:
        written = append(self, *args)
        if next(left, None) is None:
            raise KeyboardInterrupt  # after the writes, before the commit
        return written

    with monkeypatch.context() as patch:
        patch.setattr(Appender, "_write", dies)
        with pytest.raises(KeyboardInterrupt):
            import_paths(database, [folder], source="killed")
    (half,) = picture(database, "killed").values()
    assert 0 < half["transcript"]["bytes_read"] < 30_000
    assert half["transcript"]["entry_count"] == len(half["entries"])
    import_paths(database, [folder], source="killed")
    assert picture(database, "killed") == picture(database, "whole")


def _shorter(path: Path) -> None:
    path.write_bytes(user("new") + b"\n")


def _other_head(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"first", b"other") + user("new") + b"\n")


def _other_tail(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"last", b"LAST") + user("new") + b"\n")


@pytest.mark.parametrize("change", [_shorter, _other_head, _other_tail])
def test_a_replaced_file_is_read_from_the_start(
    database: Database, write: Write, change: Any
) -> None:
    long = [assistant({"type": "text", "text": "x" * 1_000}) for _ in range(10)]
    path = write(user("first"), call("t1"), *long, user("last"))
    import_paths(database, [path])
    change(path)
    summary = import_paths(database, [path])
    assert summary.files_replaced == 1
    import_paths(database, [path], source="fresh")
    assert picture(database) == picture(database, "fresh")


def test_a_replaced_file_is_never_shown_by_half(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(user("first"), call("t1"), result("t1"))
    import_paths(database, [path])
    before = picture(database)
    write(*[user(f"new {number}") for number in range(100)])
    _small_batches(monkeypatch)
    append = Appender._write
    left = iter(range(2))

    def dies(self: Appender, *args: Any) -> int:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return append(self, *args)

    monkeypatch.setattr(Appender, "_write", dies)
    with pytest.raises(KeyboardInterrupt):
        import_paths(database, [path])
    assert picture(database) == before


def test_two_imports_of_one_file_do_not_double_it(database: Database, write: Write) -> None:
    path = write(user("one"))
    import_paths(database, [path])
    with database.session() as db:
        row = db.exec(select(tables.Transcript)).one()
        slow = Appender(db, row, FORMATS[0])
    write(user("one"), user("two"))
    import_paths(database, [path])
    before = picture(database)
    with pytest.raises(StaleTranscriptError), database.session() as db:
        slow.append(db, user("two") + b"\n", b"")
    with pytest.raises(StaleTranscriptError), database.session() as db:
        slow.reset(db)
    assert picture(database) == before


def test_an_import_goes_on_where_another_came_to(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(user("one"), user("two"))
    append = ingest._append
    raced = iter([True])

    def race(*args: Any) -> None:
        if next(raced, False):
            raise StaleTranscriptError
        append(*args)

    monkeypatch.setattr(ingest, "_append", race)
    summary = import_paths(database, [path])
    assert (summary.entries_new, summary.files_skipped) == (2, [])


def test_a_sub_agents_file_may_come_first(database: Database, write: Write) -> None:
    sub = write(user("do it", agentId="a1"), name=f"{SESSION_ID}/subagents/agent-a1.jsonl")
    first = import_paths(database, [sub])
    main = write(user("Please do it"), call("t1"))
    second = import_paths(database, [main])
    assert (first.sessions_new, second.sessions_new, second.sessions_grown) == (1, 0, 1)
    with database.session() as db:
        (row,) = timeline.sessions(db).rows
        numbers = [(one.number, one.agent_id) for one in timeline.transcripts(db, row.id)]
    assert numbers == [(0, ""), (1, "a1")]
    assert (row.title, row.external_id) == ("Please do it", SESSION_ID)
    assert (row.entry_count, row.call_count) == (3, 1)


def test_two_machines_may_share_a_session_id(database: Database, write: Write) -> None:
    path = write(user("one"))
    import_paths(database, [path], source="a")
    import_paths(database, [path], source="b")
    with database.session() as db:
        rows = timeline.sessions(db).rows
    assert sorted(row.source for row in rows) == ["a", "b"]


def test_progress_ends_at_the_total(database: Database, recorded: Path) -> None:
    seen: list[tuple[int, int]] = []
    import_paths(database, [recorded], progress=lambda done, total: seen.append((done, total)))
    assert seen[0][0] == 0
    assert seen[-1][0] == seen[-1][1] > 300_000
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len({total for _, total in seen}) == 1


def test_what_was_written_last_is_read_first(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session's sub-agents come with it and behind it, whenever they were written."""
    names = ["old", "new", "old/subagents/agent-a1", "middle"]
    for age, name in zip((4, 2, 1, 3), names, strict=True):
        path = write(user(name), name=f"{name}.jsonl")
        os.utime(path, (1_800_000_000 - age, 1_800_000_000 - age))
    read: list[str] = []
    opened = files.TranscriptFile.__init__

    def noted(self: Any, path: Path, *args: Any) -> None:
        read.append(path.stem)
        opened(self, path, *args)

    monkeypatch.setattr(files.TranscriptFile, "__init__", noted)
    import_paths(database, [path.parent])
    assert read == ["old", "agent-a1", "new", "middle"]
