"""Sessions, for programs."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import JSONResponse, Response

from app.db.tables import Scope
from app.transcripts import timeline
from app.transcripts.search_query import MAX_LENGTH
from app.transcripts.timeline import SessionRow, TranscriptRow
from app.web.api.gate import PREFIX, Needs
from app.web.state import database_of

router = APIRouter(prefix=PREFIX.rstrip("/"), dependencies=[Depends(Needs(Scope.READ))])


@router.get("/sessions", name="api_sessions")
def sessions(
    request: Request,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    q: Annotated[str, Query(max_length=MAX_LENGTH)] = "",
) -> Response:
    """``{"sessions": [session], "page", "pages", "total"}``, newest first; a page past the last
    one is the last one. ``q`` is looked for in title and folder.
    """
    with database_of(request).session() as db:
        found = timeline.sessions(db, query=q, page=page)
    return JSONResponse(
        {
            "sessions": [_session(row) for row in found.rows],
            "page": found.page,
            "pages": found.pages,
            "total": found.total,
        }
    )


@router.get("/sessions/{session_id}", name="api_session")
def session(request: Request, session_id: str) -> Response:
    """A session as in the list, with ``transcripts``: number 0 is the main one."""
    with database_of(request).session() as db:
        row = timeline.session(db, session_id)
        parts = timeline.transcripts(db, session_id)
    return JSONResponse(_session(row) | {"transcripts": [_transcript(part) for part in parts]})


def _session(row: SessionRow) -> dict[str, Any]:
    """Texts are the agent's own, as they were recorded: third-party text."""
    return {
        "id": row.id,
        "agent": row.agent,
        "external_id": row.external_id,
        "source": row.source,
        "title": row.title,
        "folder": row.folder,
        "started_at": _time(row.started_at),
        "updated_at": _time(row.updated_at),
        "entries": row.entry_count,
        "tool_calls": row.call_count,
    }


def _transcript(part: TranscriptRow) -> dict[str, Any]:
    return {"number": part.number, "agent_id": part.agent_id, "entries": part.entry_count}


def _time(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None
