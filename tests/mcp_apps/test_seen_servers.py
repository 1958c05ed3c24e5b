"""Names seen in sessions against those that the operator added."""

import pytest

from app.db.tables import Server
from app.mcp.registry import KnownServer
from app.mcp_apps.seen_servers import UnknownServer, guess, usage
from app.transcripts.calls import CalledTool
from app.transcripts.server_names import SeenTool


def known(*names: str) -> list[KnownServer]:
    return [
        KnownServer(name, Server(id=number, url=f"http://{number}.example/"))
        for number, name in enumerate(names, start=1)
    ]


def seen(name: str, *ids: str, agent: str = "claude-code", raw: str = "") -> SeenTool:
    server, tool = raw.split("/") if raw else (None, None)
    return SeenTool(agent, CalledTool(name, server, tool), frozenset(ids))


def test_sessions_are_counted_once_a_server() -> None:
    found = usage(
        [seen("mcp__a__x", "1", "2"), seen("mcp__a__y", "2", "3"), seen("mcp__b__x", "1")],
        known("a", "b"),
    )
    assert (found.by_server, found.unknown) == ({1: 3, 2: 1}, [])


def test_what_is_unknown_is_a_guess_with_what_it_was_guessed_from() -> None:
    found = usage(
        [seen("mcp__a__x", "1"), seen("mcp__a__b__c", "2"), seen("mcp__z__x", "1", "2", "3")], []
    )
    assert found.by_server == {}
    assert found.unknown == [
        UnknownServer("z", True, 3, ["mcp__z__x"]),
        UnknownServer("a", True, 2, ["mcp__a__x", "mcp__a__b__c"]),
    ]


def test_the_longer_name_has_the_call_and_is_no_guess() -> None:
    tools = [seen("mcp__a__b__c", "1"), seen("mcp__a__x", "2")]
    assert usage(tools, known("a", "a__b")).by_server == {1: 1, 2: 1}
    assert usage(tools, known("a__b")).unknown == [UnknownServer("a", True, 1, ["mcp__a__x"])]


def test_servers_that_are_written_alike_share_the_count() -> None:
    assert usage([seen("mcp__a_b__x", "1")], known("a.b", "a b", "c")).by_server == {1: 1, 2: 1}


def test_a_name_that_the_agent_recorded_is_exact() -> None:
    tool = seen("mcp__my_srv__x", "1", agent="codex", raw="my-srv/x")
    assert usage([tool], known("my_srv")).by_server == {}
    assert usage([tool], known("my_srv")).unknown == [
        UnknownServer("my-srv", False, 1, ["mcp__my_srv__x"])
    ]
    assert usage([tool], known("my_srv", "my-srv")).by_server == {2: 1}


def test_a_recorded_name_explains_what_another_agent_joined() -> None:
    tools = [
        seen("mcp__a__b__c", "1"),
        seen("mcp__a__b__c", "2", agent="codex", raw="a__b/c"),
        seen("mcp__a__b__d", "3", agent="codex"),
    ]
    assert usage(tools, []).unknown == [
        UnknownServer("a__b", False, 3, ["mcp__a__b__c", "mcp__a__b__d"])
    ]


@pytest.mark.parametrize(
    ("recorded", "guessed"),
    [("mcp__a__b", "a"), ("mcp__a__b__c", "a"), ("mcp__a", "a"), ("mcp____x", ""), ("mcp__", "")],
)
def test_a_guess_is_what_stands_before_the_first_separator(recorded: str, guessed: str) -> None:
    assert guess(recorded) == guessed
