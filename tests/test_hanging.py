"""Servers that never answer and clients that never finish, by the hundred, at the real process:
whoever reads transcripts must not notice.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.mcp import registry
from app.mcp_apps import policy
from app.web.auth import issue_sign_in_link
from e2e.running import Running, prepared, vitrine
from tests.support.listeners import Listener, hung
from tests.web.recording import Recording

pytestmark = pytest.mark.anyio

SESSIONS: Final = 11
CALLS: Final = 400  # of views, whose server never answers them
PANELS: Final = 100  # that ask another server for its tools, which never comes
FORMS: Final = 200  # that are sent drop by drop
PATIENCE: Final = 10.0  # seconds that a page may take on a busy machine

TOOLS: Final = [
    {
        "name": "show",
        "inputSchema": {"type": "object"},
        "_meta": {"ui": {"resourceUri": "ui://a/view.html", "visibility": ["model", "app"]}},
    }
]


@dataclass
class Site:
    running: Running
    database: Database
    sessions: list[str]

    @property
    def port(self) -> int:
        return int(urlsplit(self.running.url).port or 0)


class Silent:
    """An MCP server in one event loop that lists its tool and never answers a call of it."""

    def __init__(self) -> None:
        self.calls = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                _, _, length = head.partition(b"content-length:")
                body = await reader.readexactly(int(length.split()[0])) if length else b"{}"
                message = json.loads(body)
                if message.get("method") == "tools/call":
                    self.calls += 1
                    continue
                writer.write(self.answer(message))
                await writer.drain()
        writer.close()

    def answer(self, message: dict[str, Any]) -> bytes:
        if "id" not in message:
            return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
        status, answer = 200, b""
        result: dict[str, Any] = {}
        match message["method"]:
            case "initialize":
                result = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "silent", "version": "1"},
                }
            case "tools/list":
                result = {"tools": TOOLS}
            case _:
                status = 400
        payload: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        payload |= (
            {"result": result} if status == 200 else {"error": {"code": -32000, "message": ""}}
        )
        answer = json.dumps(payload).encode()
        return (
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(answer)}\r\n\r\n"
        ).encode() + answer


@pytest.fixture
def deaf() -> Iterator[Listener]:
    with hung() as listener:
        yield listener


@contextlib.contextmanager
def site(folder: Path, silent_url: str, deaf_url: str) -> Iterator[Site]:
    database = prepared(folder)
    sessions = []
    for number in range(SESSIONS):
        recording = Recording().user("Show it.")
        for name in ("silent", "deaf"):
            result = [{"type": "text", "text": "ok"}]
            recording.call(f"mcp__{name}__show", {}, result, call_id=f"toolu_{name}")
        sessions.append(recording.import_into(database, folder, source=f"machine{number}"))
    with database.session() as db:
        for name, url in (("silent", silent_url), ("deaf", deaf_url)):
            registry.add_server(db, name, url)
            registry.set_allowed(db, url, allowed=True)
        policy.set_render(db, True)
    with vitrine(
        "serve",
        folder,
        VITRINE_REQUESTS_PER_MINUTE="100000",
        VITRINE_CALL_TIMEOUT_SECONDS="900",
        VITRINE_LISTING_TIMEOUT_SECONDS="300",
    ) as running:
        yield Site(running, database, sessions)
    database.dispose()


@dataclass
class Client:
    """One connection, as a browser's, and the cookie that it sends."""

    port: int
    cookie: str = ""

    async def open(
        self, method: str, path: str, body: bytes = b"", length: int | None = None, kind: str = ""
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        origin = f"127.0.0.1:{self.port}"
        head = [
            f"{method} {path} HTTP/1.1",
            f"Host: {origin}",
            f"Origin: http://{origin}",
            f"Cookie: {self.cookie}",
            f"Content-Type: {kind or 'application/json'}",
            f"Content-Length: {len(body) if length is None else length}",
            "Connection: close",
        ]
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await writer.drain()
        return reader, writer

    async def status(self, path: str) -> int:
        reader, writer = await self.open("GET", path)
        answer = await reader.read()
        writer.close()
        return int(answer.split()[1])

    async def sign_in(self, database: Database) -> None:
        link = await asyncio.to_thread(issue_sign_in_link, database)
        reader, writer = await self.open("GET", f"/sign-in/{link}")
        answer = (await reader.read()).decode()
        writer.close()
        head = next(line for line in answer.splitlines() if line.lower().startswith("set-cookie:"))
        self.cookie = head.partition(":")[2].split(";")[0].strip()


def audited(database: Database, outcome: str) -> int:
    with database.session() as db:
        rows = db.exec(
            select(tables.AuditEvent).where(
                tables.AuditEvent.kind == "tool_call", tables.AuditEvent.outcome == outcome
            )
        )
        return sum(row.count for row in rows)


async def test_pages_answer_while_hundreds_hang(tmp_path: Path, deaf: Listener) -> None:
    silent = Silent()
    server = await asyncio.start_server(silent.serve, "127.0.0.1", 0, backlog=1024)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    context = site(tmp_path, url, deaf.url)
    there = await asyncio.to_thread(context.__enter__)
    try:
        await _hang(there, silent)
        there.running.assert_nothing_went_wrong()
    finally:
        await asyncio.to_thread(context.__exit__, None, None, None)
        server.close()


async def _eventually(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if await asyncio.to_thread(holds):
            return
        await asyncio.sleep(0.1)
    pytest.fail("it never came to that")


async def _hang(there: Site, silent: Silent) -> None:
    # More sign-ins than one: each may have so many calls under way.
    clients = [Client(there.port) for _ in range(3)]
    for client in clients:
        await client.sign_in(there.database)
    body = json.dumps({"method": "tools/call", "params": {"name": "show"}}).encode()
    waiting = []
    for number in range(CALLS):
        # Half of them of one session, the others of many.
        session = there.sessions[0 if number % 2 else 1 + number // 2 % (SESSIONS - 1)]
        path = f"/sessions/{session}/mcp_apps/toolu_silent/rpc"
        waiting.append(await clients[number % 3].open("POST", path, body))
    for number in range(PANELS):
        path = f"/sessions/{there.sessions[number % SESSIONS]}/mcp_apps/toolu_deaf"
        waiting.append(await clients[number % 3].open("GET", path))
    form = "application/x-www-form-urlencoded"
    dripping = [
        await clients[number % 3].open("POST", "/settings/servers", b"na", 1000, form)
        for number in range(FORMS)
    ]
    await _eventually(lambda: silent.calls >= 100)  # as many as go to one server at a time
    reader = clients[0]
    for _ in range(3):
        for _, writer in dripping:
            writer.write(b"x")
        for path in ("/healthz", f"/sessions/{there.sessions[0]}", "/", "/audit"):
            async with asyncio.timeout(PATIENCE):
                assert await reader.status(path) == 200, path
    # They did hang, each of them, all the while.
    assert [one for one, _ in waiting if one.at_eof() or one._buffer] == []  # type: ignore[attr-defined]
    for _, writer in (*waiting, *dripping):
        writer.close()
    await _eventually(lambda: audited(there.database, "cancelled") >= CALLS)
    assert audited(there.database, "cancelled") == CALLS
