"""Windows: levels, addresses, bounds, and going on from one to the next."""

from typing import Any

import pytest
from sqlalchemy import event

from app.db.engine import Database
from app.db.tables import CallState
from app.errors import NotFoundError
from app.transcripts import chunks, scan, timeline
from app.transcripts import rows as rows_module
from app.transcripts.formats.base import Kind
from app.transcripts.timeline import Level, Window, window
from tests.transcripts.conftest import Write
from tests.transcripts.making import SESSION_ID, assistant, call, line, load, result, user

TEXT = {"type": "text", "text": "answer"}
THOUGHT = {"type": "thinking", "thinking": "hm"}
VIEW = "mcp__charts__show"
EVERYTHING = [
    user("prompt"),  # 0
    assistant(THOUGHT),  # 1
    call("t1", VIEW, x=1),  # 2
    call("t2", "Bash", command="ls"),  # 3
    result("t1", "one"),  # 4
    result("t2", "two", failed=True),  # 5
    line("system", subtype="compact_boundary", content="Compacted"),  # 6
    b"broken",  # 7
    assistant(TEXT),  # 8
    user("[Request interrupted by user]"),  # 9
    result("nobody", "lost"),  # 10
    line("mode"),
    call("t3", VIEW),  # 11
]


def _seqs(found: Window) -> list[int]:
    return [int(row.address.split("-")[1]) for row in found.rows]


@pytest.mark.parametrize(
    ("level", "names", "seqs"),
    [
        (Level.MINIMAL, [], [0, 8, 9]),
        (Level.MINIMAL, [VIEW], [0, 2, 8, 9, 11]),
        (Level.CONDENSED, [], [0, 2, 3, 7, 8, 9, 11]),
        (Level.VERBOSE, [], [0, 1, 2, 3, 6, 7, 8, 9, 10, 11]),
    ],
)
def test_levels(
    database: Database, write: Write, level: Level, names: list[str], seqs: list[int]
) -> None:
    session_id = load(database, write(*EVERYTHING))
    with database.session() as db:
        found = window(db, session_id, level, names)
    assert _seqs(found) == seqs
    assert (found.before, found.after, found.transcript, found.focus) == (None, None, 0, None)


def test_results_are_folded_into_their_calls(database: Database, write: Write) -> None:
    session_id = load(database, write(*EVERYTHING))
    with database.session() as db:
        rows = window(db, session_id, Level.VERBOSE, []).rows
        (ignored,) = [one.ignored_count for one in timeline.transcripts(db, session_id)]
    calls = [row.call for row in rows if row.call]
    assert [(one.tool_call_id, one.state, one.result_text) for one in calls] == [
        ("t1", CallState.DONE, "one"),
        ("t2", CallState.FAILED, "two"),
        ("t3", CallState.PENDING, None),
    ]
    assert calls[0].arguments_json == '{\n  "x": 1\n}'
    assert [row.text for row in rows if row.kind is Kind.TOOL_RESULT] == ["lost"]
    assert ignored == 1


def test_row_times_are_utc(database: Database, write: Write) -> None:
    session_id = load(database, write(user("x", timestamp="2026-11-30T22:00:00+02:00")))
    with database.session() as db:
        (row,) = window(db, session_id, Level.MINIMAL, []).rows
    assert row.at is not None
    assert row.at.isoformat() == "2026-11-30T20:00:00+00:00"


def _long(count: int) -> list[bytes]:
    """Prompts, thoughts, calls and results; every tenth call has a view."""
    lines: list[bytes] = []
    for number in range(count):
        name = VIEW if number % 10 == 0 else "Bash"
        lines += [
            user(f"prompt {number}"),
            assistant(THOUGHT),
            call(f"t{number}", name),
            result(f"t{number}", f"result {number}"),
        ]
    return lines


def _all_backwards(database: Database, session_id: str, level: Level, limit: int) -> list[str]:
    addresses: list[str] = []
    before: str | None = None
    while True:
        with database.session() as db:
            found = window(db, session_id, level, [VIEW], before=before, limit=limit)
        assert len(found.rows) <= limit
        addresses = [row.address for row in found.rows] + addresses
        if found.before is None:
            return addresses
        before = found.before


def _all_forwards(database: Database, session_id: str, level: Level, limit: int) -> list[str]:
    with database.session() as db:
        found = window(db, session_id, level, [VIEW], at="0-0", limit=1)
    addresses = [row.address for row in found.rows]
    while found.after is not None:
        with database.session() as db:
            found = window(db, session_id, level, [VIEW], after=found.after, limit=limit)
        addresses += [row.address for row in found.rows]
    return addresses


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("scan_rows", [7, 50_000])
def test_windows_join_without_gap_or_overlap(
    database: Database,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    level: Level,
    scan_rows: int,
) -> None:
    monkeypatch.setattr(scan, "SCAN_ROWS", scan_rows)
    session_id = load(database, write(*_long(25)))
    with database.session() as db:
        everything = [row.address for row in window(db, session_id, level, [VIEW], limit=500).rows]
    if scan_rows > 100:
        expected = {Level.MINIMAL: 28, Level.CONDENSED: 50, Level.VERBOSE: 75}
        assert len(everything) == expected[level]
    for limit in (1, 2, 7, 100):
        backwards = _all_backwards(database, session_id, level, limit)
        assert backwards == _all_forwards(database, session_id, level, limit)
        assert backwards[-len(everything) :] == everything


def test_before_and_after_are_told_only_when_there_is_more(
    database: Database, write: Write
) -> None:
    session_id = load(database, write(user("a"), user("b"), user("c"), line("mode")))
    with database.session() as db:

        def ends(**where: Any) -> tuple[str | None, str | None]:
            found = window(db, session_id, Level.CONDENSED, [], **where)
            return found.before, found.after

        assert ends(limit=3) == (None, None)
        assert ends(limit=2) == ("0-1", None)
        assert ends(limit=1, before="0-2") == ("0-1", "0-1")
        assert ends(limit=5, before="0-2") == (None, "0-1")
        assert ends(limit=1, after="0-0") == ("0-1", "0-1")
        assert ends(limit=5, after="0-0") == ("0-1", None)
        assert ends(limit=1, at="0-1") == ("0-1", "0-1")
        assert ends(limit=3, at="0-1") == (None, None)
        # Live pages ask again from the last row they have.
        assert ends(after="0-2") == ("0-3", None)


def test_a_deep_link_is_centred_and_shown_at_every_level(database: Database, write: Write) -> None:
    session_id = load(database, write(*_long(100)))
    with database.session() as db:
        found = window(db, session_id, Level.MINIMAL, [], at="0-201", limit=11)  # a thought
        assert found.focus == "0-201"
        assert [row.kind for row in found.rows].count(Kind.THINKING) == 1
        assert _seqs(found).index(201) == 5
        result_link = window(db, session_id, Level.CONDENSED, [], at="0-203", limit=11)
    assert result_link.focus == "0-202"  # the call that the result is folded into
    assert "0-202" in [row.address for row in result_link.rows]


@pytest.mark.parametrize("where", ["at", "before", "after"])
@pytest.mark.parametrize("address", ["", "x", "9-0", "0-1x", "999999999-999999999"])
def test_addresses_from_requests(
    database: Database, write: Write, where: str, address: str
) -> None:
    session_id = load(database, write(user("a")))
    with database.session() as db, pytest.raises(NotFoundError):
        window(db, session_id, Level.MINIMAL, [], **{where: address})  # type: ignore[arg-type]


def test_positions_past_the_end(database: Database, write: Write) -> None:
    session_id = load(database, write(user("a"), user("b")))
    with database.session() as db:
        assert _seqs(window(db, session_id, Level.MINIMAL, [], before="0-999999999")) == [0, 1]
        assert _seqs(window(db, session_id, Level.MINIMAL, [], after="0-999999999")) == []
        with pytest.raises(NotFoundError):
            window(db, session_id, Level.MINIMAL, [], at="0-2")
        with pytest.raises(NotFoundError):
            window(db, "0" * 32, Level.MINIMAL, [])
        with pytest.raises(NotFoundError):
            window(db, "\0", Level.MINIMAL, [])


def test_a_session_without_its_main_transcript(database: Database, write: Write) -> None:
    sub = write(user("do it", agentId="a1"), name=f"{SESSION_ID}/subagents/agent-a1.jsonl")
    session_id = load(database, sub)
    with database.session() as db:
        found = window(db, session_id, Level.MINIMAL, [])
    assert [row.address for row in found.rows] == ["1-0"]


def test_the_window_is_bounded_by_what_it_reads(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "WINDOW_BYTES", 10_000)
    session_id = load(database, write(*[user("x" * 3_000 + str(n)) for n in range(20)]))
    assert len(_all_backwards(database, session_id, Level.MINIMAL, 100)) == 20
    assert len(_all_forwards(database, session_id, Level.MINIMAL, 100)) == 20
    with database.session() as db:
        newest = window(db, session_id, Level.MINIMAL, [])
        middle = window(db, session_id, Level.MINIMAL, [], at="0-10")
    assert _seqs(newest) == [17, 18, 19]
    assert 10 in _seqs(middle)
    assert len(middle.rows) <= 6


def test_long_texts_are_cut(database: Database, write: Write) -> None:
    lines = [user("x" * 200_000), call("t1", x="y" * 50_000), result("t1", "z" * 50_000)]
    session_id = load(database, write(*lines))
    with database.session() as db:
        text, made = window(db, session_id, Level.CONDENSED, []).rows
    assert (len(text.text), text.cut) == (rows_module.TEXT_LIMIT, True)
    assert made.call is not None
    assert len(made.call.arguments_json) == rows_module.CALL_TEXT_LIMIT
    assert len(made.call.result_text or "") == rows_module.CALL_TEXT_LIMIT
    assert made.cut


def test_a_line_too_long_for_a_window_is_not_read(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "WINDOW_LINE_BYTES", 2_000)
    session_id = load(
        database,
        write(user("x" * 3_000), call("t1"), result("t1", "x" * 3_000), call("t2", x="x" * 3_000)),
    )
    with database.session() as db:
        text, first, second = window(db, session_id, Level.CONDENSED, []).rows
        whole = timeline.recorded_call(db, session_id, "t1")
    assert "too large" in text.text
    assert first.call is not None
    assert (first.call.name, first.call.result_text) == ("mcp__probe__structured", None)
    assert "too large" in first.call.note
    assert second.call is not None
    assert second.call.name == "mcp__probe__structured"
    assert "too large" in second.call.note
    assert whole.result == {"content": [{"type": "text", "text": "x" * 3_000}]}


class _Statements:
    """Counts the statements that a block of code sends."""

    def __init__(self, database: Database) -> None:
        self._engine = database.engine
        self.count = 0

    def __enter__(self) -> "_Statements":
        event.listen(self._engine, "before_cursor_execute", self._seen)
        return self

    def __exit__(self, *_: object) -> None:
        event.remove(self._engine, "before_cursor_execute", self._seen)

    def _seen(self, *_: Any) -> None:
        self.count += 1


def test_statements_do_not_grow_with_the_transcript(database: Database, write: Write) -> None:
    counts: dict[int, list[int]] = {}
    for size in (60, 2_000):
        session_id = load(database, write(*_long(size)))
        for level in Level:
            with database.session() as db, _Statements(database) as statements:
                window(db, session_id, level, [VIEW], limit=20)
            counts.setdefault(size, []).append(statements.count)
    assert counts[60] == counts[2_000]
    assert max(counts[60]) <= 12


def test_only_the_chunks_of_the_window_are_inflated(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [user("x" * 20_000 + str(number)) for number in range(100)]  # about 8 chunks
    session_id = load(database, write(*lines))
    inflated: list[int] = []
    decompress = chunks.decompress

    def counting(data: bytes, size: int) -> bytes:
        inflated.append(size)
        return decompress(data, size)

    monkeypatch.setattr(chunks, "decompress", counting)
    with database.session() as db:
        window(db, session_id, Level.MINIMAL, [], limit=5)
    assert len(inflated) <= 2


def test_called_tools(database: Database, write: Write) -> None:
    names = ["Bash", "mcp__b__x", "mcp__a__x", "mcp__a__x", "Task", "mcp", "nmcp__", "mcp__A__x"]
    lines = [call(f"t{number}", name) for number, name in enumerate(names)]
    session_id = load(database, write(*lines))
    with database.session() as db:
        found = timeline.called_tools(db, session_id)
        assert timeline.called_tools(db, "nobody") == []
    assert found == [timeline.CalledTool(name) for name in ("mcp__A__x", "mcp__a__x", "mcp__b__x")]
