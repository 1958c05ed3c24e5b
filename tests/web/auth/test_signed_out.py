"""Signed out, nothing is told: every route there is, with names that exist."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.db.engine import Database
from app.db.tables import Role
from app.mcp import registry
from app.mcp_apps import policy
from app.web.auth import api_tokens, passwords, users
from app.web.auth.users import Person
from tests.web.auth.test_gate import operations
from tests.web.conftest import ORIGIN
from tests.web.recording import Recording

SECRET = "zs3cr3tword"
OPEN = {"/healthz", "/sign-in", "/sign-in/{token}"}


@pytest.fixture
def real(database: Database, tmp_path: Path, quick_hashing: object) -> dict[str, str]:
    """Path parameters of things that are there, each of which holds the secret."""
    recording = Recording(folder=f"/home/dev/{SECRET}")
    recording.user(SECRET).call(f"mcp__{SECRET}__show", {"a": SECRET}, SECRET)
    session_id = recording.import_into(database, tmp_path)
    with database.session() as db:
        server = registry.add_server(db, SECRET, f"https://{SECRET}.example/mcp?key={SECRET}")
        policy.set_render(db, True)
        users.operator(db)
        person = users.add(db, SECRET, Role.OPERATOR)
        _, token = api_tokens.create(db, Person.of(person), SECRET, ["read"], days=1)
        found = {
            "session_id": session_id,
            "server_id": str(server.id),
            "user_id": person.id,
            "token_id": token.id,
            "tool_call_id": "toolu_1",
            "address": "0-0",
            "transcript": "0",
        }
    # Then the sign-in page asks for a name, and must not know one.
    passwords.reset(database, f"{SECRET} {SECRET}", SECRET)
    return found


@pytest.mark.parametrize("cookie", ["", "guess", "proxy:1"])
def test_no_route_tells_a_stranger_anything(
    app: FastAPI, visitor: TestClient, real: dict[str, str], cookie: str
) -> None:
    def filled(match: re.Match[str]) -> str:
        return real.get(match[1], "x")

    asked = [
        (method, path, re.sub(r"{(\w+)(?::\w+)?}", filled, path))
        for method, path in operations(app)
    ]
    statuses = set()
    for method, template, path in asked:
        for headers in ({}, {"HX-Request": "true"}, {"Accept": "application/json"}):
            visitor.cookies.clear()
            sent = {**ORIGIN, **headers, "Remote-User": SECRET} | (
                {"Cookie": f"vitrine={cookie}"} if cookie else {}
            )
            answer = visitor.request(
                method,
                path,
                headers=sent,
                data={"name": SECRET} if method == "POST" and template not in OPEN else None,
            )
            assert SECRET not in answer.text, (method, template)
            assert SECRET not in str(answer.headers), (method, template)
            assert "set-cookie" not in answer.headers, (method, template)
            if template not in OPEN:
                assert answer.status_code == 401, (method, template)
                statuses.add(answer.status_code)
    assert statuses == {401}


def test_a_thing_that_is_there_and_one_that_is_not_look_alike(
    visitor: TestClient, real: dict[str, str]
) -> None:
    for there, gone in [
        (f"/sessions/{real['session_id']}", f"/sessions/{'0' * 32}"),
        (f"/settings/servers/{real['server_id']}", "/settings/servers/99"),
        (f"/api/v1/sessions/{real['session_id']}", f"/api/v1/sessions/{'0' * 32}"),
    ]:
        first, second = visitor.get(there), visitor.get(gone)
        assert first.status_code == second.status_code == 401
        paths = (quote(there, safe=""), quote(gone, safe=""))
        assert first.text.replace(paths[0], "") == second.text.replace(paths[1], "")
