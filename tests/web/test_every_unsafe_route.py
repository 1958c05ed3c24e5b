"""Rules for every route that may change something, whoever adds it: it leaves an event, it takes no
body without end, and a view cannot make it run without a limit.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from sqlalchemy import delete
from sqlmodel import select
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.errors import VitrineError
from app.settings import Settings
from app.web.audit import log
from app.web.auth import SignInGate, issue_sign_in_link
from tests.web.conftest import ORIGIN

SAFE = {"GET", "HEAD", "OPTIONS"}
SECRET = "s3cr3t-w0rd"
VALUES = {"server_id": "7", "session_id": "0" * 32, "tool_call_id": "toolu_1"}
# What answers a view, or its page without a person's press, and has no limit: why it needs none.
CHEAP = {"cancel": "looks into a dictionary; a call can be taken back as often as it is made"}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer waits for its row: these tests look for it at once, on however busy a machine."""
    monkeypatch.setattr(log, "WAITED_FOR", 60)


def unsafe(app: Any) -> Iterator[tuple[str, str, Any]]:
    for context in iter_route_contexts(app.routes):
        if isinstance(context.original_route, Mount):
            continue
        for method in sorted((context.methods or set()) - SAFE):
            yield method, str(context.path), context.original_route


def filled(template: str) -> str:
    return re.sub(r"{(\w+)(?::\w+)?}", lambda match: VALUES.get(match[1], "1" * 32), template)


def rows(database: Database) -> list[tables.AuditEvent]:
    with database.session() as db:
        return list(db.exec(select(tables.AuditEvent)))


def forget(database: Database) -> None:
    with database.session() as db:
        db.execute(delete(tables.AuditEvent))


def test_there_are_routes_to_look_at(app: FastAPI) -> None:
    assert len(list(unsafe(app))) > 15


@pytest.mark.parametrize("body", [b"", b"name=%s&password=%s", b"{"])
def test_each_leaves_an_event_with_its_name_and_no_value(
    app: FastAPI, client: TestClient, database: Database, quick_hashing: object, body: bytes
) -> None:
    cookies = dict(client.cookies)
    content = body.replace(b"%s", SECRET.encode())
    kind = "application/json" if body == b"{" else "application/x-www-form-urlencoded"
    missing, kinds = [], {}
    for method, template, route in unsafe(app):
        forget(database)
        client.cookies.update(cookies)
        if template == "/sign-out":
            continue  # the sign-in ends with it: looked at for itself
        client.request(
            method, filled(template), content=content, headers={"Content-Type": kind, **ORIGIN}
        )
        found = rows(database)
        if len(found) != 1:
            missing.append((method, template, len(found)))
            continue
        (row,) = found
        assert SECRET not in str(row.model_dump())
        assert row.about.startswith(route.name), row.about
        if row.kind != "sign_in":
            assert row.person == "operator"
        kinds[route.name] = row.kind
    assert missing == []
    assert kinds["save_mcp_apps_settings"] == "setting"
    assert kinds["delete_session"] == "session_delete"
    assert kinds["sign_in_with_password"] == "sign_in"
    assert kinds["rpc"] == "view_request"


def test_each_refuses_a_body_that_is_too_large(
    app: FastAPI, client: TestClient, database: Database, settings: Settings, quick_hashing: object
) -> None:
    size = settings.request_max_bytes + 1

    def chunks() -> Iterator[bytes]:
        yield b"x=" + b"y" * size

    looked_at = 0
    for method, template, _ in unsafe(app):
        url = filled(template)
        declared = client.request(method, url, content=b"x" * size, headers=ORIGIN)
        assert declared.status_code == 413, template
        if template == "/sign-out":
            continue  # reads none
        for kind in ("application/x-www-form-urlencoded", "application/json"):
            headers = {"Content-Type": kind, **ORIGIN}
            answer = client.request(method, url, content=chunks(), headers=headers)
            # What reads no body says what it says without one; none says that it went well.
            assert answer.status_code == 413 or answer.status_code < 500, template
            looked_at += answer.status_code == 413
    assert looked_at > 10


def test_what_a_view_can_make_run_is_limited(app: FastAPI) -> None:
    limiter: Any = app.state.limiter
    limited = {name.rpartition(".")[2] for name in limiter._route_limits}
    free = {
        route.name
        for _, template, route in unsafe(app)
        if "/mcp_apps/" in template and route.endpoint.__name__ not in limited
    }
    assert free == set(CHEAP)


def test_a_route_that_is_yet_to_come_leaves_an_event_without_the_secret_in_its_path(
    app: FastAPI, client: TestClient, database: Database
) -> None:
    async def later(token: str) -> None:
        """What somebody adds one day."""

    app.add_api_route("/things/{token}/{thing_id}", later, methods=["DELETE"], name="drop_thing")
    forget(database)
    assert client.delete(f"/things/{SECRET}/12", headers=ORIGIN).status_code == 200
    (row,) = rows(database)
    assert (row.kind, row.outcome, row.about) == ("other", "ok", "drop_thing thing_id=12")
    assert SECRET not in str(row.model_dump())


def test_what_the_gate_refuses_to_somebody_signed_in_leaves_an_event_and_to_others_none(
    app: FastAPI, visitor: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does to a viewer what is an operator's."""

    class Strict(SignInGate):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            async def check(scope: Any, receive: Any, send: Any) -> None:
                if scope["method"] == "POST":
                    raise VitrineError(403, "Only an operator may do this.")
                await self.inner(scope, receive, send)

            self.inner, self.app = self.app, check
            try:
                await super().__call__(scope, receive, send)
            finally:
                self.app = self.inner

    app.user_middleware[-1] = Middleware(Strict)
    app.middleware_stack = app.build_middleware_stack()
    visitor.post("/settings/servers", data={"name": SECRET}, headers=ORIGIN)
    assert rows(database) == []
    visitor.get(f"/sign-in/{issue_sign_in_link(database)}")
    forget(database)
    for path in ("/settings/servers/7/names", f"/sessions/{'0' * 32}/delete", "/nowhere"):
        assert visitor.post(path, data={"name": SECRET}, headers=ORIGIN).status_code == 403
    told = [
        (row.kind, row.outcome, row.about, row.session_id, row.person) for row in rows(database)
    ]
    assert told == [
        ("setting", "denied", "add_server_name server_id=7", "", "operator"),
        ("session_delete", "denied", "delete_session", "0" * 32, "operator"),
    ]


def test_signing_out_leaves_an_event(client: TestClient, database: Database) -> None:
    forget(database)
    client.post("/sign-out", headers=ORIGIN)
    (row,) = rows(database)
    assert (row.kind, row.outcome, row.person) == ("sign_out", "ok", "operator")


def test_whose_sign_in_it_was_and_from_where(
    visitor: TestClient, database: Database, quick_hashing: object
) -> None:
    for _ in range(3):
        answer = visitor.post("/sign-in", data={"password": SECRET}, headers=ORIGIN)
        assert answer.status_code == 401
    visitor.get("/sign-in/" + SECRET)
    failed = {(row.about, row.outcome, row.count, row.person) for row in rows(database)}
    assert failed == {
        ("sign_in_with_password from unknown", "denied", 3, ""),
        ("sign_in_with_link from unknown", "refused", 1, ""),
    }
    assert SECRET not in str([row.model_dump() for row in rows(database)])


def test_a_sign_in_by_link_names_who_it_was(client: TestClient, database: Database) -> None:
    (row,) = rows(database)
    with database.session() as db:
        login = db.exec(select(tables.LoginSession)).one()
    assert (row.kind, row.outcome, row.person, row.login_id) == (
        "sign_in",
        "ok",
        "operator",
        login.id,
    )


def test_a_refused_change_is_told_of_with_its_server(
    client: TestClient, database: Database
) -> None:
    forget(database)
    client.post("/settings/servers/7", data={"key": SECRET}, headers=ORIGIN)
    (row,) = rows(database)
    assert (row.kind, row.outcome, row.about) == ("setting", "refused", "edit_server server_id=7")


def test_an_unforeseen_failure_is_told_of(
    app: FastAPI, client: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(database)

    def broken(*_: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("app.transcripts.removal.delete_session", broken)
    answer = client.post(f"/sessions/{'0' * 32}/delete", headers=ORIGIN)
    assert answer.status_code == 500
    (row,) = rows(database)
    assert (row.kind, row.outcome, row.session_id) == ("session_delete", "error", "0" * 32)
