"""Settings → API tokens. For operators."""

import logging
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from app.errors import VitrineError
from app.web.auth import api_tokens
from app.web.auth.gate import SignedIn
from app.web.state import database_of
from app.web.templating import render
from app.web.urls import link
from app.web.view_models.people import TokensPage, TokenView
from app.web.view_models.settings import NOTICES

router = APIRouter()
_log = logging.getLogger("vitrine.auth")
_Text = Annotated[str, Form(max_length=200)]
_Scopes = Annotated[list[str] | None, Form(max_length=16)]


def _page(request: Request, status: int = 200, **shown: Any) -> Response:
    with database_of(request).session() as db:
        tokens = [TokenView.of(one) for one in api_tokens.listed(db)]
    context = {"page": TokensPage(tokens, **shown), "nav": "settings"}
    return render(request, "api_tokens.html", context, status=status)


def _days(text: str) -> int | None:
    if text and not (text.isascii() and text.isdigit() and len(text) <= 5):
        raise VitrineError(400, "The time until a token ends is a number of days.")
    return int(text) if text else None


@router.get("/settings/api-tokens", name="api_tokens")
def show(request: Request, _me: SignedIn, notice: str = "") -> Response:
    return _page(request, notice=NOTICES.get(notice, ""))


@router.post("/settings/api-tokens", name="create_api_token")
def create(
    request: Request,
    me: SignedIn,
    name: _Text = "",
    scope: _Scopes = None,
    days: _Text = "",
) -> Response:
    """The answer holds the token, and nothing does afterwards."""
    scopes = scope or []
    try:
        with database_of(request).session() as db:
            token, row = api_tokens.create(db, me, name, scopes, days=_days(days))
    except VitrineError as refusal:
        typed = {"name": name, "chosen": scopes, "days": days}
        return _page(request, refusal.status, error=refusal.sentence, **typed)
    _log.info("an API token was made id=%s by=%s", row.id, me.name)
    return _page(request, token=token, token_name=row.name)


@router.post("/settings/api-tokens/{token_id}/revoke", name="revoke_api_token")
def revoke(request: Request, me: SignedIn, token_id: str) -> Response:
    with database_of(request).session() as db:
        api_tokens.revoke(db, token_id)
    _log.info("an API token was revoked by=%s", me.name)
    return RedirectResponse(link(request, "api_tokens", {"notice": "token-revoked"}), 303)
