"""Names as older versions of Codex wrote them, and those with a hash: from known servers only."""

from hashlib import sha1

import pytest

from app.db.tables import Server
from app.mcp.codex_names import matches
from app.mcp.registry import KnownServer
from app.mcp.tool_index import parse_tools

LONG = "a_tool_with_a_name_that_is_much_longer_than_the_limit_of_what_a_model_takes"


def known(*names: str) -> list[KnownServer]:
    return [
        KnownServer(name, Server(id=n, url=f"http://{n}.example/")) for n, name in enumerate(names)
    ]


def meant(recorded: str, servers: list[str], tools: list[str]) -> list[tuple[str, str | None]]:
    """(server, tool) of every reading."""
    index = parse_tools({"name": name} for name in tools)
    found = []
    for match in matches(recorded, known(*servers)):
        tool = match.find(index)
        found.append((match.name, tool.name if tool else None))
    return found


@pytest.mark.parametrize(
    ("recorded", "server", "tool"),
    [
        ("mcp__basic_vanillajs__get_time", "basic-vanillajs", "get-time"),  # 0.115 and newer
        ("mcp__basic-vanillajs__get-time", "basic-vanillajs", "get-time"),  # 0.53, 0.80
        ("mcp__probe__dotted.name", "probe", "dotted.name"),  # 0.53
        ("mcp__probe__dotted_name", "probe", "dotted.name"),  # 0.80 and newer
        ("mcp__a__b__c", "a__b", "c"),
    ],
)
def test_each_version_s_way_of_writing(recorded: str, server: str, tool: str) -> None:
    assert meant(recorded, [server, "other"], [tool, "another"]) == [(server, tool)]


def test_dashes_tell_apart_what_underscores_do_not() -> None:
    assert meant("mcp__my-srv__x", ["my-srv", "my_srv"], ["x"]) == [("my-srv", "x")]


def test_a_server_that_got_a_hash_beside_one_like_it() -> None:
    """Measured with 0.169: the hash of ``my-srv\\0my-srv\\0``."""
    recorded = "mcp__my_srv_b0fadbc4a6d3__structured"
    assert meant(recorded, ["my-srv", "my_srv"], ["structured"]) == [("my-srv", "structured")]
    assert meant(recorded, ["my_srv"], ["structured"]) == []


@pytest.mark.parametrize(
    "server", ["probe", "basic-vanillajs", "a-server-whose-name-alone-is-long"]
)
def test_a_flat_name_that_was_cut(server: str) -> None:
    whole = f"mcp__{server}__{LONG}"
    recorded = whole.replace("-", "_")[:24] + sha1(whole.encode()).hexdigest()
    assert len(recorded) == 64
    assert meant(recorded, [server, "other"], [LONG, LONG + "r"]) == [(server, LONG)]
    assert meant(recorded, [server], [LONG + "r"]) == [(server, None)]


def test_of_two_servers_that_begin_alike_the_hash_tells_which() -> None:
    one, two = "a-server-whose-name-is-long-1", "a-server-whose-name-is-long-2"
    whole = f"mcp__{two}__{LONG}"
    recorded = whole.replace("-", "_")[:24] + sha1(whole.encode()).hexdigest()
    assert meant(recorded, [one, two], [LONG]) == [(one, None), (two, LONG)]


def test_a_tool_that_was_cut_under_its_namespace() -> None:
    suffix = "_" + sha1(f"probe\0probe\0\0{LONG}\0{LONG}".encode()).hexdigest()[:12]
    recorded = f"mcp__probe__{LONG[: 64 - len('mcp__probe__') - 13]}{suffix}"
    assert meant(recorded, ["probe"], [LONG, LONG + "r"]) == [("probe", LONG)]
    assert meant(recorded, ["probe"], [LONG + "r"]) == [("probe", None)]


def test_two_tools_written_alike_get_a_hash_each() -> None:
    suffix = "_" + sha1(b"probe\0probe\0\0get-time\0get-time").hexdigest()[:12]
    assert meant(f"mcp__probe__get_time{suffix}", ["probe"], ["get-time", "get_time"]) == [
        ("probe", "get-time")
    ]


def test_a_hash_that_nothing_known_gives_means_nothing() -> None:
    assert meant("mcp__probe__get_time_000000000000", ["probe"], ["get-time"]) == [("probe", None)]
