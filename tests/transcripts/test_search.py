"""Searching: what is found, in which order, narrowed down by what, and where a hit leads."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.db import tables
from app.db.engine import Database
from app.transcripts import search as searching
from app.transcripts import search_matches, timeline
from app.transcripts.ingest import import_paths
from app.transcripts.scan import Level
from app.transcripts.search import Found, Hit, search
from app.transcripts.search_filters import Filters
from app.transcripts.search_query import SearchQuery
from tests.transcripts.conftest import Write
from tests.transcripts.making import assistant, call, line, load, result, user


def found(database: Database, query: str, filters: Filters | None = None, **more: Any) -> Found:
    with database.session() as db:
        return search(db, SearchQuery.of(query), filters or Filters(), **more)


def addresses(database: Database, query: str, filters: Filters | None = None) -> list[str]:
    return [hit.address for hit in found(database, query, filters).hits]


def marked(hit: Hit) -> list[str]:
    return [piece.text for piece in hit.snippet if piece.marked]


@pytest.fixture
def one(database: Database, write: Write) -> str:
    """A session with every kind of entry that can be found."""
    path = write(
        user("Please draw the Überblick of apples"),  # 0
        assistant({"type": "thinking", "thinking": "Should it be a bar chart?"}),  # 1
        call("t1", title="Apples", series=[{"name": "weekly", "data": [1729, 4]}]),  # 2
        result("t1", "drawn \x1b[32mgreen\x1b[0m as-asked"),  # 3
        call("t2", "Bash", command="cat app/main.py"),  # 4
        result("t2", "no such file", failed=True),  # 5
        assistant({"type": "text", "text": "Here is **the apple** chart."}),  # 6
        line("system", subtype="informational", content="compaction is near"),  # 7
    )
    return load(database, path)


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("apples", ["0-2", "0-0"]),
        ("APPLES", ["0-2", "0-0"]),
        ("uberblick", ["0-0"]),
        ("überblick", ["0-0"]),
        ("apple*", ["0-6", "0-2", "0-0"]),
        ("apple* -chart", ["0-2", "0-0"]),
        ("apple chart", ["0-6"]),
        ('"apple chart"', ["0-6"]),
        ('"chart apple"', []),
        ("bar", ["0-1"]),
        ("weekly", ["0-2"]),
        ("1729", ["0-2"]),
        ("structured", ["0-2"]),  # the tool's name
        ("green", ["0-2"]),  # the colour before it is no part of the word
        ("32mgreen", []),
        ("asked", ["0-2"]),
        ('"drawn green"', ["0-2"]),
        ("app/main.py", ["0-4"]),
        ("command", []),  # the name of an argument
        ("such file", ["0-4"]),
        ("compaction", ["0-7"]),
        ("nowhere", []),
        ("-apples", []),
        ('"', []),
    ],
)
def test_what_is_found(database: Database, query: str, expected: list[str]) -> None:
    assert addresses(database, query) == expected


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(agent="claude-code"), 4),
        (Filters(agent="codex"), 0),
        (Filters(folder="/home/dev/project"), 4),
        (Filters(folder="/home/dev"), 0),
        (Filters(server=frozenset({"probe"})), 1),
        (Filters(server=frozenset({"prob"})), 0),
        (Filters(tool="structured"), 1),
        (Filters(tool="mcp__probe__structured"), 1),
        (Filters(tool="Bash"), 1),
        (Filters(tool="ash"), 0),
        (Filters(view=True), 0),
        (Filters(view=True, view_names=frozenset({"mcp__probe__structured"})), 1),
        (Filters(error=True), 1),
        (Filters(since=date(2026, 11, 30)), 4),
        (Filters(since=date(2026, 12, 1)), 0),
        (Filters(until=date(2026, 11, 30)), 4),
        (Filters(until=date(2026, 11, 29)), 0),
    ],
)
def test_filters(database: Database, filters: Filters, expected: int) -> None:
    # One word of each: a prompt, an MCP call, a shell call that failed, an answer.
    words = ["please", "weekly", "such", "here"]
    assert sum(len(addresses(database, word, filters)) for word in words) == expected


@pytest.mark.usefixtures("one")
def test_filters_of_the_list(database: Database) -> None:
    def listed(**filters: Any) -> int:
        with database.session() as db:
            return timeline.sessions(db, filters=Filters(**filters)).total

    assert listed(server=frozenset({"probe"})) == 1
    assert listed(server=frozenset({"other"})) == 0
    assert listed(tool="Bash", error=True) == 1
    assert listed(tool="structured", error=True) == 0
    assert listed(until=date(2026, 11, 29)) == 0


@pytest.mark.parametrize(
    ("query", "address", "level", "marks"),
    [
        ("please", "0-0", Level.CONDENSED, ["Please"]),
        ("bar", "0-1", Level.VERBOSE, ["bar"]),
        ("green", "0-2", Level.CONDENSED, ["green"]),
        ("near", "0-7", Level.VERBOSE, ["near"]),
    ],
)
def test_a_hit_leads_to_a_row_that_is_shown(
    database: Database, one: str, query: str, address: str, level: Level, marks: list[str]
) -> None:
    (hit,) = found(database, query).hits
    assert (hit.session.id, hit.address, hit.level, marked(hit)) == (one, address, level, marks)
    with database.session() as db:
        window = timeline.window(db, one, hit.level, [], at=hit.address)
        around = timeline.window(db, one, hit.level, [])
    assert window.focus == address
    # Not only because it was asked for: its level shows it.
    assert address in [row.address for row in around.rows]


def test_sub_agents_are_searched(database: Database, recorded: Path) -> None:
    import_paths(database, [recorded / "claude-2.1.332" / "subagent"])
    with database.session() as db:
        (row,) = timeline.sessions(db).rows
        parts = timeline.transcripts(db, row.id)
        text = timeline.window(db, row.id, Level.VERBOSE, [], at="1-0").rows[0].text
    assert len(parts) > 1
    word = max(text.split(), key=len)
    assert any(hit.address.startswith("1-") for hit in found(database, f'"{word}"').hits)


def _sessions(write: Write, number: int, entries: int) -> list[Path]:
    return [
        write(
            *[
                user(f"common rare{day}x{entry}", timestamp=f"2026-11-{day + 1:02}T00:00:00Z")
                for entry in range(entries)
            ],
            name=f"{day:08}-2222-4333-8444-555555555555.jsonl",
        )
        for day in range(number)
    ]


def _pages(database: Database, query: str, **more: Any) -> Iterator[Found]:
    after = ""
    while True:
        page = found(database, query, after=after, **more)
        yield page
        if page.after is None:
            return
        after = page.after


@pytest.mark.parametrize("most_sorted", [1_000, 3])  # sorted, and gone through
def test_pages_hold_everything_once_newest_first(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch, most_sorted: int
) -> None:
    monkeypatch.setattr(search_matches, "MOST_SORTED", most_sorted)
    monkeypatch.setattr(search_matches, "_TRANSCRIPTS_AT_ONCE", 2)
    monkeypatch.setattr(search_matches, "_MATCHES_AT_ONCE", 4)
    monkeypatch.setattr(searching, "PAGE_HITS", 7)
    import_paths(database, _sessions(write, 5, 6))
    pages = list(_pages(database, "common"))
    assert pages[0].total == (30 if most_sorted > 30 else None)
    seen = [marked(hit) and hit.snippet[-1].text.strip() for page in pages for hit in page.hits]
    assert seen == [f"rare{day}x{entry}" for day in range(4, -1, -1) for entry in range(5, -1, -1)]
    assert len(pages) == 5


def test_one_session_is_searched_alone(database: Database, write: Write) -> None:
    import_paths(database, _sessions(write, 3, 2))
    with database.session() as db:
        middle = timeline.sessions(db).rows[1]
    hits = found(database, "common", session_id=middle.id).hits
    assert [(hit.session.id, hit.address) for hit in hits] == [
        (middle.id, "0-1"),
        (middle.id, "0-0"),
    ]


def test_what_filters_leave_over_is_looked_for_within_bounds(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "MOST_LOOKED_AT", 4)
    lines = [call("t1", note="common"), *[user("common") for _ in range(6)]]
    load(database, write(*lines))
    first, second = _pages(database, "common", filters=Filters(tool="structured"))
    assert first.hits == []
    assert [hit.address for hit in second.hits] == ["0-0"]


def test_a_long_way_without_a_match_is_cut(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_matches, "MOST_SORTED", 0)
    monkeypatch.setattr(search_matches, "MOST_TRANSCRIPTS", 2)
    import_paths(database, _sessions(write, 5, 1))
    pages = list(_pages(database, "rare0x0"))
    assert [len(page.hits) for page in pages] == [0, 0, 1]


@pytest.mark.usefixtures("one")
def test_a_cursor_that_makes_no_sense_begins_at_the_beginning(database: Database) -> None:
    for after in ("x", "a" * 32 + ".1.1", "1.2.3", "é"):
        assert [hit.address for hit in found(database, "apples", after=after).hits] == [
            "0-2",
            "0-0",
        ]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=30) | st.text("ab\"*-() :^~&|!<>\\'", max_size=20))
def test_no_query_is_an_error(database: Database, query: str) -> None:
    assert found(database, query).hits == []


@pytest.mark.parametrize("query", ["𞤀𞤁", "ﷺ" * 400, "a" * 400, "½", "x" + "ﷺ" * 300 + "*"])
def test_no_word_is_an_error(database: Database, query: str) -> None:
    assert found(database, query).hits == []


def test_what_is_stored_by_itself_is_found(database: Database) -> None:
    """A session without a transcript is none of search's business."""
    with database.session() as db:
        db.add(tables.Session(source="local", agent="codex", external_id="x", title="apples"))
    assert found(database, "apples").hits == []
