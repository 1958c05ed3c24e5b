"""Downloads of what a transcript's file held."""

from pathlib import Path

import pytest
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.transcripts import chunks, files, raw
from app.transcripts.ingest import import_paths
from tests.transcripts.making import SESSION_ID, assistant, user

BROKEN = b'{"type":"user","message":{"cont\xff\xfe\x00'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "projects" / f"{SESSION_ID}.jsonl"
    found.parent.mkdir()
    return found


def load(database: Database, path: Path, *lines: bytes, tail: bytes = b"") -> str:
    path.write_bytes(b"".join(line + b"\n" for line in lines) + tail)
    import_paths(database, [path])
    with database.session() as db:
        return db.exec(select(tables.Session.id)).one()


def test_the_transcript_as_it_was(client: TestClient, database: Database, path: Path) -> None:
    session_id = load(database, path, user("é"), BROKEN, b"", assistant(), tail=b"not whole yet")
    answer = client.get(f"/sessions/{session_id}/raw/0")
    assert answer.content == path.read_bytes().removesuffix(b"not whole yet")
    assert answer.headers["content-length"] == str(len(answer.content))
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert (
        answer.headers["content-disposition"]
        == f'attachment; filename="transcript-{SESSION_ID}.jsonl"'
    )


def test_over_many_chunks(client: TestClient, database: Database, path: Path) -> None:
    lines = [user(f"{number} " + "x" * 50_000) for number in range(40)]
    session_id = load(database, path, *lines)
    assert client.get(f"/sessions/{session_id}/raw/0").content == path.read_bytes()


def test_the_line_of_an_entry(client: TestClient, database: Database, path: Path) -> None:
    session_id = load(database, path, user("one"), BROKEN, user("two"))
    page = client.get(f"/sessions/{session_id}").text
    assert f"/sessions/{session_id}/raw/0?at=0-1" in page
    answer = client.get(f"/sessions/{session_id}/raw/0", params={"at": "0-1"})
    assert answer.content == BROKEN
    assert f'"transcript-{SESSION_ID}-0-1.json"' in answer.headers["content-disposition"]


def test_a_line_that_is_too_large_to_be_looked_into(
    client: TestClient, database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (chunks, files):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", 100_000)
        monkeypatch.setattr(module, "PIECE_BYTES", 40_000)
    monkeypatch.setattr("app.transcripts.store.MAX_LINE_BYTES", 100_000)
    monkeypatch.setattr("app.transcripts.store.PIECE_BYTES", 40_000)
    large = user("x" * 300_000)
    session_id = load(database, path, user("one"), large, user("two"))
    answer = client.get(f"/sessions/{session_id}/raw/0", params={"at": "0-1"})
    assert answer.content == large
    assert client.get(f"/sessions/{session_id}/raw/0").content == path.read_bytes()


@pytest.mark.parametrize(
    "place",
    ["raw/1", "raw/999999999999", "raw/0?at=0-9", "raw/0?at=1-0", "raw/0?at=x", "raw/x", "raw/-1"],
)
def test_what_is_not_there(client: TestClient, database: Database, path: Path, place: str) -> None:
    session_id = load(database, path, user("one"))
    assert client.get(f"/sessions/{session_id}/{place}").status_code == 404
    assert client.get(f"/sessions/other/{place}").status_code == 404


def test_nobody_gets_it_without_signing_in(
    visitor: TestClient, database: Database, path: Path
) -> None:
    session_id = load(database, path, user("what was said"))
    answer = visitor.get(f"/sessions/{session_id}/raw/0")
    assert answer.status_code == 401
    assert b"what was said" not in answer.content


def test_a_file_s_name_is_clean(client: TestClient, database: Database, path: Path) -> None:
    """An agent's own id of its session is third-party text, and goes into a header."""
    session_id = load(database, path, user("one"))
    with database.session() as db:
        db.get_one(tables.Session, session_id).external_id = '../a"\r\nX: \u202e' + "b" * 300
    answer = client.get(f"/sessions/{session_id}/raw/0")
    name = answer.headers["content-disposition"].split('"')[1]
    assert name.startswith("transcript-a-X-bbb")
    assert len(name) < 120
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzX-.")


def test_it_breaks_off_rather_than_give_out_something_else(database: Database, path: Path) -> None:
    session_id = load(database, path, *(user("x" * 200_000) for _ in range(4)))
    with database.session() as db:
        part = raw.whole(db, session_id, 0)
    given = raw.pieces(database, part)
    assert next(given)
    load(database, path, user("another file now"))
    with pytest.raises(raw.ChangedError):
        list(given)
