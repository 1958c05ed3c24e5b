"""The list of sessions, and what a search finds in them."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from sqlmodel import Session
from starlette.responses import Response

from app.transcripts import session_list, timeline
from app.transcripts.search import search
from app.transcripts.search_query import SearchQuery
from app.web.asked import Asked, AskedFor
from app.web.auth.gate import Login
from app.web.state import database_of, hub_of, news_of
from app.web.templating import render
from app.web.view_models.search import SearchPage, SessionSearchPage
from app.web.view_models.search_form import SearchForm
from app.web.view_models.sessions import SessionsPage, agent_label
from app.web.view_models.settings import NOTICES

router = APIRouter()

# What the list is looked at for, when not for all.
TITLES: Final = "titles"


def _form(db: Session, asked: Asked) -> SearchForm:
    agents = {agent: agent_label(agent) for agent in timeline.agents(db)}
    return SearchForm.of(asked, agents, session_list.folders(db))


@router.get("/", name="sessions")
def sessions(
    request: Request,
    _login: Login,
    asked: AskedFor,
    part: Annotated[str, Query(alias="in")] = "",
    after: str = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    notice: str = "",
) -> Response:
    """Without words, or in titles only, the list; with words, what entries hold them."""
    query = SearchQuery.of(asked.q)
    with database_of(request).session() as db:
        form = _form(db, asked)
        filters = asked.filters(db, hub_of(request))
        named = timeline.sessions(db, query=asked.q, filters=filters, page=page)
        if asked.q and part != TITLES:
            found = search(db, query, filters, after=after)
            model = SearchPage.of(form, named, found, first=not after)
            context = {"page": model, "nav": "sessions", "activities": news_of(request).activities}
            return render(request, "search.html", context)
    listed = SessionsPage.of(form, named, notice=NOTICES.get(notice, ""))
    shown = {"page": listed, "nav": "sessions", "activities": news_of(request).activities}
    return render(request, "sessions.html", shown)


@router.get("/sessions/{session_id}/search", name="session_search")
def in_session(
    request: Request, session_id: str, _login: Login, asked: AskedFor, after: str = ""
) -> Response:
    """What entries of one session hold the words."""
    with database_of(request).session() as db:
        row = timeline.session(db, session_id)
        filters = asked.filters(db, hub_of(request))
        found = search(db, SearchQuery.of(asked.q), filters, session_id=row.id, after=after)
        form = _form(db, asked)
    model = SessionSearchPage.of(form, row, found)
    return render(request, "session_search.html", {"page": model, "nav": "sessions"})
