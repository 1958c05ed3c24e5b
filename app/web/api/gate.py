"""The gate of ``/api/v1``: a token opens it, a sign-in never does, and a token opens nothing else.

So a request that a browser is led to make has no authority here: none that it sends by itself.
"""

import logging
from dataclasses import dataclass
from typing import Final

from limits import parse
from slowapi import Limiter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.db import tables
from app.errors import VitrineError
from app.web.auth import api_tokens, throttle
from app.web.auth.api_tokens import Access
from app.web.state import database_of
from app.web.urls import route_path

_log = logging.getLogger("vitrine.auth")
PREFIX: Final = "/api/v1/"
# Failures of one client. Nobody guesses 256 bits; this is about the work that trying makes.
_FAILURES: Final = parse("20/minute")
_NONE: Final = "This needs an API token: Authorization: Bearer vitrine_…."
_WRONG: Final = "This API token is unknown, was revoked or has expired."
_TOO_OFTEN: Final = "Too many wrong API tokens came from this address. Wait a minute."


def is_api(path: str) -> bool:
    """Whether ``path`` (without the base path) is behind this gate."""
    return path.startswith(PREFIX)


class ApiGate:
    """Where a token is good, ``scope["state"]["access"]`` says what it gives."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and is_api(route_path(scope)):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            scope.setdefault("state", {})["access"] = await _access(Request(scope))
        await self.app(scope, receive, send)


async def _access(request: Request) -> Access:
    token = bearer_token(request.headers)
    if token is None:
        raise VitrineError(401, _NONE)
    limiter: Limiter = request.app.state.limiter
    client = throttle.client(request)
    # Asked before the database is: else the brake would brake nothing.
    if not limiter.limiter.test(_FAILURES, "api", client):
        raise VitrineError(429, _TOO_OFTEN)
    access = await run_in_threadpool(_find, request, token)
    if access is None:
        limiter.limiter.hit(_FAILURES, "api", client)
        _log.warning("a wrong API token was given from=%s", client)
        raise VitrineError(401, _WRONG)
    return access


def bearer_token(headers: Headers) -> str | None:
    """The token of the one ``Authorization`` header that there is."""
    values = headers.getlist("authorization")
    scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _find(connection: HTTPConnection, token: str) -> Access | None:
    with database_of(connection).session() as db:
        return api_tokens.find(db, token)


@dataclass(frozen=True)
class Needs:
    """For a router's ``dependencies``: what each of its routes asks of a token."""

    scope: tables.Scope

    def __call__(self, connection: HTTPConnection) -> None:
        if self.scope not in api_tokens.access(connection).scopes:
            raise VitrineError(403, f"This API token does not have the scope {self.scope}.")
