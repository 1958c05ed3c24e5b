"""One live connection to an MCP server, opened and closed by a task of its own.

The SDK's client must be left in the task that entered it, and when its transport breaks it
cancels that task. So nobody else enters it: other tasks send through it, and what breaks reaches
them as an ``McpError``.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.client import advertise
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, Implementation
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from app import __version__, egress
from app.mcp import raw
from app.mcp.eras import is_handshake
from app.mcp.errors import (
    ConnectionDropped,
    McpError,
    ServerGarbage,
    ServerRejected,
    ServerTimeout,
    ServerTooLarge,
    ServerUnreachable,
    SessionLost,
)
from app.mcp.notices import Notices, OnProgress
from app.mcp.sse import sse_transport
from app.mcp.target import SSE, Target, mask_url
from app.mcp.wire import Wire, describe
from app.settings import Settings
from app.text import one_line

_log = logging.getLogger(__name__)

# What the SDK logs holds the server's text unescaped and whole tracebacks; what matters of it
# comes back as an McpError.
for _name in ("client", "mcp.client", "mcp.shared"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

UI_EXTENSION = advertise("io.modelcontextprotocol/ui", {"mimeTypes": ["text/html;profile=mcp-app"]})
CLIENT_INFO = Implementation(name="Vitrine", version=__version__)
# A stream may bring progress beside the result; it may not go on without end.
STREAM_FACTOR = 4
# The SDK numbers its own requests from 1.
FIRST_REQUEST_ID = 1_000
# A call's own limit is reached first; this ends what the SDK leaves behind.
READ_GRACE_SECONDS = 5


class Connection:
    """Use ``start`` once, then ``request`` from any task. It ends by itself after
    ``idle_seconds`` without a request, when it breaks, and with ``stop``.

    ``usable`` is false as soon as new requests should go to another connection. ``protocol`` is
    what the server is remembered to speak; while the connection stands, what was agreed.

    ``on_connect`` is called for each TCP connection, ``on_open`` when the connection stands,
    ``on_end`` once at the end, with the reason if it never came to stand. ``changed`` is called
    when the server says that its ``"tools"`` or ``"resources"`` are others now.
    """

    def __init__(
        self,
        target: Target,
        settings: Settings,
        *,
        idle_seconds: float,
        pause_seconds: float,
        protocol: str | None,
        on_connect: Callable[[], None],
        on_open: Callable[["Connection"], None],
        on_end: Callable[["Connection", McpError | None], None],
        changed: Callable[[Target, str], None],
        around: Callable[[egress.AsyncBaseTransport], egress.AsyncBaseTransport] = lambda t: t,
    ) -> None:
        self.target = target
        self.usable = True
        self.protocol = protocol
        self._settings = settings
        self._idle_seconds = idle_seconds
        self._pause_seconds = pause_seconds
        self._on_connect = on_connect
        self._on_open = on_open
        self._on_end = on_end
        self._around = around
        self._ids = itertools.count(FIRST_REQUEST_ID)
        self._stop = asyncio.Event()
        self._in_flight = 0
        self._last_used = time.monotonic()
        self._notices = Notices(lambda what: changed(target, what))
        self._wire: Wire | None = None
        self._task: asyncio.Task[None] | None = None
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        # Nobody may be waiting any more when connecting fails.
        self._client.add_done_callback(lambda done: done.cancelled() or done.exception())

    def start(self) -> "asyncio.Task[None]":
        self._task = asyncio.create_task(self._run(), name="mcp-connection")
        return self._task

    @property
    def is_modern(self) -> bool:
        """Whether protocol 2026-07-28 or later was agreed, as ``request`` has found out."""
        return self.protocol in MODERN_PROTOCOL_VERSIONS

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        input_schema: object = None,
        on_progress: OnProgress | None = None,
    ) -> raw.Answer:
        """The raw answer to ``method``. Raises ``McpError``; the time limit is the caller's.

        A caller who is cancelled has the request cancelled at the server too.
        """
        self._in_flight += 1
        request_id = next(self._ids)
        try:
            # Shielded: one caller who gives up must not take the connection from the others.
            client = await asyncio.shield(self._client)
            with ExitStack() as stack:
                if on_progress is not None:
                    stack.enter_context(self._notices.follow(request_id, on_progress))
                    meta = {**(params.get("_meta") or {}), "progressToken": request_id}
                    params = {**params, "_meta": meta}
                return await raw.send(
                    client.session,
                    method,
                    params,
                    request_id=request_id,
                    input_schema=input_schema,
                )
        except MCPError as error:
            raise self._meaning(request_id, error) from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, RuntimeError) as error:
            # The SDK's way of saying that its client has been left meanwhile.
            self.stop()
            raise ConnectionDropped from error
        finally:
            self._in_flight -= 1
            self._last_used = time.monotonic()
            if self._wire is not None:
                self._wire.failures.pop(request_id, None)
            if not self.usable and not self._in_flight:
                self._stop.set()

    def retire(self) -> None:
        """Takes no new requests; those under way may still end well."""
        self.usable = False
        if not self._in_flight:
            self._stop.set()

    def stop(self) -> None:
        """Ends now. Requests under way get ``ServerUnreachable``."""
        self.usable = False
        self._stop.set()
        if self._task is not None and not self._client.done():
            self._task.cancel()

    def _meaning(self, request_id: int, error: MCPError) -> McpError:
        wire = self._wire
        failure = wire.failures.get(request_id) if wire is not None else None
        if failure is None:
            failure = _sdk_words(error, self._settings.result_max_bytes)
            if isinstance(failure, ConnectionDropped) and self._wire is not None:
                failure = self._wire.lost_because or failure
        if isinstance(failure, SessionLost):
            self.retire()
        elif error.code == CONNECTION_CLOSED and error.message == "Connection closed":
            self.stop()
        return failure

    async def _run(self) -> None:
        failure: McpError | None = None
        try:
            async with AsyncExitStack() as stack:
                client = await self._open(stack)
                self.protocol = client.protocol_version
                self._client.set_result(client)
                self._on_open(self)
                await self._until_stopped(client)
        except Exception as error:  # noqa: BLE001 - the supervisor: nothing may pass it
            failure = self._cause(error)
            _log.info("MCP server %s: %s", self._shown, failure.sentence)
        finally:
            self.usable = False
            connected = self._client.done()
            if not connected:
                gone = ServerUnreachable("The connection was closed before it stood.")
                self._client.set_exception(failure or gone)
            self._notices.close()
            self._on_end(self, None if connected else failure)

    async def _open(self, stack: AsyncExitStack) -> Client:
        seconds = self._settings.listing_timeout_seconds
        try:
            # Not anyio's: a scope may not end before the ones that the client opens inside it.
            async with asyncio.timeout(seconds):
                client = await self._greet(stack)
        except TimeoutError as error:
            raise ServerTimeout(seconds) from error
        if self._wire is not None:
            self._wire.connecting = False
        return client

    async def _greet(self, stack: AsyncExitStack) -> Client:
        """In the era that the server is remembered by, else in each until one fits."""
        if is_handshake(self.protocol):
            try:
                return await self._enter(stack, "legacy")
            except Exception as error:
                # An answer, only not the one of that era: the server has another one now.
                if not isinstance(self._cause(error), ServerRejected | ServerGarbage):
                    raise
        return await self._enter(stack, "auto")

    async def _enter(self, stack: AsyncExitStack, mode: str) -> Client:
        client = Client(
            self._transport(),
            mode=mode,
            extensions=[UI_EXTENSION],
            client_info=CLIENT_INFO,
            message_handler=self._notices.hear,
            cache=None,
        )
        return await stack.enter_async_context(client)

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[TransportStreams]:
        target, settings = self.target, self._settings
        is_sse = target.transport == SSE
        limit = settings.result_max_bytes
        http = egress.client(
            target.url,
            private_ok=target.private_ok,
            connect_seconds=settings.connect_timeout_seconds,
            read_seconds=self._read_seconds,
            max_bytes=limit,
            max_stream_bytes=None if is_sse else limit * STREAM_FACTOR,
            headers=target.headers,
            on_connect=self._on_connect,
            around=self._wrapped,
            proxy=settings.outbound_proxy,
        )
        if is_sse:
            async with sse_transport(target.url, http) as streams:
                yield streams
        else:
            async with (
                http,
                streamable_http_client(
                    target.url, http_client=http, max_sse_event_size=limit
                ) as streams,
            ):
                yield streams

    @property
    def _read_seconds(self) -> float:
        call = self._settings.call_timeout_seconds
        # The one stream of transport sse is silent while nobody asks.
        silence = self._idle_seconds if self.target.transport == SSE else 0
        return call + silence + READ_GRACE_SECONDS

    def _wrapped(self, inner: egress.AsyncBaseTransport) -> egress.AsyncBaseTransport:
        self._wire = Wire(
            self._around(inner),
            is_sse=self.target.transport == SSE,
            connect_seconds=self._settings.connect_timeout_seconds,
            read_seconds=self._read_seconds,
            on_lost=self.stop,
        )
        return self._wire

    @property
    def _shown(self) -> str:
        return one_line(mask_url(self.target.url))

    async def _until_stopped(self, client: Client) -> None:
        listening = asyncio.create_task(
            self._notices.listen(client, first_pause=self._pause_seconds), name="mcp-listening"
        )
        try:
            await self._until_idle()
        finally:
            # The client may only be left when nobody is inside it any more.
            listening.cancel()
            (outcome,) = await asyncio.gather(listening, return_exceptions=True)
            if isinstance(outcome, Exception):
                _log.warning("MCP server %s is not listened to: %r", self._shown, type(outcome))

    async def _until_idle(self) -> None:
        while True:
            left = self._last_used + self._idle_seconds - time.monotonic()
            if self._in_flight:
                left = self._idle_seconds
            elif left <= 0:
                self.usable = False
                return
            try:
                async with asyncio.timeout(left):
                    await self._stop.wait()
            except TimeoutError:
                continue
            return

    def _cause(self, error: Exception) -> McpError:
        """Why connecting failed, or what ended a connection that stood."""
        if isinstance(error, McpError):
            return error
        wire = self._wire
        if wire is not None and (wire.latest or wire.lost_because):
            return wire.latest or wire.lost_because or ServerUnreachable()
        for leaf in _leaves(error):
            if isinstance(leaf, McpError):
                return leaf
            if isinstance(leaf, MCPError):
                return _sdk_words(leaf, self._settings.result_max_bytes)
            if isinstance(leaf, egress.TransportError):
                return describe(
                    leaf,
                    connect_seconds=self._settings.connect_timeout_seconds,
                    read_seconds=self._read_seconds,
                )
            if isinstance(leaf, ValidationError | RuntimeError):
                return ServerGarbage("The server speaks no version of MCP that Vitrine knows.")
        return ServerUnreachable()


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _sdk_words(error: MCPError, limit: int) -> McpError:
    """An error that the wire did not see: the server's own, or the SDK's about a stream.

    A server that uses the SDK's words only has its own error told as this one.
    """
    code, message = error.code, error.message
    if code == PARSE_ERROR and message.startswith("Failed to parse"):
        return ServerGarbage()
    if code == CONNECTION_CLOSED:
        if message.startswith("SSE stream failed"):
            return ServerTooLarge(limit) if "byte limit" in message else ServerGarbage()
        if message.startswith("SSE stream ended") or message == "Connection closed":
            return ConnectionDropped()
    return ServerRejected(code, message, error.data)
