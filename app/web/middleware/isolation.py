"""What other sites' pages may ask for: that a person goes to a page of ours, and nothing else.

Cookies and the browser's own rules keep them from reading an answer; here a request is refused
before it costs or counts anything: an event stream, an image, a frame around a page.
"""

from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import VitrineError
from app.web.middleware.origin import SAFE_METHODS

_OURS: Final = {"same-origin", "none"}
_REFUSED: Final = "Another site’s page asked for this. Open it in Vitrine itself."


def may_ask(headers: Headers) -> bool:
    """By Fetch Metadata, where the browser sends it: over plain HTTP it does not.

    A view counts as another site: its origin is opaque.
    """
    site = headers.get("sec-fetch-site")
    if site is None or site in _OURS:
        return True
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") in (
        "document",
        None,
    )


class Isolation:
    """Unsafe methods have a check of their own, which asks for more."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asks = scope["type"] == "http" and scope["method"] in SAFE_METHODS
        if asks and not may_ask(Headers(scope=scope)):
            raise VitrineError(403, _REFUSED)
        await self.app(scope, receive, send)
