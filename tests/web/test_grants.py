"""Settings → a server: the section on what its views may do."""

import re

import pytest
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.mcp_apps import documents
from tests.web.test_servers import PLAIN, add, entry, post

A, B = "https://a.example", "https://b.example"


def page(client: TestClient, number: int) -> str:
    answer = client.get(f"/settings/servers/{number}")
    assert answer.status_code == 200
    return answer.text


def checked(text: str) -> set[str]:
    """The ids of the choices that are made."""
    return {
        found["id"]
        for found in re.finditer(r'<input type="(?:radio|checkbox)" id="(?P<id>[^"]+)"[^>]*>', text)
        if " checked" in found[0]
    }


def declare(database: Database, url: str, csp: object, uri: str = "ui://x/1") -> None:
    with database.session() as db:
        db.add(
            tables.FragmentCopy(
                url=url,
                fingerprint="f",
                uri=uri,
                content_hash=documents.store(db, "<p>"),
                declared={"csp": csp},
            )
        )


def give(database: Database, number: int, tool: str = "write") -> str:
    """A grant of this server; its id."""
    with database.session() as db:
        session = tables.Session(
            id="e" * 32, source="local", agent="claude-code", external_id="x", title="A <b>ok"
        )
        db.add(session)
        user = db.exec(select(tables.User)).first()
        assert user is not None
        db.flush()
        db.add(
            tables.Grant(
                id="a" * 64,
                user_id=user.id,
                session_id="e" * 32,
                server_id=number,
                principal="view:demo/show",
                tool=tool,
            )
        )
    return "a" * 64


def test_what_holds_by_default_is_shown_and_can_be_changed(
    client: TestClient, database: Database
) -> None:
    number = add(database, "a", PLAIN)
    assert checked(page(client, number)) == {"calls-allowed", "reach-all"}
    for calls in ("ask", "none", "allowed"):
        status, place = post(client, database, number, "/calls", calls=calls)
        assert (status, place) == (303, f"/settings/servers/{number}?notice=may-saved")
        assert entry(database, number).server.calls == calls
        assert f"calls-{calls}" in checked(client.get(place).text)


@pytest.mark.parametrize(("what", "field"), [("/calls", "calls"), ("/domains", "reach")])
@pytest.mark.parametrize("value", ["", "ALL", "everything"])
def test_what_is_no_choice_changes_nothing(
    client: TestClient, database: Database, what: str, field: str, value: str
) -> None:
    number = add(database, "a", PLAIN)
    status, _ = post(client, database, number, what, **{field: value})
    assert status == 400
    server = entry(database, number).server
    assert (server.calls, server.domains) == ("allowed", "all")


def test_what_views_declared_so_far_can_be_ticked(client: TestClient, database: Database) -> None:
    number = add(database, "a", PLAIN)
    assert "has declared an address yet" in page(client, number)
    declare(database, PLAIN, {"connectDomains": [A], "resourceDomains": [A, B, "*", "<b>"]})
    declare(database, PLAIN, ["nonsense"], "ui://x/2")
    declare(database, "https://other.example/mcp", {"connectDomains": ["https://c.example"]})
    text = page(client, number)
    assert re.findall(r'name="origin" value="([^"]+)"', text) == [A, B]
    assert "scripts, styles, images; connections" in text
    status, _ = post(
        client,
        database,
        number,
        "/domains",
        reach="chosen",
        origin=[B],
        more=f"{A}/\n wss://w.example",
    )
    assert status == 303
    server = entry(database, number).server
    assert (server.domains, server.chosen_domains) == ("chosen", [A, B, "wss://w.example"])
    text = page(client, number)
    assert {"reach-chosen", "origin-1", "origin-2"} <= checked(text)
    assert ">wss://w.example</textarea>" in text


@pytest.mark.parametrize(
    "bad",
    ["*", "https://*.com", "javascript:alert(1)", "https://a.example/path", "http://10.0.0.1"],
)
def test_an_address_that_could_not_be_granted_is_said_beside_what_was_typed(
    client: TestClient, database: Database, bad: str
) -> None:
    number = add(database, "a", PLAIN)
    declare(database, PLAIN, {"connectDomains": [A]})
    status, text = post(
        client, database, number, "/domains", reach="chosen", origin=[A], more=f"{B}\n{bad}"
    )
    assert status == 400
    assert f"“{bad}” cannot be granted" in text
    assert f"{bad}</textarea>" in text
    assert {"reach-chosen", "origin-1"} <= checked(text)
    server = entry(database, number).server
    assert (server.domains, server.chosen_domains) == ("all", [])


def test_a_ticked_box_is_no_way_around_the_rules(client: TestClient, database: Database) -> None:
    number = add(database, "a", PLAIN)
    status, _ = post(client, database, number, "/domains", reach="chosen", origin=["https://*.com"])
    assert status == 400
    assert entry(database, number).server.chosen_domains == []


def test_what_was_allowed_for_a_session_is_listed_and_revoked(
    client: TestClient, database: Database
) -> None:
    number = add(database, "a", PLAIN)
    other = add(database, "b", "https://c.example/mcp")
    grant = give(database, number, "wr\u202eite<b>")
    text = page(client, number)
    assert "wr⟨U+202E⟩ite&lt;b&gt;" in text
    assert "demo/show" in text
    assert "A &lt;b&gt;ok" in text
    assert grant not in page(client, other)
    assert post(client, database, other, "/grants/revoke", grant=grant)[0] == 404
    status, place = post(client, database, number, "/grants/revoke", grant=grant)
    assert (status, place) == (303, f"/settings/servers/{number}?notice=revoked")
    assert "Revoked." in client.get(place).text
    assert post(client, database, number, "/grants/revoke", grant=grant)[0] == 404
    with database.session() as db:
        assert db.exec(select(tables.Grant)).all() == []


@pytest.mark.parametrize("what", ["/calls", "/domains", "/grants/revoke"])
def test_a_form_made_for_another_address_changes_nothing(
    client: TestClient, database: Database, what: str
) -> None:
    number = add(database, "a", PLAIN)
    grant = give(database, number)
    form = {"calls": "none", "reach": "none", "grant": grant, "key": "0" * 32}
    assert post(client, database, number, what, **form)[0] == 409
    server = entry(database, number).server
    assert (server.calls, server.domains) == ("allowed", "all")
    with database.session() as db:
        assert len(db.exec(select(tables.Grant)).all()) == 1


def test_a_program_has_no_such_section(client: TestClient, database: Database) -> None:
    number = add(database, "a", "", "stdio")
    assert "What its views may do" not in page(client, number)
