"""From the tool that a call recorded to the known servers that it may be of."""

from collections.abc import Sequence

from app.mcp import codex_names, registry
from app.mcp.names import CODEX, writing
from app.mcp.registry import KnownServer, Match
from app.mcp.tool_index import is_view_address
from app.transcripts.calls import CalledTool


def matches(agent: str, called: CalledTool, known: Sequence[KnownServer]) -> list[Match]:
    """The readings of a call by ``agent``, best first. Where the agent recorded the names of
    server and tool themselves, there is one at most, and it is exact. Claude Code recorded only
    the joined names for long: a server may be known by what is in these.
    """
    if called.server is not None and called.tool is not None:
        found = registry.match_exact(called.server, called.tool, known)
        if found or agent == CODEX:
            return found
    if agent == CODEX:
        return codex_names.matches(called.name, known)
    return registry.match(called.name, known, writing(agent))


def recorded_view(called: CalledTool) -> str | None:
    """The ``ui://…`` address that the agent recorded with the call: the tool had a view then."""
    uri = called.resource_uri
    return uri if uri is not None and is_view_address(uri) else None
