"""The list of sessions."""

from collections.abc import Callable

import pytest

from app.db.engine import Database
from app.errors import NotFoundError
from app.transcripts import session_list, timeline
from app.transcripts.ingest import import_paths
from app.transcripts.search_filters import Filters
from app.transcripts.session_list import sessions
from tests.transcripts.conftest import Write
from tests.transcripts.making import user

Fill = Callable[[], None]


@pytest.fixture
def fill(database: Database, write: Write) -> Fill:
    def filler() -> None:
        for day, (title, folder) in enumerate(
            [
                ("Fix the Parser", "/home/dev/alpha"),
                ("100% done_ok", "/home/dev/beta"),
                ("Write docs", "/home/dev/ALPHA/docs"),
            ],
            start=1,
        ):
            at = f"2026-11-0{day}T00:00:00Z"
            name = f"{day}aaaaaaa-2222-4333-8444-555555555555.jsonl"
            import_paths(database, [write(user(title, cwd=folder, timestamp=at), name=name)])

    return filler


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", ["Write docs", "100% done_ok", "Fix the Parser"]),
        ("  ", ["Write docs", "100% done_ok", "Fix the Parser"]),
        ("parser", ["Fix the Parser"]),
        ("alpha", ["Write docs", "Fix the Parser"]),
        ("100%", ["100% done_ok"]),
        ("%", ["100% done_ok"]),
        ("_", ["100% done_ok"]),
        ("nothing", []),
        ("\0", []),
        ("' OR 1=1 --", []),
    ],
)
def test_search(database: Database, fill: Fill, query: str, titles: list[str]) -> None:
    fill()
    with database.session() as db:
        page = sessions(db, query=query)
    assert [row.title for row in page.rows] == titles
    assert (page.page, page.pages, page.total) == (1, 1, len(titles))


def test_agents(database: Database, fill: Fill) -> None:
    fill()
    with database.session() as db:
        assert timeline.agents(db) == ["claude-code"]
        assert sessions(db, filters=Filters(agent="claude-code")).total == 3
        assert sessions(db, filters=Filters(agent="codex")).total == 0


def test_pages(database: Database, fill: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_list, "PAGE_SIZE", 2)
    fill()
    with database.session() as db:
        pages = [sessions(db, page=number) for number in (-1, 1, 2, 99)]
    assert [len(page.rows) for page in pages] == [2, 2, 1, 1]
    assert [(page.page, page.pages, page.total) for page in pages] == [
        (1, 2, 3),
        (1, 2, 3),
        (2, 2, 3),
        (2, 2, 3),
    ]


def test_no_sessions(database: Database) -> None:
    with database.session() as db:
        page = sessions(db)
        assert (page.rows, page.page, page.pages, page.total) == ([], 1, 1, 0)
        assert timeline.transcripts(db, "x") == []
        with pytest.raises(NotFoundError):
            timeline.session(db, "x")
