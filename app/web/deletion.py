"""Deleting a session, or every session of a project, for good. The pages ask first."""

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Form, Request
from starlette.responses import RedirectResponse, Response

from app.db.engine import Database
from app.transcripts import removal, search_upkeep
from app.web import highlight, markdown
from app.web.auth.gate import Login
from app.web.state import database_of
from app.web.urls import link

router = APIRouter()


def _gone(request: Request, background: BackgroundTasks, database: Database) -> Response:
    # What was rendered of it is kept by content, which says nothing of whose it was.
    markdown.forget()
    highlight.forget()
    # Until then its words, though found no more, stand in the index's older segments.
    background.add_task(search_upkeep.merge, database)
    return RedirectResponse(link(request, "sessions", {"notice": "deleted"}), 303)


@router.post("/sessions/{session_id}/delete", name="delete_session")
def delete_session(
    request: Request, session_id: str, _login: Login, background: BackgroundTasks
) -> Response:
    database = database_of(request)
    removal.delete_session(database, session_id)
    return _gone(request, background, database)


@router.post("/projects/delete", name="delete_project")
def delete_project(
    request: Request,
    _login: Login,
    background: BackgroundTasks,
    folder: Annotated[str, Form(max_length=4_096)],
) -> Response:
    """``folder`` is the project's, as its sessions recorded it."""
    database = database_of(request)
    removal.delete_project(database, folder)
    return _gone(request, background, database)
