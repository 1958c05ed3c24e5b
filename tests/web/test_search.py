"""Search as a person meets it: the list, one session, where a hit leads."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.db.engine import Database
from app.mcp import registry
from app.transcripts.ingest import import_paths
from tests.transcripts.making import assistant, call, result, user

SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def session_id(client: TestClient, database: Database, tmp_path: Path) -> str:
    path = tmp_path / f"{SESSION}.jsonl"
    lines = (
        user("Please draw"),
        assistant({"type": "thinking", "thinking": "a hidden thought"}),
        call("t1", title="apples <b>&</b> pears"),
        result("t1", "the harvest"),
    )
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    import_paths(database, [path])
    found = re.search(r'href="/sessions/([0-9a-f]{32})"', client.get("/").text)
    assert found
    return found[1]


def test_a_hit_is_a_link_to_its_row(client: TestClient, session_id: str) -> None:
    page = client.get("/", params={"q": "harvest"}).text
    link = f"/sessions/{session_id}?at=0-2#0-2"
    assert f'href="{link}"' in page
    assert "the <mark>harvest</mark>" in page
    row = re.search(r'<details[^>]*id="call-0-2"[^>]*>', client.get(link).text)
    assert row is not None
    assert row[0].endswith(" open>")


def test_what_only_verbose_shows_is_linked_at_verbose(client: TestClient, session_id: str) -> None:
    page = client.get("/", params={"q": "hidden"}).text
    assert f'href="/sessions/{session_id}?level=verbose&amp;at=0-1#0-1"' in page


def test_a_snippet_is_only_text(client: TestClient, session_id: str) -> None:
    page = client.get("/", params={"q": '"b"'}).text
    assert session_id in page
    assert "&lt;<mark>b</mark>&gt;&amp;&lt;/<mark>b</mark>&gt;" in page
    assert "<b>&" not in page


def test_one_session_is_searched_from_its_page(client: TestClient, session_id: str) -> None:
    page = client.get(f"/sessions/{session_id}").text
    assert f'action="/sessions/{session_id}/search"' in page
    found = client.get(f"/sessions/{session_id}/search", params={"q": "pears"})
    assert found.status_code == 200
    assert "<mark>pears</mark>" in found.text
    assert 'value="pears"' in found.text
    nothing = client.get(f"/sessions/{session_id}/search", params={"q": "nowhere"}).text
    assert "Nothing found" in nothing
    assert client.get(f"/sessions/{'0' * 32}/search", params={"q": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("filters", "hits"),
    [
        ({}, 1),
        ({"server": "probe"}, 1),
        ({"server": "other"}, 0),
        ({"tool": "structured"}, 1),
        ({"view": "on"}, 0),
        ({"error": "on"}, 0),
        ({"from": "2026-11-30", "to": "2026-11-30"}, 1),
        ({"from": "2026-12-01"}, 0),
        ({"from": "yesterday", "to": "0000-00-00"}, 1),
        ({"folder": "/home/dev/project"}, 1),
        ({"folder": "/else"}, 0),
        ({"agent": "codex"}, 0),
    ],
)
@pytest.mark.usefixtures("session_id")
def test_filters(client: TestClient, filters: dict[str, str], hits: int) -> None:
    page = client.get("/", params={"q": "apples"} | filters).text
    assert page.count('class="hit"') == hits
    listed = client.get("/", params=filters).text
    assert listed.count('class="session-item"') == hits


@pytest.mark.parametrize(
    "query",
    ["*", '"', '""', "-", "a AND", "NEAR(", "'; DROP TABLE x", "\0", "x" * 5_000, "é*", ":*", "!"],
)
@pytest.mark.usefixtures("session_id")
def test_no_query_is_an_error(client: TestClient, query: str) -> None:
    for address in ("/", f"/sessions/{'0' * 32}/search"):
        assert client.get(address, params={"q": query, "after": "x"}).status_code in (200, 404)


@pytest.mark.usefixtures("session_id")
def test_a_query_that_asks_for_nothing_says_so(client: TestClient) -> None:
    assert "Type at least one word" in client.get("/", params={"q": "-apples"}).text


def test_older_hits_are_a_page_further(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(b"".join(user(f"many n{number}") + b"\n" for number in range(25)))
    import_paths(database, [path])
    first = client.get("/", params={"q": "many", "agent": "claude-code"}).text
    assert "25 entries found" in first
    older = re.search(r'rel="next" href="(/[^"]+)"', first)
    assert older
    second = client.get(older[1].replace("&amp;", "&")).text
    assert (first.count('class="hit"'), second.count('class="hit"')) == (20, 5)
    assert "agent=claude-code" in older[1]
    assert 'rel="next"' not in second


def test_search_needs_a_sign_in(visitor: TestClient) -> None:
    for address in ("/?q=x", f"/sessions/{'0' * 32}/search?q=x"):
        assert visitor.get(address, headers={"Accept": "text/html"}).status_code in (303, 401)


def test_a_server_that_is_a_program_does_not_break_the_search_for_views(
    client: TestClient, database: Database, session_id: str
) -> None:
    with database.session() as db:
        registry.add_server(db, "program", "", registry.STDIO)
    assert client.get("/", params={"view": "on"}).status_code == 200
