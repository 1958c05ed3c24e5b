"""Settings → MCP Apps: the two switches."""

from starlette.testclient import TestClient

from app.db.engine import Database
from app.mcp import registry
from app.mcp_apps import policy
from app.mcp_apps.policy import Policy
from app.web.view_models.servers import switch_key

URL = "https://a.example/mcp?key=hunter2"


def load(database: Database) -> Policy:
    with database.session() as db:
        return policy.load(db)


def add(database: Database, name: str, url: str, transport: str = "streamable-http") -> str:
    """What the form calls the new server by."""
    with database.session() as db:
        return switch_key(registry.add_server(db, name, url, transport))


def test_everything_is_off_at_first(client: TestClient, database: Database) -> None:
    add(database, "a", URL)
    page = client.get("/settings/mcp-apps").text
    assert page.count('type="checkbox"') == 2
    assert " checked" not in page
    assert load(database) == Policy(render=False, allowed_urls=frozenset())


def test_both_switches_go_on_and_off(client: TestClient, database: Database) -> None:
    first, second = add(database, "a", URL), add(database, "b", "https://b.example/mcp")
    form = {"master": "on", "shown": [first, second], "allowed": [first]}
    saved = client.post("/settings/mcp-apps", data=form)
    assert (saved.status_code, saved.headers["location"]) == (
        303,
        "/settings/mcp-apps?notice=saved",
    )
    assert load(database) == Policy(render=True, allowed_urls=frozenset({URL}))
    page = client.get(saved.headers["location"]).text
    assert "Saved." in page
    assert page.count(" checked") == 2
    client.post("/settings/mcp-apps", data={"shown": [first, second]})
    assert load(database) == Policy(render=False, allowed_urls=frozenset())


def test_a_server_that_the_form_did_not_show_keeps_its_switch(
    client: TestClient, database: Database
) -> None:
    first, _ = add(database, "a", URL), add(database, "b", "https://b.example/mcp")
    with database.session() as db:
        registry.set_allowed(db, "https://b.example/mcp", True)
    client.post("/settings/mcp-apps", data={"master": "on", "shown": [first]})
    assert load(database).allowed_urls == {"https://b.example/mcp"}


def test_a_server_that_the_form_did_not_show_cannot_be_allowed(
    client: TestClient, database: Database
) -> None:
    first = add(database, "a", URL)
    client.post("/settings/mcp-apps", data={"master": "on", "allowed": [first]})
    assert load(database).allowed_urls == frozenset()


def test_a_server_removed_meanwhile_is_passed_over(client: TestClient, database: Database) -> None:
    form = {"master": "on", "shown": ["77", "x" * 500], "allowed": ["77"]}
    assert client.post("/settings/mcp-apps", data=form).status_code == 303
    assert load(database).render is True


def test_a_notice_is_one_of_ours(client: TestClient) -> None:
    page = client.get("/settings/mcp-apps", params={"notice": "You are hacked"}).text
    assert "hacked" not in page


def test_a_form_from_before_a_server_got_another_url_allows_nothing(
    client: TestClient, database: Database
) -> None:
    """Trust is the URL's: what was ticked is the URL that the form showed."""
    shown = add(database, "a", URL)
    with database.session() as db:
        (entry,) = registry.servers(db)
        assert entry.server.id is not None
        registry.edit_server(db, entry.server.id, "https://other.example/mcp", "streamable-http")
    client.post("/settings/mcp-apps", data={"master": "on", "shown": [shown], "allowed": [shown]})
    assert load(database).allowed_urls == frozenset()


def test_a_server_that_took_anothers_id_is_not_allowed_by_its_form(
    client: TestClient, database: Database
) -> None:
    shown = add(database, "a", URL)
    with database.session() as db:
        registry.remove_name(db, "a")
    add(database, "b", "https://b.example/mcp")
    client.post("/settings/mcp-apps", data={"master": "on", "shown": [shown], "allowed": [shown]})
    assert load(database).allowed_urls == frozenset()


def test_a_stdio_server_has_no_switch_and_says_why(client: TestClient, database: Database) -> None:
    key = add(database, "local", "", registry.STDIO)
    page = client.get("/settings/mcp-apps").text
    assert page.count('type="checkbox"') == 1
    assert "Vitrine starts no programs" in page
    form = {"master": "on", "shown": [key], "allowed": [key]}
    assert client.post("/settings/mcp-apps", data=form).status_code == 400
    assert load(database) == Policy(render=False, allowed_urls=frozenset())


def test_a_key_in_an_address_is_masked(client: TestClient, database: Database) -> None:
    add(database, "a", URL)
    page = client.get("/settings/mcp-apps").text
    assert "hunter2" not in page
    assert "https://a.example/mcp?key=•••" in page
