"""The call index: where a transcript's tool calls and their results are."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ARRAY, Connection, Row, Select, Text, bindparam, func, select
from sqlmodel import SQLModel

from app.db.tables import CallState
from app.text import storable

# PostgreSQL's indexes take rows up to 2,704 bytes; no agent comes near.
MAX_ID_LENGTH = 256
MAX_NAME_LENGTH = 512
MAX_URI_LENGTH = 2_048
MCP_PREFIX = "mcp__"
_IDS_A_QUERY = 500

CALLS = SQLModel.metadata.tables["tool_calls"]
CALL_COLUMNS = (
    CALLS.c.id,
    CALLS.c.transcript_id,
    CALLS.c.tool_call_id,
    CALLS.c.name,
    CALLS.c.server,
    CALLS.c.tool,
    CALLS.c.resource_uri,
    CALLS.c.call_seq,
    CALLS.c.result_seq,
    CALLS.c.state,
    CALLS.c.agent_id,
)


def usable_id(value: str | None) -> str | None:
    """A tool call id as it is stored and looked up, or ``None`` for one that cannot be."""
    if not value or len(value) > MAX_ID_LENGTH:
        return None
    return storable(value)


@dataclass(frozen=True, slots=True)
class CalledTool:
    """Which tool a call was of, as recorded: the name that the model used (``mcp__server__tool``,
    normalised), and, where the agent recorded them, the names of server and tool as the
    configuration and the server have them, and the address of the view that the tool had.
    """

    name: str
    server: str | None = None
    tool: str | None = None
    resource_uri: str | None = None


@dataclass(frozen=True, slots=True)
class StoredCall:
    """One row of the call index."""

    row_id: int
    transcript_id: int
    tool_call_id: str
    called: CalledTool
    call_seq: int
    result_seq: int | None
    state: CallState
    agent_id: str | None = None  # the sub-agent that it started


def stored_call(row: Iterable[Any]) -> StoredCall:
    """From a row of `CALL_COLUMNS`."""
    row_id, transcript_id, tool_call_id, name, server, tool, uri, *rest = row
    call_seq, result_seq, state, agent_id = rest
    called = CalledTool(name, server, tool, uri)
    return StoredCall(
        row_id,
        transcript_id,
        tool_call_id,
        called,
        call_seq,
        result_seq,
        CallState(state),
        agent_id,
    )


def _query(dialect: str, transcript_id: int, ids: list[str]) -> Select[Any]:
    columns = CALLS.c
    if dialect != "postgresql":
        # One text of a statement for any number of ids: writing it anew costs more than the seeks.
        listed = func.json_each(bindparam("ids", json.dumps(ids))).table_valued("value")
        return select(*CALL_COLUMNS).where(
            columns.transcript_id == transcript_id,
            columns.tool_call_id.in_(select(listed.c.value)),
        )
    # Joined, PostgreSQL seeks each id in the unique index. Given a list, it reads the whole
    # transcript's calls as long as it has no statistics: 170 ms instead of 5, for every batch.
    wanted = (
        func.unnest(bindparam("ids", ids, type_=ARRAY(Text()))).table_valued("id").render_derived()
    )
    return (
        select(*CALL_COLUMNS)
        .select_from(wanted)
        .join(CALLS, columns.tool_call_id == wanted.c.id)
        .where(columns.transcript_id == transcript_id)
    )


def calls_of(
    connection: Connection, transcript_id: int, tool_call_ids: Collection[str]
) -> dict[str, StoredCall]:
    """The calls with ``tool_call_ids``, by id."""
    ordered = sorted(set(tool_call_ids))
    found: list[Row[Any]] = []
    for start in range(0, len(ordered), _IDS_A_QUERY):
        part = ordered[start : start + _IDS_A_QUERY]
        query = _query(connection.dialect.name, transcript_id, part)
        found.extend(connection.execute(query))
    return {call.tool_call_id: call for call in map(stored_call, found)}
