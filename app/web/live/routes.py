"""``GET /events``: the one event stream of a browser's tabs."""

import re
from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request

from app.errors import VitrineError
from app.web.auth import logins
from app.web.auth.gate import Login
from app.web.live.streams import Event, Stream
from app.web.state import database_of, streams_of

router = APIRouter()

CHECK_SECONDS: Final = 20.0  # how long a sign-in that ended may go on listening
STREAM_ID: Final = r"^[A-Za-z0-9_-]{22,64}$"
_NUMBER: Final = re.compile(r"\d{1,15}")


def _opened(
    request: Request,
    login: Login,
    stream: Annotated[str, Query(pattern=STREAM_ID)],
) -> tuple[Stream, bool]:
    """Raises before the response has begun: afterwards there is no status left to send."""
    opened = streams_of(request).open(stream, login.id)
    if opened is None:
        raise VitrineError(409, "This event stream is not yours. Load the page again.")
    return opened


Opened = Annotated[tuple[Stream, bool], Depends(_opened)]


@router.get("/events", name="events", response_class=EventSourceResponse)
async def events(
    request: Request,
    login: Login,
    opened: Opened,
    last_event_id: Annotated[str | None, Header()] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Server-sent events: first ``open``, whose ``known`` says whether nothing was lost since the
    last one; then ``answer``, ``progress`` and ``listed``. ``stream`` is an id that the browser
    made up; ``Last-Event-ID`` resumes.
    """
    streams = streams_of(request)
    stream, was_there = opened
    after = int(last_event_id) if last_event_id and _NUMBER.fullmatch(last_event_id) else None
    known = was_there and stream.has_all_since(after or 0)
    if not known:
        after = stream.last_number if after is not None else 0
    streams.entered(stream)
    try:
        yield ServerSentEvent(event="open", data={"known": known}, retry=1000)
        async for event in stream.read(after or 0, idle_seconds=CHECK_SECONDS):
            if event is None:
                if not await run_in_threadpool(_signed_in, request, login.id):
                    streams.close_login(login.id)
                    return
                continue
            yield _sent(event)
    finally:
        streams.left(stream)


def _sent(event: Event) -> ServerSentEvent:
    return ServerSentEvent(event=event.name, raw_data=event.data, id=str(event.number))


def _signed_in(connection: HTTPConnection, login_id: str) -> bool:
    with database_of(connection).session() as db:
        return logins.is_open(db, login_id)
