"""A host of our own without Vitrine's protections: what leaks there could leak."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from app.mcp_apps import csp
from tests.support.http import PatientServer

# Stands in for the part of a host that lets a view start.
_GREETS = """<script>addEventListener("message", ({data, source}) => {
  if (data?.method === "ui/initialize")
    source.postMessage({jsonrpc: "2.0", id: data.id, result: {}}, "*");
});</script>"""
BARE, POLICY = "bare", "policy"


@contextmanager
def unprotected_host(documents: Mapping[str, str]) -> Iterator[str]:
    """Serves pages of frames; gives its address. ``page`` makes the path of one."""
    policy = {
        name: value
        for name, value in csp.build(None).headers.items()
        if name not in ("Connection-Allowlist", "X-DNS-Prefetch-Control")
    }

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            return

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            _, how, *rest = parts.path.split("/")
            if rest:
                name = rest[0]
                # What a document asks for beside itself is not there, and is no leak.
                self._send(documents.get(name, ""), policy if how == POLICY else {})
                return
            sandbox = f'sandbox="{csp.SANDBOX}"' if how == POLICY else ""
            frames = "".join(
                f'<iframe {sandbox} width="600" height="300" src="/{how}/{name}"></iframe>'
                for name in parse_qs(parts.query).get("view", [])
            )
            self._send(f"<!doctype html>{_GREETS}{frames}", {})

        do_POST = do_GET  # noqa: N815

        def _send(self, text: str, headers: Mapping[str, str]) -> None:
            body = text.encode()
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = PatientServer(Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def page(how: str, names: Iterable[str]) -> str:
    """``how``: ``BARE``, with nothing, or ``POLICY``, with the sandbox and the document's policy
    alone.
    """
    return f"/{how}?" + "&".join(f"view={name}" for name in names)
