"""Which MCP tools sessions called, over all of them: what says which servers there are."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session, col

from app.db import tables
from app.transcripts.calls import MCP_PREFIX, CalledTool

# A session and a name of a tool that it called; ten thousand sessions have fewer.
_MAX_PAIRS = 200_000


@dataclass(frozen=True, slots=True)
class SeenTool:
    """A tool as calls by ``agent`` recorded it, and the ids of the sessions they are in."""

    agent: str
    called: CalledTool
    session_ids: frozenset[str]


def seen_tools(db: Session) -> list[SeenTool]:
    """Every MCP tool that any session called, by name. Costs the calls that there are, as an
    index scan; of an absurd number of different names the first 200,000 are counted.
    """
    call = tables.ToolCall
    rows = db.execute(
        select(
            col(tables.Session.agent),
            col(call.session_id),
            col(call.name),
            col(call.server),
            col(call.tool),
        )
        .join(tables.Session, col(tables.Session.id) == col(call.session_id))
        .where(col(call.name).startswith(MCP_PREFIX, autoescape=True))
        .distinct()
        .limit(_MAX_PAIRS)
    )
    by_session: dict[tuple[str, str, str], list[CalledTool]] = {}
    for agent, session_id, name, server, tool in rows:
        # SQLite's LIKE does not tell MCP__ from mcp__.
        if name.startswith(MCP_PREFIX):
            of_name = by_session.setdefault((agent, session_id, name), [])
            of_name.append(CalledTool(name, server, tool))
    sessions: dict[tuple[str, CalledTool], set[str]] = {}
    for (agent, session_id, _), calls in by_session.items():
        for called in _told(calls):
            sessions.setdefault((agent, called), set()).add(session_id)
    return [
        SeenTool(agent, called, frozenset(ids))
        for (agent, called), ids in sorted(sessions.items(), key=lambda item: _order(*item[0]))
    ]


def _told(calls: list[CalledTool]) -> Iterable[CalledTool]:
    """``calls`` of one name in one session. One without a result yet recorded no server; another
    call of the same name tells it.
    """
    told = [called for called in calls if called.server is not None]
    return told or calls


def _order(agent: str, called: CalledTool) -> tuple[str, str, str, str]:
    return called.name, called.server or "", called.tool or "", agent
