"""A session's transcript. The database and caches only: no request to anybody is made here."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlmodel import Session
from starlette.responses import Response

from app.mcp_apps import trigger
from app.transcripts import timeline
from app.transcripts.raw import MAX_NUMBER
from app.transcripts.timeline import Level
from app.web.auth.gate import Login
from app.web.live.news import ENDED
from app.web.middleware.headers import VIEWS_PERMISSIONS
from app.web.state import database_of, hub_of, news_of, settings_of
from app.web.templating import render
from app.web.view_models.transcript import RowsView, TranscriptPage

router = APIRouter()

Address = Annotated[str | None, Query(max_length=40)]


def _level(text: str) -> Level:
    """A level by name; anything else is the default, so that an old link still opens."""
    try:
        return Level(text)
    except ValueError:
        return Level.CONDENSED


@router.get("/sessions/{session_id}", name="session")
def session(
    request: Request,
    session_id: str,
    _login: Login,
    level: str = "",
    at: Address = None,
    before: Address = None,
    after: Address = None,
) -> Response:
    """``before`` and ``after`` are what "Load earlier" and "Load later" are without JavaScript."""
    with database_of(request).session() as db:
        row = timeline.session(db, session_id)
        triggers = trigger.for_session(db, hub_of(request), row)
        window = timeline.window(
            db, session_id, _level(level), triggers.view_names, before=before, after=after, at=at
        )
        files = timeline.transcripts(db, session_id)
    model = TranscriptPage.of(row, _level(level), at, window, triggers, files)
    context = {"page": model, "nav": "sessions", **_activity(request, session_id)}
    page = render(request, "transcript.html", context)
    page.headers["Permissions-Policy"] = VIEWS_PERMISSIONS
    return page


@router.get("/sessions/{session_id}/entries", name="session_entries")
def entries(
    request: Request,
    session_id: str,
    _login: Login,
    level: str = "",
    before: Address = None,
    after: Address = None,
    transcript: Annotated[int | None, Query(ge=0, le=MAX_NUMBER)] = None,
    live: bool = False,
) -> Response:
    """The rows before or after an address, or the first ones of a sub-agent's transcript, with
    the link to the next ones, for htmx. ``live``: nothing is said where there is nothing new.
    """
    with database_of(request).session() as db:
        model = _window(db, request, session_id, _level(level), before, after, transcript)
    context = {"window": model, "earlier": before is not None, "later": before is None}
    return render(request, "partials/entries.html", {**context, "quiet": live})


@router.get("/sessions/{session_id}/rows/{address}", name="session_row")
def one_row(
    request: Request, session_id: str, _login: Login, address: str, level: str = ""
) -> Response:
    """One row as it is now: a call whose result has come since it was shown."""
    with database_of(request).session() as db:
        session_row = timeline.session(db, session_id)
        triggers = trigger.for_session(db, hub_of(request), session_row)
        window = timeline.window(
            db, session_id, _level(level), triggers.view_names, at=address, limit=1
        )
    model = RowsView.of(session_row, _level(level), window, triggers)
    context = {"window": model, "earlier": False, "later": False, "quiet": True}
    return render(request, "partials/entries.html", context)


def _activity(request: Request, session_id: str) -> dict[str, str]:
    """What the session's agent does; nothing where no folder is watched, so nobody would know."""
    if not settings_of(request).watched_folders:
        return {"activity": ""}
    state = news_of(request).activities.get(session_id)
    return {"activity": state.value if state else ENDED}


def _window(
    db: Session,
    request: Request,
    session_id: str,
    level: Level,
    before: str | None,
    after: str | None,
    transcript: int | None,
) -> RowsView:
    row = timeline.session(db, session_id)
    triggers = trigger.for_session(db, hub_of(request), row)
    window = timeline.window(
        db,
        session_id,
        level,
        triggers.view_names,
        before=before,
        after=after,
        transcript=transcript,
    )
    return RowsView.of(row, level, window, triggers)
