"""Signing in, by password or one-time link, and out."""

import logging
from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Form, Request
from slowapi import Limiter
from starlette.responses import RedirectResponse, Response

from app.web.audit import trail
from app.web.auth import links, logins, passwords, throttle, users
from app.web.auth.cookie import clear_cookie, read_token, set_cookie
from app.web.auth.next_page import wanted_page
from app.web.errors import sign_in_page
from app.web.state import database_of, settings_of
from app.web.templating import render
from app.web.urls import link

router = APIRouter()
_log = logging.getLogger("vitrine.auth")
_WRONG: Final = "This is not the password."
# Which of the two is nobody's business.
_WRONG_OR_UNKNOWN: Final = "This name and password do not belong together."
_Text = Annotated[str, Form()]
_STALE: Final = "This sign-in link was used already or is older than a day."


def _is_prefetch(request: Request) -> bool:
    purposes = (request.headers.get(name, "") for name in ("sec-purpose", "purpose", "x-moz"))
    return any("prefetch" in purpose or "preview" in purpose for purpose in purposes)


@router.get("/sign-in")
def sign_in(request: Request) -> Response:
    return sign_in_page(request)


def make_router(limiter: Limiter) -> APIRouter:
    """What is limited, with the limits of one application."""
    limited = APIRouter()

    # The inner limit counts first: a client that is refused uses up nobody else's attempts.
    @limited.post("/sign-in", name="sign_in_with_password")
    @limiter.limit(
        throttle.ALL_CLIENTS, key_func=throttle.everybody, error_message=throttle.TOO_OFTEN
    )
    @limiter.limit(throttle.ONE_CLIENT, key_func=throttle.client, error_message=throttle.TOO_OFTEN)
    async def sign_in_with_password(
        request: Request, name: _Text = users.OPERATOR, password: _Text = ""
    ) -> Response:
        """``next`` in the query is where to go afterwards."""
        days = settings_of(request).login_days
        new = await throttle.in_thread(
            partial(
                passwords.sign_in,
                database_of(request),
                password,
                name=name,
                days=days,
                replacing=read_token(request),
            )
        )
        if new is None:
            _log.warning("a wrong password was given from=%s", throttle.client(request))
            asked = request.scope["state"].get("ask_name", False)
            sentence = _WRONG_OR_UNKNOWN if asked else _WRONG
            return sign_in_page(request, sentence, 401, name=name[: users.MAX_NAME])
        trail.signed_in(request, new.login)
        _log.info("signed in by password login=%s", new.login.id)
        target = wanted_page(request) or link(request, "sessions")
        answer = RedirectResponse(target, status_code=303)
        set_cookie(request, answer, new.token, days=days)
        return answer

    return limited


@router.get("/sign-in/{token}")
def sign_in_with_link(request: Request, token: str) -> Response:
    """Uses the link up. A browser that fetches ahead must not: it is told to come back."""
    if _is_prefetch(request):
        return Response(status_code=503, headers={"Referrer-Policy": "no-referrer"})
    days = settings_of(request).login_days
    with database_of(request).session() as db:
        user_id = links.consume(db, token)
        held = read_token(request)
        new = logins.begin(db, user_id, days=days, replacing=held) if user_id else None
    if new is None:
        _log.warning("a used, expired or unknown sign-in link was opened")
        answer: Response = sign_in_page(request, _STALE, 410)
    else:
        trail.signed_in(request, new.login)
        _log.info("signed in by link login=%s", new.login.id)
        answer = RedirectResponse(link(request, "sessions"), status_code=303)
        set_cookie(request, answer, new.token, days=days)
    # The address held a secret: no later request may carry it.
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """Whom a reverse proxy vouches for is signed in again by the next request: they are told so,
    rather than sent to a page that says that they are signed in.
    """
    token = read_token(request)
    if token is not None:
        with database_of(request).session() as db:
            logins.end(db, token)
    if request.scope["state"].get("by_proxy"):
        return render(request, "signed_in_by_proxy.html", {})
    answer = RedirectResponse(link(request, "sign_in"), status_code=303)
    clear_cookie(request, answer)
    return answer
