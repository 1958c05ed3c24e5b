"""The list of sessions, and what a page needs to know of one."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select, text
from sqlmodel import Session, col

from app.db import tables
from app.errors import NotFoundError
from app.text import storable
from app.transcripts.calls import MCP_PREFIX, CalledTool
from app.transcripts.search_filters import Filters

PAGE_SIZE = 50
NO_SUCH_SESSION = "There is no such session."
_MAX_NAMES = 5_000
_MAX_TRANSCRIPTS = 1_000
_MAX_FOLDERS = 200


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    agent: str
    source: str  # the machine; "local" here
    external_id: str  # the agent's own id
    title: str  # "" when there is none
    folder: str
    started_at: datetime | None
    updated_at: datetime
    entry_count: int
    call_count: int


@dataclass(frozen=True, slots=True)
class SessionPage:
    rows: list[SessionRow]
    page: int  # from 1
    pages: int  # at least 1
    total: int


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """``number`` 0 is the main transcript, the others are sub-agents'."""

    number: int
    agent_id: str
    entry_count: int
    ignored_count: int  # lines that make no entry: the agent's own state, and unknown types


SESSION_COLUMNS = (
    col(tables.Session.id),
    col(tables.Session.agent),
    col(tables.Session.source),
    col(tables.Session.external_id),
    col(tables.Session.title),
    col(tables.Session.folder),
    col(tables.Session.started_at),
    col(tables.Session.updated_at),
    col(tables.Session.entry_count),
    col(tables.Session.call_count),
)


def sessions(
    db: Session, *, query: str = "", filters: Filters | None = None, page: int = 1
) -> SessionPage:
    """A page of sessions, newest first. ``query`` is looked for in title and folder, in any case.
    A page past the last one is the last one.
    """
    where: list[ColumnElement[bool]] = filters.for_list() if filters else []
    needle = storable(query.strip())
    if needle:
        where.append(
            or_(
                col(tables.Session.title).icontains(needle, autoescape=True),
                col(tables.Session.folder).icontains(needle, autoescape=True),
            )
        )
    total = db.execute(select(func.count()).select_from(tables.Session).where(*where)).scalar_one()
    pages = max(1, -(-total // PAGE_SIZE))
    page = min(max(page, 1), pages)
    rows = db.execute(
        select(*SESSION_COLUMNS)
        .where(*where)
        .order_by(col(tables.Session.updated_at).desc(), col(tables.Session.id))
        .offset((page - 1) * PAGE_SIZE)
        .limit(PAGE_SIZE)
    )
    return SessionPage([SessionRow(*row) for row in rows], page, pages, total)


def agents(db: Session) -> list[str]:
    """The agents that sessions are of, for the list's filter."""
    column = col(tables.Session.agent)
    return list(db.execute(select(column).distinct().order_by(column)).scalars())


def folders(db: Session) -> list[str]:
    """The folders that sessions worked in, the one of the newest session first."""
    column = col(tables.Session.folder)
    newest = func.max(col(tables.Session.updated_at))
    rows = db.execute(
        select(column)
        .where(column != "")
        .group_by(column)
        .order_by(newest.desc(), column)
        .limit(_MAX_FOLDERS)
    )
    return list(rows.scalars())


def session(db: Session, session_id: str) -> SessionRow:
    """Raises `NotFoundError`."""
    row = db.execute(
        select(*SESSION_COLUMNS).where(col(tables.Session.id) == storable(session_id))
    ).first()
    if row is None:
        raise NotFoundError(NO_SUCH_SESSION)
    return SessionRow(*row)


def transcripts(db: Session, session_id: str) -> list[TranscriptRow]:
    """The main transcript and the sub-agents', the first thousand."""
    table = tables.Transcript
    rows = db.execute(
        select(
            col(table.number), col(table.agent_id), col(table.entry_count), col(table.ignored_count)
        )
        .where(col(table.session_id) == storable(session_id))
        .order_by(col(table.number))
        .limit(_MAX_TRANSCRIPTS)
    )
    return [TranscriptRow(*row) for row in rows]


# One index seek a name, however many calls there are. Calls that do not tell their server (they
# have no result, or their agent never does) are looked through to the 20th of a name.
_CALLED_TOOLS = text(
    "WITH RECURSIVE names(name) AS ("
    " SELECT min(name) FROM tool_calls WHERE session_id = :session_id"
    " UNION ALL"
    " SELECT (SELECT min(t.name) FROM tool_calls t"
    "  WHERE t.session_id = :session_id AND t.name > names.name)"
    " FROM names WHERE names.name IS NOT NULL"
    ") SELECT names.name, told.server, told.tool, told.resource_uri FROM names"
    " LEFT JOIN tool_calls told ON told.id = ("
    "  SELECT first.id FROM ("
    "   SELECT t.id, t.server FROM tool_calls t"
    "   WHERE t.session_id = :session_id AND t.name = names.name LIMIT 20"
    "  ) AS first WHERE first.server IS NOT NULL LIMIT 1"
    " ) WHERE names.name IS NOT NULL LIMIT :most"
)


def called_tools(db: Session, session_id: str) -> list[CalledTool]:
    """The MCP tools called in a session, one for each recorded name (``mcp__…``), by name, with
    what some call of it recorded of its server and tool.
    """
    rows = db.execute(_CALLED_TOOLS, {"session_id": storable(session_id), "most": _MAX_NAMES})
    found = [CalledTool(*row) for row in rows if row.name.startswith(MCP_PREFIX)]
    return sorted(found, key=lambda called: called.name)
