"""One call as the transcript recorded it: what a view is fed with, and what a request is checked
against.
"""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlmodel import Session, col

from app.db import tables
from app.db.tables import CallState
from app.errors import NotFoundError
from app.transcripts import address
from app.transcripts.address import Address
from app.transcripts.beside import reader
from app.transcripts.calls import (
    CALL_COLUMNS,
    CalledTool,
    StoredCall,
    calls_of,
    stored_call,
    usable_id,
)
from app.transcripts.chunks import MAX_LINE_BYTES
from app.transcripts.formats import by_agent
from app.transcripts.lines import entries_at, read

NO_SUCH_CALL = "There is no such tool call in this session."
NOTE_UNREADABLE = "The recorded call could not be read."
NOTE_RESULT_UNREADABLE = "The recorded result could not be read."


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """``agent`` says how ``called.name`` was written. ``result`` has the shape of an MCP
    ``CallToolResult``; its keys are absent when unknown, never ``None``. It is ``None`` when there
    is no result (yet), or when the record lost it. ``notes`` are sentences on what the record no
    longer holds.
    """

    session_id: str
    agent: str  # "claude-code"
    address: str  # of the call
    tool_call_id: str
    called: CalledTool
    arguments: dict[str, Any]
    state: CallState
    result: dict[str, Any] | None
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.called.name


def _by_id(db: Session, session_id: str, tool_call_id: str) -> tuple[int, StoredCall]:
    """The call with this id; the main transcript's before a sub-agent's."""
    row = db.execute(
        select(col(tables.Transcript.number), *CALL_COLUMNS)
        .join(tables.ToolCall, col(tables.ToolCall.transcript_id) == col(tables.Transcript.id))
        .where(
            col(tables.Transcript.session_id) == session_id,
            col(tables.ToolCall.tool_call_id) == tool_call_id,
        )
        .order_by(col(tables.Transcript.number))
        .limit(1)
    ).first()
    if row is None:
        raise NotFoundError(NO_SUCH_CALL)
    return row.number, stored_call(row[1:])


def _at(db: Session, session_id: str, tool_call_id: str, at: str) -> tuple[int, StoredCall]:
    """The call with this id, if the entry at this address is that call or its result."""
    place = address.parse(at)
    transcript_id = db.execute(
        select(col(tables.Transcript.id)).where(
            col(tables.Transcript.session_id) == session_id,
            col(tables.Transcript.number) == place.transcript,
        )
    ).scalar()
    if transcript_id is not None:
        call = calls_of(db.connection(), transcript_id, [tool_call_id]).get(tool_call_id)
        if call is not None and place.seq in (call.call_seq, call.result_seq):
            return place.transcript, call
    raise NotFoundError(NO_SUCH_CALL)


def recorded_call(
    db: Session, session_id: str, tool_call_id: str, at: str | None = None
) -> RecordedCall:
    """The call ``tool_call_id`` of a session. ``at`` is a hint from a request, verified and never
    trusted: the entry there must carry this id. Only the line of the call and the line of its
    result are read. Raises `NotFoundError`.
    """
    known_id = usable_id(tool_call_id)
    agent = db.execute(
        select(col(tables.Session.agent)).where(col(tables.Session.id) == session_id)
    ).scalar()
    if known_id is None or agent is None:
        raise NotFoundError(NO_SUCH_CALL)
    number, stored = (
        _by_id(db, session_id, known_id) if at is None else _at(db, session_id, known_id, at)
    )
    fmt = by_agent(agent)
    seqs = [seq for seq in (stored.call_seq, stored.result_seq) if seq is not None]
    entries = entries_at(db, stored.transcript_id, seqs)
    lines = read(
        db,
        stored.transcript_id,
        fmt,
        {entry.place for entry in entries.values() if entry.place.size <= MAX_LINE_BYTES},
    ).decoded
    notes: list[str] = []
    arguments: dict[str, Any] = {}
    entry = entries[stored.call_seq]
    if entry.place in lines:
        call = fmt.call(lines[entry.place], entry.block)
        arguments = call.arguments
        notes.extend(call.notes)
    else:
        notes.append(NOTE_UNREADABLE)
    result: dict[str, Any] | None = None
    if stored.result_seq is not None:
        entry = entries[stored.result_seq]
        if entry.place in lines:
            found = fmt.result(
                lines[entry.place], entry.block, stored.called.name, reader(db, session_id)
            )
            result = found.result
            notes.extend(found.notes)
        else:
            notes.append(NOTE_RESULT_UNREADABLE)
    return RecordedCall(
        session_id=session_id,
        agent=agent,
        address=str(Address(number, stored.call_seq)),
        tool_call_id=known_id,
        called=stored.called,
        arguments=arguments,
        state=stored.state,
        result=result,
        notes=notes,
    )
