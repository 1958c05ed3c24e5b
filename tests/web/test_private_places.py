"""A server in a private network is contacted only when somebody said that it lies there."""

from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from app.db.engine import Database
from app.mcp import registry
from app.mcp.registry import ServerEntry
from app.web.view_models.servers import switch_key

NAMED = "https://mcp.example/mcp"
PRIVATE = "10.1.2.3"
PUBLIC = "93.184.216.34"
LITERAL = ["http://127.0.0.1:9/mcp", "http://localhost:9/mcp", "http://[::1]:9/mcp"]


@pytest.fixture
def leads_to(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What every name resolves to; empty: nobody knows it."""
    addresses = [PRIVATE]

    async def lookup(host: str, *_: Any, **__: Any) -> list[Any]:
        if not addresses:
            raise OSError("no such name")
        return [(0, 0, 0, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(anyio, "getaddrinfo", lookup)
    return addresses


def entries(database: Database) -> list[ServerEntry]:
    with database.session() as db:
        return registry.servers(db)


def confirmed(database: Database) -> bool:
    (entry,) = entries(database)
    return entry.server.private_confirmed


def add(client: TestClient, url: str, **more: str) -> Any:
    return client.post("/settings/servers", data={"name": "a", "url": url, **more})


@pytest.mark.parametrize("url", [*LITERAL, NAMED])
def test_a_private_address_is_added_only_when_it_is_confirmed(
    client: TestClient, database: Database, leads_to: list[str], url: str
) -> None:
    asked = add(client, url)
    assert asked.status_code == 409
    assert "in your own network" in asked.text
    assert 'name="private"' in asked.text
    # Nothing of what was typed is lost.
    assert f'value="{url}"' in asked.text
    assert 'value="a"' in asked.text
    assert entries(database) == []
    assert add(client, url, private="on").status_code == 303
    assert confirmed(database)


def test_a_public_address_is_not_asked_about(
    client: TestClient, database: Database, leads_to: list[str]
) -> None:
    leads_to[:] = [PUBLIC]
    assert 'name="private"' not in client.get("/settings/servers").text
    assert add(client, NAMED).status_code == 303
    assert not confirmed(database)


def test_a_name_that_nobody_knows_is_added_unconfirmed(
    client: TestClient, database: Database, leads_to: list[str]
) -> None:
    leads_to.clear()
    assert add(client, NAMED).status_code == 303
    assert not confirmed(database)


def test_one_private_address_among_public_ones_is_enough(
    client: TestClient, leads_to: list[str]
) -> None:
    leads_to[:] = [PUBLIC, PRIVATE]
    assert add(client, NAMED).status_code == 409


def test_a_name_of_a_metadata_service_is_refused_whatever_is_confirmed(
    client: TestClient, database: Database, leads_to: list[str]
) -> None:
    leads_to[:] = ["169.254.169.254"]
    refused = add(client, NAMED, private="on")
    assert refused.status_code == 400
    assert "never contacted" in refused.text
    assert entries(database) == []


def moved(client: TestClient, database: Database, url: str, **more: str) -> Any:
    (entry,) = entries(database)
    form = {"key": switch_key(entry.server), "url": url, "transport": "streamable-http", **more}
    return client.post(f"/settings/servers/{entry.server.id}", data=form)


def test_a_server_is_not_moved_to_a_private_address_unasked(
    client: TestClient, database: Database, leads_to: list[str]
) -> None:
    leads_to[:] = [PUBLIC]
    add(client, NAMED)
    leads_to[:] = [PRIVATE]
    other = "https://other.example/mcp"
    asked = moved(client, database, other)
    assert asked.status_code == 409
    assert f'value="{other}"' in asked.text
    assert entries(database)[0].server.url == NAMED
    assert moved(client, database, other, private="on").status_code == 303
    assert confirmed(database)


def test_leave_is_the_address_s_and_does_not_move_along(
    client: TestClient, database: Database, leads_to: list[str]
) -> None:
    add(client, NAMED, private="on")
    leads_to[:] = [PUBLIC]
    assert moved(client, database, "https://other.example/mcp").status_code == 303
    assert not confirmed(database)


def test_leave_is_given_and_taken_on_the_server_s_page(
    client: TestClient, database: Database, leads_to: list[str]
) -> None:
    leads_to[:] = [PUBLIC]
    add(client, NAMED)
    for typed, expected in (("on", True), ("", False)):
        assert moved(client, database, "", private=typed).status_code == 303
        assert confirmed(database) is expected


def allow(client: TestClient, database: Database, **more: Any) -> Any:
    keys = [switch_key(entry.server) for entry in entries(database)]
    form = {"master": "on", "shown": keys, "allowed": keys, **more}
    return client.post("/settings/mcp-apps", data=form)


def test_a_server_that_has_moved_into_a_private_network_is_asked_about_when_it_is_allowed(
    client: TestClient, database: Database, leads_to: list[str]
) -> None:
    leads_to[:] = [PUBLIC]
    add(client, NAMED)
    leads_to[:] = [PRIVATE]
    asked = allow(client, database)
    assert asked.status_code == 409
    assert "Nothing is saved yet" in asked.text
    assert 'name="private"' in asked.text
    assert asked.text.count(" checked") == 2  # the switches as they were set
    (entry,) = entries(database)
    assert not entry.server.allowed
    assert not client.get("/settings/mcp-apps").text.count(" checked")
    assert allow(client, database, private=[switch_key(entry.server)]).status_code == 303
    (entry,) = entries(database)
    assert (entry.server.allowed, entry.server.private_confirmed) == (True, True)


def test_what_lies_elsewhere_is_allowed_without_a_question(
    client: TestClient, database: Database, leads_to: list[str]
) -> None:
    leads_to[:] = [PUBLIC]
    add(client, NAMED)
    assert allow(client, database).status_code == 303
    # Leave is given only where it is asked for.
    assert not confirmed(database)


def test_another_server_s_leave_is_not_taken_for_it(
    client: TestClient, database: Database, leads_to: list[str]
) -> None:
    leads_to.clear()
    add(client, NAMED)
    leads_to[:] = [PRIVATE]
    assert allow(client, database, private=["0" * 32]).status_code == 409
    assert not confirmed(database)
