"""A browser that goes away in the middle of its request is no fault of Vitrine's."""

import logging

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from app.web.middleware.failsafe import Failsafe

SCOPE: Scope = {
    "type": "http",
    "method": "POST",
    "path": "/sessions/a/mcp_apps/b/rpc",
    "query_string": b"",
    "headers": [],
}


async def reads_its_body(scope: Scope, receive: Receive, send: Send) -> None:
    await Request(scope, receive).body()


async def test_half_a_request_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    arriving: list[Message] = [
        {"type": "http.request", "body": b'{"method":', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return arriving.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    with caplog.at_level(logging.INFO):
        await Failsafe(reads_its_body)(SCOPE, receive, send)
    assert sent[0]["status"] == 400
    assert caplog.text == ""
