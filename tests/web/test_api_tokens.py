"""Settings → API tokens, as an operator uses it."""

import re

import pytest
from fastapi import FastAPI
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database

SHOWN = re.compile(r'id="new-token"[^>]*>(vitrine_[\w-]{43})<')
FORM = {"name": "Nightly report", "scope": "read", "days": "90"}


def test_a_token_is_shown_once_and_works(client: TestClient, app: FastAPI) -> None:
    page = client.post("/settings/api-tokens", data=FORM).text
    found = SHOWN.search(page)
    assert found
    program = TestClient(app, headers={"Authorization": f"Bearer {found[1]}"})
    assert program.get("/api/v1/sessions").status_code == 200
    again = client.get("/settings/api-tokens").text
    assert found[1] not in again
    assert "Nightly report" in again
    assert "of operator" in again


def test_a_token_is_revoked(client: TestClient, app: FastAPI, database: Database) -> None:
    found = SHOWN.search(client.post("/settings/api-tokens", data=FORM).text)
    assert found
    with database.session() as db:
        token_id = db.exec(select(tables.ApiToken.id)).one()
    answer = client.post(f"/settings/api-tokens/{token_id}/revoke")
    assert answer.headers["location"] == "/settings/api-tokens?notice=token-revoked"
    program = TestClient(app, headers={"Authorization": f"Bearer {found[1]}"})
    assert program.get("/api/v1/sessions").status_code == 401
    assert client.post(f"/settings/api-tokens/{token_id}/revoke").status_code == 404


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": " "}, "A token needs a name"),
        ({"name": "x" * 65}, "A token needs a name"),
        ({"scope": ""}, "A token needs a scope, one of: read."),
        ({"scope": "push"}, "A token needs a scope, one of: read."),
        ({"scope": "root"}, "A token needs a scope, one of: read."),
        ({"scope": ["read", "root"]}, "A token needs a scope, one of: read."),
        ({"days": "x"}, "is a number of days"),
        ({"days": "0"}, "ends after 1 to 3650 days"),
        ({"days": "99999"}, "ends after 1 to 3650 days"),
    ],
)
def test_what_is_wrong_is_said(
    client: TestClient, database: Database, change: dict[str, object], said: str
) -> None:
    answer = client.post("/settings/api-tokens", data=FORM | change)
    assert answer.status_code == 400
    assert said in answer.text
    assert not SHOWN.search(answer.text)
    with database.session() as db:
        assert db.exec(select(tables.ApiToken)).all() == []


def test_a_token_may_never_end(client: TestClient) -> None:
    assert "never ends" in client.post("/settings/api-tokens", data=FORM | {"days": ""}).text


def test_the_database_holds_only_the_hash(client: TestClient, database: Database) -> None:
    found = SHOWN.search(client.post("/settings/api-tokens", data=FORM).text)
    assert found
    with database.session() as db:
        row = db.exec(select(tables.ApiToken)).one()
    assert found[1] not in repr(row.model_dump())
    assert re.fullmatch(r"[0-9a-f]{64}", row.token_hash)


def test_a_name_is_only_text(client: TestClient) -> None:
    page = client.post("/settings/api-tokens", data=FORM | {"name": "<b>a\u202e\0"}).text
    assert "<b>" not in page.split("<main")[1]
    assert "\u202e" not in page
