"""MCP servers for tests, on a free port of 127.0.0.1: the SDK's own in both eras and over SSE,
and one made of plain sockets that answers, or does not, exactly as a test says.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server.apps import Apps
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resources import TextResource
from mcp_types import CallToolResult, TextContent
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
VIEW = "<!doctype html><title>A view</title>"
URI = "ui://clock/view.html"


@dataclass
class Seen:
    """What a server counted."""

    calls: list[str] = field(default_factory=list)  # JSON-RPC methods, in order
    headers: list[dict[str, str]] = field(default_factory=list)
    client: dict[str, Any] = field(default_factory=dict)  # what the client said of itself
    sockets: int = 0  # TCP connections
    standing: int = 0  # streams opened to hear what the server says unasked
    running: int = 0
    most_running: int = 0
    ran: int = 0  # runs of a tool
    cancelled: int = 0  # runs that were cancelled
    view: str = ""  # what the large view is
    held: str = ""  # a method whose requests are never answered
    refused: str = ""  # one whose requests are answered with status 400


@dataclass
class Running:
    url: str
    seen: Seen
    server: uvicorn.Server
    task: "asyncio.Task[None]"

    async def stop(self) -> None:
        """Ends as a killed process does: open connections break."""
        state = self.server.server_state
        self._abort()
        self.server.should_exit = True
        self.server.force_exit = True
        await self.task
        self._abort()
        await until(lambda: not state.connections)
        for left in list(state.tasks):
            left.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)

    def _abort(self) -> None:
        for protocol in list(self.server.server_state.connections):
            if protocol.transport is not None:
                protocol.transport.abort()


def build(seen: Seen) -> MCPServer:
    apps = Apps()

    @apps.tool(resource_uri=URI, name="show", visibility=["model", "app"], structured_output=False)
    async def show(city: str, ctx: Context) -> CallToolResult:
        seen.ran += 1
        return CallToolResult(
            content=[TextContent(type="text", text=f"Time in {city}")],
            structured_content={"city": city},
            _meta={"com.example/only": {"for": "the view"}},
        )

    apps.add_html_resource(URI, VIEW, name="clock", title="Clock")
    server = MCPServer("clock", version="1.2", extensions=[apps], log_level="CRITICAL")

    @server.tool(name="poll", meta={"ui": {"visibility": ["app"]}})
    async def poll(seconds: float) -> str:
        seen.ran += 1
        seen.running += 1
        seen.most_running = max(seen.most_running, seen.running)
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            seen.cancelled += 1
            raise
        finally:
            seen.running -= 1
        return "polled"

    @server.tool(name="steps")
    async def steps(count: int, ctx: Context) -> str:
        for number in range(1, count + 1):
            await ctx.report_progress(number, count, f"step {number}")
        return "done"

    @server.tool(name="learn")
    async def learn(name: str, ctx: Context) -> str:
        """Offers a tool and a resource more, and says so as either era wants it said."""

        async def learnt() -> str:
            return name

        server.add_tool(learnt, name=name)
        server.add_resource(TextResource(uri=f"test://{name}", name=name, text=name))
        await ctx.session.send_tool_list_changed()
        await ctx.session.send_resource_list_changed()
        await ctx.notify_tools_changed()
        await ctx.notify_resources_changed()
        return name

    @server.resource("test://item/{number}", name="item")
    async def item(number: str) -> str:
        return f"item {number}"

    everybody = asyncio.Event()

    @server.tool(name="gather")
    async def gather(number: int, all: int) -> str:  # noqa: A002
        """Answers when ``all`` calls are there."""
        seen.most_running += 1
        if seen.most_running == all:
            everybody.set()
        await everybody.wait()
        return str(number)

    @server.resource("ui://clock/large.html", name="large")
    async def large() -> str:
        return seen.view

    @server.tool(name="big")
    async def big(size: int) -> str:
        return "x" * size

    return server


class _Front:
    """Counts requests, and plays a server that knows the handshake era only."""

    def __init__(self, app: ASGIApp, seen: Seen, *, legacy: bool) -> None:
        self._app = app
        self._seen = seen
        self._legacy = legacy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            self._seen.standing += 1
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        parsed = json.loads(body)
        self._seen.calls.append(parsed["method"])
        self._seen.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
        params = parsed.get("params", {})
        if parsed["method"] == "initialize":
            self._seen.client = params
        elif parsed["method"] == "server/discover":
            self._seen.client = params["_meta"]
            if self._legacy:
                await _refuse(send, parsed["id"])
                return
        if parsed["method"] == self._seen.held:
            await asyncio.sleep(60)
        if parsed["method"] == self._seen.refused:
            await _refuse(send, parsed["id"])
            return
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)


async def _refuse(send: Send, request_id: object) -> None:
    error = {"code": -32000, "message": "Bad Request: Server not initialized"}
    content = json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def until(condition: Callable[[], object], seconds: float = 20) -> None:
    """Waits for what nothing tells of, so many seconds at most."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def start(kind: str = "modern", *, port: int = 0, json_response: bool = False) -> Running:
    """``kind``: ``modern``, ``legacy`` (with sessions) or ``sse``."""
    seen = Seen()
    server = build(seen)
    if kind == "sse":
        app: ASGIApp = server.sse_app()
    else:
        app = server.streamable_http_app(json_response=json_response)
    config = uvicorn.Config(
        _Front(app, seen, legacy=kind == "legacy"),
        log_config=None,
        ws="none",
        lifespan="off" if kind == "sse" else "on",
        timeout_graceful_shutdown=1,
    )
    # Named so that asyncio turns Nagle's algorithm off, as for a server that binds by itself.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    runner = uvicorn.Server(config)
    task = asyncio.create_task(runner.serve(sockets=[listener]))
    await until(lambda: runner.started)
    port = listener.getsockname()[1]
    path = "/sse" if kind == "sse" else "/mcp"
    return Running(f"http://127.0.0.1:{port}{path}", seen, runner, task)


@asynccontextmanager
async def running(kind: str = "modern", *, json_response: bool = False) -> AsyncIterator[Running]:
    server = await start(kind, json_response=json_response)
    try:
        yield server
    finally:
        await server.stop()


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    writer: asyncio.StreamWriter = field(repr=False)

    @property
    def message(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed

    async def answer(
        self, status: int, body: bytes, media_type: str = "application/json", **headers: str
    ) -> None:
        lines = [f"HTTP/1.1 {status} X", f"content-type: {media_type}"]
        lines.append(f"content-length: {len(body)}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await self.writer.drain()

    async def result(self, result: object, **headers: str) -> None:
        reply = {"jsonrpc": "2.0", "id": self.message["id"], "result": result}
        await self.answer(200, json.dumps(reply).encode(), **headers)

    async def error(self, status: int, code: int, message: str, data: object = None) -> None:
        error = {"code": code, "message": message, "data": data}
        reply = {"jsonrpc": "2.0", "id": self.message["id"], "error": error}
        await self.answer(status, json.dumps(reply).encode())

    async def stream(self) -> None:
        """Begins an event stream, to be ended by closing."""
        self.writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        await self.writer.drain()

    async def say(self, method: str, **params: object) -> None:
        """A notification, on a stream."""
        await self._write({"jsonrpc": "2.0", "method": method, "params": params})

    async def acknowledge(self) -> None:
        """What opens a subscription, to all that was asked for."""
        await self.say(
            "notifications/subscriptions/acknowledged",
            notifications=self.message["params"]["notifications"],
            _meta={"io.modelcontextprotocol/subscriptionId": self.message["id"]},
        )

    async def finish(self, result: object) -> None:
        """The answer, on a stream, and its end."""
        await self._write({"jsonrpc": "2.0", "id": self.message["id"], "result": result})
        self.writer.close()

    async def _write(self, message: object) -> None:
        self.writer.write(b"data: " + json.dumps(message).encode() + b"\n\n")
        await self.writer.drain()

    async def hang(self) -> None:
        await asyncio.sleep(60)

    def cut(self) -> None:
        transport = self.writer.transport
        transport.abort()


Script = Callable[[Request], Awaitable[None]]


class Scripted:
    """A server of plain sockets. ``script`` answers every request that is not part of the
    opening; the opening itself is of the era asked for.
    """

    def __init__(
        self, script: Script, era: str = MODERN, capabilities: dict[str, Any] | None = None
    ) -> None:
        self._script = script
        self._era = era
        self._capabilities = capabilities or {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.seen = Seen()
        self.url = ""
        self.opening: Script = self._open
        self.standing: Script = _no_standing_stream

    async def __aenter__(self) -> "Scripted":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/mcp"
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.seen.sockets += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                request = await _read(reader, writer)
                if request is None:
                    return
                await self._handle(request)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _handle(self, request: Request) -> None:
        self.seen.headers.append(request.headers)
        if request.method != "POST":
            self.seen.calls.append(request.method)
            await self.standing(request)
            return
        method = request.message["method"]
        self.seen.calls.append(method)
        if method in ("server/discover", "initialize") or method.startswith("notifications/"):
            await self.opening(request)
        else:
            await self._script(request)

    async def _open(self, request: Request) -> None:
        method = request.message["method"]
        if method.startswith("notifications/"):
            await request.answer(202, b"")
        elif method == "initialize":
            info = {"name": "scripted", "version": "1"}
            await request.result(
                {"protocolVersion": LEGACY, "capabilities": self._capabilities, "serverInfo": info},
                mcp_session_id="s1",
            )
        elif self._era == MODERN:
            await request.result(
                {
                    "resultType": "complete",
                    "supportedVersions": [MODERN],
                    "capabilities": self._capabilities,
                    "ttlMs": 0,
                    "cacheScope": "public",
                }
            )
        else:
            await request.error(400, -32601, "Method not found")


async def _no_standing_stream(request: Request) -> None:
    await request.answer(405, b"")


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip().split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    method, path, _ = first.split(" ")
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body, writer)
