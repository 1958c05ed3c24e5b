"""The sign-in form: what it lets in, how often, and where it leads."""

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlmodel import select
from starlette.requests import Request
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.main import create_app
from app.web.auth import issue_sign_in_link, passwords, throttle
from app.web.auth.next_page import is_own_page
from tests.web.conftest import ORIGIN

PASSWORD = "correct horse battery"


@pytest.fixture
def known(visitor: TestClient, database: Database, quick_hashing: PasswordHasher) -> TestClient:
    """A visitor of a Vitrine that has a password; requests say that they are its own page's."""
    passwords.reset(database, PASSWORD)
    visitor.headers.update(ORIGIN)
    return visitor


def test_the_page_shows_the_form_once_there_is_a_password(
    visitor: TestClient, database: Database, quick_hashing: PasswordHasher
) -> None:
    assert 'type="password"' not in visitor.get("/sign-in").text
    passwords.reset(database, PASSWORD)
    for path in ("/sign-in", "/outbox"):
        page = visitor.get(path).text
        assert 'type="password"' in page
        assert 'autocomplete="current-password"' in page
        assert "Every start prints one" not in page
        assert "vitrine user password" in page
        assert "<script" not in page


def test_the_password_signs_in(known: TestClient) -> None:
    answer = known.post("/sign-in", data={"password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert known.get("/outbox").status_code == 200


@pytest.mark.parametrize("password", ["", "wrong", PASSWORD + "x", "x" * 3000])
def test_another_one_does_not(known: TestClient, password: str) -> None:
    answer = known.post("/sign-in", data={"password": password})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "This is not the password." in answer.text
    assert 'type="password"' in answer.text
    if password:
        assert password not in answer.text
    assert known.get("/outbox").status_code == 401


def test_a_form_without_the_field_is_a_wrong_password(known: TestClient) -> None:
    assert known.post("/sign-in", data={}).status_code == 401


def test_before_there_is_a_password_none_is_right(
    visitor: TestClient, quick_hashing: PasswordHasher
) -> None:
    answer = visitor.post("/sign-in", data={"password": ""}, headers=ORIGIN)
    assert answer.status_code == 401
    assert "vitrine sign-in-link" in answer.text


@pytest.mark.parametrize("origin", ["https://evil.example", "null", ""])
def test_another_sites_form_signs_nobody_in(known: TestClient, origin: str) -> None:
    headers = {"Origin": origin}
    answer = known.post("/sign-in", data={"password": PASSWORD}, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_sign_in_replaces_the_token_that_the_browser_held(
    known: TestClient, database: Database
) -> None:
    known.cookies.set("vitrine", "planted")
    known.post("/sign-in", data={"password": PASSWORD})
    first = known.cookies.get("vitrine", domain="testserver.local")
    assert first not in (None, "planted")
    known.post("/sign-in", data={"password": PASSWORD})
    second = known.cookies.get("vitrine", domain="testserver.local")
    assert second not in (first, "planted")
    with database.session() as db:
        assert len(db.exec(select(tables.LoginSession)).all()) == 1


def test_a_link_still_signs_in_beside_the_password(known: TestClient, database: Database) -> None:
    assert known.get(f"/sign-in/{issue_sign_in_link(database)}").status_code == 303


def test_attempts_are_counted_for_each_client_and_for_all(app: FastAPI, known: TestClient) -> None:
    def tried(address: str, password: str = "wrong") -> int:
        with_address = TestClient(app, client=(address, 1), follow_redirects=False)
        answer = with_address.post("/sign-in", data={"password": password}, headers=ORIGIN)
        return answer.status_code

    assert [tried("192.0.2.1") for _ in range(11)] == [401] * 10 + [429]
    # The right password does not help either, else the limit would only slow the guesses down.
    assert tried("192.0.2.1", PASSWORD) == 429
    # One that is refused uses up nobody else's attempts.
    for _ in range(30):
        assert tried("192.0.2.1") == 429
    assert [tried("192.0.2.2") for _ in range(10)] == [401] * 10
    assert [tried("192.0.2.3") for _ in range(11)] == [401] * 10 + [429]
    assert tried("192.0.2.4", PASSWORD) == 429
    assert known.get("/sign-in").status_code == 200


def test_too_many_attempts_are_said_in_a_sentence(known: TestClient) -> None:
    for _ in range(10):
        known.post("/sign-in", data={"password": "wrong"})
    answer = known.post("/sign-in", params={"next": "/outbox"}, data={"password": PASSWORD})
    assert answer.status_code == 429
    assert "Too many attempts. Wait a minute" in answer.text
    assert 'action="/sign-in?next=%2Foutbox"' in answer.text
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert "set-cookie" not in answer.headers


def test_two_applications_do_not_share_their_limits(known: TestClient, app: FastAPI) -> None:
    for _ in range(11):
        known.post("/sign-in", data={"password": "wrong"})
    with TestClient(create_app(app.state.settings)) as other:
        answer = other.post("/sign-in", data={"password": "wrong"}, headers=ORIGIN)
        assert answer.status_code == 401


@pytest.mark.parametrize(
    ("addresses", "same"),
    [
        (("2001:db8::1", "2001:db8::ffff:1"), True),
        (("2001:db8:0:1::1", "2001:db8:0:2::1"), False),
        (("::ffff:192.0.2.1", "192.0.2.1"), True),
        (("192.0.2.1", "192.0.2.2"), False),
        (("testclient", "<script>"), True),
    ],
)
def test_who_counts_as_one_client(addresses: tuple[str, str], same: bool) -> None:
    keys = {
        throttle.client(Request({"type": "http", "headers": [], "client": (address, 1)}))
        for address in addresses
    }
    assert (len(keys) == 1) is same
    assert "" not in keys


def test_a_refused_page_is_where_the_sign_in_leads(known: TestClient) -> None:
    page = known.get("/settings/servers?name=a%20b").text
    action = 'action="/sign-in?next=%2Fsettings%2Fservers%3Fname%3Da%2520b"'
    assert action in page
    answer = known.post(
        "/sign-in", params={"next": "/settings/servers?name=a%20b"}, data={"password": PASSWORD}
    )
    assert answer.headers["location"] == "/settings/servers?name=a%20b"


def test_a_part_of_a_page_leads_back_to_the_page(known: TestClient) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/sessions/x?level=verbose"}
    answer = known.get("/sessions/x/entries", headers=headers)
    assert answer.headers["hx-redirect"] == "/sign-in?next=%2Fsessions%2Fx%3Flevel%3Dverbose"


EVIL = [
    "//evil.example",
    "///evil.example",
    "https://evil.example/",
    "https:evil.example",
    "javascript:alert(1)",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/a\r\nSet-Cookie: x=y",
    "evil.example",
    "@evil.example",
    ".evil.example",
    "/a//evil.example",
    "/..//evil.example",
    "/%2e%2e//evil.example",
    "/./outbox",
    "/a/../outbox",
    "/a/%2E%2e/outbox",
    "/sign-in/token",
    "/sign-in",
    "/sign-out",
    "/%73ign-in/token",
    "/fragments/x",
    "/static/x",
    "/outbox#x",
    "/öutbox",
    "/" + "a" * 2001,
    "/" + "a" * 1500 + "!\0",
]


@pytest.mark.parametrize("address", EVIL)
def test_no_other_address_is_followed(known: TestClient, address: str) -> None:
    answer = known.post("/sign-in", params={"next": address}, data={"password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "next=" not in known.get("/sign-in", params={"next": address}).text


@pytest.mark.parametrize(
    ("base", "address", "own"),
    [
        ("", "/outbox", True),
        ("", "/outbox?a=/../x&b=//y", True),
        ("", "/", True),
        ("", "", False),
        ("/apps/vitrine", "/apps/vitrine/outbox", True),
        ("/apps/vitrine", "/apps/vitrine/", True),
        ("/apps/vitrine", "/apps/vitrine", False),
        ("/apps/vitrine", "/apps/vitrine2/outbox", False),
        ("/apps/vitrine", "/apps/vitrine/sign-in/x", False),
        ("/apps/vitrine", "/apps/vitrine/../other", False),
        ("/apps/vitrine", "/outbox", False),
    ],
)
def test_what_is_below_the_base_path_is_ours(base: str, address: str, own: bool) -> None:
    assert is_own_page(base, address) is own


@pytest.fixture
def based(app: FastAPI, known: TestClient) -> Iterator[TestClient]:
    with TestClient(app, root_path="/apps/v", follow_redirects=False, headers=ORIGIN) as client:
        yield client


def test_with_a_base_path_the_sign_in_leads_below_it(based: TestClient) -> None:
    page = based.get("/apps/v/outbox").text
    assert 'action="/apps/v/sign-in?next=%2Fapps%2Fv%2Foutbox"' in page
    for address, leads_to in [("/apps/v/outbox", "/apps/v/outbox"), ("/outbox", "/apps/v/")]:
        answer = based.post(
            "/apps/v/sign-in", params={"next": address}, data={"password": PASSWORD}
        )
        assert answer.headers["location"] == leads_to
