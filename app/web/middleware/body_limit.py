"""A cap on request bodies, before anything reads them."""

from starlette.datastructures import Headers
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import VitrineError


class BodyLimit:
    """Starlette counts the bytes of a chunked body. A declared length is refused here first, so
    that it is answered like every other error and not as bare text.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = RequestBodyLimitMiddleware(app, max_body_size=max_bytes)
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            declared = Headers(scope=scope).get("content-length", "0")
            if not declared.isascii() or not declared.isdigit():
                raise VitrineError(400, "The request's Content-Length is not a number.")
            if int(declared[:20]) > self.max_bytes:
                raise VitrineError(413, "The request is larger than this server takes.")
        await self.app(scope, receive, send)
