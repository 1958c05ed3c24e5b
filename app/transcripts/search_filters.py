"""What narrows a list of sessions or a search down. A session passes by what it is and by its
calls; a hit passes by its session, its time and its own call.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import ColumnElement, and_, exists, or_
from sqlmodel import col

from app.db.tables import CallState, Entry, Session, ToolCall
from app.text import storable
from app.transcripts.calls import MCP_PREFIX
from app.transcripts.formats.base import Kind


@dataclass(frozen=True, slots=True)
class Filters:
    """``server`` holds one server's name, as it is and as agents write it. ``view_names`` are
    recorded names of tools that have a view, for calls that did not record one themselves.
    Days are UTC.
    """

    agent: str = ""
    folder: str = ""
    server: frozenset[str] = field(default_factory=frozenset)
    tool: str = ""
    view: bool = False
    view_names: frozenset[str] = field(default_factory=frozenset)
    error: bool = False
    since: date | None = None
    until: date | None = None

    @property
    def of_entries(self) -> bool:
        """Whether entries of one session may differ in passing."""
        return bool(self.server or self.tool or self.view or self.error or self.since or self.until)

    def for_sessions(self) -> list[ColumnElement[bool]]:
        """Sessions that may hold something."""
        found: list[ColumnElement[bool]] = []
        if self.agent:
            found.append(col(Session.agent) == storable(self.agent))
        if self.folder:
            found.append(col(Session.folder) == storable(self.folder))
        if self.since:
            found.append(col(Session.updated_at) >= _begin(self.since))
        if self.until:
            begun = col(Session.started_at)
            found.append(or_(begun.is_(None), begun < _begin(self.until + timedelta(days=1))))
        return found

    def for_list(self) -> list[ColumnElement[bool]]:
        """Sessions to list: one call that passes is enough."""
        found = self.for_sessions()
        calls = self._calls()
        if self.error:
            calls.append(_FAILED)
        if calls:
            found.append(exists().where(col(ToolCall.session_id) == col(Session.id), *calls))
        return found

    def for_entries(self) -> list[ColumnElement[bool]]:
        """Entries, each with the call that it belongs to."""
        found = self._calls()
        if self.error:
            found.append(or_(_FAILED, col(Entry.kind) == Kind.ERROR.value))
        if self.since:
            found.append(col(Entry.at) >= _begin(self.since))
        if self.until:
            found.append(col(Entry.at) < _begin(self.until + timedelta(days=1)))
        return found

    def _calls(self) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = []
        name = col(ToolCall.name)
        if self.server:
            servers = sorted(map(storable, self.server))
            written = [name.startswith(f"{MCP_PREFIX}{one}__", autoescape=True) for one in servers]
            # A call that recorded its server is of that one, however its name reads.
            told = col(ToolCall.server)
            found.append(or_(told.in_(servers), and_(told.is_(None), or_(*written))))
        if self.tool:
            tool = storable(self.tool)
            ends = and_(name.startswith(MCP_PREFIX), name.endswith(f"__{tool}", autoescape=True))
            found.append(or_(name == tool, col(ToolCall.tool) == tool, ends))
        if self.view:
            recorded = col(ToolCall.resource_uri).is_not(None)
            found.append(or_(recorded, name.in_(sorted(self.view_names))))
        return found


_FAILED = col(ToolCall.state) == CallState.FAILED.value


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
