"""Sign-in by a reverse proxy: believed on its own connections, and on no others."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.db.tables import Role
from app.main import create_app
from app.serving import outermost
from app.settings import Settings
from app.web.auth import issue_sign_in_link, logins, users
from app.web.auth.tokens import token_hash
from tests.web.conftest import ORIGIN

PROXY = "10.0.0.2"
Connect = Callable[..., TestClient]


@pytest.fixture
def connect(settings: Settings, database: Database) -> Any:
    """A browser whose requests come over a socket that ``peer`` holds."""
    with database.session() as db:
        users.operator(db)
        users.add(db, "anna", Role.VIEWER)
    stack = ExitStack()

    def make(peer: str = PROXY, **more: Any) -> TestClient:
        chosen = settings.model_copy(
            update={
                "proxy_user_header": "Remote-User",
                "proxy_sign_in_from": "10.0.0.2, fd00::/64",
                **more,
            }
        )
        app = create_app(chosen)
        stack.enter_context(TestClient(app))
        return TestClient(
            outermost(app, chosen), client=(peer, 1), headers=ORIGIN, follow_redirects=False
        )

    yield make
    stack.close()


def who(client: TestClient, *names: str | bytes, **headers: str) -> str | int:
    """The name that Vitrine knows the asker by, or the status that it answers."""
    sent: list[tuple[str, Any]] = [*ORIGIN.items(), *headers.items()]
    sent += [("Remote-User", name) for name in names]
    answer = client.get("/settings/account", headers=sent)
    if answer.status_code != 200:
        return answer.status_code
    return answer.text.split("<strong>")[1].split("<")[0]


def test_the_proxy_signs_in_whom_it_names(connect: Connect, database: Database) -> None:
    browser = connect()
    assert who(browser) == 401
    assert who(browser, "anna") == "anna"
    assert who(browser, " Anna ") == "anna"
    assert who(browser, "operator") == "operator"
    # No cookie was given: without the header nobody is anybody.
    assert not browser.cookies
    assert who(browser) == 401


def test_the_audit_trail_tells_of_it_once(connect: Connect, database: Database) -> None:
    browser = connect()
    for _ in range(3):
        who(browser, "anna")
    with database.session() as db:
        (event,) = db.exec(select(tables.AuditEvent)).all()
    assert (event.kind, event.person, event.about) == ("sign_in", "anna", "by the reverse proxy")
    assert event.count == 1


@pytest.mark.parametrize("peer", ["10.0.0.2", "::ffff:10.0.0.2", "fd00::1"])
def test_its_networks_are_believed(connect: Connect, peer: str) -> None:
    assert who(connect(peer), "anna") == "anna"


@pytest.mark.parametrize(
    "peer", ["10.0.0.3", "127.0.0.1", "::1", "fd00:0:0:1::1", "203.0.113.1", "testclient", ""]
)
def test_anybody_else_is_not(connect: Connect, peer: str) -> None:
    assert who(connect(peer), "operator") == 401


@pytest.mark.parametrize("trusted", ["", "203.0.113.1", "0.0.0.0/0"])
def test_a_forwarded_address_is_not_the_sockets(connect: Connect, trusted: str) -> None:
    """Even where X-Forwarded-For is believed, and says that the proxy is asking."""
    stranger = connect("203.0.113.1", trusted_proxies=trusted)
    for header in ("X-Forwarded-For", "X-Real-IP", "Forwarded"):
        assert who(stranger, "operator", **{header: PROXY}) == 401


def test_a_trusted_proxy_that_names_its_client_stays_the_proxy(connect: Connect) -> None:
    browser = connect(trusted_proxies=PROXY)
    assert who(browser, "anna", **{"X-Forwarded-For": "203.0.113.7"}) == "anna"


def test_without_the_true_peer_nobody_is_believed(settings: Settings, database: Database) -> None:
    """As under a server that rewrites ``client`` and was not told to keep the peer."""
    update = {"proxy_user_header": "Remote-User", "proxy_sign_in_from": PROXY}
    app = create_app(settings.model_copy(update=update))
    with TestClient(app, client=(PROXY, 1)) as browser:
        assert who(browser, "operator") == 401


def test_it_is_off_until_it_is_set(settings: Settings) -> None:
    app = create_app(settings)
    with TestClient(outermost(app, settings), client=("127.0.0.1", 1)) as browser:
        assert who(browser, "operator") == 401


@pytest.mark.parametrize(
    "names", [("anna", "anna"), ("anna", "operator"), ("", "anna"), ("anna", "")]
)
def test_a_header_that_is_there_twice_is_refused(connect: Connect, names: tuple[str, ...]) -> None:
    assert who(connect(), *names) == 400


@pytest.mark.parametrize(
    "name", ["anna operator", "anna,operator", "<b>", "x" * 65, b"an\xe4", ".", "a/b"]
)
def test_what_is_no_name_is_refused(connect: Connect, name: str | bytes) -> None:
    assert who(connect(), name) == 400


def test_another_spelling_of_the_header_is_another_header(connect: Connect) -> None:
    assert who(connect(), Remote_User="operator") == 401
    assert who(connect(), **{"X-Remote-User": "operator"}) == 401


def test_somebody_unknown_is_refused_or_becomes_a_viewer(
    connect: Connect, database: Database
) -> None:
    refused = connect()
    assert who(refused, "bert") == 403
    assert "bert, who is not known here" in refused.get("/", headers={"Remote-User": "bert"}).text
    with database.session() as db:
        assert users.find(db, "bert") is None
    browser = connect(proxy_new_users="viewer")
    assert who(browser, "bert") == "bert"
    with database.session() as db:
        assert users.named(db, "bert").role == Role.VIEWER
    answer = browser.get("/settings/servers", headers={"Remote-User": "bert"})
    assert answer.status_code == 403


def test_the_proxys_word_comes_before_a_cookie(connect: Connect, database: Database) -> None:
    browser = connect()
    browser.get(f"/sign-in/{issue_sign_in_link(database)}")
    assert who(browser) == "operator"
    assert who(browser, "anna") == "anna"


def test_all_requests_of_a_person_are_one_sign_in_that_no_cookie_names(
    connect: Connect, database: Database
) -> None:
    browser = connect()
    assert who(browser, "anna") == who(browser, "anna") == "anna"
    with database.session() as db:
        (login,) = db.exec(select(tables.LoginSession)).all()
        assert logins.find(db, login.token_hash) is None
        assert login.token_hash != token_hash(login.token_hash)
    for guess in (login.token_hash, f"proxy:{login.user_id}", login.user_id):
        browser.cookies.set("vitrine", guess)
        assert who(browser) == 401


def test_signing_out_says_where(connect: Connect) -> None:
    browser = connect()
    answer = browser.post("/sign-out", headers={"Remote-User": "anna"})
    assert answer.status_code == 200
    assert "You are still signed in" in answer.text
    assert "A reverse proxy in front of Vitrine signs you in" in answer.text
    page = browser.get("/settings/account", headers={"Remote-User": "anna"}).text
    assert "by the reverse proxy" in page


def test_the_origin_is_checked_as_always(connect: Connect, database: Database) -> None:
    browser = connect()
    for origin in ("https://evil.example", "null"):
        answer = browser.post(
            "/settings/people",
            data={"name": "bert"},
            headers={"Remote-User": "operator", "Origin": origin},
        )
        assert answer.status_code == 403
    with database.session() as db:
        assert users.find(db, "bert") is None


def test_the_api_knows_no_such_sign_in(connect: Connect) -> None:
    answer = connect().get("/api/v1/sessions", headers={"Remote-User": "operator"})
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "header", ["Cookie", "host", "X-Forwarded-For", "a b", "a:b", "Remote_User"]
)
def test_a_header_that_others_send_cannot_be_the_one(header: str) -> None:
    with pytest.raises(ValueError, match="must be the name of a header"):
        Settings(proxy_user_header=header, proxy_sign_in_from=PROXY)


def test_a_header_without_an_address_stops_the_start() -> None:
    with pytest.raises(ValueError, match="VITRINE_PROXY_SIGN_IN_FROM"):
        Settings(proxy_user_header="Remote-User")
