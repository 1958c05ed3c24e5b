"""Index rows turned into the rows that a page shows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlmodel import Session, col

from app.db import tables
from app.db.tables import CallState
from app.transcripts import lines, sub_agents
from app.transcripts.address import Address
from app.transcripts.calls import MAX_NAME_LENGTH, CalledTool, StoredCall
from app.transcripts.chunks import Place
from app.transcripts.formats.base import Body, Format, Kind
from app.transcripts.formats.lenient import pretty
from app.transcripts.lines import IndexRow
from app.transcripts.sub_agents import SubAgent

TEXT_LIMIT = 100_000  # characters of one body
CALL_TEXT_LIMIT = 20_000  # characters of a call's arguments, and of its result
# A longer line is not read for a window.
WINDOW_LINE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call with its result folded in. ``tool_call_id`` is ``None`` when the record has none
    that is usable: there is no panel then. Texts are raw third-party text.
    """

    called: CalledTool
    tool_call_id: str | None
    state: CallState
    arguments_json: str  # indented; cut to CALL_TEXT_LIMIT
    result_text: str | None  # None: no result yet, or not shown (``note``); cut likewise
    note: str = ""  # a sentence of ours on what is not shown
    sub_agent: SubAgent | None = None  # that the call started, where its transcript is here
    sub_agent_has_views: bool = False

    @property
    def name(self) -> str:
        return self.called.name


@dataclass(frozen=True, slots=True)
class Row:
    address: str  # "0-142"
    kind: Kind
    at: datetime | None
    text: str  # raw; Markdown for user and assistant; "" for calls; cut to TEXT_LIMIT
    call: CallRow | None = None
    label: str = ""  # of a system row: what it is
    sidechain: bool = False  # a sub-agent's row inside the main transcript
    cut: bool = False  # something in this row is longer than what is shown
    note: str = ""  # a sentence of ours on the line's bytes
    # Of a prompt that went back: the address of the entry that it follows, and that it replaces
    # what lies between.
    goes_back_to: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """The transcript of a window."""

    id: int
    number: int
    entry_count: int
    session_id: str
    format: Format


def _too_long(place: Place) -> str:
    return f"This line of {place.size // 1024 // 1024} MiB is too large to show here."


def _branches(db: Session, transcript_id: int, rows: list[IndexRow]) -> dict[int, int]:
    """Of the rows at which the conversation went back: the entry that each follows."""
    if not rows:
        return {}
    table = tables.Branch
    found = db.execute(
        select(col(table.seq), col(table.parent_seq)).where(
            col(table.transcript_id) == transcript_id,
            col(table.seq) >= rows[0].seq,
            col(table.seq) <= rows[-1].seq,
        )
    )
    return {row.seq: row.parent_seq for row in found}


class Reader:
    """Turns index rows into rows with their bodies."""

    def __init__(
        self,
        db: Session,
        shown: Shown,
        rows: list[IndexRow],
        calls: Mapping[str, StoredCall],
        results: Mapping[str, IndexRow],
        agents_with_views: Collection[str] = (),
    ) -> None:
        self._agents_with_views = agents_with_views
        self._shown = shown
        self._calls = calls
        self._results = results
        folded = [result for row in rows if (result := self._result_of(row))]
        places = {row.place for row in [*rows, *folded]}
        small = [place for place in places if place.size <= WINDOW_LINE_BYTES]
        read = lines.read(db, shown.id, shown.format, small)
        self._lines = read.decoded
        self._broken = read.broken
        self._notes = read.notes
        self._branches = _branches(db, shown.id, rows)
        self._bodies = {row.seq: self._result_body(row) for row in rows if self._result_of(row)}
        wanted = {call.agent_id for call in calls.values() if call.agent_id}
        self._agents = sub_agents.started(db, shown.session_id, wanted)
        self.rows = [self._row(row) for row in rows]

    def _result_of(self, row: IndexRow) -> IndexRow | None:
        if row.kind is not Kind.TOOL_CALL or row.tool_call_id is None:
            return None
        call = self._calls.get(row.tool_call_id)
        # A second call with the same id is shown, but the result is the first one's.
        if call is None or call.call_seq != row.seq:
            return None
        return self._results.get(row.tool_call_id)

    def _places(self, row: IndexRow) -> list[Place]:
        """Of a call's line and its result's, each once."""
        result = self._result_of(row)
        return list(dict.fromkeys([row.place, *([result.place] if result else [])]))

    def _result_body(self, row: IndexRow) -> Body | None:
        result = self._result_of(row)
        line = self._lines.get(result.place) if result else None
        return self._shown.format.read(line, result.block) if result and line is not None else None

    def _row(self, row: IndexRow) -> Row:
        where = str(Address(self._shown.number, row.seq))
        line = self._lines.get(row.place)
        if row.kind is Kind.TOOL_CALL:
            call, cut = self._call(row, line)
            return Row(where, row.kind, row.at, "", call=call, cut=cut)
        if row.place.size > WINDOW_LINE_BYTES:
            return Row(where, row.kind, row.at, _too_long(row.place))
        if row.kind is Kind.UNREADABLE or line is None:
            why = self._notes.get(row.place, "")
            text = f"This line has {row.place.size} bytes. {why} It begins with:"
            head = self._broken.get(row.place, "")
            return Row(where, Kind.UNREADABLE, row.at, f"{text}\n\n{head}", cut=True)
        parent = self._branches.get(row.seq)
        body = self._shown.format.read(line, row.block)
        return Row(
            where,
            Kind.TOOL_RESULT if row.kind is Kind.TOOL_OUTPUT else row.kind,
            row.at,
            body.text[:TEXT_LIMIT],
            label=body.label,
            sidechain=body.sidechain,
            cut=len(body.text) > TEXT_LIMIT,
            note=self._notes.get(row.place, ""),
            goes_back_to=None if parent is None else str(Address(self._shown.number, parent)),
        )

    def _call(self, row: IndexRow, line: Mapping[str, Any] | None) -> tuple[CallRow, bool]:
        stored = self._calls.get(row.tool_call_id or "")
        own = stored is not None and stored.call_seq == row.seq
        notes = [note for place in self._places(row) if (note := self._notes.get(place))]
        called, arguments = (stored.called if stored and own else None), ""
        if line is not None:
            call = self._shown.format.call(line, row.block)
            called = called or CalledTool(call.name[:MAX_NAME_LENGTH])
            arguments = pretty(call.arguments)
            notes.extend(call.notes)
        elif row.place.size > WINDOW_LINE_BYTES:
            notes.append(_too_long(row.place))
        body = self._bodies.get(row.seq)
        result = self._result_of(row)
        if result is not None and body is None and result.place.size > WINDOW_LINE_BYTES:
            notes.append(_too_long(result.place))
        text = body.text if body else None
        agent_id = stored.agent_id or "" if stored and own else ""
        shown = CallRow(
            called=called or CalledTool(""),
            tool_call_id=row.tool_call_id if own else None,
            state=stored.state if stored and own else CallState.PENDING,
            arguments_json=arguments[:CALL_TEXT_LIMIT],
            result_text=text[:CALL_TEXT_LIMIT] if text is not None else None,
            note=" ".join(notes),
            sub_agent=self._agents.get(agent_id),
            sub_agent_has_views=agent_id in self._agents_with_views,
        )
        cut = len(arguments) > CALL_TEXT_LIMIT or len(text or "") > CALL_TEXT_LIMIT
        return shown, cut
