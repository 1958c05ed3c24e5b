"""The gate: who is signed in, and whether that opens the path that was asked for."""

from typing import Annotated, Final

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from app.db import tables
from app.errors import VitrineError
from app.web.auth import logins, paths, proxy, users
from app.web.auth.api_tokens import access_of
from app.web.auth.cookie import read_token
from app.web.auth.paths import is_open
from app.web.auth.users import Person
from app.web.state import database_of, settings_of
from app.web.urls import route_path

_SENTENCE: Final = "You are not signed in."


def _state(connection: HTTPConnection, path: str) -> dict[str, object]:
    database, token = database_of(connection), read_token(connection)
    settings = settings_of(connection)
    nobody: dict[str, object] = {"login": None, "person": None}
    if path == "/healthz":
        return nobody
    vouched = proxy.vouched_name(connection.scope, settings)
    found: tuple[tables.LoginSession, Person] | None = None
    begins = False
    # The proxy's word comes first: a cookie may be left from somebody else at this browser.
    if vouched is not None:
        with database.session() as db:
            login, person, begins = proxy.sign_in(db, vouched, settings)
            found = login, person
    elif token is not None:
        with database.session() as db:
            found = logins.find(db, token)
    if found is not None:
        by_proxy = vouched is not None
        return {"login": found[0], "person": found[1], "by_proxy": by_proxy, "begins": begins}
    names = users.names_with_password(database)
    # A form without a name means "operator": no stranger is told what somebody else is called.
    return nobody | {"password_exists": bool(names), "ask_name": names != [users.OPERATOR]}


class SignInGate:
    """Answers 401 before a route, its parameters or its body are looked at. Where somebody is
    signed in, ``scope["state"]`` holds their ``LoginSession`` as ``login``, the ``Person`` as
    ``person``, as ``by_proxy`` whether a reverse proxy vouches for them, and as ``begins`` whether
    that is new; where nobody is, ``password_exists`` and ``ask_name`` say which way in the sign-in
    page shows. A request with an API token has passed ``app.web.api.gate`` and is left alone.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        path = route_path(scope)
        if access_of(scope) is not None:
            await self.app(scope, receive, send)
            return
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
            if isinstance(person := state["person"], Person):
                # A socket opens with a GET.
                paths.check(person, scope.get("method", "GET"), path)
        await self.app(scope, receive, send)


def current_login(connection: HTTPConnection) -> tables.LoginSession | None:
    login = connection.scope.get("state", {}).get("login")
    return login if isinstance(login, tables.LoginSession) else None


def current_person(connection: HTTPConnection) -> Person | None:
    """Who is signed in."""
    person = connection.scope.get("state", {}).get("person")
    return person if isinstance(person, Person) else None


def require_person(connection: HTTPConnection) -> Person:
    """FastAPI dependency: who is signed in. Raises as ``require_login``."""
    person = current_person(connection)
    if person is None:
        raise VitrineError(401, _SENTENCE)
    return person


def require_login(connection: HTTPConnection) -> tables.LoginSession:
    """FastAPI dependency: the signed-in browser's ``LoginSession``.

    Raises ``VitrineError`` 401 by itself too, so that a route stays closed without the gate.
    """
    login = current_login(connection)
    if login is None:
        raise VitrineError(401, _SENTENCE)
    return login


Login = Annotated[tables.LoginSession, Depends(require_login)]
SignedIn = Annotated[Person, Depends(require_person)]
