"""Cross-site requests: what changes something, and what listens, must come from one of Vitrine's
own pages.
"""

import re
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import VitrineError
from app.web.auth.api_tokens import access_of
from app.web.host import Host, host_of, parse_host
from app.web.urls import route_path

SAFE_METHODS: Final = {"GET", "HEAD", "OPTIONS", "TRACE"}
_ORIGIN: Final = re.compile(r"(https?)://([^/?#@\s]+)")
_DEFAULT_PORT: Final = {"http": 80, "https": 443}
_STREAMS: Final = {"/events"}
_FOREIGN: Final = "Another site’s page asked for this."
_REFUSED: Final = (
    "This request did not come from a page of this Vitrine, so nothing was changed. "
    "Open the page again and repeat what you did."
)


def same_origin(origin: str, host: Host, scheme: str) -> bool:
    """Whether an ``Origin`` header names the host that the request was sent to.

    A proxy may have ended TLS without saying so, so on plain http an https origin of the same
    host is taken; the reverse never is. "null", which a sandboxed view sends, is no origin.
    """
    match = _ORIGIN.fullmatch(origin)
    if match is None or (scheme == "https" and match[1] != "https"):
        return False
    named = parse_host(match[2])
    default = _DEFAULT_PORT[match[1]]
    return named is not None and (named.name, named.port or default) == (
        host.name,
        host.port or default,
    )


def is_own(headers: Headers, host: Host, scheme: str) -> bool:
    """Whether an unsafe request was made by one of our own pages.

    Both headers are checked where both are sent. A request with neither is refused: every
    browser sends ``Origin`` on a POST, and no other client has business here.
    """
    origins = headers.getlist("origin")
    site = headers.get("sec-fetch-site")
    if len(origins) > 1 or (origins and not same_origin(origins[0], host, scheme)):
        return False
    if site is None:
        return bool(origins)
    # "none" is a person's own doing, a repeated POST after a restart for example; it proves
    # nothing without an origin.
    return site == "same-origin" or (site == "none" and bool(origins))


def is_foreign(headers: Headers, host: Host, scheme: str) -> bool:
    """Whether a safe request says of itself that another site's page made it. Our own may say
    nothing: no browser sends ``Origin`` on a GET to its own origin, and some no more than that.
    """
    origins = headers.getlist("origin")
    if len(origins) > 1 or (origins and not same_origin(origins[0], host, scheme)):
        return True
    return headers.get("sec-fetch-site") not in (None, "same-origin", "none")


class OriginCheck:
    """A stream is checked as well: read it could not be, but another site's page on this machine,
    which is of one "site" with ours, could open as many as it likes with our cookie.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            scheme = "https" if scope["scheme"] == "wss" else "http"
            if not is_own(Headers(scope=scope), host_of(scope), scheme):
                await send({"type": "websocket.close", "code": 1008})
                return
        elif (
            scope["type"] == "http"
            and route_path(scope) in _STREAMS
            and is_foreign(Headers(scope=scope), host_of(scope), scope["scheme"])
        ):
            raise VitrineError(403, _FOREIGN)
        if (
            scope["type"] == "http"
            and scope["method"] not in SAFE_METHODS
            # No page can make a browser send somebody's token, as it can a cookie.
            and access_of(scope) is None
            and not is_own(Headers(scope=scope), host_of(scope), scope["scheme"])
        ):
            raise VitrineError(403, _REFUSED)
        await self.app(scope, receive, send)
