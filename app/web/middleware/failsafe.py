"""The last catch: an error of a middleware or of our own code becomes an answer, once logged."""

import logging

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import VitrineError
from app.web import errors

_log = logging.getLogger("vitrine.errors")


class Failsafe:
    """Inside the security headers, unlike Starlette's own handler for unexpected errors."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched_send(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched_send)
        except VitrineError as error:
            if started:
                raise
            await errors.response(scope, error.status, error.sentence)(scope, receive, send)
        except ClientDisconnect:
            # It went away while it was still sending: nobody is there to be answered, and no
            # fault is ours. The status is for the log.
            if not started:
                sentence = "The request ended before it was complete."
                await errors.response(scope, 400, sentence)(scope, receive, send)
        except Exception:
            if started:
                # Half an answer is out: only closing the connection tells the browser.
                raise
            _log.exception("unexpected error")
            answer = errors.response(scope, 500, errors.UNEXPECTED)
            await answer(scope, receive, send)
