"""The list of sessions."""

from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database


def add(database: Database, title: str, *, days: int = 0, **more: str) -> str:
    row = tables.Session(
        source="local",
        agent=more.get("agent", "claude-code"),
        external_id="x",
        title=title,
        folder=more.get("folder", "/home/dev/shop"),
        updated_at=tables.now() - timedelta(days=days),
    )
    with database.session() as db:
        db.add(row)
    return row.id


def test_an_empty_list_says_how_to_fill_it(client: TestClient) -> None:
    page = client.get("/").text
    assert "vitrine import ~/.claude/projects ~/.codex/sessions" in page
    assert 'role="search"' not in page


def test_newest_first_with_a_link_each(client: TestClient, database: Database) -> None:
    ids = [add(database, f"Number {days}", days=days) for days in (2, 0, 1)]
    page = client.get("/").text
    assert page.index("Number 0") < page.index("Number 1") < page.index("Number 2")
    for session_id in ids:
        assert f'href="/sessions/{session_id}"' in page
    assert "3 sessions" in page


def test_search_finds_titles_and_folders(client: TestClient, database: Database) -> None:
    add(database, "Fix the export")
    add(database, "Other", folder="/home/dev/EXPORTS")
    add(database, "Unrelated")
    page = client.get("/", params={"q": " export "}).text
    assert "Fix the export" in page
    assert "/home/dev/EXPORTS" in page
    assert "Unrelated" not in page
    assert 'value="export"' in page


def test_nothing_found_is_not_nothing_there(client: TestClient, database: Database) -> None:
    add(database, "Fix the export")
    page = client.get("/", params={"q": "100%_"}).text
    assert "Nothing found" in page
    assert "vitrine import" not in page


def test_the_agent_filter(client: TestClient, database: Database) -> None:
    add(database, "One of Claude")
    add(database, "One of Codex", agent="codex")
    page = client.get("/", params={"agent": "codex"}).text
    assert "One of Codex" in page
    assert "One of Claude" not in page
    assert '<option value="codex" selected>Codex</option>' in page


def test_pages_keep_the_search(client: TestClient, database: Database) -> None:
    for number in range(51):
        add(database, f"Export {number:02}", days=number)
    found = client.get("/", params={"q": "export"}).text
    assert 'href="/?q=export&amp;in=titles">All 51 sessions' in found
    assert "Export 04" in found
    assert "Export 05" not in found
    first = client.get("/", params={"q": "export", "in": "titles"}).text
    assert "Page 1 of 2" in first
    assert 'href="/?q=export&amp;in=titles&amp;page=2"' in first
    second = client.get("/", params={"q": "export", "in": "titles", "page": 2}).text
    assert "Export 50" in second
    assert 'href="/?q=export&amp;in=titles"' in second


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("a\u202eb\u200b", "a⟨U+202E⟩b⟨U+200B⟩"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ('" onmouseover="alert(1)', "&#34; onmouseover=&#34;alert(1)"),
        ("{{ 7*7 }}", "{{ 7*7 }}"),
    ],
)
def test_hostile_names_are_only_text(
    client: TestClient, database: Database, text: str, shown: str
) -> None:
    add(database, text, folder=text, agent=text[:30])
    page = client.get("/").text
    assert page.count(shown) >= 2
    assert text not in page.replace(shown, "")


def test_a_search_is_only_text(client: TestClient, database: Database) -> None:
    add(database, "x")
    page = client.get("/", params={"q": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in page
    assert "&#34;&gt;&lt;script&gt;" in page


def test_a_session_without_a_title_has_a_name(client: TestClient, database: Database) -> None:
    add(database, "  \n ")
    assert "Untitled session" in client.get("/").text


def test_navigation_marks_the_page(client: TestClient) -> None:
    assert '<a href="/" aria-current="page">Sessions</a>' in client.get("/").text
    outbox = client.get("/outbox").text
    assert '<a href="/outbox" aria-current="page">Outbox</a>' in outbox
    assert '<a href="/">Sessions</a>' in outbox
