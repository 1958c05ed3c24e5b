"""Which known servers a recorded call may be of."""

import pytest

from app.db.tables import Server
from app.mcp.names import normalise, normalise_codex, writing
from app.mcp.registry import KnownServer
from app.mcp.tool_index import parse_tools
from app.mcp_apps.matching import matches, recorded_view
from app.transcripts.calls import CalledTool

INDEX = parse_tools({"name": name} for name in ("get-time", "get_time", "set-time", "a.b"))


def known(*names: str) -> list[KnownServer]:
    """A server for every name."""
    return [
        KnownServer(name, Server(id=number, url=f"http://{number}.example/"))
        for number, name in enumerate(names)
    ]


def found(called: CalledTool, *names: str, agent: str = "codex") -> list[str]:
    return [match.name for match in matches(agent, called, known(*names))]


@pytest.mark.parametrize(
    ("server", "meant"),
    [
        ("my-srv", ["my-srv"]),
        ("my_srv", ["my_srv"]),
        ("my.srv", []),
        ("My-srv", []),
        ("my-srv ", []),
        ("", []),
    ],
)
def test_a_recorded_server_is_that_one_or_none(server: str, meant: list[str]) -> None:
    called = CalledTool("mcp__my_srv__get_time", server, "get-time")
    assert found(called, "my-srv", "my_srv", "other") == meant


def test_a_recorded_server_is_never_ambiguous() -> None:
    called = CalledTool("mcp__my_srv__get_time", "my-srv", "get-time")
    [match] = matches("codex", called, known("my-srv", "my_srv"))
    assert not match.ambiguous


@pytest.mark.parametrize(
    ("tool", "meant"),
    [
        ("get-time", "get-time"),
        ("get_time", "get_time"),
        ("set-time", "set-time"),
        ("set_time", None),
        ("a_b", None),
        ("Get-time", None),
    ],
)
def test_a_recorded_tool_is_that_one_or_none(tool: str, meant: str | None) -> None:
    [match] = matches("codex", CalledTool("mcp__s__x", "s", tool), known("s"))
    tool_found = match.find(INDEX)
    assert (tool_found.name if tool_found else None) == meant


@pytest.mark.parametrize(
    ("agent", "name", "meant", "tool"),
    [
        ("codex", "mcp__my_srv__set_time", ["my-srv"], "set-time"),
        ("codex", "mcp__my_srv__a_b", ["my-srv"], "a.b"),
        ("codex", "mcp__my_srv__get_time", ["my-srv"], "get_time"),
        ("claude-code", "mcp__my_srv__set_time", [], None),
        ("claude-code", "mcp__my-srv__set-time", ["my-srv"], "set-time"),
        ("claude-code", "mcp__my-srv__set_time", ["my-srv"], None),
        ("claude-code", "mcp__my-srv__a_b", ["my-srv"], "a.b"),
    ],
)
def test_without_them_the_name_is_read_as_its_agent_writes_it(
    agent: str, name: str, meant: list[str], tool: str | None
) -> None:
    readings = matches(agent, CalledTool(name), known("my-srv"))
    assert [match.name for match in readings] == meant
    tools = [match.find(INDEX) for match in readings]
    assert [one.name for one in tools if one] == ([tool] if tool else [])


def test_servers_that_an_agent_writes_alike_are_ambiguous() -> None:
    called = CalledTool("mcp__my_srv__x")
    readings = matches("codex", called, known("my-srv", "my_srv"))
    assert [match.ambiguous for match in readings] == [True, True]
    [only] = matches("claude-code", called, known("my-srv", "my_srv"))
    assert (only.name, only.ambiguous) == ("my_srv", False)


def test_half_a_record_counts_for_nothing() -> None:
    assert found(CalledTool("mcp__a__x", "b", None), "a", "b") == ["a"]
    assert found(CalledTool("mcp__a__x", None, "x"), "a", "b") == ["a"]


def test_how_agents_write_names() -> None:
    assert writing("codex") is normalise_codex
    assert writing("claude-code") is normalise
    assert writing("another") is normalise
    assert normalise_codex("my-server v2.é") == "my_server_v2__"
    assert normalise("my-server v2.é") == "my-server_v2__"


@pytest.mark.parametrize(
    "uri",
    [None, "", "ui:/x", "UI://x", "http://x", "ui://a b\n", "ui://\u202e", "ui://" + "x" * 2_048],
)
def test_what_is_no_recorded_view(uri: str | None) -> None:
    assert recorded_view(CalledTool("mcp__a__x", "a", "x", uri)) is None


def test_a_recorded_view() -> None:
    assert recorded_view(CalledTool("mcp__a__x", "a", "x", "ui://a/v.html")) == "ui://a/v.html"
