"""Answers for ``Scripted``, each broken in a way of its own, and the calls that meet them."""

import json
from collections.abc import Callable
from typing import Any

from app.mcp.hub import Hub
from app.mcp.target import Target
from tests.mcp.servers import (
    LEGACY,
    MODERN,
    Request,
    Script,
    Scripted,
)

ERAS = [MODERN, LEGACY]
SECRET = "key-in-the-query"


def target(server: Scripted, credential: str = "Bearer hidden") -> Target:
    return Target(
        f"{server.url}?key={SECRET}", headers=(("Authorization", credential),), private_ok=True
    )


async def call(hub: Hub, where: Target) -> dict[str, Any]:
    return await hub.call_tool(where, "t", {})


async def drop_at_once(request: Request) -> None:
    request.cut()


async def drop_mid_body(request: Request) -> None:
    request.writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"
    )
    await request.writer.drain()
    request.cut()


async def drop_mid_stream(request: Request) -> None:
    await request.stream()
    request.writer.write(b'data: {"jsonrpc":')
    await request.writer.drain()
    request.cut()


async def end_stream_without_answer(request: Request) -> None:
    await request.stream()
    request.writer.write(b": nothing to say\n\n")
    await request.writer.drain()
    request.writer.close()


async def not_json(request: Request) -> None:
    await request.answer(200, b"<<<not json>>>")


async def html(request: Request) -> None:
    await request.answer(200, b"<h1>Welcome</h1>", "text/html")


async def html_500(request: Request) -> None:
    await request.answer(500, b"<h1>Oops</h1>", "text/html")


async def json_500(request: Request) -> None:
    await request.answer(500, b'{"detail": "oops"}')


async def not_found(request: Request) -> None:
    await request.answer(410, b"gone", "text/plain")


async def accepted(request: Request) -> None:
    await request.answer(202, b"")


async def nothing(request: Request) -> None:
    await request.answer(200, b"")


async def a_number(request: Request) -> None:
    await request.result(5)


async def another_id(request: Request) -> None:
    await request.answer(200, b'{"jsonrpc": "2.0", "id": 7, "result": {}}')


async def a_notification(request: Request) -> None:
    await request.answer(200, b'{"jsonrpc": "2.0", "method": "notifications/message"}')


async def nan(request: Request) -> None:
    body = {"jsonrpc": "2.0", "id": request.message["id"], "result": {"content": [], "x": 0}}
    await request.answer(200, json.dumps(body).replace('"x": 0', '"x": 1e999').encode())


async def deep(request: Request) -> None:
    body = {"jsonrpc": "2.0", "id": request.message["id"], "result": {"content": [], "x": 0}}
    nest = "[" * 5000 + "]" * 5000
    await request.answer(200, json.dumps(body).replace('"x": 0', f'"x": {nest}').encode())


async def stream_of_rubbish(request: Request) -> None:
    await request.stream()
    request.writer.write(b"data: <<<not json>>>\n\n")
    await request.writer.drain()
    request.writer.close()


async def content_not_a_list(request: Request) -> None:
    await request.result({"content": {"type": "text"}})


async def compressed(request: Request) -> None:
    await request.answer(200, b"\x1f\x8b", content_encoding="gzip")


async def redirect_to_http(request: Request) -> None:
    await request.answer(302, b"", location="/elsewhere")


async def forbidden(request: Request) -> None:
    await request.answer(401, b"", www_authenticate="Bearer")


async def huge(request: Request) -> None:
    await request.result({"content": [{"type": "text", "text": "x" * 200_000}]})


async def huge_stream(request: Request) -> None:
    await request.stream()
    request.writer.write(b"data: " + b"x" * 200_000 + b"\n\n")
    await request.writer.drain()
    await request.hang()


async def endless_stream(request: Request) -> None:
    await request.stream()
    padding = b"x" * 1_000
    note = b'{"jsonrpc":"2.0","method":"notifications/x","params":{"x":"' + padding + b'"}}'
    while True:
        request.writer.write((b"data: " + note + b"\n\n") * 10)
        await request.writer.drain()


async def input_required(request: Request) -> None:
    await request.result({"resultType": "input_required", "inputRequests": {}})


def pages(answer: Callable[[str | None], object]) -> Script:
    async def script(request: Request) -> None:
        await request.result(answer(request.message.get("params", {}).get("cursor")))

    return script
