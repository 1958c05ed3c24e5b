"""Servers and names: what may be added, and what a recorded name means."""

import pytest
from sqlmodel import Session, col, select

from app.db.engine import Database
from app.db.tables import Server, ServerName, ToolIndexCopy
from app.errors import NotFoundError, VitrineError
from app.mcp import registry
from app.mcp.registry import KnownServer, mask_url, match, normalise

URL = "https://mcp.example/mcp?key=abc"


def add(
    database: Database, name: str, url: str = URL, transport: str = "streamable-http"
) -> Server:
    with database.session() as db:
        return registry.add_server(db, name, url, transport)


def test_a_new_server_is_not_allowed(database: Database) -> None:
    add(database, " my server ")
    with database.session() as db:
        (entry,) = registry.servers(db)
    assert entry.names == ("my server",)
    assert entry.server.url == URL
    assert entry.server.transport == "streamable-http"
    assert entry.server.allowed is False
    assert entry.masked_url == "https://mcp.example/mcp?key=•••"


def test_a_second_name_for_a_url_is_an_alias_of_one_server(database: Database) -> None:
    first = add(database, "b")
    with database.session() as db:
        registry.set_allowed(db, URL, True)
    second = add(database, "a")
    assert second.id == first.id
    with database.session() as db:
        (entry,) = registry.servers(db)
        assert [known.name for known in registry.known_servers(db)] == ["a", "b"]
    assert entry.names == ("a", "b")
    assert entry.server.allowed is True


def test_a_trusted_name_cannot_be_borrowed(database: Database) -> None:
    """Trust is the URL's: another URL under a known name is refused, under a new one untrusted."""
    add(database, "trusted")
    with database.session() as db:
        registry.set_allowed(db, URL, True)
    with pytest.raises(VitrineError) as caught:
        add(database, "trusted", "https://evil.example/mcp")
    assert caught.value.status == 409
    assert add(database, "other", "https://evil.example/mcp").allowed is False


def test_the_server_goes_with_its_last_name(database: Database) -> None:
    add(database, "a")
    add(database, "b")
    with database.session() as db:
        registry.remove_name(db, "a")
    with database.session() as db:
        assert len(registry.servers(db)) == 1
        registry.remove_name(db, "b")
    with database.session() as db:
        assert registry.servers(db) == []
        assert db.exec(select(ServerName)).all() == []
        with pytest.raises(NotFoundError):
            registry.remove_name(db, "b")


def test_a_server_is_allowed_by_id_or_url(database: Database) -> None:
    server = add(database, "a")
    assert server.id is not None
    with database.session() as db:
        assert registry.set_allowed(db, server.id, True).allowed
    with database.session() as db:
        assert db.exec(select(Server.allowed)).one() is True
        registry.set_allowed(db, URL, False)
    with database.session() as db:
        assert db.exec(select(Server.allowed)).one() is False
        for unknown in (99, "https://unknown.example/"):
            with pytest.raises(NotFoundError):
                registry.set_allowed(db, unknown, True)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mcp.example/mcp",
        "ftp://mcp.example/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "stdio://x",
        "http://",
        "http:///mcp",
        "https://user:password@mcp.example/",
        "https://user@mcp.example/",
        "https://mcp.example/#part",
        "https://mcp.example/#",
        "https://mcp.example/a b",
        "https://mcp.example\\@evil.example/",
        "https://mcp.example/\nx",
        "https://mcp.example/\u202ex",
        "https://mcp.example:99999/",
        "https://mcp.example:abc/",
        "https://mcp.example:0/",
        "https://mcp.example/" + "a" * 2_048,
        "https://exa\ud800mple/",
    ],
)
def test_a_url_that_is_refused(database: Database, url: str) -> None:
    with pytest.raises(VitrineError) as caught:
        add(database, "a", url)
    assert caught.value.status == 400
    assert "password@" not in caught.value.sentence
    with database.session() as db:
        assert registry.servers(db) == []


def test_space_around_a_url_is_not_part_of_it(database: Database) -> None:
    assert add(database, "a", f" {URL}\n").url == URL


@pytest.mark.parametrize(
    "name", ["", "  ", "a" * 129, "a\nb", "a\x00b", "a\u202eb", "a\u200bb", "a\ud800b", "a\x1bb"]
)
def test_a_name_that_is_refused(database: Database, name: str) -> None:
    with pytest.raises(VitrineError) as caught:
        add(database, name)
    assert caught.value.status == 400


def test_no_other_transport_exists(database: Database) -> None:
    with pytest.raises(VitrineError):
        add(database, "a", transport="websocket")
    server = add(database, "a", transport="sse")
    assert registry.target(server).transport == "sse"
    with pytest.raises(VitrineError) as caught:
        add(database, "b")
    assert caught.value.status == 409


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/mcp", "https://a.example/mcp"),
        ("https://a.example/?k=v&x=", "https://a.example/?k=•••&x=•••"),
        ("https://a.example/?barekey", "https://a.example/?•••"),
        ("https://u:p@a.example:8443/?a=b=c#f", "https://a.example:8443/?a=•••"),
    ],
)
def test_a_shown_url_holds_no_key(url: str, shown: str) -> None:
    assert mask_url(url) == shown


@pytest.mark.parametrize(
    ("name", "normal"),
    [("my server.v2", "my_server_v2"), ("dash-ed_1", "dash-ed_1"), ("é:x", "__x"), ("", "")],
)
def test_names_are_normalised_as_the_agent_does(name: str, normal: str) -> None:
    assert normalise(name) == normal


def known(*names: str) -> list[KnownServer]:
    return [
        KnownServer(name, Server(id=number, url=f"http://{number}.example/"))
        for number, name in enumerate(names, start=1)
    ]


def found(recorded: str, *names: str) -> list[tuple[str, str, bool]]:
    matches = match(recorded, known(*names))
    return [(one.name, one.tool, one.ambiguous) for one in matches]


def test_a_recorded_name_is_matched_against_known_servers() -> None:
    assert found("mcp__my_server_v2__do_it", "my server.v2", "other") == [
        ("my server.v2", "do_it", False)
    ]


def test_a_recorded_name_is_not_split_at_its_first_separator() -> None:
    assert found("mcp__srv__x__tool", "srv__x") == [("srv__x", "tool", False)]
    assert found("mcp__srv__x__tool", "srv", "srv__x") == [
        ("srv__x", "tool", False),
        ("srv", "x__tool", False),
    ]
    assert found("mcp__srv__x__tool", "x") == []


@pytest.mark.parametrize(
    "recorded",
    [
        "srv__tool",
        "mcp__srv",
        "mcp__srv__",
        "mcp__srv_tool",
        "mcp__srvx__tool",
        "MCP__srv__tool",
        " mcp__srv__tool",
        "Bash",
        "",
    ],
)
def test_what_is_not_the_servers_is_not_matched(recorded: str) -> None:
    assert found(recorded, "srv") == []


def test_two_servers_recorded_alike_are_ambiguous() -> None:
    assert found("mcp__a_b__t", "a.b", "a b", "c") == [("a b", "t", True), ("a.b", "t", True)]


def test_two_names_of_one_server_are_one_reading() -> None:
    server = Server(id=1, url="http://one.example/")
    matches = match("mcp__a_b__t", [KnownServer("a.b", server), KnownServer("a b", server)])
    assert [one.ambiguous for one in matches] == [False]


def test_the_rows_survive_their_session(database: Database) -> None:
    add(database, "a")
    with database.session() as db:
        listed = registry.known_servers(db)
    assert registry.target(listed[0].server).url == URL
    with Session(database.engine) as db:
        assert db.exec(select(Server).where(col(Server.url) == URL)).one().id is not None


def test_a_stdio_server_is_a_name_that_cannot_be_allowed(database: Database) -> None:
    with database.session() as db:
        server = registry.add_server(db, "my server", "", registry.STDIO)
        with pytest.raises(VitrineError) as caught:
            registry.set_allowed(db, server.url, True)
        assert caught.value.status == 400
        (entry,) = registry.servers(db)
        assert (entry.names, entry.masked_url) == (("my server",), "")
    with pytest.raises(ValueError, match="streamable-http or sse only"):
        registry.target(server).key  # noqa: B018


def test_the_choice_on_unmarked_tools_is_off_until_made(database: Database) -> None:
    server = add(database, "a")
    assert server.unmarked_tools is False
    with database.session() as db:
        assert registry.set_unmarked_tools(db, server.url, True).unmarked_tools is True
    with database.session() as db, pytest.raises(NotFoundError):
        registry.set_unmarked_tools(db, "http://nowhere.example/", True)


def test_an_edit_to_another_url_takes_what_was_allowed_and_kept(database: Database) -> None:
    server = add(database, "a")
    assert server.id is not None
    with database.session() as db:
        registry.set_allowed(db, URL, True)
        registry.set_unmarked_tools(db, URL, True)
        db.add(ToolIndexCopy(url=URL, fingerprint="f", data=b""))
    with database.session() as db:
        same = registry.edit_server(db, server.id, URL, "sse")
        assert (same.allowed, same.unmarked_tools, same.transport) == (True, True, "sse")
        assert len(db.exec(select(ToolIndexCopy)).all()) == 1
    with database.session() as db:
        other = registry.edit_server(db, server.id, "https://other.example/", "sse")
        assert (other.allowed, other.unmarked_tools) == (False, False)
        assert db.exec(select(ToolIndexCopy)).all() == []
        assert registry.entry(db, server.id).names == ("a",)


def test_an_edit_cannot_reach_for_another_servers_permission(database: Database) -> None:
    add(database, "trusted")
    with database.session() as db:
        registry.set_allowed(db, URL, True)
    other = add(database, "other", "https://other.example/")
    assert other.id is not None
    with database.session() as db, pytest.raises(VitrineError) as caught:
        registry.edit_server(db, other.id, URL, "streamable-http")
    assert caught.value.status == 409
    assert "as trusted." in caught.value.sentence
    assert "abc" not in caught.value.sentence


@pytest.mark.parametrize("server_id", [0, -1, 99, 2**31, 2**80])
def test_a_server_that_is_not_there(database: Database, server_id: int) -> None:
    with database.session() as db:
        for attempt in (
            lambda: registry.entry(db, server_id),
            lambda: registry.edit_server(db, server_id, URL, "sse"),
            lambda: registry.add_name(db, server_id, "a"),
            lambda: registry.remove_server(db, server_id),
            lambda: registry.set_allowed(db, server_id, True),
        ):
            with pytest.raises(NotFoundError):
                attempt()


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "0.0.0.0", "224.0.0.1", "[fe80::1]", "[fd00:ec2::254]"]
)
def test_an_address_that_is_never_contacted_is_refused_at_once(
    database: Database, host: str
) -> None:
    with database.session() as db, pytest.raises(VitrineError, match="never contacted"):
        registry.add_server(db, "a", f"http://{host}/mcp")
