"""A viewer reads, and changes nothing but their own sign-in: every route there is."""

import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.db.tables import Role
from app.mcp import registry
from app.mcp_apps import policy
from app.web.auth import users
from app.web.auth.paths import viewer_may
from tests.web.auth.test_gate import operations
from tests.web.recording import Recording

# Written out here: a list that opens more is what is looked for.
CALL = "/sessions/{session_id}/mcp_apps/{tool_call_id}"
MAY = {
    ("GET", "/"),
    ("GET", "/sessions/{session_id}"),
    ("GET", "/sessions/{session_id}/search"),
    ("GET", "/sessions/{session_id}/entries"),
    ("GET", "/sessions/{session_id}/raw/{transcript:int}"),
    ("GET", "/sessions/{session_id}/rows/{address}"),
    ("GET", CALL),
    ("GET", f"{CALL}/result"),
    ("POST", f"{CALL}/rpc"),
    ("POST", f"{CALL}/cancel"),
    ("POST", f"{CALL}/message"),
    ("POST", f"{CALL}/seen"),
    ("GET", "/fragments/confinement"),
    ("GET", "/fragments/{token}"),
    ("GET", "/events"),
    ("GET", "/outbox"),
    ("GET", "/settings/account"),
    ("POST", "/settings/account/password"),
    ("POST", "/settings/account/sign-out-others"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("GET", "/sign-in/{token}"),
    ("POST", "/sign-out"),
    ("GET", "/healthz"),
}


@pytest.fixture
def session_id(database: Database, tmp_path: Path) -> str:
    with database.session() as db:
        registry.add_server(db, "weather", "https://weather.example/mcp")
        policy.set_render(db, True)
    recording = Recording(folder="/home/dev/x")
    recording.user("Hello").call("mcp__other__show", {}, "done")
    return recording.import_into(database, tmp_path)


def test_a_viewer_is_refused_every_route_that_is_not_named(
    app: FastAPI, viewer: TestClient, database: Database, session_id: str
) -> None:
    refused = set()
    for method, template in operations(app):
        if (method, template) in MAY or template.startswith("/api/"):
            continue
        path = re.sub(r"{session_id}", session_id, template)
        path = re.sub(r"{\w+:int}", "1", path)
        answer = viewer.request(method, re.sub(r"{\w+}", "x", path))
        assert answer.status_code == 403, (method, template)
        assert "Only an operator" in answer.text
        refused.add((method, template))
    assert {
        ("GET", "/settings/servers"),
        ("POST", "/settings/mcp-apps"),
        ("POST", "/sessions/{session_id}/delete"),
        ("POST", "/settings/people/{user_id}/role"),
        ("POST", "/settings/api-tokens"),
    } <= refused
    with database.session() as db:
        assert db.exec(select(tables.Session)).one().id == session_id
        assert len(registry.servers(db)) == 1
        assert db.exec(select(tables.ApiToken)).all() == []


def test_what_is_named_is_there_and_opens(viewer: TestClient, session_id: str) -> None:
    pages = ["/", f"/sessions/{session_id}", f"/sessions/{session_id}/search?q=Hello", "/outbox"]
    pages += [f"/sessions/{session_id}/raw/0", f"/sessions/{session_id}/entries"]
    for page in [*pages, "/settings/account", "/sign-in"]:
        assert viewer.get(page).status_code == 200, page


def test_the_list_names_only_routes_that_are_there(app: FastAPI) -> None:
    there = set(operations(app))
    assert there >= MAY
    for method, template in there:
        if template.startswith("/api/"):
            continue  # tests/web/api
        path = re.sub(r"{\w+(:\w+)?}", "x", template)
        assert viewer_may(method, path) is ((method, template) in MAY), (method, template)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/settings/account/"),
        ("GET", "/settings/accounts"),
        ("GET", "/settings/account\n"),
        ("GET", "/settings"),
        ("GET", "/metrics"),
        ("GET", "/audit"),
        ("GET", "/sessions"),
        ("GET", "/sessions/x/anything"),
        ("GET", "//outbox"),
        ("PUT", "/settings/account/password"),
        ("DELETE", "/sessions/x"),
        ("OPTIONS", "/settings/servers"),
        ("POST", "/sessions/x/mcp_apps/y/approve"),
        ("POST", "/sessions/x/mcp_apps/y/z/rpc"),
        ("POST", "/outbox"),
        ("POST", "/"),
    ],
)
def test_what_nobody_thought_of_is_an_operators(method: str, path: str) -> None:
    assert not viewer_may(method, path)


def test_a_route_that_somebody_forgot_is_closed_to_viewers(
    app: FastAPI, client: TestClient, viewer: TestClient
) -> None:
    @app.get("/forgotten")
    @app.post("/sessions/{session_id}/forgotten")
    def forgotten() -> str:
        return "secret"

    assert viewer.get("/forgotten").status_code == 403
    assert viewer.post("/sessions/x/forgotten").status_code == 403
    assert client.get("/forgotten").json() == "secret"


def test_a_refusal_fits_who_asked(viewer: TestClient) -> None:
    page = viewer.get("/settings/servers")
    assert "Only an operator can open this page." in page.text
    data = viewer.post("/settings/servers", headers={"Accept": "application/json"})
    assert (data.status_code, data.json()["error"]["code"]) == (403, 403)
    assert "Nothing was changed" in data.json()["error"]["message"]


def test_a_role_counts_from_the_next_request_on(viewer: TestClient, database: Database) -> None:
    def become(role: Role) -> None:
        with database.session() as db:
            users.set_role(db, users.named(db, "vera"), role)

    assert viewer.get("/settings/servers").status_code == 403
    become(Role.OPERATOR)
    assert viewer.get("/settings/servers").status_code == 200
    become(Role.VIEWER)
    assert viewer.get("/settings/servers").status_code == 403


def test_a_role_that_is_not_known_is_a_viewers(viewer: TestClient, database: Database) -> None:
    with database.session() as db:
        vera = users.named(db, "vera")
        vera.role = "auditor"
        db.add(vera)
    assert viewer.get("/settings/servers").status_code == 403
    assert viewer.get("/outbox").status_code == 200


def test_controls_that_a_viewer_may_not_use_are_not_shown(
    client: TestClient, viewer: TestClient, session_id: str
) -> None:
    pages = ["/", "/?folder=/home/dev/x", f"/sessions/{session_id}", "/outbox"]
    for page in [*pages, "/settings/account", "/nowhere"]:
        shown = viewer.get(page).text
        reached = [("GET", url) for url in re.findall(r'(?:href|hx-get)="(/[^"#?]*)', shown)]
        for tag in re.findall(r"<form[^>]+>", shown):
            method = re.search(r'method="(\w+)"', tag)
            target = re.search(r'action="([^"?]+)', tag)
            assert method, tag
            assert target, tag
            reached.append((method[1].upper(), target[1]))
        assert reached
        for how, target_path in reached:
            assert viewer_may(how, target_path), (page, how, target_path)
    # What is looked for is there for an operator.
    operators = "".join(client.get(page).text for page in pages)
    for control in ("/delete", "/projects/delete", "/settings/servers"):
        assert control in operators


def test_a_viewer_changes_their_own_password_alone(
    client: TestClient, viewer: TestClient, database: Database, quick_hashing: object
) -> None:
    form = {"current": "", "new": "vera has a horse", "again": "vera has a horse"}
    assert viewer.post("/settings/account/password", data=form).status_code == 303
    assert client.get("/outbox").status_code == 200
    with database.session() as db:
        assert users.operator(db).password_hash is None
        assert users.named(db, "vera").password_hash is not None
    assert viewer.post("/settings/account/sign-out-others").status_code == 303
    assert client.get("/outbox").status_code == 200
    assert "vera" in viewer.get("/settings/account").text
