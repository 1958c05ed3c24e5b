"""One-time links: good once, for a day, and only for a person who opens them."""

from datetime import timedelta
from hashlib import sha256

import pytest
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.settings import Settings
from app.web.auth import issue_sign_in_link, links
from app.web.auth.tokens import token_hash

COOKIE = "vitrine"
ORIGIN = {"Origin": "http://testserver"}


def test_a_link_signs_in_and_leads_to_the_sessions(visitor: TestClient, database: Database) -> None:
    answer = visitor.get(f"/sign-in/{issue_sign_in_link(database)}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert visitor.get("/outbox").status_code == 200


def test_a_link_works_once(visitor: TestClient, database: Database) -> None:
    token = issue_sign_in_link(database)
    visitor.get(f"/sign-in/{token}")
    visitor.cookies.clear()
    again = visitor.get(f"/sign-in/{token}")
    assert again.status_code == 410
    assert "set-cookie" not in again.headers
    assert "vitrine sign-in-link" in again.text
    assert visitor.get("/outbox").status_code == 401


def test_only_one_of_two_requests_with_a_link_wins(database: Database) -> None:
    token = issue_sign_in_link(database)
    with database.session() as db:
        first = links.consume(db, token)
    with database.session() as db:
        second = links.consume(db, token)
    assert first is not None
    assert second is None


def test_a_link_older_than_a_day_does_nothing(visitor: TestClient, database: Database) -> None:
    token = issue_sign_in_link(database)
    with database.session() as db:
        row = db.get(tables.SignInLink, token_hash(token))
        assert row is not None
        assert row.expires_at - tables.now() > timedelta(hours=23, minutes=59)
        row.expires_at = tables.now() - timedelta(seconds=1)
        db.add(row)
    assert visitor.get(f"/sign-in/{token}").status_code == 410


def test_an_unknown_link_does_nothing(visitor: TestClient) -> None:
    assert visitor.get("/sign-in/" + "A" * 43).status_code == 410
    assert not visitor.cookies


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}, {"X-Moz": "prefetch"}],
)
def test_fetching_ahead_does_not_use_a_link_up(
    visitor: TestClient, database: Database, headers: dict[str, str]
) -> None:
    token = issue_sign_in_link(database)
    ahead = visitor.get(f"/sign-in/{token}", headers=headers)
    assert ahead.status_code == 503
    assert "set-cookie" not in ahead.headers
    assert visitor.get(f"/sign-in/{token}").status_code == 303


def test_head_does_not_use_a_link_up(visitor: TestClient, database: Database) -> None:
    token = issue_sign_in_link(database)
    assert visitor.head(f"/sign-in/{token}").status_code == 405
    assert visitor.get(f"/sign-in/{token}").status_code == 303


def test_the_database_holds_only_hashes(visitor: TestClient, database: Database) -> None:
    token = issue_sign_in_link(database)
    visitor.get(f"/sign-in/{token}")
    cookie = visitor.cookies[COOKIE]
    with database.session() as db:
        assert db.exec(select(tables.SignInLink.token_hash)).all() == [
            sha256(token.encode()).hexdigest()
        ]
        assert db.exec(select(tables.LoginSession.token_hash)).all() == [
            sha256(cookie.encode()).hexdigest()
        ]
    assert len(token) >= 43
    assert len(cookie) >= 43


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(
    visitor: TestClient, database: Database
) -> None:
    cookie = visitor.get(f"/sign-in/{issue_sign_in_link(database)}").headers["set-cookie"]
    assert cookie.startswith("vitrine=")
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= parts
    assert "secure" not in parts
    assert not any(part.startswith("domain") for part in parts)


def test_under_tls_the_cookie_is_bound_to_host_and_transport(
    visitor: TestClient, database: Database
) -> None:
    visitor.base_url = "https://testserver"
    cookie = visitor.get(f"/sign-in/{issue_sign_in_link(database)}").headers["set-cookie"]
    assert cookie.startswith("__Host-vitrine=")
    assert "; Secure" in cookie
    assert visitor.get("/outbox").status_code == 200


def test_two_ports_of_one_host_keep_their_own_cookies(
    visitor: TestClient, database: Database
) -> None:
    answer = visitor.get(
        f"/sign-in/{issue_sign_in_link(database)}", headers={"Host": "127.0.0.1:8420"}
    )
    assert answer.headers["set-cookie"].startswith("vitrine-8420=")


def test_signing_in_again_ends_the_earlier_sign_in(visitor: TestClient, database: Database) -> None:
    visitor.get(f"/sign-in/{issue_sign_in_link(database)}")
    before = visitor.cookies[COOKIE]
    visitor.get(f"/sign-in/{issue_sign_in_link(database)}")
    after = visitor.cookies[COOKIE]
    assert before != after
    visitor.cookies.clear()
    visitor.cookies.set(COOKIE, before)
    assert visitor.get("/outbox").status_code == 401


def test_a_planted_cookie_is_never_adopted(visitor: TestClient, database: Database) -> None:
    visitor.cookies.set(COOKIE, "chosen-by-an-attacker")
    answer = visitor.get(f"/sign-in/{issue_sign_in_link(database)}")
    assert "chosen-by-an-attacker" not in answer.headers["set-cookie"]
    visitor.cookies.clear()
    visitor.cookies.set(COOKIE, "chosen-by-an-attacker")
    assert visitor.get("/outbox").status_code == 401


def test_a_sign_in_ends_after_the_days_of_the_setting(
    client: TestClient, database: Database, settings: Settings
) -> None:
    with database.session() as db:
        login = db.exec(select(tables.LoginSession)).one()
        left = login.expires_at - tables.now()
        assert timedelta(days=settings.login_days - 1) < left <= timedelta(days=settings.login_days)
        login.expires_at = tables.now() - timedelta(seconds=1)
        db.add(login)
    assert client.get("/outbox").status_code == 401


def test_signing_out_ends_the_sign_in_everywhere(client: TestClient, database: Database) -> None:
    cookie = client.cookies[COOKIE]
    answer = client.post("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    client.cookies.set(COOKIE, cookie)
    assert client.get("/outbox").status_code == 401
    with database.session() as db:
        assert db.exec(select(tables.LoginSession)).all() == []


def test_all_links_sign_the_same_person_in(visitor: TestClient, database: Database) -> None:
    for _ in range(2):
        visitor.cookies.clear()
        visitor.get(f"/sign-in/{issue_sign_in_link(database)}")
    with database.session() as db:
        logins = db.exec(select(tables.LoginSession)).all()
        assert len(logins) == 2
        assert {login.user_id for login in logins} == {db.exec(select(tables.User.id)).one()}


def test_the_address_of_a_link_is_sent_to_nobody(visitor: TestClient, database: Database) -> None:
    token = issue_sign_in_link(database)
    for _ in ("used", "stale"):
        assert visitor.get(f"/sign-in/{token}").headers["referrer-policy"] == "no-referrer"


def test_the_sign_in_page_says_how_to_get_a_link(visitor: TestClient) -> None:
    page = visitor.get("/sign-in")
    assert page.status_code == 200
    assert "vitrine sign-in-link" in page.text
    assert "<script" not in page.text
