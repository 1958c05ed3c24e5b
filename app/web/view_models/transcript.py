"""A session's transcript: its header, and windows of rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, Self

from markupsafe import Markup

from app.mcp_apps.trigger import Triggers
from app.text import one_line
from app.transcripts.formats.base import Kind
from app.transcripts.timeline import Level, Row, SessionRow, TranscriptRow, Window
from app.web import markdown
from app.web.ansi import strip_escapes
from app.web.view_models.calls import CallView, Notice
from app.web.view_models.sessions import agent_label, counted, session_title

LEVELS: Final = {
    Level.MINIMAL: "Prompts, answers and calls with a view",
    Level.CONDENSED: "Also every tool call, folded to a line",
    Level.VERBOSE: "Also thinking, results and system entries",
}
_SPEAKERS: Final = {"claude-code": "Claude", "codex": "Codex"}
_ROLES: Final = {
    Kind.USER: "You",
    Kind.THINKING: "Thinking",
    Kind.TOOL_CALL: "Tool",
    Kind.TOOL_RESULT: "Result",
    Kind.SYSTEM: "System",
    Kind.ERROR: "Error",
    Kind.UNREADABLE: "Unreadable",
}
_MARKDOWN: Final = {Kind.USER, Kind.ASSISTANT}


@dataclass(frozen=True, slots=True)
class RowView:
    """One row. ``html`` is a Markdown body, ``text`` any other. ``day`` is set where a new day
    begins (UTC); ``continued`` where the row before has the same role; ``notice`` on the first call
    that has something to say about its server, since forty times is noise.
    """

    address: str
    kind: Kind
    role: str
    at: datetime | None
    day: date | None
    continued: bool
    html: Markup | None
    text: str
    label: str
    sidechain: bool
    cut: bool
    focused: bool
    call: CallView | None
    notice: Notice | None
    note: str
    goes_back_to: str | None


def row_views(window: Window, triggers: Triggers, agent: str) -> list[RowView]:
    views: list[RowView] = []
    said: set[Notice] = set()
    day: date | None = None
    previous: RowView | None = None
    last_word = _last_word(window)
    for number, row in enumerate(window.rows):
        role = _role(row, agent, in_sub_agent=window.transcript > 0)
        today = row.at.astimezone(UTC).date() if row.at else day
        call = None
        if row.call:
            trigger = triggers.row(row.call.called)
            call = CallView.of(row.call, trigger, is_past=number < last_word)
        notice = call.notice if call and call.notice not in said else None
        if notice:
            said.add(notice)
        previous = RowView(
            address=row.address,
            kind=row.kind,
            role=role,
            at=row.at,
            day=today if today != day else None,
            continued=previous is not None
            and today == day
            and (previous.role, previous.sidechain) == (role, row.sidechain),
            html=markdown.to_html(row.text) if row.kind in _MARKDOWN else None,
            text="" if row.kind in _MARKDOWN else strip_escapes(row.text),
            label=one_line(row.label, 80),
            sidechain=row.sidechain,
            cut=row.cut,
            # Nothing to point out in a transcript opened at its start.
            focused=row.address == window.focus and not row.address.endswith("-0"),
            call=call,
            notice=notice,
            note=row.note,
            goes_back_to=row.goes_back_to,
        )
        day = today
        views.append(previous)
    return views


def _last_word(window: Window) -> int:
    """The place of the last row that somebody wrote; past the end where more rows follow."""
    if window.after is not None:
        return len(window.rows)
    written = [number for number, row in enumerate(window.rows) if row.kind in _MARKDOWN]
    return written[-1] if written else 0


def _role(row: Row, agent: str, *, in_sub_agent: bool) -> str:
    if row.kind == Kind.USER and in_sub_agent:
        return "Task"  # the agent wrote it
    if row.kind == Kind.ASSISTANT:
        return _SPEAKERS.get(agent, "Assistant")
    return _ROLES[row.kind]


def _left_out(transcripts: Iterable[TranscriptRow], number: int) -> str:
    """What of the transcript is shown at no level: never silently."""
    lines = next((file.ignored_count for file in transcripts if file.number == number), 0)
    if not lines:
        return ""
    count = counted(lines, "line", "lines")
    return f"Not shown: {count} of the agent’s own state and of types unknown here."


def _part_label(file: TranscriptRow) -> str:
    return "Main" if file.number == 0 else f"Sub-agent {one_line(file.agent_id, 9)}"


@dataclass(frozen=True, slots=True)
class Part:
    """One of the session's transcripts: the main one, or a sub-agent's."""

    number: int
    label: str
    size: str
    current: bool


@dataclass(frozen=True, slots=True)
class RowsView:
    """A window of rows, and where the next ones are."""

    session_id: str
    transcript: int
    level: Level
    rows: list[RowView]
    before: str | None
    after: str | None

    @classmethod
    def of(cls, session: SessionRow, level: Level, window: Window, triggers: Triggers) -> Self:
        return cls(
            session_id=session.id,
            transcript=window.transcript,
            level=level,
            rows=row_views(window, triggers, session.agent),
            before=window.before,
            after=window.after,
        )


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    session_id: str
    title: str
    agent: str
    folder: str
    external_id: str
    started_at: datetime | None
    updated_at: datetime
    size: str
    at: str | None
    window: RowsView
    parts: list[Part]
    start: str
    left_out: str
    views_off: bool

    @classmethod
    def of(
        cls,
        session: SessionRow,
        level: Level,
        at: str | None,
        window: Window,
        triggers: Triggers,
        transcripts: Sequence[TranscriptRow],
    ) -> Self:
        return cls(
            session_id=session.id,
            title=session_title(session),
            agent=agent_label(session.agent),
            folder=one_line(session.folder, 300),
            external_id=one_line(session.external_id, 100),
            started_at=session.started_at,
            updated_at=session.updated_at,
            size=", ".join(
                (
                    counted(session.entry_count, "entry", "entries"),
                    counted(session.call_count, "tool call", "tool calls"),
                )
            ),
            at=at,
            window=RowsView.of(session, level, window, triggers),
            parts=[
                Part(
                    number=file.number,
                    label=_part_label(file),
                    size=counted(file.entry_count, "entry", "entries"),
                    current=file.number == window.transcript,
                )
                for file in transcripts
            ],
            start=f"{window.transcript}-0",
            left_out=_left_out(transcripts, window.transcript),
            views_off=triggers.are_off,
        )

    @property
    def levels(self) -> dict[Level, str]:
        return LEVELS
