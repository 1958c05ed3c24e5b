"""An MCP server that answers exactly what a test says: plain JSON over Streamable HTTP.

Not the SDK's server: that one would refuse to send most of what real servers get wrong.
"""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.http import PatientServer

VIEW_URI = "ui://scripted/view.html"
VIEW_TYPE = "text/html;profile=mcp-app"

Handler = Callable[[dict[str, Any]], Any]


class RpcFailure(Exception):  # noqa: N818
    """A handler raises it to answer with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


@dataclass
class Scripted:
    """``answers``: method → the result, or a function of the params. ``asked``: what
    came."""

    url: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)  # of each, names in lower case
    status: int = 0  # what every request is refused with

    def count(self, method: str) -> int:
        return sum(1 for asked, _ in self.asked if asked == method)


def tool(name: str, *, view: bool = True, **ui: Any) -> dict[str, Any]:
    """A tool with a view, as ``tools/list`` has it; ``ui`` goes into ``_meta.ui``."""
    meta = {"resourceUri": VIEW_URI, **ui} if view else ui
    return {"name": name, "inputSchema": {"type": "object"}} | (
        {"_meta": {"ui": meta}} if meta else {}
    )


def document(html: str = "<p>a view</p>", **item: Any) -> dict[str, Any]:
    """An answer to ``resources/read`` that holds one view."""
    return {"contents": [{"uri": VIEW_URI, "mimeType": VIEW_TYPE, "text": html, **item}]}


@contextlib.contextmanager
def scripted(**answers: Any) -> Iterator[Scripted]:
    """Serve on 127.0.0.1; ``tools_list={…}`` is the answer to ``tools/list``, and so on."""
    server = Scripted(answers={name.replace("_", "/", 1): value for name, value in answers.items()})

    class Request(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Silence: the test's output is the test's."""

        def do_GET(self) -> None:
            self._send(405, b"")

        do_DELETE = do_GET  # noqa: N815

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            method, params = body.get("method", ""), body.get("params") or {}
            server.asked.append((method, params))
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            if server.status:
                self._send(server.status, b"{}")
                return
            if "id" not in body:
                self._send(202, b"")
                return
            status, answer = _answer(server, method, params)
            payload = {"jsonrpc": "2.0", "id": body["id"], **answer}
            self._send(status, json.dumps(payload).encode())

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    http = PatientServer(Request)
    server.url = f"http://127.0.0.1:{http.server_port}/mcp"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join(10)
        http.server_close()


def _answer(server: Scripted, method: str, params: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    if method == "initialize":
        return 200, {
            "result": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": "scripted", "version": "1"},
            }
        }
    if method == "server/discover":
        # What every official example server answers to the newer protocol.
        return 400, {"error": {"code": -32000, "message": "Unsupported protocol version"}}
    if method not in server.answers:
        return 200, {"error": {"code": -32601, "message": "Method not found"}}
    found = server.answers[method]
    try:
        return 200, {"result": found(params) if callable(found) else found}
    except RpcFailure as failure:
        return 200, {"error": failure.error}
