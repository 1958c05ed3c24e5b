"""What views said to the agent, held until a person acts."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlmodel import col, select
from starlette.responses import Response

from app.db import tables
from app.web.auth.gate import Login
from app.web.state import database_of
from app.web.templating import render
from app.web.view_models.outbox import OutboxItem, OutboxPage

router = APIRouter()

PAGE_SIZE = 50


@router.get("/outbox", name="outbox")
def outbox(
    request: Request,
    _login: Login,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Response:
    message = tables.ViewMessage
    query = (
        select(message, tables.Session.title)
        .join(tables.Session, col(tables.Session.id) == col(message.session_id))
        .order_by(col(message.created_at).desc(), col(message.id))
        .offset((page - 1) * PAGE_SIZE)
        .limit(PAGE_SIZE + 1)
    )
    with database_of(request).session() as db:
        found = db.exec(query).all()
    model = OutboxPage(
        items=[OutboxItem.of(row, title) for row, title in found[:PAGE_SIZE]],
        page=page,
        more=len(found) > PAGE_SIZE,
    )
    return render(request, "outbox.html", {"page": model, "nav": "outbox"})
