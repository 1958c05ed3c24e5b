"""``GET /api/v1/sessions``, as a program uses it."""

from datetime import datetime

from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database


def test_the_list_holds_what_is_documented(program: TestClient, session_id: str) -> None:
    body = program.get("/api/v1/sessions").json()
    assert {key: body[key] for key in ("page", "pages", "total")} == {
        "page": 1,
        "pages": 1,
        "total": 1,
    }
    (found,) = body["sessions"]
    assert set(found) == {
        "id", "agent", "external_id", "source", "title", "folder", "started_at", "updated_at",
        "entries", "tool_calls",
    }  # fmt: skip
    assert found["id"] == session_id
    assert (found["agent"], found["folder"]) == ("claude-code", "/home/dev/checkout")
    assert found["title"] == "How long will it last?"
    assert found["tool_calls"] == 1
    assert found["updated_at"].endswith("Z")
    assert datetime.fromisoformat(found["updated_at"]).tzinfo is not None


def test_the_list_is_paged_newest_first_and_searched(
    program: TestClient, database: Database, session_id: str
) -> None:
    with database.session() as db:
        for number in range(55):
            db.add(
                tables.Session(
                    agent="codex",
                    source="local",
                    external_id=f"x{number}",
                    title=f"Number {number}",
                    folder="/x",
                )
            )
    first = program.get("/api/v1/sessions").json()
    second = program.get("/api/v1/sessions", params={"page": 2}).json()
    assert (first["total"], first["pages"]) == (56, 2)
    assert [len(page["sessions"]) for page in (first, second)] == [50, 6]
    times = [one["updated_at"] for page in (first, second) for one in page["sessions"]]
    assert times == sorted(times, reverse=True)
    assert program.get("/api/v1/sessions", params={"page": 99}).json()["page"] == 2
    found = program.get("/api/v1/sessions", params={"q": "long will"}).json()
    assert [one["id"] for one in found["sessions"]] == [session_id]


def test_one_session_has_its_transcripts(
    program: TestClient, database: Database, session_id: str
) -> None:
    body = program.get(f"/api/v1/sessions/{session_id}").json()
    assert body["id"] == session_id
    with database.session() as db:
        entries = db.exec(select(tables.Transcript.entry_count)).one()
    assert body["transcripts"] == [{"number": 0, "agent_id": "", "entries": entries}]


def test_errors_are_json_whatever_is_accepted(program: TestClient) -> None:
    html = {"Accept": "text/html"}
    gone = program.get("/api/v1/sessions/nothing", headers=html)
    assert gone.json() == {"error": {"code": 404, "message": "There is no such session."}}
    nowhere = program.get("/api/v1/nowhere", headers=html)
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, 404)
    odd = program.get("/api/v1/sessions?page=x", headers=html)
    assert (odd.status_code, odd.json()["error"]["code"]) == (422, 422)
    method = program.post("/api/v1/sessions", headers=html)
    assert (method.status_code, method.json()["error"]["code"]) == (405, 405)
