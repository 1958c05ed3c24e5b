"""Downloads of what a transcript's file held: for an entry that cannot be shown, above all."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from app.errors import NotFoundError
from app.transcripts import raw
from app.web.auth.gate import Login
from app.web.state import database_of

router = APIRouter()


@router.get("/sessions/{session_id}/raw/{transcript:int}", name="raw_transcript")
def raw_transcript(
    request: Request,
    session_id: str,
    transcript: int,
    _login: Login,
    at: Annotated[str | None, Query(max_length=40)] = None,
) -> Response:
    """The stored bytes of a transcript; with ``at``, those of that entry's line."""
    if transcript > raw.MAX_NUMBER:
        raise NotFoundError(raw.NO_SUCH_TRANSCRIPT)
    database = database_of(request)
    with database.session() as db:
        if at is None:
            part = raw.whole(db, session_id, transcript)
        else:
            part = raw.line(db, session_id, transcript, at)
    return StreamingResponse(
        raw.pieces(database, part),
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{part.file_name}"',
            "Content-Length": str(part.size),
            # Opened by a browser in spite of all, it is a text that can do nothing.
            "Content-Security-Policy": "sandbox; default-src 'none'",
        },
    )
