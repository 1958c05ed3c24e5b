"""Signing in where there is more than one person: names, links, and what a guess takes."""

import logging
from typing import Literal

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from app.db.engine import Database
from app.db.tables import Role
from app.web.auth import issue_sign_in_link, passwords, users
from tests.web.conftest import ORIGIN

MINE = "correct horse battery"
HERS = "another horse entirely"


@pytest.fixture
def known(visitor: TestClient, database: Database, quick_hashing: PasswordHasher) -> TestClient:
    """The operator and anna, a viewer, each with a password."""
    visitor.headers.update(ORIGIN)
    with database.session() as db:
        users.operator(db)
        users.add(db, "anna", Role.VIEWER)
        users.add(db, "bert", Role.VIEWER)
    passwords.reset(database, MINE)
    passwords.reset(database, HERS, "anna")
    return visitor


def who(client: TestClient) -> str:
    return client.get("/settings/account").text.split("<strong>")[1].split("<")[0]


def test_a_name_is_asked_for_only_where_one_is_needed(
    visitor: TestClient, database: Database, quick_hashing: PasswordHasher
) -> None:
    field = '<label for="name">Name</label>'
    passwords.reset(database, MINE)
    assert field not in visitor.get("/sign-in").text
    with database.session() as db:
        users.add(db, "anna", Role.OPERATOR)
    assert field not in visitor.get("/sign-in").text
    passwords.reset(database, HERS, "anna")
    page = visitor.get("/sign-in").text
    assert field in page
    assert "anna" not in page
    # Nor is it said where hers is the only one.
    with database.session() as db:
        users.remove(db, users.named(db, "operator"))
    page = visitor.get("/sign-in").text
    assert field in page
    assert "anna" not in page


def test_each_signs_in_with_their_own(known: TestClient) -> None:
    for name, password in [("operator", MINE), ("anna", HERS), (" ANNA ", HERS)]:
        answer = known.post("/sign-in", data={"name": name, "password": password})
        assert answer.status_code == 303
        assert who(known) == name.strip().lower()


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("anna", MINE),
        ("operator", HERS),
        ("", HERS),
        ("bert", ""),
        ("bert", MINE),
        ("nobody", MINE),
        ("operator\0", MINE),
        ("x" * 2000, MINE),
        ("<b>", MINE),
    ],
)
def test_no_other_pair_signs_in_and_none_says_which_part_was_wrong(
    known: TestClient, name: str, password: str
) -> None:
    answer = known.post("/sign-in", data={"name": name, "password": password})
    assert answer.status_code == 401
    assert "This name and password do not belong together." in answer.text
    assert "<b>" not in answer.text.split("</form>")[0].split("<form")[1]
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("name", ["operator", "bert", "nobody", "", "no name\n"])
def test_a_guess_costs_one_hash_whatever_the_name(
    known: TestClient,
    database: Database,
    name: str,
    quick_hashing: PasswordHasher,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The work is counted, and not the time: that is what an answer's time is made of."""
    works: list[str] = []

    class Counting(PasswordHasher):
        def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
            works.append("hash")
            return super().hash(password, salt=salt)

        def verify(self, stored: str | bytes, password: str | bytes) -> Literal[True]:
            works.append("verify")
            return super().verify(stored, password)

    monkeypatch.setattr(passwords, "_hasher", Counting(time_cost=1, memory_cost=8, parallelism=1))
    assert known.post("/sign-in", data={"name": name, "password": "wrong"}).status_code == 401
    assert len(works) == 1


def test_a_wrong_name_is_not_logged(known: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    """People type their password there."""
    with caplog.at_level(logging.INFO):
        known.post("/sign-in", data={"name": "myp4ssw0rd", "password": "x"})
    assert "a wrong password was given" in caplog.text
    assert "myp4ssw0rd" not in caplog.text


def test_a_link_is_one_persons(known: TestClient, database: Database) -> None:
    for name in ("anna", "operator", "bert"):
        assert known.get(f"/sign-in/{issue_sign_in_link(database, name)}").status_code == 303
        assert who(known) == name
    known.get(f"/sign-in/{issue_sign_in_link(database)}")
    assert who(known) == "operator"


def test_a_password_ends_what_is_that_persons_and_nobody_elses(
    known: TestClient, database: Database
) -> None:
    annas, mine = issue_sign_in_link(database, "anna"), issue_sign_in_link(database)
    passwords.reset(database, "a third horse", "anna")
    assert known.get(f"/sign-in/{annas}").status_code == 410
    assert known.get(f"/sign-in/{mine}").status_code == 303


def test_somebody_removed_is_signed_out_at_once(known: TestClient, database: Database) -> None:
    known.get(f"/sign-in/{issue_sign_in_link(database, 'anna')}")
    left = issue_sign_in_link(database, "anna")
    with database.session() as db:
        users.remove(db, users.named(db, "anna"))
    assert known.get("/outbox").status_code == 401
    assert known.get(f"/sign-in/{left}").status_code == 410
