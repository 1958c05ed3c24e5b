"""A viewer opens a session: views render; they call tools only where the operator allows it, and
write to the agent never.
"""

from dataclasses import replace
from typing import Any

import pytest
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.tables import Role
from app.web.auth import issue_sign_in_link, users
from app.web.view_models.servers import switch_key
from tests.web.panels.site import ORIGIN, Site

CALL = {"name": "forecast", "arguments": {"service": "checkout-api", "growth_percent": 9}}


@pytest.fixture
def seen(site: Site) -> Site:
    """The same deployment in the browser of a viewer; ``site`` stays the operator's."""
    with site.database.session() as db:
        users.add(db, "vera", Role.VIEWER)
    browser = TestClient(site.client.app)
    browser.portal = site.client.portal  # the event loop that the connections belong to
    browser.get(f"/sign-in/{issue_sign_in_link(site.database, 'vera')}")
    return replace(site, client=browser)


def let_viewers_call(site: Site, allowed: bool) -> None:
    """As an operator does, on the server's page."""
    with site.database.session() as db:
        server = db.exec(select(tables.Server)).one()
    form = {"key": switch_key(server)} | ({"viewers": "on"} if allowed else {})
    answer = site.client.post(
        f"/settings/servers/{server.id}/viewers", data=form, headers=ORIGIN, follow_redirects=False
    )
    assert answer.status_code == 303
    page = site.client.get(f"/settings/servers/{server.id}").text
    assert ('name="viewers" value="on" checked' in page) is allowed


def tool_call(site: Site) -> dict[str, Any]:
    return site.rpc("tools/call", CALL)


def test_the_view_renders_and_says_what_it_may_not(site: Site, seen: Site) -> None:
    panel = seen.panel()
    assert panel.status_code == 200
    assert "You are a viewer here: this view cannot call its server’s tools" in panel.text
    document = seen.client.get(seen.parsed_panel().panel["data-fragment-url"])
    assert document.status_code == 200
    assert "sandbox" in document.headers["content-security-policy"]
    assert "You are a viewer" not in site.panel().text


def test_a_call_is_refused_until_the_operator_allows_it(site: Site, seen: Site) -> None:
    refused = tool_call(seen)["error"]
    assert (refused["code"], refused["data"]) == (-32000, {"reason": "denied"})
    assert refused["message"] == "Viewers may not call the tools of this server."
    assert "result" in tool_call(site)
    let_viewers_call(site, True)
    assert "cannot write to the agent" in seen.panel().text
    assert "cannot call" not in seen.panel().text
    assert "result" in tool_call(seen)
    let_viewers_call(site, False)
    assert tool_call(seen)["error"]["data"] == {"reason": "denied"}


def test_a_refused_call_never_reaches_the_server(seen: Site) -> None:
    before = seen.connections
    for params in (CALL, {"name": "publish_plan", "arguments": {}}, None, {"name": 1}):
        assert seen.rpc("tools/call", params)["error"]["data"] == {"reason": "denied"}
    with seen.database.session() as db:
        assert db.exec(select(tables.ViewMessage)).all() == []
    assert seen.connections <= before + 1  # the tool list, once


def test_reading_and_listing_are_looking(seen: Site) -> None:
    assert seen.rpc("tools/list")["result"]["tools"]
    assert "result" in seen.rpc("resources/list")
    uri = seen.parsed_panel().data["toolInfo"]["tool"]["_meta"]["ui"]["resourceUri"]
    assert "result" in seen.rpc("resources/read", {"uri": uri})


@pytest.mark.parametrize("kind", ["message", "context"])
@pytest.mark.parametrize("allowed", [False, True])
def test_a_viewers_view_writes_nothing_to_the_agent(
    site: Site, seen: Site, kind: str, allowed: bool
) -> None:
    let_viewers_call(site, allowed)
    params = (
        {"role": "user", "content": [{"type": "text", "text": "x"}]}
        if kind == "message"
        else {"content": [{"type": "text", "text": "x"}]}
    )
    refused = seen.message(kind, params).json()["error"]
    assert (refused["code"], refused["data"]) == (-32000, {"reason": "denied"})
    assert seen.outbox() == []
    assert "error" not in site.message(kind, params).json()
    assert len(site.outbox()) == 1


def test_a_ticket_is_not_another_persons(site: Site, seen: Site) -> None:
    address = site.parsed_panel().panel["data-fragment-url"]
    assert seen.client.get(address).status_code == 410
    assert site.client.get(address).status_code == 200


def test_at_another_address_viewers_call_nothing_yet(site: Site) -> None:
    let_viewers_call(site, True)
    with site.database.session() as db:
        server = db.exec(select(tables.Server)).one()
    url = "http://127.0.0.1:1/x"
    form = {"key": switch_key(server), "url": url, "transport": server.transport, "private": "on"}
    site.client.post(f"/settings/servers/{server.id}", data=form, headers=ORIGIN)
    with site.database.session() as db:
        moved = db.exec(select(tables.Server)).one()
    assert moved.url == "http://127.0.0.1:1/x"
    assert not moved.viewers_may_call


def test_a_form_for_another_address_decides_nothing(site: Site) -> None:
    with site.database.session() as db:
        server_id = db.exec(select(tables.Server.id)).one()
    form = {"key": "0" * 32, "viewers": "on"}
    answer = site.client.post(f"/settings/servers/{server_id}/viewers", data=form, headers=ORIGIN)
    assert answer.status_code == 409
    with site.database.session() as db:
        assert not db.exec(select(tables.Server)).one().viewers_may_call
