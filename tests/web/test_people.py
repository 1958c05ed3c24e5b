"""Settings → People, as an operator uses it."""

import re

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.db.engine import Database
from app.db.tables import Role
from app.web.auth import users
from tests.web.conftest import ORIGIN

LINK = re.compile(r'id="new-link"[^>]*>(http://testserver(/sign-in/[\w-]{43}))<')


def person(database: Database, name: str) -> users.Person:
    with database.session() as db:
        return users.Person.of(users.named(db, name))


def add(client: TestClient, name: str, role: str = "viewer") -> str:
    """The path of the one-time link that the answer shows."""
    answer = client.post("/settings/people", data={"name": name, "role": role})
    assert answer.status_code == 200
    found = LINK.search(answer.text)
    assert found, answer.text
    return found[2]


@pytest.mark.parametrize("role", list(Role))
def test_a_person_is_added_and_comes_by_their_link(
    app: FastAPI, client: TestClient, database: Database, role: Role
) -> None:
    link = add(client, " Anna ", role)
    assert person(database, "anna").role is role
    browser = TestClient(app, follow_redirects=False, headers=ORIGIN)
    assert browser.get(link).status_code == 303
    assert browser.get("/outbox").status_code == 200
    settings = browser.get("/settings/people").status_code
    assert settings == (200 if role is Role.OPERATOR else 403)


def test_the_link_is_shown_once(client: TestClient) -> None:
    link = add(client, "anna")
    assert link not in client.get("/settings/people").text
    assert "anna" in client.get("/settings/people").text


def test_the_link_has_the_public_address(client: TestClient, app: FastAPI) -> None:
    app.state.settings = app.state.settings.model_copy(
        update={"public_url": "https://vitrine.example.org/base/"}
    )
    page = client.post("/settings/people", data={"name": "anna"}).text
    assert re.search(r">https://vitrine\.example\.org/base/sign-in/[\w-]{43}<", page)


@pytest.mark.parametrize(
    ("form", "status", "said"),
    [
        ({"name": ""}, 400, "A name has 1 to 64 letters"),
        ({"name": "<script>"}, 400, "A name has 1 to 64 letters"),
        ({"name": "operator"}, 409, "There is somebody called operator already."),
        ({"name": "anna", "role": "root"}, 400, "There is no such role."),
    ],
)
def test_what_is_wrong_is_said_beside_the_field(
    client: TestClient, form: dict[str, str], status: int, said: str
) -> None:
    answer = client.post("/settings/people", data=form)
    assert answer.status_code == status
    assert f'id="name-error" class="field-error" role="alert">{said}' in answer.text
    assert re.search(r'id="name"[^>]* aria-invalid="true"', answer.text)
    assert "<script>" not in answer.text.split("<main")[1]
    assert not LINK.search(answer.text)


def test_a_role_is_changed(client: TestClient, viewer: TestClient, database: Database) -> None:
    vera = person(database, "vera").id
    answer = client.post(f"/settings/people/{vera}/role", data={"role": "operator"})
    assert answer.headers["location"] == "/settings/people?notice=role"
    assert viewer.get("/settings/people").status_code == 200
    assert client.post(f"/settings/people/{vera}/role", data={"role": "x"}).status_code == 400


def test_somebody_gets_a_new_link(
    client: TestClient, viewer: TestClient, database: Database
) -> None:
    vera = person(database, "vera").id
    found = LINK.search(client.post(f"/settings/people/{vera}/link").text)
    assert found
    viewer.cookies.clear()
    assert viewer.get(found[2]).status_code == 303
    assert "<strong>vera</strong>" in viewer.get("/settings/account").text


def test_somebody_is_signed_out_everywhere(
    client: TestClient, viewer: TestClient, database: Database
) -> None:
    vera = person(database, "vera").id
    found = LINK.search(client.post(f"/settings/people/{vera}/link").text)
    assert found
    assert client.post(f"/settings/people/{vera}/sign-out").status_code == 303
    assert viewer.get("/outbox").status_code == 401
    assert viewer.get(found[2]).status_code == 410
    assert client.get("/outbox").status_code == 200


def test_somebody_is_removed(client: TestClient, viewer: TestClient, database: Database) -> None:
    vera = person(database, "vera").id
    answer = client.post(f"/settings/people/{vera}/remove")
    assert answer.headers["location"] == "/settings/people?notice=person-removed"
    assert viewer.get("/outbox").status_code == 401
    assert ">vera<" not in client.get("/settings/people").text
    assert client.post(f"/settings/people/{vera}/remove").status_code == 404


@pytest.mark.parametrize("what", ["role", "remove", "sign-out", "link"])
def test_nobody_does_it_to_themselves(client: TestClient, database: Database, what: str) -> None:
    """So that an operator is always left, and finds out before they are shut out."""
    me = person(database, "operator").id
    answer = client.post(f"/settings/people/{me}/{what}", data={"role": "viewer"})
    assert answer.status_code == 400
    assert "This is yourself." in answer.text
    assert person(database, "operator").is_operator
    assert client.get("/settings/people").status_code == 200


@pytest.mark.parametrize("user_id", ["x", "0" * 32, "%00", "%ED%A0%80", "../x"])
def test_somebody_who_is_not_there_is_not_found(client: TestClient, user_id: str) -> None:
    answer = client.post(f"/settings/people/{user_id}/role", data={"role": "viewer"})
    assert answer.status_code == 404
