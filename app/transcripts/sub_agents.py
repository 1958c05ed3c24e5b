"""The sub-agents of a session: which of them have something that every level shows."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session, col

from app.db import tables

_MAX_DEPTH = 8  # of sub-agents that start sub-agents
_MAX_AGENTS = 1_000


@dataclass(frozen=True, slots=True)
class SubAgent:
    """A sub-agent's transcript: its number and how many entries it has."""

    number: int
    entry_count: int


def started(db: Session, session_id: str, agent_ids: Collection[str]) -> dict[str, SubAgent]:
    """The transcripts of sub-agents, by their agent's id for them."""
    if not agent_ids:
        return {}
    table = tables.Transcript
    rows = db.execute(
        select(col(table.agent_id), col(table.number), col(table.entry_count)).where(
            col(table.session_id) == session_id,
            col(table.agent_id).in_(sorted(agent_ids)[:_MAX_AGENTS]),
        )
    )
    return {row.agent_id: SubAgent(row.number, row.entry_count) for row in rows}


def with_views(db: Session, session_id: str, view_names: Collection[str]) -> set[str]:
    """The sub-agents that called a tool of ``view_names``, or started one that did."""
    if not view_names:
        return set()
    call, transcript = tables.ToolCall, tables.Transcript
    calls_of_sub_agents = (
        select(col(transcript.agent_id))
        .join(call, col(call.transcript_id) == col(transcript.id))
        .where(col(call.session_id) == session_id, col(transcript.number) > 0)
        .distinct()
        .limit(_MAX_AGENTS)
    )
    found = set(
        db.execute(calls_of_sub_agents.where(col(call.name).in_(sorted(view_names)))).scalars()
    )
    newest = found
    for _ in range(_MAX_DEPTH):
        if not newest:
            break
        above = calls_of_sub_agents.where(col(call.agent_id).in_(sorted(newest)))
        newest = set(db.execute(above).scalars()) - found
        found |= newest
    return found
