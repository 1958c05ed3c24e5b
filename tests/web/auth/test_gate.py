"""Closed unless named open: every route there is, and those that are not there."""

import re
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.requests import HTTPConnection
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.types import Message

from app.db.engine import Database
from app.errors import VitrineError
from app.web.auth import SignInGate, require_login
from app.web.auth.paths import is_open

ORIGIN = {"Origin": "http://testserver"}
OPEN = {"/healthz", "/sign-in", "/sign-in/{token}"}


def operations(app: FastAPI) -> Iterator[tuple[str, str]]:
    """(method, path template) of every route, those of included routers too."""
    for context in iter_route_contexts(app.routes):
        if not isinstance(context.original_route, Mount):
            for method in context.methods or ():
                yield method, str(context.path)


def test_every_route_but_the_open_ones_is_closed(app: FastAPI, visitor: TestClient) -> None:
    seen = set()
    for method, template in operations(app):
        if template in OPEN:
            continue
        answer = visitor.request(method, re.sub(r"{\w+(:\w+)?}", "x", template), headers=ORIGIN)
        assert answer.status_code == 401, (method, template)
        seen.add(template)
    assert {"/", "/sessions/{session_id}", "/fragments/{token}", "/outbox", "/sign-out"} <= seen


def test_the_open_routes_are_there_and_open(app: FastAPI, visitor: TestClient) -> None:
    assert {template for _, template in operations(app)} >= OPEN
    assert visitor.get("/healthz").json() == {"status": "ok"}
    assert visitor.get("/sign-in").status_code == 200
    assert visitor.get("/static/css/app.css").status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/nowhere", "/healthz/", "/healthz/x", "/sign-in2", "//sign-in/x", "/static", "/Static/x"],
)
def test_what_is_not_there_is_closed_too(visitor: TestClient, path: str) -> None:
    assert not is_open(path)
    assert visitor.get(path).status_code == 401


@pytest.mark.parametrize("path", ["/static/../settings/servers", "/static/%2e%2e/outbox"])
def test_an_open_prefix_opens_nothing_else(visitor: TestClient, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code in (401, 404)
    assert "<h1>Settings</h1>" not in answer.text


def test_a_route_that_somebody_forgot_to_close_is_closed(app: FastAPI, visitor: TestClient) -> None:
    @app.get("/forgotten")
    @app.get("/outbox/forgotten")
    def forgotten() -> str:
        return "secret"

    for path in ("/forgotten", "/outbox/forgotten"):
        answer = visitor.get(path)
        assert answer.status_code == 401
        assert "secret" not in answer.text


def test_a_signed_in_browser_passes(client: TestClient) -> None:
    assert client.get("/settings/servers").status_code == 200


def test_the_answer_to_the_unsigned_fits_who_asked(visitor: TestClient) -> None:
    page = visitor.get("/")
    assert page.status_code == 401
    assert "vitrine sign-in-link" in page.text
    fragment = visitor.get("/", headers={"HX-Request": "true"})
    assert (fragment.status_code, fragment.headers["hx-redirect"]) == (401, "/sign-in")
    assert "<html" not in fragment.text
    data = visitor.get("/", headers={"Accept": "application/json"})
    assert data.json()["error"]["code"] == 401


def test_a_route_that_asks_for_the_login_is_closed_without_the_gate() -> None:
    with pytest.raises(VitrineError) as raised:
        require_login(HTTPConnection({"type": "http", "headers": []}))
    assert raised.value.status == 401


async def test_a_websocket_is_closed_too(app: FastAPI, database: Database) -> None:
    app.state.database = database
    sent: list[Message] = []

    async def inner(*_: object) -> None:
        raise AssertionError("the gate let it pass")

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "websocket",
        "scheme": "ws",
        "path": "/events",
        "headers": [(b"host", b"testserver"), (b"cookie", b"vitrine=guess")],
        "app": app,
    }
    await SignInGate(inner)(scope, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
