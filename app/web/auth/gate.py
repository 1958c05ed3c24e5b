"""The gate: closed unless a path is named open here, so that a forgotten route is closed."""

from typing import Annotated, Final

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from app.db import tables
from app.errors import VitrineError
from app.web.auth import logins, users
from app.web.auth.cookie import read_token
from app.web.state import database_of
from app.web.urls import route_path

_OPEN_PATHS: Final = {"/healthz", "/sign-in"}
_OPEN_PREFIXES: Final = ("/static/", "/sign-in/")
_SENTENCE: Final = "You are not signed in."


def is_open(path: str) -> bool:
    """Whether ``path`` (without the base path) is shown to anybody."""
    return path in _OPEN_PATHS or path.startswith(_OPEN_PREFIXES)


def _state(connection: HTTPConnection, path: str) -> dict[str, object]:
    database, token = database_of(connection), read_token(connection)
    login = None
    if token is not None:
        with database.session() as db:
            login = logins.find(db, token)
    if login is not None or path == "/healthz":
        return {"login": login}
    return {"login": None, "password_exists": users.password_exists(database)}


class SignInGate:
    """Answers 401 before a route, its parameters or its body are looked at. Where somebody is
    signed in, ``scope["state"]["login"]`` holds their ``LoginSession``; where nobody is,
    ``password_exists`` says which way in the sign-in page shows.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        path = route_path(scope)
        opened = is_open(path)
        # A static file is the same for everybody; the open pages show who is signed in.
        if not (opened and path.startswith("/static/")):
            state = await run_in_threadpool(_state, HTTPConnection(scope), path)
            scope.setdefault("state", {}).update(state)
            if state["login"] is None and not opened:
                if scope["type"] == "websocket":
                    await send({"type": "websocket.close", "code": 1008})
                    return
                raise VitrineError(401, _SENTENCE)
        await self.app(scope, receive, send)


def current_login(connection: HTTPConnection) -> tables.LoginSession | None:
    login = connection.scope.get("state", {}).get("login")
    return login if isinstance(login, tables.LoginSession) else None


def require_login(connection: HTTPConnection) -> tables.LoginSession:
    """FastAPI dependency: the signed-in browser's ``LoginSession``.

    Raises ``VitrineError`` 401 by itself too, so that a route stays closed without the gate.
    """
    login = current_login(connection)
    if login is None:
        raise VitrineError(401, _SENTENCE)
    return login


Login = Annotated[tables.LoginSession, Depends(require_login)]
