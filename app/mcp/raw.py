"""The one module that reaches into the MCP SDK's private parts, for an answer as it was sent.

The SDK's typed calls refuse a whole ``tools/list`` for one malformed tool, drop keys that they
do not know and raise on an output schema that does not match. Below them is one private call
that returns the result untouched. ``tests/mcp/test_raw.py`` fails when a release of the SDK
moves it.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp import ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.inbound import mcp_param_headers, x_mcp_header_map
from mcp_types import JSONRPCRequest

from app.mcp.errors import ServerGarbage, UnsendableRequest


class Answer(NamedTuple):
    """A result as it was on the wire, and its size in characters of JSON."""

    result: dict[str, Any]
    size: int


async def send(
    session: ClientSession,
    method: str,
    params: Mapping[str, Any],
    *,
    request_id: int,
    input_schema: object = None,
) -> Answer:
    """The raw result of ``method``. No time limit of its own.

    ``input_schema`` is the called tool's: what it marks ``x-mcp-header`` is mirrored into
    headers, as protocol 2026-07-28 asks.

    Raises ``UnsendableRequest`` before anything is sent, ``mcp.MCPError`` for the server's
    error or the SDK's own, ``ServerGarbage`` for a result that JSON cannot hold.
    """
    data: dict[str, Any] = {"method": method, "params": dict(params)}
    _check_sendable(data)
    options: CallOptions = {"request_id": request_id}
    try:
        session._stamp(data, options)
        if input_schema is not None:
            mirrored = mcp_param_headers(
                x_mcp_header_map(input_schema), params.get("arguments") or {}
            )
            options.setdefault("headers", {}).update(mirrored)
    except (ValueError, TypeError, RecursionError) as error:
        raise UnsendableRequest from error
    result = await session._dispatcher.send_raw_request(method, data["params"], options)
    return Answer(result, _size(result))


def _check_sendable(data: Mapping[str, Any]) -> None:
    """Does what the SDK's transport will do. There, in a task of its own, a request that cannot
    be written (a lone surrogate, NaN, a nest of 300 lists) would end the whole connection.
    """
    try:
        request = JSONRPCRequest(jsonrpc="2.0", id=0, **data)
        request.model_dump(by_alias=True, mode="json", exclude_unset=True)
        # Of the request itself: the dump has NaN turned into null, which is another request.
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise UnsendableRequest from error


def _size(result: object) -> int:
    try:
        return len(json.dumps(result, allow_nan=False))
    except (ValueError, TypeError, RecursionError) as error:
        # The SDK's parser takes NaN and 1e999; no browser would.
        raise ServerGarbage("The server's answer holds numbers that JSON does not have.") from error
