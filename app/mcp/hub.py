"""Every MCP server that Vitrine talks to, behind one object."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from mcp_types import HEADER_MISMATCH, METHOD_NOT_FOUND

from app import egress
from app.mcp import listing
from app.mcp.answers import check_complete, within
from app.mcp.connection import Connection
from app.mcp.eras import Eras
from app.mcp.errors import (
    ConnectionDropped,
    CredentialUnusable,
    McpError,
    NotPermitted,
    ServerGarbage,
    ServerRejected,
    ServerUnreachable,
    SessionLost,
)
from app.mcp.failures import Failures
from app.mcp.listing import Listing
from app.mcp.notices import TOOLS, OnProgress
from app.mcp.raw import Answer
from app.mcp.single_flight import ClosedError, Limited, Load, SingleFlight
from app.mcp.target import Key, Target
from app.mcp.tool_index import ToolIndex, parse_tools
from app.mcp.wallet import Wallet
from app.settings import Settings

V = TypeVar("V")
_log = logging.getLogger(__name__)
Permit = Callable[[Target], Awaitable[bool]]
Keep = Callable[[Target, ToolIndex], Awaitable[None]]
Changed = Callable[[Target, str], None]
Entries = list[dict[str, Any]]


class Hub:
    """Connections, listings and calls, for any number of tasks of one event loop.

    One connection a target's key, opened when first needed and closed after ``idle_seconds``
    without use. Listings are cached for ``settings.cache_seconds``, or less where the server says
    so; a failed one is remembered for ``error_seconds``, a failed connection for
    ``backoff_seconds`` at first and longer each time.

    ``permit`` is asked before each connection; false means ``NotPermitted`` and no traffic.
    ``wallet`` turns a server into a target, for those who are given the hub.
    ``keep`` is given each tool index that a server has listed, to keep a durable copy. ``eras``
    remembers what each server speaks. ``changed`` is called with ``"tools"`` or ``"resources"``
    when a server that is connected says that these are others now, and nothing of them is cached
    any more. ``connections_opened`` counts TCP connections. ``around`` wraps the transport, for
    tests.

    Every method raises ``McpError``.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        permit: Permit | None = None,
        wallet: Wallet | None = None,
        keep: Keep | None = None,
        eras: Eras | None = None,
        changed: Changed | None = None,
        idle_seconds: float = 300,
        error_seconds: float = 3,
        backoff_seconds: float = 1,
        clock: Callable[[], float] = time.monotonic,
        around: Callable[[egress.AsyncBaseTransport], egress.AsyncBaseTransport] = lambda t: t,
    ) -> None:
        self._settings = settings
        self._permit = permit
        self.wallet = wallet or Wallet.empty()
        self._keep = keep
        self._eras = eras or Eras(clock=clock)
        self._on_changed = changed
        self._backoff_seconds = backoff_seconds
        self._idle_seconds = idle_seconds
        self._around = around
        self._connections: dict[Key, Connection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._live: set[Connection] = set()
        self._failed = Failures(backoff_seconds, clock)

        def cache() -> SingleFlight[Any]:
            return SingleFlight(ttl=settings.cache_seconds, error_ttl=error_seconds, clock=clock)

        self._tools: SingleFlight[ToolIndex] = cache()
        self._resources: SingleFlight[Entries] = cache()
        self._templates: SingleFlight[Entries] = cache()
        self._caches: tuple[SingleFlight[Any], ...] = (
            self._tools,
            self._resources,
            self._templates,
        )
        self._drops = 0
        self._closed = False
        self.connections_opened = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends every connection. What is still waiting gets ``ServerUnreachable``."""
        self._closed = True
        for cache in self._caches:
            await cache.aclose()
        for connection in list(self._live):
            connection.stop()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=5)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def drop(self, target: Target) -> None:
        """Ends the connection and forgets the listings, as when a server is no longer allowed."""
        self._drops += 1
        self.forget(target)
        self._eras.forget(target)
        connection = self._connections.pop(target.key, None)
        if connection is not None:
            connection.stop()

    def drop_server(self, url: str) -> None:
        """Ends every connection to ``url``, whoever it is as, and forgets what was listed to any:
        the server is no longer allowed, or is contacted with other credentials from now on.
        """
        self._drops += 1
        for cache in self._caches:
            cache.forget_where(lambda key: isinstance(key, tuple) and key[0] == url)
        self._failed.forget_server(url)
        for key in [key for key in self._connections if key[0] == url]:
            connection = self._connections.pop(key)
            self._eras.forget(connection.target)
            connection.stop()

    def forget(self, target: Target) -> None:
        """The next listing is read anew, and the next connection tried at once."""
        for cache in self._caches:
            cache.forget(target.key)
        self._failed.forget(target.key)

    def retry(self, target: Target) -> None:
        """Forgets that something failed a moment ago, and nothing else."""
        for cache in self._caches:
            cache.forget_error(target.key)
        self._failed.forget(target.key)

    def peek_tools(self, target: Target) -> ToolIndex | None:
        """The tool index if it is cached and fresh; None means unknown. Never any traffic."""
        return self._tools.peek(target.key)

    def peek_tools_stale(self, target: Target) -> ToolIndex | None:
        """The last tool index that was read, however old. Never any traffic."""
        return self._tools.peek_stale(target.key)

    async def tools(self, target: Target) -> ToolIndex:
        """The tool index, not older than ``cache_seconds``; read if need be, within
        ``listing_timeout_seconds`` in all. A server without tools has an empty one.
        """
        return await self._cached(self._tools, target, lambda: self._load_tools(target))

    async def list_resources(self, target: Target) -> Entries:
        """The objects of ``resources/list``, raw, cached as the tool index is. Entries that
        are not objects are left out; a server without resources has none.
        """
        return await self._objects(self._resources, target, "resources/list", "resources")

    async def list_resource_templates(self, target: Target) -> Entries:
        """The objects of ``resources/templates/list``, as ``list_resources``."""
        method = "resources/templates/list"
        return await self._objects(self._templates, target, method, "resourceTemplates")

    async def read_resource(self, target: Target, uri: str) -> dict[str, Any]:
        """The raw ReadResourceResult, whose ``contents`` is a list of objects. Not cached."""
        async with within(self._settings.listing_timeout_seconds):
            result = (await self._read(target, "resources/read", {"uri": uri})).result
        check_complete(result)
        contents = result.get("contents")
        if not isinstance(contents, list) or not all(isinstance(part, dict) for part in contents):
            raise ServerGarbage("The server's answer holds no list of contents.")
        return result

    async def call_tool(
        self,
        target: Target,
        name: str,
        arguments: Mapping[str, Any],
        *,
        on_progress: OnProgress | None = None,
    ) -> dict[str, Any]:
        """The raw CallToolResult, ``isError`` ones too, within ``call_timeout_seconds``.

        Sent once. Only where the server said that it does not know the session, and so ran
        nothing, is it sent a second time. Whoever gives up on it, or is cancelled, has the call
        cancelled at the server.

        ``on_progress`` is called in the event loop with (progress, total, message) as the server
        tells them, ten times a second at most; progress does not extend the time.
        """
        index = self.peek_tools_stale(target)
        tool = index.tools.get(name) if index is not None else None
        schema = tool.raw.get("inputSchema") if tool is not None else None
        params = {"name": name, "arguments": dict(arguments)}
        async with within(self._settings.call_timeout_seconds):
            try:
                answer = await self._send(target, "tools/call", params, schema, on_progress)
            except SessionLost:
                answer = await self._send(target, "tools/call", params, schema, on_progress)
            except ServerRejected as error:
                if error.code == HEADER_MISMATCH:
                    # The schema that the headers were made from is out of date.
                    self._tools.forget(target.key)
                raise
        result = answer.result
        check_complete(result)
        if not isinstance(result.get("content", []), list):
            raise ServerGarbage("The server's answer holds no list of content.")
        return result

    async def _cached(
        self,
        cache: SingleFlight[V],
        target: Target,
        load: Load[V],
    ) -> V:
        try:
            return await cache.get(target.key, load)
        except ClosedError as error:
            raise _stopping() from error

    async def _objects(
        self, cache: SingleFlight[Entries], target: Target, method: str, field: str
    ) -> Entries:
        async def load() -> Limited[Entries]:
            listed = await self._listing(target, method, field)
            entries = [entry for entry in listed.entries if isinstance(entry, dict)]
            return Limited(entries, listed.fresh_seconds)

        return await self._cached(cache, target, load)

    async def _load_tools(self, target: Target) -> Limited[ToolIndex]:
        listed = await self._listing(target, "tools/list", "tools")
        connection = self._connections.get(target.key)
        is_modern = connection is not None and connection.is_modern
        index = parse_tools(listed.entries, modern=is_modern)
        if self._keep is not None:
            await self._keep(target, index)
        return Limited(index, listed.fresh_seconds)

    async def _listing(self, target: Target, method: str, field: str) -> Listing:
        async with within(self._settings.listing_timeout_seconds):
            try:
                return await listing.read(
                    lambda params: self._read(target, method, params),
                    field,
                    max_bytes=self._settings.result_max_bytes,
                )
            except ServerRejected as error:
                if error.code == METHOD_NOT_FOUND:
                    return Listing([])
                raise

    async def _read(self, target: Target, method: str, params: Mapping[str, Any]) -> Answer:
        """A request that changes nothing: sent again, once, when its connection was lost."""
        try:
            return await self._send(target, method, params)
        except (SessionLost, ConnectionDropped):
            return await self._send(target, method, params)

    async def _send(
        self,
        target: Target,
        method: str,
        params: Mapping[str, Any],
        schema: object = None,
        on_progress: OnProgress | None = None,
    ) -> Answer:
        connection = await self._connection(target)
        return await connection.request(
            method, params, input_schema=schema, on_progress=on_progress
        )

    async def _connection(self, target: Target) -> Connection:
        """The target's connection, opening if need be. The one place where any is made."""
        if self._closed:
            raise _stopping()
        if target.trouble:
            raise CredentialUnusable(target.trouble)
        connection = self._connections.get(target.key)
        if connection is not None and connection.usable:
            return connection
        failure = self._failed.get(target.key)
        if failure is not None:
            raise failure
        protocol = await self._eras.of(target)
        await self._ask_permission(target)
        # Another task may have been as far while this one asked.
        connection = self._connections.get(target.key)
        if connection is not None and connection.usable:
            return connection
        return self._open(target, protocol)

    async def _ask_permission(self, target: Target) -> None:
        """Raises ``NotPermitted``. An answer that a ``drop`` has overtaken counts for nothing."""
        if self._permit is None:
            return
        while True:
            drops = self._drops
            if not await self._permit(target):
                raise NotPermitted
            if drops == self._drops:
                return

    def _open(self, target: Target, protocol: str | None) -> Connection:
        if self._closed:
            raise _stopping()
        connection = Connection(
            target,
            self._settings,
            idle_seconds=self._idle_seconds,
            pause_seconds=self._backoff_seconds,
            protocol=protocol,
            on_connect=self._count,
            on_open=self._opened,
            on_end=self._ended,
            changed=self._changed,
            around=self._around,
        )
        self._connections[target.key] = connection
        self._live.add(connection)
        self._watch(connection.start())
        return connection

    def _watch(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _count(self) -> None:
        self.connections_opened += 1

    def _opened(self, connection: Connection) -> None:
        self._failed.forget(connection.target.key)
        if connection.protocol is not None:
            self._watch(asyncio.create_task(self._learn(connection.target, connection.protocol)))

    async def _learn(self, target: Target, protocol: str) -> None:
        try:
            await self._eras.learned(target, protocol)
        except Exception:  # noqa: BLE001 - a memory that fails costs one try more, next time
            _log.exception("what a server speaks could not be kept")

    def _changed(self, target: Target, what: str) -> None:
        if self._closed:
            return
        for cache in (self._tools,) if what == TOOLS else (self._resources, self._templates):
            cache.expire(target.key)
        if self._on_changed is not None:
            self._on_changed(target, what)

    def _ended(self, connection: Connection, failure: McpError | None) -> None:
        self._live.discard(connection)
        key = connection.target.key
        if self._connections.get(key) is connection:
            del self._connections[key]
            if failure is not None:
                self._failed.add(key, failure)


def _stopping() -> ServerUnreachable:
    return ServerUnreachable("Vitrine is stopping.")
