"""The rows of one appended batch: entries, tool calls, and what it says of the session."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, update
from sqlmodel import SQLModel

from app.db.tables import CallState
from app.text import one_line, storable
from app.transcripts import branches
from app.transcripts.branches import Tree
from app.transcripts.bulk import Values, insert_rows
from app.transcripts.calls import (
    CALLS,
    MAX_NAME_LENGTH,
    MAX_URI_LENGTH,
    MCP_PREFIX,
    CalledTool,
    calls_of,
    usable_id,
)
from app.transcripts.chunks import ChunkWriter
from app.transcripts.formats.base import RESULT_KINDS, Attributed, Format, Indexed, Item, Kind
from app.transcripts.search_index import Texts

TITLE_LENGTH = 120
_MAX_INT = 2**31 - 1

# The tables themselves: the ORM would cost more than the rest of an import.
_ENTRIES = SQLModel.metadata.tables["entries"]
_ENTRY_COLUMNS = (
    "transcript_id",
    "seq",
    "kind",
    "at",
    "chunk",
    "offset",
    "size",
    "block",
    "tool_call_id",
)
_CALL_COLUMNS = (
    "session_id",
    "transcript_id",
    "tool_call_id",
    "name",
    "server",
    "tool",
    "resource_uri",
    "call_seq",
    "result_seq",
    "state",
    "agent_id",
)


def _recorded_name(item: Item) -> str:
    return storable((item.tool_name or "")[:MAX_NAME_LENGTH])


def _usable(value: str | None, limit: int) -> str | None:
    # Never cut: a cut name could be another one's.
    return storable(value) if value and len(value) <= limit else None


def _called(item: Item, known: CalledTool) -> CalledTool:
    """``known`` with what a result says of its tool. The name stays the one that the model used,
    but every call of an MCP tool is to be found by its name.
    """
    server = _usable(item.server, MAX_NAME_LENGTH)
    tool = _usable(item.tool, MAX_NAME_LENGTH)
    if server is None or tool is None:
        return known
    name = known.name if known.name.startswith(MCP_PREFIX) else _recorded_name(item)
    return CalledTool(name, server, tool, _usable(item.resource_uri, MAX_URI_LENGTH))


def _attributed(names: Attributed, known: CalledTool) -> CalledTool:
    server, tool = _usable(names.server, MAX_NAME_LENGTH), _usable(names.tool, MAX_NAME_LENGTH)
    return known if server is None or tool is None else CalledTool(known.name, server, tool)


@dataclass(slots=True)
class _Call:
    """A call that this batch adds (``row_id`` is ``None``) or changes."""

    row_id: int | None
    called: CalledTool
    call_seq: int
    result_seq: int | None
    state: str
    agent_id: str | None = None
    changed: bool = False

    def take(self, seq: int, item: Item) -> None:
        """A result arrives; `Item` says which one counts."""
        started = usable_id(item.agent_id)
        if started is not None:
            self.agent_id = started
            self.changed = True
        made_up = self.state == CallState.INTERRUPTED
        other = made_up and item.state != CallState.INTERRUPTED
        if self.result_seq is None or item.complete or other:
            self.called = _called(item, self.called)
            self.result_seq = seq
            self.state = item.state or CallState.DONE
            self.changed = True

    def name(self, names: Attributed) -> None:
        if self.called.server is None:
            self.called = _attributed(names, self.called)
            self.changed = True


@dataclass(slots=True)
class Facts:
    """What a batch says of its session."""

    first_at: datetime | None = None
    last_at: datetime | None = None
    folder: str = ""
    prompt: str = ""
    given_title: str = ""

    def take(self, line: Indexed) -> None:
        if line.at is not None:
            self.first_at = self.first_at or line.at
            if self.last_at is None or line.at > self.last_at:
                self.last_at = line.at
        self.folder = self.folder or storable(line.folder)
        self.prompt = self.prompt or line.prompt
        self.given_title = line.title or self.given_title

    def title(self, known: str) -> str:
        """The session's title: a given one, else the first prompt; ``known`` is the one so far."""
        found = " ".join((self.given_title or ("" if known else self.prompt)).split())
        return storable(one_line(_cut(found), TITLE_LENGTH)) if found else known


def _cut(title: str) -> str:
    """``title`` within its length, cut between two words where there is a place for it."""
    if len(title) <= TITLE_LENGTH:
        return title
    head = title[: TITLE_LENGTH - 1]
    end = head.rfind(" ", TITLE_LENGTH // 2)
    return (head if end < 0 else head[:end]) + "…"


class Batch:
    """Collects the rows; `write` adds them in the caller's transaction."""

    def __init__(
        self,
        session_id: str,
        transcript_id: int,
        first_seq: int,
        fmt: Format,
        chunks: ChunkWriter,
        leaf: str = "",
    ) -> None:
        self._session_id = session_id
        self._transcript_id = transcript_id
        self._first_seq = first_seq
        self._format = fmt
        self._chunks = chunks
        self._entries: list[Values] = []
        # Calls and results, and names that came later than their calls, in order.
        self._events: list[tuple[str, int, Item | Attributed]] = []
        self._tree = Tree(leaf)
        self._texts = Texts(fmt)
        self.ignored = 0
        self.facts = Facts()

    @property
    def leaf(self) -> str:
        """The last line of the transcript's tree."""
        return self._tree.leaf

    @property
    def entry_count(self) -> int:
        return len(self._entries)

    def line(self, line: bytes) -> None:
        """A line without its newline."""
        chunk, offset = self._chunks.add(line)
        if not line.strip():
            return
        indexed = self._format.index(line)
        self.facts.take(indexed)
        self._tree.line(indexed, self._first_seq + len(self._entries))
        if indexed.attributed is not None:
            self._events.append(("", 0, indexed.attributed))
        if not indexed.items:
            self.ignored += 1
        self._texts.line(line, self._first_seq + len(self._entries), indexed.items)
        for item in indexed.items:
            self._entry(item, indexed.at, chunk, offset, len(line))

    def too_large(self, connection: Connection, pieces: Iterable[bytes], size: int) -> None:
        """A line, newline included, that is stored and not looked into."""
        chunk, offset = self._chunks.add_pieces(connection, pieces)
        self._entry(Item(Kind.UNREADABLE), None, chunk, offset, min(size - 1, _MAX_INT))

    def _entry(self, item: Item, at: datetime | None, chunk: int, offset: int, size: int) -> None:
        seq = self._first_seq + len(self._entries)
        call_id = usable_id(item.tool_call_id)
        self._entries.append(
            (
                self._transcript_id,
                seq,
                item.kind.value,
                at,
                chunk,
                offset,
                size,
                item.block,
                call_id,
            )
        )
        if call_id is not None:
            self._events.append((call_id, seq, item))

    def write(self, connection: Connection, *, searchable: bool) -> int:
        """Write chunks, entries and calls; ``searchable``: into the full text index too. Returns
        the number of new calls.
        """
        self._chunks.flush(connection)
        self._name_stored(connection)
        calls = self._calls(connection) if self._events else {}
        insert_rows(connection, _ENTRIES, _ENTRY_COLUMNS, self._entries)
        branches.write(connection, self._transcript_id, self._tree.back)
        if searchable:
            self._texts.write(connection, self._transcript_id)
        return self._write_calls(connection, calls)

    def _name_stored(self, connection: Connection) -> None:
        """Every call that is stored came before the names of this batch."""
        for names in {names for _, _, names in self._events if isinstance(names, Attributed)}:
            known = CalledTool(storable(names.name))
            called = _attributed(names, known)
            if called is not known:
                connection.execute(
                    update(CALLS)
                    .where(
                        CALLS.c.session_id == self._session_id,
                        CALLS.c.transcript_id == self._transcript_id,
                        CALLS.c.name == called.name,
                        CALLS.c.server.is_(None),
                    )
                    .values(server=called.server, tool=called.tool)
                )

    def _known(self, connection: Connection) -> dict[str, _Call]:
        wanted = {call_id for call_id, _, item in self._events if isinstance(item, Item)}
        stored = calls_of(connection, self._transcript_id, wanted)
        return {
            call_id: _Call(
                call.row_id,
                call.called,
                call.call_seq,
                call.result_seq,
                call.state,
                call.agent_id,
            )
            for call_id, call in stored.items()
        }

    def _calls(self, connection: Connection) -> dict[str, _Call]:
        """The calls that this batch mentions, as they are after it."""
        calls = self._known(connection)
        nameless: dict[str, list[_Call]] = {}
        for call_id, seq, item in self._events:
            if isinstance(item, Attributed):
                for call in nameless.pop(storable(item.name), ()):
                    call.name(item)
                continue
            found = calls.get(call_id)
            if item.kind in RESULT_KINDS and found is not None:
                found.take(seq, item)
            elif found is None and (item.kind is Kind.TOOL_CALL or item.tool_name):
                made = _Call(None, CalledTool(_recorded_name(item)), seq, None, CallState.PENDING)
                calls[call_id] = made
                nameless.setdefault(made.called.name, []).append(made)
                if item.kind is Kind.TOOL_RESULT:
                    made.take(seq, item)
                    self._stands_for_call(seq)
        return calls

    def _stands_for_call(self, seq: int) -> None:
        number = seq - self._first_seq
        columns = dict(zip(_ENTRY_COLUMNS, self._entries[number], strict=True))
        self._entries[number] = tuple((columns | {"kind": Kind.TOOL_CALL.value}).values())
        self._texts.stands_for_call(seq)

    def _write_calls(self, connection: Connection, calls: dict[str, _Call]) -> int:
        new = [
            (
                self._session_id,
                self._transcript_id,
                call_id,
                call.called.name,
                call.called.server,
                call.called.tool,
                call.called.resource_uri,
                call.call_seq,
                call.result_seq,
                str(call.state),
                call.agent_id,
            )
            for call_id, call in calls.items()
            if call.row_id is None
        ]
        old = [
            {
                "row_id": call.row_id,
                "new_name": call.called.name,
                "new_server": call.called.server,
                "new_tool": call.called.tool,
                "new_resource_uri": call.called.resource_uri,
                "new_seq": call.result_seq,
                "new_state": call.state,
                "new_agent_id": call.agent_id,
            }
            for call in calls.values()
            if call.row_id is not None and call.changed
        ]
        insert_rows(connection, CALLS, _CALL_COLUMNS, new)
        if old:
            connection.execute(
                update(CALLS)
                .where(CALLS.c.id == bindparam("row_id"))
                .values(
                    name=bindparam("new_name"),
                    server=bindparam("new_server"),
                    tool=bindparam("new_tool"),
                    resource_uri=bindparam("new_resource_uri"),
                    result_seq=bindparam("new_seq"),
                    state=bindparam("new_state"),
                    agent_id=bindparam("new_agent_id"),
                ),
                old,
            )
        return len(new)
