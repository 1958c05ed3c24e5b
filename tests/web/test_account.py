"""Settings → Account: setting and changing the password, and the other browsers."""

import re

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.db.engine import Database
from app.web.auth import issue_sign_in_link, password_exists, passwords
from tests.web.conftest import ORIGIN

PASSWORD = "correct horse battery"
NEW = "another horse entirely"

pytestmark = pytest.mark.usefixtures("quick_hashing")


def change(client: TestClient, current: str, new: str, again: str | None = None) -> tuple[int, str]:
    form = {"current": current, "new": new, "again": new if again is None else again}
    answer = client.post("/settings/account/password", data=form)
    return answer.status_code, answer.headers.get("location", answer.text)


@pytest.fixture
def other(app: FastAPI, client: TestClient, database: Database) -> TestClient:
    """A second browser of the same person, signed in."""
    browser = TestClient(app, follow_redirects=False, headers=ORIGIN)
    assert browser.get(f"/sign-in/{issue_sign_in_link(database)}").status_code == 303
    assert browser.get("/outbox").status_code == 200
    return browser


def test_a_password_is_set_without_an_old_one(client: TestClient, database: Database) -> None:
    page = client.get("/settings/account").text
    assert "Set a password" in page
    assert 'id="current"' not in page
    assert "10 characters or more" in page
    assert change(client, "", PASSWORD) == (303, "/settings/account?notice=password")
    assert password_exists(database)
    page = client.get("/settings/account?notice=password").text
    assert "The password is set. Every other browser was signed out." in page
    assert "Change the password" in page
    assert 'id="current"' in page


def test_changing_it_asks_for_the_current_one(client: TestClient) -> None:
    change(client, "", PASSWORD)
    for wrong in ("", NEW):
        status, page = change(client, wrong, NEW)
        assert status == 403
        assert "This is not the current password." in page
        assert re.search(r'id="current"[^>]* aria-invalid="true"', page)
    client.cookies.clear()
    assert client.post("/sign-in", data={"password": NEW}).status_code == 401
    assert client.post("/sign-in", data={"password": PASSWORD}).status_code == 303
    assert change(client, PASSWORD, NEW)[0] == 303
    client.cookies.clear()
    assert client.post("/sign-in", data={"password": PASSWORD}).status_code == 401
    assert client.post("/sign-in", data={"password": NEW}).status_code == 303


@pytest.mark.parametrize(
    ("new", "again", "field", "said"),
    [
        ("short", None, "new", "A password has at least 10 characters."),
        ("x" * 1025, None, "new", "A password has at most 1,024 characters."),
        (PASSWORD, PASSWORD + "x", "again", "The two new passwords are not the same."),
        (PASSWORD, "", "again", "The two new passwords are not the same."),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_repeated(
    client: TestClient, database: Database, new: str, again: str | None, field: str, said: str
) -> None:
    status, page = change(client, "", new, again)
    assert status == 400
    assert re.search(
        rf'id="{field}"[^>]* aria-invalid="true"[^>]* aria-describedby="{field}-hint"', page
    )
    assert f'id="{field}-hint" role="alert">{said}<' in page
    assert new not in page
    assert not password_exists(database)


def test_this_browser_stays_signed_in_with_a_new_token_and_others_do_not(
    client: TestClient, other: TestClient
) -> None:
    before = client.cookies["vitrine"]
    change(client, "", PASSWORD)
    assert client.cookies["vitrine"] != before
    assert client.get("/outbox").status_code == 200
    assert other.get("/outbox").status_code == 401
    client.cookies.clear()
    client.cookies.set("vitrine", before)
    assert client.get("/outbox").status_code == 401


def test_a_refused_change_signs_nobody_out(client: TestClient, other: TestClient) -> None:
    assert change(client, "", PASSWORD, NEW)[0] == 400
    assert client.get("/outbox").status_code == 200
    assert other.get("/outbox").status_code == 200


def test_a_link_from_before_the_change_is_dead(client: TestClient, database: Database) -> None:
    link = issue_sign_in_link(database)
    change(client, "", PASSWORD)
    assert client.get(f"/sign-in/{link}").status_code == 410


def test_the_other_browsers_are_counted_and_signed_out(
    client: TestClient, other: TestClient
) -> None:
    assert "One other browser is signed in." in client.get("/settings/account").text
    answer = client.post("/settings/account/sign-out-others")
    assert answer.headers["location"] == "/settings/account?notice=signed-out"
    assert other.get("/outbox").status_code == 401
    page = client.get(answer.headers["location"]).text
    assert "Every other browser was signed out." in page
    assert "No other browser is signed in." in page


def test_a_password_cannot_be_guessed_at_a_signed_in_browser(
    client: TestClient, database: Database, quick_hashing: PasswordHasher
) -> None:
    change(client, "", PASSWORD)
    statuses = [change(client, "wrong", NEW)[0] for _ in range(10)]
    assert statuses == [403] * 9 + [429]
    assert change(client, PASSWORD, NEW)[0] == 429
    assert passwords.sign_in(database, PASSWORD, days=1, replacing=None) is not None


@pytest.mark.parametrize("path", ["password", "sign-out-others"])
def test_another_sites_form_changes_nothing(
    client: TestClient, other: TestClient, database: Database, path: str
) -> None:
    form = {"current": "", "new": PASSWORD, "again": PASSWORD}
    answer = client.post(
        f"/settings/account/{path}", data=form, headers={"Origin": "https://evil.example"}
    )
    assert answer.status_code == 403
    assert not password_exists(database)
    assert other.get("/outbox").status_code == 200
