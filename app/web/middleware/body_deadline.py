"""A time limit on request bodies: who sends one drop by drop must not be waited for."""

import asyncio
from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS: Final = 20.0  # for a whole body
BYTES_PER_SECOND: Final = 16 * 1024  # what came earns more time at this rate


class BodyDeadline:
    """408 to a body that takes longer than ``seconds``, and one more for each
    ``BYTES_PER_SECOND``: a large one over a slow line is not cut off, one that stands still is.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app = app
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        until = asyncio.get_running_loop().time() + self.seconds
        whole = False

        async def timely_receive() -> Message:
            nonlocal until, whole
            if whole:  # what comes now is that the client went away
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                # FastAPI makes a 400 of every other exception while it reads a form.
                raise HTTPException(408) from None
            until += len(message.get("body", b"")) / BYTES_PER_SECOND
            whole = not message.get("more_body", False)
            return message

        await self.app(scope, timely_receive, send)
