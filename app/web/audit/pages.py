"""``GET /audit``: what people and views did here, and the same as a file."""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy import select
from sqlmodel import Session, col
from starlette.responses import Response, StreamingResponse

from app.db import tables
from app.mcp import registry
from app.mcp_apps import audit_search
from app.mcp_apps.audit_search import Filters
from app.text import one_line
from app.web.auth.gate import Login
from app.web.state import database_of, settings_of
from app.web.templating import render
from app.web.view_models.audit import AuditItem, AuditPage, exported

router = APIRouter()

PAGE_SIZE: Final = 50
_MAX: Final = 300


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1970 <= day.year < 9000 else None


def _read(
    kind: str = "",
    outcome: str = "",
    server: str = "",
    person: str = "",
    session: str = "",
    since: Annotated[str, Query(alias="from")] = "",
    until: Annotated[str, Query(alias="to")] = "",
) -> Filters:
    """No value is refused: one that nothing has finds nothing, a day that is none is left out."""
    return Filters(
        kind=kind[:_MAX].strip(),
        outcome=outcome[:_MAX].strip(),
        server=server[:_MAX].strip(),
        person=person[:_MAX].strip(),
        session=session[:_MAX].strip(),
        since=_day(since),
        until=_day(until),
    )


_Asked = Annotated[Filters, Depends(_read)]


def _query(filters: Filters) -> Mapping[str, str]:
    return {
        "kind": filters.kind,
        "outcome": filters.outcome,
        "server": filters.server,
        "person": filters.person,
        "session": filters.session,
        "from": filters.since.isoformat() if filters.since else "",
        "to": filters.until.isoformat() if filters.until else "",
    }


def _titles(db: Session, rows: list[tables.AuditEvent]) -> Mapping[str, str]:
    """Of the sessions that are still there."""
    own = tables.Session
    ids = {row.session_id for row in rows if row.session_id}
    found = db.execute(select(col(own.id), col(own.title)).where(col(own.id).in_(ids)))
    return {row[0]: row[1] for row in found}


@router.get("/audit", name="audit")
def audit(
    request: Request, _login: Login, filters: _Asked, after: Annotated[str, Query()] = ""
) -> Response:
    with database_of(request).session() as db:
        rows, older = audit_search.page(db, filters, after, PAGE_SIZE)
        titles = _titles(db, rows)
        servers = sorted({one_line(known.name, 200) for known in registry.known_servers(db)})
        names = select(col(tables.User.name)).order_by(col(tables.User.name))
        people = list(db.execute(names.limit(100)).scalars())
    asked = _query(filters)
    model = AuditPage(
        items=[AuditItem.of(row, titles) for row in rows],
        asked=asked,
        servers=servers,
        people=people,
        days=settings_of(request).audit_days,
        older={**asked, "after": older} if older else None,
        newest=asked if after else None,
    )
    return render(request, "audit.html", {"page": model, "nav": "audit"})


@router.get("/audit.json", name="audit_json")
def audit_json(request: Request, _login: Login, filters: _Asked) -> Response:
    """All events that pass, as one JSON array with an event on each line, the newest row first."""
    batches = audit_search.everything(database_of(request), filters)

    def pieces() -> Iterator[str]:
        yield "["
        between = "\n"
        for rows in batches:
            lines = [json.dumps(exported(row)) for row in rows]
            yield between + ",\n".join(lines)
            between = ",\n"
        yield "\n]\n"

    return StreamingResponse(
        pieces(),
        media_type="application/json",
        headers={"Content-Disposition": 'attachment; filename="vitrine-audit.json"'},
    )
