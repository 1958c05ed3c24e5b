"""Every request that may change something leaves an event, whichever route it goes to."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any, Final

from fastapi.routing import iter_route_contexts
from starlette.requests import Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.db import tables
from app.db.tables import AuditKind, AuditOutcome
from app.errors import VitrineError
from app.mcp_apps.audit import Event
from app.web.audit.trail import VIEW
from app.web.auth import throttle
from app.web.middleware.origin import SAFE_METHODS
from app.web.middleware.request_log import route_template
from app.web.state import audit_log_of
from app.web.urls import route_path

# Signs somebody in though it is a GET, which is all that a link can be.
_BY_LINK: Final = "sign_in_with_link"
_ID: Final = re.compile(r"[0-9]{1,18}|[0-9a-f]{32}")  # a row's: no other parameter is kept
_KINDS: Final = {
    "sign_in_with_password": AuditKind.SIGN_IN,
    _BY_LINK: AuditKind.SIGN_IN,
    "sign_out": AuditKind.SIGN_OUT,
    "sign_out_others": AuditKind.SIGN_OUT,
    "delete_session": AuditKind.SESSION_DELETE,
    "delete_project": AuditKind.SESSION_DELETE,
}


def kind_of(name: str, template: str) -> AuditKind:
    """By a route's name and path. One that nobody thought of here is still told of."""
    if name in _KINDS:
        return _KINDS[name]
    if "grant" in name or "grant" in template:
        return AuditKind.GRANT
    if template.startswith("/settings"):
        return AuditKind.SETTING
    if "/mcp_apps/" in template:
        return AuditKind.VIEW_REQUEST
    return AuditKind.OTHER


def outcome_of(status: int) -> AuditOutcome:
    """What an HTTP status says; 0 is no answer."""
    if 200 <= status < 400:
        return AuditOutcome.OK
    if status in (401, 403):
        return AuditOutcome.DENIED
    if status == 408:
        return AuditOutcome.TIMEOUT
    if status == 429:
        return AuditOutcome.LIMITED
    return AuditOutcome.REFUSED if 400 <= status < 500 else AuditOutcome.ERROR


class AuditTrail:
    """Around the gate, which finds out who asks and may refuse what their role does not allow.
    Of those who are not signed in only attempts to be are told: anybody can ask for anything.
    Values of a form are not looked at. What a route told of itself (``app.web.audit.trail``) is
    not told again.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, at, status, size = perf_counter(), tables.now(), 0, 0
        outcome: AuditOutcome | None = None

        async def counted_receive() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            return message

        async def watched_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, counted_receive, watched_send)
        except asyncio.CancelledError:
            outcome = AuditOutcome.CANCELLED
            raise
        except VitrineError as error:
            status = error.status
            raise
        except Exception:
            outcome = AuditOutcome.ERROR
            raise
        finally:
            log = audit_log_of(Request(scope))
            if scope.get("state", {}).get("begins"):
                await log.record(_begun(scope, at))
            told = _told_of(scope)
            if told is not None:
                state: dict[str, Any] = scope["state"]
                event = _event(
                    scope,
                    told,
                    outcome or state.get("audit_outcome") or outcome_of(status),
                    latency_ms=round((perf_counter() - began) * 1000),
                    request_bytes=size,
                    at=at,
                )
                if outcome == AuditOutcome.CANCELLED:
                    log.add(event)
                else:
                    await log.record(event)


def _begun(scope: Scope, at: datetime) -> Event:
    """Somebody whom the reverse proxy vouches for came for the first time, or after long."""
    login: tables.LoginSession = scope["state"]["login"]
    return Event(
        AuditKind.SIGN_IN,
        AuditOutcome.OK,
        person_id=login.user_id,
        login_id=login.id,
        about="by the reverse proxy",
        at=at,
    )


@dataclass(frozen=True, slots=True)
class _Route:
    name: str
    template: str
    params: Mapping[str, Any]


def _told_of(scope: Scope) -> _Route | None:
    """The route of a request that is to be told of, else None."""
    state = scope.get("state", {})
    if state.get("audited"):
        return None
    route = _route(scope)
    if route is None or (scope["method"] in SAFE_METHODS and route.name != _BY_LINK):
        return None
    signs_in = kind_of(route.name, route.template) == AuditKind.SIGN_IN
    return route if signs_in or state.get("login") is not None else None


def _route(scope: Scope) -> _Route | None:
    name = getattr(scope.get("route"), "name", None)
    if name is not None:
        return _Route(name, route_template(scope), scope.get("path_params", {}))
    if scope["method"] in SAFE_METHODS or scope.get("state", {}).get("login") is None:
        return None
    # The gate refused it: no router has looked at it yet.
    for context in iter_route_contexts(scope["app"].routes):
        template, known = context.path, getattr(context.original_route, "name", None)
        if template is None or known is None or scope["method"] not in (context.methods or ()):
            continue
        match = compile_path(template)[0].match(route_path(scope))
        if match is not None:
            return _Route(known, template, match.groupdict())
    return None


def _event(scope: Scope, route: _Route, outcome: AuditOutcome, **facts: Any) -> Event:
    name, template, state = route.name, route.template, scope["state"]
    kind = kind_of(name, template)
    login = state.get("signed_in") or state.get("login")
    params = {key: str(value) for key, value in route.params.items()}
    ids = [
        f"{key}={value}"
        for key, value in params.items()
        if key not in ("session_id", "tool_call_id") and _ID.fullmatch(value)
    ]
    about = " ".join([name, *ids])
    if kind == AuditKind.SIGN_IN:
        about = f"{name} from {throttle.client(Request(scope))}"
        login = state.get("signed_in")
    return Event(
        kind,
        outcome,
        person_id=login.user_id if isinstance(login, tables.LoginSession) else "",
        login_id=login.id if isinstance(login, tables.LoginSession) else "",
        session_id=params.get("session_id", ""),
        tool_call_id=params.get("tool_call_id", ""),
        principal=VIEW if kind == AuditKind.VIEW_REQUEST else "person",
        about=about,
        **facts,
    )
