"""An empty document under the header that every view's document has, by which the reader's browser
shows whether it heeds it.
"""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from app.web.auth.gate import Login

router = APIRouter()

_HEADERS: Final = {
    # No policy but this header may stand in the way of the page's attempt.
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'",
    "Connection-Allowlist": "()",
    "X-Frame-Options": "SAMEORIGIN",
}


# Before the path of the views' own documents, which would take the word for a ticket.
@router.get("/fragments/confinement", name="confinement")
def confinement(_login: Login) -> Response:
    return Response("<!doctype html>", headers=_HEADERS, media_type="text/html; charset=utf-8")
