"""Settings → Account: the password, and the other browsers that are signed in."""

import logging
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Form, Request
from slowapi import Limiter
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app.web.auth import logins, passwords, throttle, users
from app.web.auth.cookie import set_cookie
from app.web.auth.gate import Login
from app.web.auth.passwords import PasswordRefusedError
from app.web.state import database_of, settings_of
from app.web.templating import render
from app.web.urls import link
from app.web.view_models.settings import NOTICES, AccountPage

_log = logging.getLogger("vitrine.auth")
_Password = Annotated[str, Form()]


def make_router(limiter: Limiter) -> APIRouter:
    """The router, with the limits of one application."""
    router = APIRouter()

    @router.get("/settings/account", name="account")
    def show(request: Request, login: Login, notice: str = "") -> Response:
        return _page(request, login, notice=NOTICES.get(notice, ""))

    # Whoever sits down at a signed-in browser may not try passwords there.
    @router.post("/settings/account/password", name="change_password")
    @limiter.limit(throttle.ONE_CLIENT, key_func=throttle.client, error_message=throttle.TOO_OFTEN)
    async def change_password(
        request: Request,
        login: Login,
        current: _Password = "",
        new: _Password = "",
        again: _Password = "",
    ) -> Response:
        """Every other browser is signed out, and this one gets a new cookie."""
        days = settings_of(request).login_days
        database = database_of(request)
        try:
            changed = await throttle.in_thread(
                partial(
                    passwords.change,
                    database,
                    login.user_id,
                    current=current,
                    new=new,
                    again=again,
                    days=days,
                )
            )
        except PasswordRefusedError as refusal:
            return await run_in_threadpool(_page, request, login, refusal=refusal)
        _log.info("the password was changed login=%s", changed.login.id)
        answer = RedirectResponse(link(request, "account", {"notice": "password"}), 303)
        set_cookie(request, answer, changed.token, days=days)
        return answer

    @router.post("/settings/account/sign-out-others", name="sign_out_others")
    def sign_out_others(request: Request, login: Login) -> Response:
        with database_of(request).session() as db:
            logins.end_all(db, login.user_id, but=login.id)
        return RedirectResponse(link(request, "account", {"notice": "signed-out"}), 303)

    return router


def _page(
    request: Request,
    login: Login,
    *,
    notice: str = "",
    refusal: PasswordRefusedError | None = None,
) -> Response:
    database = database_of(request)
    with database.session() as db:
        others = logins.count_others(db, login)
        user = users.entry(db, login.user_id)
    model = AccountPage(
        name=user.name,
        role=users.role_of(user),
        password_exists=user.password_hash is not None,
        by_proxy=bool(request.scope["state"].get("by_proxy")),
        others=others,
        notice=notice,
        error=refusal.sentence if refusal else "",
        field=refusal.field if refusal else "",
    )
    context = {"page": model, "nav": "settings"}
    return render(request, "account.html", context, status=refusal.status if refusal else 200)
