"""JSON-RPC answers to a view's requests, as HTTP responses."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from starlette.responses import Response

from app.mcp_apps.jsonrpc import INTERNAL_ERROR, RpcError


class Answer(dict[str, Any]):
    """An answer that is encoded once, though its size is asked for before it is sent."""

    @cached_property
    def text(self) -> str:
        return encoded(dict(self))


def encoded(answer: Mapping[str, Any]) -> str:
    """``{"result"}`` or ``{"error"}`` as JSON in one line. A result that JSON cannot hold
    (``NaN``) is an error of the server's.
    """
    if isinstance(answer, Answer):
        return answer.text
    try:
        # ASCII escapes: an answer may hold lone surrogates, which have no UTF-8 form.
        return json.dumps(answer, allow_nan=False, separators=(",", ":"))
    except ValueError:
        garbage = RpcError(
            INTERNAL_ERROR,
            "The server’s answer holds a number that JSON does not have.",
            {"reason": "garbage"},
        )
        return json.dumps({"error": garbage.as_object()})


def rpc_answer(answer: dict[str, Any]) -> Response:
    """``{"result"}`` or ``{"error": {"code", "message", "data"?}}`` with status 200."""
    return Response(encoded(answer), media_type="application/json")


def rpc_error(error: RpcError) -> Response:
    return rpc_answer({"error": error.as_object()})


def rpc_result(result: dict[str, Any]) -> Response:
    return rpc_answer({"result": result})
