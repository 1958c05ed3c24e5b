"""The servers that sessions used, set against those that the operator added."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from app.mcp.names import PREFIX, writing
from app.mcp.registry import KnownServer
from app.mcp_apps.matching import matches
from app.transcripts.server_names import SeenTool


@dataclass(frozen=True, slots=True)
class UnknownServer:
    """A name that stands for no server yet. ``guessed``: the transcript holds only ``recorded``,
    names of server and tool joined; where one ends and the other begins it does not say.
    ``sessions`` counts those that used it.
    """

    name: str
    guessed: bool
    sessions: int
    recorded: Sequence[str]


@dataclass(frozen=True, slots=True)
class Usage:
    """``by_server``: server id → number of sessions that used it. ``unknown``: most used first."""

    by_server: Mapping[int, int]
    unknown: Sequence[UnknownServer]


@dataclass(slots=True)
class _Group:
    sessions: set[str] = field(default_factory=set)
    recorded: list[str] = field(default_factory=list)


def usage(
    seen: Sequence[SeenTool],
    known: Sequence[KnownServer],
    by_session: Mapping[str, Sequence[KnownServer]] | None = None,
    configured: Collection[str] = (),
) -> Usage:
    """Each seen tool counts for the server that its name resolves to, by the same rule as a
    panel's, or for every one that is written alike. ``by_session``: what the configurations of
    sessions add; ``configured``: every name that stands in one.
    """
    told = {tool.called.server for tool in seen if tool.called.server}
    said = sorted({*told, *configured}, key=_longest_first)
    by_server: dict[int, set[str]] = {}
    unknown: dict[tuple[str, bool], _Group] = {}
    for tool in seen:
        ids = _server_ids(tool, known)
        for server_id in ids:
            by_server.setdefault(server_id, set()).update(tool.session_ids)
        left = set() if ids else set(tool.session_ids)
        for session_id in sorted(left & (by_session or {}).keys()):
            own = matches(tool.agent, tool.called, [*known, *(by_session or {})[session_id]])
            for match in own:
                if match.server.id is not None:
                    by_server.setdefault(match.server.id, set()).add(session_id)
            if own:
                left.discard(session_id)
        if left:
            group = unknown.setdefault(_name(tool, said), _Group())
            group.sessions |= left
            if tool.called.name not in group.recorded:
                group.recorded.append(tool.called.name)
    listed = [
        UnknownServer(name, guessed, len(group.sessions), group.recorded)
        for (name, guessed), group in unknown.items()
    ]
    return Usage(
        {server_id: len(sessions) for server_id, sessions in by_server.items()},
        sorted(listed, key=lambda server: (-server.sessions, server.name)),
    )


def guess(recorded: str) -> str:
    """What stands before the first ``__`` of ``mcp__server__tool``: something to begin with when
    filling in a form, and used for nothing else.
    """
    server, _, _ = recorded.removeprefix(PREFIX).partition("__")
    return server


def _longest_first(name: str) -> tuple[int, str]:
    return -len(name), name


def _server_ids(tool: SeenTool, known: Sequence[KnownServer]) -> set[int]:
    found = matches(tool.agent, tool.called, known)
    best = found[:1]
    if best and best[0].ambiguous:
        write = writing(tool.agent)
        best = [match for match in found if write(match.name) == write(best[0].name)]
    return {match.server.id for match in best if match.server.id is not None}


def _name(tool: SeenTool, said: Sequence[str]) -> tuple[str, bool]:
    """(name, whether it is a guess). A name that another call recorded by itself is none."""
    if tool.called.server:
        return tool.called.server, False
    write = writing(tool.agent)
    for name in said:
        if tool.called.name.startswith(f"{PREFIX}{write(name)}__"):
            return name, False
    return guess(tool.called.name), True
