"""Deleting a session or a project in the browser."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.db.engine import Database
from app.transcripts.ingest import import_paths
from app.web import highlight, markdown
from tests.transcripts.indexed import indexed
from tests.transcripts.making import assistant, user

SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def session_id(client: TestClient, database: Database, tmp_path: Path) -> str:
    path = tmp_path / f"{SESSION}.jsonl"
    code = {"type": "text", "text": "```python\nprint('zebrafish')\n```"}
    path.write_bytes(user("Please zebrafish") + b"\n" + assistant(code) + b"\n")
    import_paths(database, [path])
    found = re.search(r'href="/sessions/([0-9a-f]{32})"', client.get("/").text)
    assert found
    return found[1]


def test_a_session_is_deleted_after_it_was_asked(
    client: TestClient, database: Database, session_id: str
) -> None:
    page = client.get(f"/sessions/{session_id}").text
    form = re.search(
        rf'<details class="confirm">.*?action="/sessions/{session_id}/delete"', page, re.S
    )
    assert form
    gone = client.post(f"/sessions/{session_id}/delete")
    assert (gone.status_code, gone.headers["location"]) == (303, "/?notice=deleted")
    assert "Deleted." in client.get("/?notice=deleted").text
    assert client.get(f"/sessions/{session_id}").status_code == 404
    assert client.post(f"/sessions/{session_id}/delete").status_code == 404
    assert "Nothing found" in client.get("/", params={"q": "zebrafish"}).text
    assert indexed(database) == {}


def test_what_was_rendered_of_it_is_forgotten(client: TestClient, session_id: str) -> None:
    client.get(f"/sessions/{session_id}")
    assert any("zebrafish" in html for html in markdown._KEPT.values())
    assert any("zebrafish" in html for html in highlight._KEPT.values())
    client.post(f"/sessions/{session_id}/delete")
    assert not markdown._KEPT
    assert not highlight._KEPT


def test_a_project_is_deleted_from_its_list(client: TestClient, session_id: str) -> None:
    folder = "/home/dev/project"
    assert "Delete this project" not in client.get("/").text
    # Only where all of its sessions are listed.
    narrowed = client.get("/", params={"folder": folder, "agent": "claude-code"}).text
    assert "Delete this project" not in narrowed
    page = client.get("/", params={"folder": folder}).text
    assert "Delete this project" in page
    assert client.post("/projects/delete", data={"folder": folder}).status_code == 303
    assert client.get(f"/sessions/{session_id}").status_code == 404


def test_another_site_deletes_nothing(client: TestClient, session_id: str) -> None:
    foreign = {"Origin": "http://evil.example"}
    assert client.post(f"/sessions/{session_id}/delete", headers=foreign).status_code == 403
    answer = client.post("/projects/delete", data={"folder": "/home/dev/project"}, headers=foreign)
    assert answer.status_code == 403
    assert client.get(f"/sessions/{session_id}").status_code == 200


def test_nobody_deletes_without_a_sign_in(visitor: TestClient) -> None:
    for address in (f"/sessions/{'0' * 32}/delete", "/projects/delete"):
        answer = visitor.post(address, headers={"Origin": "http://testserver"})
        assert answer.status_code in (303, 401)
