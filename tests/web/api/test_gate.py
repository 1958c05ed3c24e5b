"""The gate of ``/api/v1``: a token opens it and nothing else, a sign-in never does."""

import re
from datetime import timedelta

import pytest
from fastapi import FastAPI
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.db.tables import Role, Scope
from app.errors import VitrineError
from app.web.api.gate import Needs, is_api
from app.web.auth import api_tokens, users
from tests.web.api.conftest import MakeToken
from tests.web.auth.test_gate import operations
from tests.web.conftest import ORIGIN

LIST = "/api/v1/sessions"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def api_routes(app: FastAPI) -> list[tuple[str, str]]:
    found = [
        (method, re.sub(r"{\w+}", "x", path)) for method, path in operations(app) if is_api(path)
    ]
    assert ("GET", LIST) in found
    return found


def test_without_a_token_every_route_says_how_to_come_in(app: FastAPI, visitor: TestClient) -> None:
    for method, path in [*api_routes(app), ("GET", "/api/v1/nowhere"), ("POST", LIST)]:
        answer = visitor.request(method, path, headers={"Accept": "text/html"})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["code"] == 401


def test_a_sign_in_opens_no_route_of_it(app: FastAPI, client: TestClient) -> None:
    assert client.get("/outbox").status_code == 200
    for method, path in api_routes(app):
        assert client.request(method, path).status_code == 401


def test_a_token_opens_nothing_else(app: FastAPI, visitor: TestClient, program: TestClient) -> None:
    assert program.get(LIST).status_code == 200
    for method, template in operations(app):
        if is_api(template) or template in ("/healthz", "/sign-in", "/sign-in/{token}"):
            continue
        path = re.sub(r"{\w+(:\w+)?}", "x", template)
        answer = program.request(method, path, headers=ORIGIN)
        assert answer.status_code == 401, (method, template)
    for path in ("/api/v1", "/api/v2/sessions", "/api", "/API/v1/sessions", "//api/v1/sessions"):
        assert program.get(path).status_code == 401, path


def test_every_route_asks_for_a_scope_and_the_page_offers_those(
    app: FastAPI, visitor: TestClient, make_token: MakeToken
) -> None:
    needed = set()
    for method, path in api_routes(app):
        given = [
            scope
            for scope in Scope
            if visitor.request(method, path, headers=bearer(make_token([scope]))).status_code != 403
        ]
        assert len(given) == 1, (method, path)
        needed |= set(given)
    assert set(api_tokens.OFFERED) == needed


def test_the_wrong_scope_is_refused_in_json(visitor: TestClient, make_token: MakeToken) -> None:
    answer = visitor.get(LIST, headers=bearer(make_token([Scope.PUSH, Scope.DELIVER])))
    assert answer.status_code == 403
    assert answer.json()["error"]["message"] == "This API token does not have the scope read."


@pytest.mark.parametrize("number", range(9))
def test_what_is_no_token_opens_nothing(
    visitor: TestClient, make_token: MakeToken, number: int
) -> None:
    good = make_token()
    wrong = [
        f"Bearer {good[:-1]}",
        f"Bearer {good}x",
        f"Bearer vitrine_{'A' * 43}",
        f"Bearer {good.removeprefix('vitrine_')}",
        f"Bearer {good.upper()}",
        f"Basic {good}",
        f"Token {good}",
        good,
        "Bearer ",
    ][number]
    answer = visitor.get(LIST, headers={"Authorization": wrong})
    assert answer.status_code == 401
    assert visitor.get(LIST, headers=bearer(good)).status_code == 200
    twice = visitor.get(LIST, headers=[("Authorization", wrong), *bearer(good).items()])
    assert twice.status_code == 401
    # In the address, where logs and histories keep it, it is nothing.
    assert visitor.get(f"{LIST}?access_token={good}").status_code == 401


def test_a_token_ends_and_is_revoked(
    visitor: TestClient, make_token: MakeToken, database: Database
) -> None:
    token, other = make_token(), make_token(days=None)
    with database.session() as db:
        row = db.exec(select(tables.ApiToken).where(tables.ApiToken.expires_at.is_not(None))).one()  # type: ignore[union-attr]
        row.expires_at = tables.now() - timedelta(seconds=1)
        db.add(row)
    assert visitor.get(LIST, headers=bearer(token)).status_code == 401
    assert visitor.get(LIST, headers=bearer(other)).status_code == 200
    with database.session() as db:
        for one in api_tokens.listed(db):
            api_tokens.revoke(db, one.token.id)
    assert visitor.get(LIST, headers=bearer(other)).status_code == 401


def test_a_token_may_never_do_more_than_its_person(
    visitor: TestClient, make_token: MakeToken, database: Database
) -> None:
    with database.session() as db:
        users.operator(db)
        anna = users.add(db, "anna", Role.OPERATOR)
    token = make_token(list(Scope), name="anna")

    def scopes() -> set[Scope]:
        with database.session() as db:
            access = api_tokens.find(db, token)
            return set(access.scopes) if access else set()

    assert scopes() == set(Scope)
    with database.session() as db:
        users.set_role(db, anna, Role.VIEWER)
    assert scopes() == {Scope.READ}
    with pytest.raises(VitrineError, match="may not do that"):
        make_token([Scope.PUSH], name="anna")
    with database.session() as db:
        users.remove(db, users.named(db, "anna"))
    assert scopes() == set()
    assert visitor.get(LIST, headers=bearer(token)).status_code == 401


def test_wrong_tokens_are_counted_for_each_client(
    app: FastAPI, visitor: TestClient, make_token: MakeToken
) -> None:
    good = make_token()

    def tried(address: str, token: str) -> int:
        return TestClient(app, client=(address, 1)).get(LIST, headers=bearer(token)).status_code

    assert [tried("192.0.2.1", "vitrine_x") for _ in range(21)] == [401] * 20 + [429]
    assert tried("192.0.2.1", good) == 429
    assert tried("192.0.2.2", good) == 200
    refused = TestClient(app, client=("192.0.2.1", 1)).get(LIST, headers=bearer(good))
    assert refused.json()["error"]["code"] == 429
    assert int(refused.headers["retry-after"]) > 0


def test_good_tokens_are_not_counted(program: TestClient) -> None:
    assert {program.get(LIST).status_code for _ in range(40)} == {200}


def test_a_token_needs_no_origin_and_only_a_good_one_does_without(
    app: FastAPI, visitor: TestClient, make_token: MakeToken
) -> None:
    @app.post("/api/v1/made-up")
    def made_up() -> str:
        return "done"

    good = bearer(make_token())
    assert visitor.post("/api/v1/made-up", headers=good).json() == "done"
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert visitor.post("/api/v1/made-up", headers=good | foreign).json() == "done"
    assert visitor.post("/api/v1/made-up", headers=foreign).status_code == 401
    assert visitor.post("/settings/servers", headers=good | foreign).status_code == 403


def test_when_a_token_was_used_is_kept(program: TestClient, database: Database) -> None:
    def used() -> object:
        with database.session() as db:
            return db.exec(select(tables.ApiToken)).one().used_at

    assert used() is None
    program.get(LIST)
    first = used()
    assert first is not None
    program.get(LIST)
    assert used() == first  # once a minute: reading must not write


def test_a_route_that_asks_for_a_scope_is_closed_without_the_gate() -> None:
    from starlette.requests import HTTPConnection

    with pytest.raises(VitrineError) as raised:
        Needs(Scope.READ)(HTTPConnection({"type": "http", "headers": []}))
    assert raised.value.status == 401
