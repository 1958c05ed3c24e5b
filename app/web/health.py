"""Liveness, for whatever watches the process."""

import logging

from fastapi import APIRouter, Request
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse, Response

from app.web.state import database_of

router = APIRouter()
_log = logging.getLogger("vitrine.health")


@router.get("/healthz")
def healthz(request: Request) -> Response:
    """200 ``{"status": "ok"}`` when the database answers, else 503. Says nothing else: anybody
    may ask.
    """
    try:
        with database_of(request).session() as db:
            db.execute(text("SELECT 1"))
    except SQLAlchemyError:
        _log.exception("the database does not answer")
        return JSONResponse({"status": "unavailable"}, 503)
    return JSONResponse({"status": "ok"})
