"""One line a request: what was asked for by kind, never by address."""

import logging
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.text import one_line
from app.web.urls import route_path

_log = logging.getLogger("vitrine.requests")


def route_template(scope: Scope) -> str:
    """``/sessions/{session_id}``; ``-`` where no route matched, or a file was asked for.

    Never the path itself: those of /sign-in and /fragments hold a secret.
    """
    route = scope.get("route")
    template = getattr(route, "path_format", None) or getattr(route, "path", None)
    return template if isinstance(template, str) else "-"


class RequestLog:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A page brings some thirty files along: a line for each would bury what was done.
        if scope["type"] != "http" or route_path(scope).startswith("/static/"):
            await self.app(scope, receive, send)
            return
        began = perf_counter()
        status = 0

        async def watched_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched_send)
        finally:
            _log.info(
                "method=%s route=%s status=%d ms=%d",
                one_line(scope["method"], 16),
                route_template(scope),
                status,
                round((perf_counter() - began) * 1000),
            )
