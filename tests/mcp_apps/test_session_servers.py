"""Names that stand for a server because the session's own configuration said so."""

from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.db.tables import Server, SessionServer
from app.mcp import registry
from app.mcp_apps.seen_servers import usage
from app.mcp_apps.session_servers import known_by_session, known_in
from app.transcripts.calls import CalledTool
from app.transcripts.server_names import SeenTool

URL = "https://mcp.example/mcp"
OTHER = "https://other.example/mcp"


def session(database: Database, **servers: str) -> str:
    """A session whose configuration names these servers: name → URL, "" for a program."""
    with database.session() as db:
        row = tables.Session(source="local", agent="claude-code", external_id="x")
        db.add(row)
        db.flush()
        for name, url in servers.items():
            transport = "streamable-http" if url else registry.STDIO
            db.add(
                SessionServer(
                    session_id=row.id,
                    name=name,
                    url=url,
                    transport=transport,
                    headers={},
                    origin="project",
                )
            )
        return row.id


def known(database: Database, session_id: str) -> dict[str, str]:
    with database.session() as db:
        return {one.name: one.server.url for one in known_in(db, session_id)}


def add(database: Database, name: str, url: str) -> None:
    with database.session() as db:
        registry.add_server(db, name, url)


def test_a_name_resolves_to_a_server_that_is_known_by_its_url(database: Database) -> None:
    add(database, "operators-name", URL)
    session_id = session(database, weather="HTTPS://MCP.example/mcp")
    assert known(database, session_id) == {"operators-name": URL, "weather": URL}


def test_a_url_that_nobody_added_is_no_server(database: Database) -> None:
    session_id = session(database, weather=URL, broken="https://${HOST}/mcp", odd="no url")
    assert known(database, session_id) == {}
    with database.session() as db:
        assert db.exec(select(Server)).all() == []


def test_the_operator_s_own_name_wins(database: Database) -> None:
    add(database, "weather", URL)
    add(database, "other", OTHER)
    session_id = session(database, weather=OTHER)
    assert known(database, session_id) == {"weather": URL, "other": OTHER}


def test_another_session_s_configuration_counts_for_nothing(database: Database) -> None:
    add(database, "operators-name", URL)
    session(database, weather=URL)
    assert known(database, session(database)) == {"operators-name": URL}


def test_trust_is_not_borrowed(database: Database) -> None:
    """The name gets the server of its URL, with what is allowed there, and nothing more."""
    add(database, "trusted", URL)
    add(database, "untrusted", OTHER)
    with database.session() as db:
        registry.set_allowed(db, URL, True)
    session_id = session(database, named_like_trusted=OTHER)
    with database.session() as db:
        allowed = {one.name: one.server.allowed for one in known_in(db, session_id)}
    assert allowed == {"trusted": True, "untrusted": False, "named_like_trusted": False}


def test_a_program_says_what_it_is(database: Database) -> None:
    session_id = session(database, local="")
    with database.session() as db:
        [one] = known_in(db, session_id)
    assert (one.name, one.server.transport, one.server.id) == ("local", registry.STDIO, None)


def test_usage_counts_each_session_by_its_own_configuration(database: Database) -> None:
    add(database, "operators-name", URL)
    one, two = session(database, weather=URL), session(database)
    seen = [SeenTool("claude-code", CalledTool("mcp__weather__x"), frozenset({one, two}))]
    with database.session() as db:
        known_everywhere = registry.known_servers(db)
        found = usage(seen, known_everywhere, known_by_session(db, known_everywhere))
        server_id = known_everywhere[0].server.id
    assert found.by_server == {server_id: 1}
    assert [(group.name, group.sessions) for group in found.unknown] == [("weather", 1)]


def test_a_configured_name_is_no_guess() -> None:
    seen = [SeenTool("claude-code", CalledTool("mcp__a__b__x"), frozenset({"s"}))]
    [group] = usage(seen, [], {}, ["a__b"]).unknown
    assert (group.name, group.guessed) == ("a__b", False)
