"""The SDK still has the private parts that app/mcp/raw.py relies on."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from app.mcp import raw
from app.mcp.errors import UnsendableRequest
from app.mcp.hub import Hub
from app.mcp.target import Target
from tests.mcp.servers import MODERN, Request, Scripted


@contextmanager
def unconnected() -> Iterator[ClientSession]:
    send, receive = anyio.create_memory_object_stream[Any](1)
    with send, receive:
        yield ClientSession(dispatcher=JSONRPCDispatcher(receive, send))


def test_the_sdk_still_sends_raw_requests() -> None:
    parameters = inspect.signature(JSONRPCDispatcher.send_raw_request).parameters
    assert list(parameters)[:4] == ["self", "method", "params", "opts"]
    with unconnected() as session:
        assert isinstance(session._dispatcher, JSONRPCDispatcher)
        assert list(inspect.signature(session._stamp).parameters) == ["data", "opts"]


async def test_a_raw_request_still_carries_the_protocols_envelope(hub: Hub) -> None:
    """Without the private stamp the request would go out, and every modern server refuse it."""
    seen: list[Request] = []

    async def answer(request: Request) -> None:
        seen.append(request)
        await request.result({"content": []})

    async with Scripted(answer) as server:
        await hub.call_tool(Target(server.url, private_ok=True), "a tool", {"x": 1})
    params = seen[0].message["params"]
    assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN
    assert params["arguments"] == {"x": 1}
    assert seen[0].headers["mcp-protocol-version"] == MODERN
    assert seen[0].headers["mcp-method"] == "tools/call"


async def test_an_unsendable_request_never_reaches_the_sdk() -> None:
    with unconnected() as session, pytest.raises(UnsendableRequest):
        await raw.send(session, "tools/call", {"name": "\ud800"}, request_id=1)
