"""Stands between the MCP SDK and the network, and takes the blows.

A transport error in one request makes the SDK end its whole client, and with it every other call
under way. So such an error is answered here with a JSON-RPC error for the request that it broke,
and what really happened is kept under that request's id for the caller to find. The SDK's own
words for HTTP errors and foreign content never reach a caller either.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import cast

import anyio
import msgspec
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    JSONRPCError,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from app import egress
from app.mcp.errors import (
    ConnectionDropped,
    McpError,
    NotPermitted,
    PrivateAddress,
    ServerForbidden,
    ServerGarbage,
    ServerTimeout,
    ServerTooLarge,
    ServerUnreachable,
    SessionLost,
)

SESSION_HEADER = "mcp-session-id"
JSON = "application/json"
EVENTS = "text/event-stream"
_KEPT_HEADERS = ("content-type", "location", SESSION_HEADER)
# A notification and a goodbye are courtesies: a server that hangs on one must not hold up calls.
COURTESY_SECONDS = 2
DRAIN_SECONDS = 0.25
# Resumed streams (2025-11-25 and before) that one connection may open; a server that ends each
# one at once would be asked again for ever.
MAX_RESUMES = 50
# The stream that a server of the handshake era speaks on unasked; one that ends it at once, and
# says to come back at once, would be asked without a pause.
STANDING_SECONDS = 1
LISTEN = "subscriptions/listen"
NEVER_CONTACTED = "This server's address is one that Vitrine does not contact."


class _Head(msgspec.Struct):
    id: RequestId | None = None
    method: str = ""


def describe(error: BaseException, *, connect_seconds: float, read_seconds: float) -> McpError:
    """What a transport error means to a caller."""
    blocked = egress.blocked(error)
    if blocked is not None:
        return PrivateAddress() if blocked.is_private else NotPermitted(NEVER_CONTACTED)
    match error:
        case egress.TooLargeError():
            return ServerTooLarge(error.limit)
        case egress.LeftOriginError():
            return ServerGarbage("The server redirects to another address.")
        case egress.EncodedError():
            return ServerGarbage("The server compressed its answer, which Vitrine does not accept.")
        case egress.ConnectTimeout():
            return ServerUnreachable(
                f"The server did not accept a connection within {connect_seconds:g} seconds."
            )
        case egress.PoolTimeout():
            return ServerUnreachable("Too many calls are waiting for this server.")
        case egress.TimeoutException():
            return ServerTimeout(read_seconds)
        case egress.ProxyError():
            return ServerUnreachable("The outbound proxy did not let the connection through.")
        case egress.ConnectError():
            return ServerUnreachable()
        case _:
            return ConnectionDropped()


class Wire(egress.AsyncBaseTransport):
    """The transport of one SDK client.

    ``failures`` holds what became of a request, by JSON-RPC id; the caller takes it out.
    ``on_lost`` is called when the connection is of no more use (transport ``sse`` only).
    """

    def __init__(
        self,
        inner: egress.AsyncBaseTransport,
        *,
        is_sse: bool,
        connect_seconds: float,
        read_seconds: float,
        on_lost: Callable[[], None],
    ) -> None:
        self._inner = inner
        self._is_sse = is_sse
        self._connect_seconds = connect_seconds
        self._read_seconds = read_seconds
        self._on_lost = on_lost
        self._unreached: McpError | None = None
        self._resumes = 0
        self._standing_at = -math.inf
        self._courtesies: set[asyncio.Task[egress.Response]] = set()
        self.failures: dict[RequestId, McpError] = {}
        # While connecting, the SDK tries twice (both eras); where nothing could be reached the
        # second try is answered at once.
        self.connecting = True
        self.latest: McpError | None = None
        self.lost_because: McpError | None = None

    async def handle_async_request(self, request: egress.Request) -> egress.Response:
        if request.method == "POST":
            return await self._post(request)
        if request.method == "DELETE":
            return await self._courtesy(request)
        if "last-event-id" in request.headers:
            self._resumes += 1
            if self._resumes > MAX_RESUMES:
                return egress.Response(405)
        elif not self._is_sse:
            await asyncio.sleep(self._standing_at + STANDING_SECONDS - time.monotonic())
            self._standing_at = time.monotonic()
            _wait_for_ever(request)
        try:
            response = await self._inner.handle_async_request(request)
        except egress.TransportError as error:
            self.latest = self._describe(error)
            raise
        if self._is_sse:
            if response.status_code >= 300:
                self.latest = _status_failure(response.status_code)
            response.stream = _Watched(response, self._stream_broke, self._stream_ended)
        return response

    async def aclose(self) -> None:
        for task in self._courtesies:
            task.cancel()
        await asyncio.gather(*self._courtesies, return_exceptions=True)
        await self._inner.aclose()

    def _describe(self, error: BaseException) -> McpError:
        return describe(
            error, connect_seconds=self._connect_seconds, read_seconds=self._read_seconds
        )

    async def _courtesy(self, request: egress.Request) -> egress.Response:
        """Sends what needs no answer, for a short while and whatever comes of it."""
        with anyio.move_on_after(COURTESY_SECONDS):
            try:
                response = await self._inner.handle_async_request(request)
                await response.aclose()
            except egress.TransportError:
                return egress.Response(204)
        return egress.Response(204)

    async def _post(self, request: egress.Request) -> egress.Response:
        head = msgspec.json.decode(await request.aread(), type=_Head)
        request_id = head.id
        if head.method == LISTEN:
            return await self._listen(request, request_id)
        if request_id is None:
            if head.method == "notifications/cancelled":
                # The SDK sends nothing else until this is answered, not even the next call.
                task = asyncio.create_task(self._courtesy(request))
                self._courtesies.add(task)
                task.add_done_callback(self._courtesies.discard)
                return egress.Response(202)
            return await self._courtesy(request)
        if request_id is not None:
            self.failures.pop(request_id, None)
        self.latest = None
        if self._unreached is not None:
            return self._failed(request_id, self._unreached)
        try:
            response = await self._inner.handle_async_request(request)
            if self._is_sse:
                return await self._accepted(request_id, response)
            return await self._answer(request, request_id, response)
        except egress.TransportError as error:
            failure = self._describe(error)
            if self.connecting and isinstance(error, egress.ConnectError | egress.ConnectTimeout):
                self._unreached = failure
            return self._failed(request_id, failure)

    async def _listen(
        self, request: egress.Request, request_id: RequestId | None
    ) -> egress.Response:
        """A subscription. It is silent while nothing changes, and it is no failure of anybody's
        when it ends.
        """
        _wait_for_ever(request)
        try:
            response = await self._inner.handle_async_request(request)
            if _media_type(response) != EVENTS:
                body = await _read(response)
                response = egress.Response(
                    response.status_code,
                    headers=_kept_headers(response),
                    stream=egress.ByteStream(body),
                )
        except egress.TransportError as error:
            return _refusal(request_id, self._describe(error))
        return response

    def _failed(self, request_id: RequestId | None, failure: McpError) -> egress.Response:
        """Keeps ``failure`` and answers in the server's place; the transport gives it to its
        request.
        """
        self._note(request_id, failure)
        return _refusal(request_id, failure)

    async def _accepted(
        self, request_id: RequestId | None, response: egress.Response
    ) -> egress.Response:
        """A POST of transport ``sse``: the answer itself comes on the other stream."""
        await _read(response)
        if response.is_success:
            return egress.Response(202)
        if response.status_code == 404 and not self.connecting:
            # The session is part of the address that the server gave out.
            return self._failed(request_id, SessionLost())
        return self._failed(request_id, _status_failure(response.status_code))

    async def _answer(
        self, request: egress.Request, request_id: RequestId | None, response: egress.Response
    ) -> egress.Response:
        status = response.status_code
        media_type = _media_type(response)
        if status == 200 and media_type == EVENTS:
            response.stream = _Watched(response, lambda error: self._broke(request_id, error))
            return response
        body = await _read(response)
        if 300 <= status < 400:
            # The SDK follows within the origin, with the same id, and then this is forgotten.
            self._note(request_id, ServerGarbage("The server redirects to another address."))
        elif status >= 400:
            reply = _json_rpc_error(media_type, body)
            if SESSION_HEADER in request.headers and _is_session_lost(status, reply):
                return self._failed(request_id, SessionLost())
            if reply is None:
                return self._failed(request_id, _status_failure(status))
        elif media_type != JSON or not _answers(request_id, body):
            return self._failed(request_id, ServerGarbage())
        return egress.Response(
            status, headers=_kept_headers(response), stream=egress.ByteStream(body)
        )

    def _note(self, request_id: RequestId | None, failure: McpError) -> None:
        self.latest = failure
        if request_id is not None:
            self.failures[request_id] = failure

    def _broke(self, request_id: RequestId | None, error: egress.TransportError) -> None:
        self._note(request_id, self._describe(error))

    def _stream_broke(self, error: egress.TransportError) -> None:
        self.lost_because = self._describe(error)

    def _stream_ended(self) -> None:
        # Whoever is connecting finds out by itself, and why.
        if not self.connecting:
            self._on_lost()


class _Watched(egress.AsyncByteStream):
    """A stream that tells of its own breaking, and of its end."""

    def __init__(
        self,
        response: egress.Response,
        on_error: Callable[[egress.TransportError], None],
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._inner = cast(egress.AsyncByteStream, response.stream)
        self._chunks = aiter(self._inner)
        self._on_error = on_error
        self._on_end = on_end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks:
                yield chunk
        except egress.TransportError as error:
            self._on_error(error)
            raise
        finally:
            self._on_end()

    async def aclose(self) -> None:
        # The SDK leaves a stream at the answer, a few bytes before its end; only a connection
        # that was read to the end can serve the next call.
        try:
            with anyio.move_on_after(DRAIN_SECONDS), suppress(egress.TransportError):
                async for _ in self._chunks:
                    continue
        finally:
            await self._inner.aclose()


def _refusal(request_id: RequestId | None, failure: McpError) -> egress.Response:
    error = {"code": INTERNAL_ERROR, "message": failure.sentence}
    return egress.Response(502, json={"jsonrpc": "2.0", "id": request_id, "error": error})


def _wait_for_ever(request: egress.Request) -> None:
    """What is said on this stream may be hours away; it ends with the connection."""
    timeouts = request.extensions.get("timeout", {})
    request.extensions = {**request.extensions, "timeout": {**timeouts, "read": None}}


def _media_type(response: egress.Response) -> str:
    media_type: str = response.headers.get("content-type", "").partition(";")[0]
    return media_type.strip().lower()


async def _read(response: egress.Response) -> bytes:
    stream = cast(egress.AsyncByteStream, response.stream)
    try:
        return b"".join([chunk async for chunk in stream])
    finally:
        await stream.aclose()


def _kept_headers(response: egress.Response) -> list[tuple[str, str]]:
    return [(name, response.headers[name]) for name in _KEPT_HEADERS if name in response.headers]


def _answers(request_id: RequestId | None, body: bytes) -> bool:
    """Whether ``body`` is an answer to this request. The SDK would wait on for a better one."""
    try:
        answered = msgspec.json.decode(body, type=_Head).id
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return str(answered) == str(request_id)


def _json_rpc_error(media_type: str, body: bytes) -> JSONRPCError | None:
    if media_type != JSON:
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValidationError:
        return None
    return message if isinstance(message, JSONRPCError) else None


def _is_session_lost(status: int, reply: JSONRPCError | None) -> bool:
    """Whether a server that had given out a session does not know it.

    The protocol says 404; the official TypeScript examples say 400 and mention the session.
    Either way the server looked no further than the header.
    """
    if status == 404:
        return reply is None or reply.error.code not in (METHOD_NOT_FOUND, INVALID_PARAMS)
    return status == 400 and reply is not None and "session" in reply.error.message.lower()


def _status_failure(status: int) -> McpError:
    if status in (401, 403):
        return ServerForbidden(status)
    if status == 404:
        return ServerGarbage("There is no MCP server at this address (HTTP status 404).")
    return ServerGarbage(f"The server answered with HTTP status {status}.")
