"""A body that stands still is not waited for; a long answer to a whole one is."""

import asyncio
from collections.abc import Iterable

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from app.web.middleware.body_deadline import BodyDeadline

pytestmark = pytest.mark.anyio
SCOPE: Scope = {"type": "http", "method": "POST", "path": "/", "headers": []}


def part(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


async def read(parts: Iterable[Message | float], seconds: float) -> bytes:
    """The body as a route reads it; a number is how long the client then sends nothing."""
    body = b""
    left = iter(parts)

    async def receive() -> Message:
        for one in left:
            if not isinstance(one, float):
                return one
            await asyncio.sleep(one)
        await asyncio.Event().wait()
        raise AssertionError

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal body
        while True:
            message = await receive()
            body += message["body"]
            if not message["more_body"]:
                return

    async def send(message: Message) -> None:
        raise AssertionError

    await BodyDeadline(app, seconds=seconds)(SCOPE, receive, send)
    return body


async def test_a_body_that_comes_in_time_is_read() -> None:
    parts: list[Message | float] = [part(b"a", more=True), 0.01, part(b"b", more=False)]
    assert await read(parts, seconds=20) == b"ab"


async def test_a_body_that_stands_still_is_refused() -> None:
    with pytest.raises(HTTPException) as refused:
        await read([part(b"a", more=True)], seconds=0.05)
    assert refused.value.status_code == 408


async def test_a_body_that_drips_is_refused_though_something_always_comes() -> None:
    drops: list[Message | float] = [part(b"x", more=True), 0.01]
    with pytest.raises(HTTPException):
        await read(drops * 1000, seconds=0.05)


async def test_a_large_body_earns_time() -> None:
    large = part(b"x" * 1024 * 1024, more=True)
    assert len(await read([large, 0.3, part(b"", more=False)], seconds=0.1)) == 1024 * 1024


async def test_after_the_body_the_connection_may_wait() -> None:
    gone: Message = {"type": "http.disconnect"}
    parts = iter([part(b"", more=False), gone])
    seen: list[str] = []

    async def receive() -> Message:
        message = next(parts)
        if message is gone:
            await asyncio.sleep(0.2)
        return message

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((await receive())["type"])
        seen.append((await receive())["type"])

    async def send(message: Message) -> None:
        raise AssertionError

    await BodyDeadline(app, seconds=0.05)(SCOPE, receive, send)
    assert seen == ["http.request", "http.disconnect"]
