"""``vitrine user …`` and ``vitrine token …``, as somebody on the machine uses them."""

import re

import pytest
from fastapi import FastAPI
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.db.tables import Role
from app.main import create_app
from app.settings import Settings
from app.web.auth import passwords, users
from tests.test_cli import LINK, PASSWORD, environment, run

__all__ = ["environment"]

pytestmark = pytest.mark.usefixtures("environment")
TOKEN = re.compile(r"^(vitrine_[\w-]{43})$", re.MULTILINE)


def role_of(database: Database, name: str) -> Role | None:
    with database.session() as db:
        found = users.find(db, name)
        return users.role_of(found) if found else None


@pytest.fixture
def app(environment: Settings) -> FastAPI:
    return create_app(environment)


@pytest.mark.parametrize(
    ("arguments", "role"),
    [
        ((), Role.VIEWER),
        (("--role", "viewer"), Role.VIEWER),
        (("--role", "operator"), Role.OPERATOR),
    ],
)
def test_a_person_is_added_and_their_link_is_theirs(
    app: FastAPI, database: Database, arguments: tuple[str, ...], role: Role
) -> None:
    status, said = run("user", "add", "Anna", *arguments)
    assert status == 0
    assert f"anna is {role} now." in said
    found = LINK.search(said)
    assert found
    assert role_of(database, "anna") is role
    with TestClient(app) as browser:
        browser.get(found.group().partition(":8420")[2])
        assert "<strong>anna</strong>" in browser.get("/settings/account").text


def test_the_first_person_stays_the_operator(database: Database) -> None:
    """Else the first one added would be taken for whom the start's link is."""
    run("user", "add", "anna", "--role", "operator")
    with database.session() as db:
        assert users.operator(db).name == "operator"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("add", "a b"), 1, "A name has 1 to 64 letters"),
        (("add", "operator"), 1, "There is somebody called operator already."),
        (("add", "anna", "--role", "root"), 2, "root"),
        (("role", "nobody", "viewer"), 1, "Nobody here is called nobody."),
        (("role", "operator", "viewer"), 1, "Somebody must be operator."),
        (("remove", "operator"), 1, "Somebody must be operator."),
        (("remove", "nobody"), 1, "Nobody here is called nobody."),
        (("password", "--name", "nobody"), 1, "Nobody here is called nobody."),
    ],
)
def test_what_cannot_be_is_a_sentence(
    database: Database, arguments: tuple[str, ...], status: int, said: str
) -> None:
    with database.session() as db:
        users.operator(db)
    code, output = run("user", *arguments, stdin=f"{PASSWORD}\n")
    assert code == status
    assert said in " ".join(output.split())
    assert "Traceback" not in output
    assert role_of(database, "operator") is Role.OPERATOR


def test_people_are_listed_changed_and_removed(database: Database) -> None:
    run("user", "add", "anna")
    assert run("user", "role", "anna", "operator") == (0, "anna is operator now.\n")
    assert run("user", "role", "operator", "viewer")[0] == 0
    passwords.reset(database, PASSWORD, "anna")
    status, said = run("user", "list")
    assert status == 0
    assert said.splitlines() == [
        "anna  operator  password  sign-ins: 0",
        "operator  viewer  no password  sign-ins: 0",
    ]
    assert run("user", "remove", "operator") == (0, "operator is removed.\n")
    assert role_of(database, "operator") is None


def test_a_password_and_a_link_are_somebodys(app: FastAPI, database: Database) -> None:
    run("user", "add", "anna")
    status, said = run("user", "password", "--name", "anna", stdin=f"{PASSWORD}\n")
    assert status == 0
    assert "The password of anna is set" in said
    sign_in = passwords.sign_in(database, PASSWORD, name="anna", days=1, replacing=None)
    assert sign_in is not None
    assert passwords.sign_in(database, PASSWORD, days=1, replacing=None) is None
    found = LINK.search(run("sign-in-link", "--name", "anna")[1])
    assert found
    with TestClient(app) as browser:
        browser.get(found.group().partition(":8420")[2])
        assert "<strong>anna</strong>" in browser.get("/settings/account").text
    assert run("sign-in-link", "--name", "bert") == (1, "Nobody here is called bert.\n")


def test_a_token_is_made_listed_and_revoked(app: FastAPI, database: Database) -> None:
    status, said = run("token", "create", "nightly", "--scope", "read")
    assert status == 0
    found = TOKEN.search(said)
    assert found
    assert "Of operator, ends " in said
    with TestClient(app, headers={"Authorization": f"Bearer {found[1]}"}) as program:
        assert program.get("/api/v1/sessions").status_code == 200
        status, listed = run("token", "list")
        assert status == 0
        token_id, rest = listed.strip().split("  ", 1)
        assert rest.startswith("nightly  operator  read  used ")
        assert found[1] not in listed
        assert run("token", "revoke", token_id) == (0, "The token nightly is revoked.\n")
        assert program.get("/api/v1/sessions").status_code == 401
    assert run("token", "revoke", token_id) == (1, "There is no such token.\n")


def test_a_token_may_be_anothers_and_never_end(database: Database) -> None:
    run("user", "add", "anna")
    said = run("token", "create", "x", "--scope", "read", "--name", "anna", "--days", "0")[1]
    assert "Of anna, never ends." in said
    with database.session() as db:
        assert db.exec(select(tables.ApiToken)).one().expires_at is None


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--scope", "push"), 1, "A token needs a scope, one of: read."),
        (("--scope", "root"), 2, "root"),
        ((), 2, "--scope"),
        (("--scope", "read", "--days", "-1"), 1, "ends after 1 to 3650 days"),
        (("--scope", "read", "--name", "nobody"), 1, "Nobody here is called nobody."),
    ],
)
def test_what_no_token_may_be_is_a_sentence(
    database: Database, arguments: tuple[str, ...], status: int, said: str
) -> None:
    code, output = run("token", "create", "x", *arguments)
    assert code == status
    assert said in " ".join(output.split())
    with database.session() as db:
        assert db.exec(select(tables.ApiToken)).all() == []


def test_with_a_proxys_sign_in_the_start_prints_no_link(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from app import cli

    monkeypatch.setenv("VITRINE_PROXY_USER_HEADER", "Remote-User")
    monkeypatch.setenv("VITRINE_PROXY_SIGN_IN_FROM", "127.0.0.1")
    cli._announce(Settings(), database)
    said = capsys.readouterr().out
    assert "Sign in through your reverse proxy" in said
    assert not LINK.search(said)


def test_two_settings_that_need_each_other_are_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VITRINE_PROXY_USER_HEADER", "Remote-User")
    status, said = run("user", "list")
    assert status == 2
    assert " ".join(said.split()) == (
        "VITRINE_PROXY_USER_HEADER needs VITRINE_PROXY_SIGN_IN_FROM as well."
    )
