"""A small stand-in for Vitrine's server: the real scripts and styles, pages in the markup that the
broker expects, documents with the headers of the real ones, and answers that a test chooses.
"""

import json
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jinja2 import Environment, FileSystemLoader

from app.mcp_apps import csp, prelude
from tests.support.http import PatientServer

STATIC = Path(__file__).resolve().parents[2] / "app" / "static"
_TEMPLATES = Environment(loader=FileSystemLoader(STATIC.parent / "templates"), autoescape=True)
_NO_STORE = {"Cache-Control": "private, no-store"}
TYPES = {".js": "text/javascript", ".css": "text/css"}

# A view that does what the specification asks and keeps what it hears in `heard`.
POLITE = """
<!doctype html><meta charset="utf-8"><style>body{margin:0;font:14px sans-serif}</style>
<p id="state">starting</p><script>
const heard = window.heard = [];
let nextId = 1;
const waiting = new Map();
window.say = (message) => window.parent.postMessage({jsonrpc: "2.0", ...message}, "*");
window.ask = (method, params) => new Promise((resolve) => {
  const id = nextId++;
  waiting.set(id, resolve);
  window.say({id, method, params});
});
window.addEventListener("message", ({data, source}) => {
  if (source !== window.parent) return;
  heard.push(data);
  if (data.method === undefined) { waiting.get(data.id)?.(data); waiting.delete(data.id); }
  else if (data.id !== undefined && !window.mute) window.say({id: data.id, result: {}});
});
window.start = async () => {
  window.answer = await window.ask("ui/initialize", {
    appInfo: {name: "polite", version: "1"}, appCapabilities: window.capabilities ?? {},
    protocolVersion: "2026-01-26"});
  window.say({method: "ui/notifications/initialized"});
  document.getElementById("state").textContent = "started";
};
"""
STARTED = POLITE + "window.start();\n</script>"
NOT_STARTED = POLITE + "</script>"

Answer = tuple[int, Any]  # HTTP status and JSON body; a str body is sent as text/html


@dataclass
class PanelSpec:
    """One panel of a page: the view's document and what the data block holds beside the usual."""

    html: str
    data: dict[str, Any] = field(default_factory=dict)
    declared_csp: dict[str, Any] | None = None


class _Panel(SimpleNamespace):
    """What the panel's template shows; what a test does not care for is empty."""

    def __getattr__(self, name: str) -> str:
        return ""


@dataclass
class Post:
    """One request that the broker made to the server."""

    path: str
    body: Any
    headers: dict[str, str]


@dataclass
class Stream:
    """One event stream: all that was ever sent on it, so that a reconnect gets what it missed."""

    events: list[str] = field(default_factory=list)


class Site:
    """``rpc`` and ``message`` answer the broker's posts and may block; ``posts`` records them.

    What ``rpc`` does not answer within ``late_after`` seconds is answered over the event stream,
    as the real server does it.
    """

    def __init__(self) -> None:
        self.streams: dict[str, Stream] = {}
        self.late_after = 0.3
        self.stream_status = 200
        self._news = threading.Condition()
        self._epoch = 0
        self.panels: list[PanelSpec] = []
        self.tickets: dict[str, tuple[int, str]] = {}
        self.panel_requests = 0
        self.posts: list[Post] = []
        self.rpc: Callable[[Any], Answer] = lambda _body: (200, {"result": {"content": []}})
        self.message: Callable[[Any], Answer] = lambda _body: (200, {"result": {}})
        self.panel_answer: Callable[[int], Answer] | None = None
        self.extra_head = ""
        self.views_from = ""  # what the page's policy says, where it is not where they come from
        self.extra_body = ""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                return

            def do_GET(self) -> None:
                site.get(self)

            def do_POST(self) -> None:
                site.post(self)

        self._server = PatientServer(Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        self.drop_streams()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def posted(self, path: str) -> list[Any]:
        """Bodies that came to a path."""
        return [post.body for post in self.posts if post.path == path]

    def calls(self) -> list[Any]:
        """What views asked for, without the names that the broker gives each call."""
        return [
            {"method": body["method"], "params": body["params"]} for body in self.posted("/rpc")
        ]

    # --- the event stream

    def drop_streams(self, *, forget: bool = False) -> None:
        """End every open stream; ``forget`` as a restarted server does."""
        with self._news:
            self._epoch += 1
            if forget:
                self.streams.clear()
            self._news.notify_all()

    def emit(self, event: str, data: Any, stream: str | None = None) -> None:
        """Send an event on one stream, or on all."""
        with self._news:
            for name, one in self.streams.items():
                if stream in (None, name):
                    number = len(one.events) + 1
                    text = f"id: {number}\nevent: {event}\ndata: {json.dumps(data)}\n\n"
                    one.events.append(text)
            self._news.notify_all()

    def progress(self, body: Any, **data: Any) -> None:
        """Report progress of the request that came with ``body``."""
        self.emit("progress", {"call": body["call"], **data}, body["stream"])

    def _events(self, handler: BaseHTTPRequestHandler) -> None:
        if self.stream_status != 200:
            self._send(handler, self.stream_status, "no", "text/plain", {})
            return
        name = parse_qs(urlsplit(handler.path).query)["stream"][0]
        with self._news:
            known, epoch = name in self.streams, self._epoch
            stream = self.streams.setdefault(name, Stream())
        at = int(handler.headers.get("Last-Event-ID") or 0) if known else 0
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Cache-Control", "no-store")
        handler.end_headers()
        greeting = f"retry: 200\nevent: open\ndata: {json.dumps({'known': known})}\n\n"
        try:
            handler.wfile.write(greeting.encode())
            while True:
                with self._news:
                    if self._epoch == epoch and len(stream.events) == at:
                        self._news.wait(5)
                    fresh = stream.events[at:]
                    at = len(stream.events)
                    over = self._epoch != epoch
                handler.wfile.write("".join(fresh).encode() or b": still here\n\n")
                if over:
                    return
        except OSError:
            return  # the browser went away

    def _answer_rpc(self, body: Any) -> Answer:
        """At once, or 202 and later on the stream."""
        if body.get("stream") not in self.streams:
            return self.rpc(body)
        answers: list[Answer] = []
        decided = threading.Condition()
        is_late = False

        def run() -> None:
            answer = self.rpc(body)
            with decided:
                answers.append(answer)
                decided.notify()
                if not is_late:
                    return
            self.emit("answer", {"call": body["call"], **answer[1]}, body["stream"])

        threading.Thread(target=run, daemon=True).start()
        with decided:
            if decided.wait_for(lambda: answers, self.late_after):
                return answers[0]
            is_late = True
        return 202, {}

    def cancelled(self) -> list[str]:
        """Ids of the calls that the broker took back."""
        return [body["call"] for body in self.posted("/cancel")]

    # --- what is served

    def get(self, handler: BaseHTTPRequestHandler) -> None:
        path = urlsplit(handler.path).path
        if path == "/":
            self._send(handler, 200, self.page(), "text/html", self._page_headers())
        elif path == "/panel":
            number = int(parse_qs(urlsplit(handler.path).query)["number"][0])
            self.panel_requests += 1
            if self.panel_answer is not None:
                status, body = self.panel_answer(number)
                self._send(handler, status, body, "text/html", {})
            else:
                self._send(handler, 200, self.panel(number), "text/html", _NO_STORE)
        elif path == "/events":
            self._events(handler)
        elif path.startswith("/fragments/"):
            self._fragment(handler, path.removeprefix("/fragments/"))
        elif path.startswith("/static/"):
            file = (STATIC / path.removeprefix("/static/")).resolve()
            if not file.is_relative_to(STATIC) or not file.is_file():
                self._send(handler, 404, "", "text/plain", {})
                return
            self._send(handler, 200, file.read_text(), TYPES[file.suffix], {})
        else:
            self._send(handler, 404, "nothing here", "text/plain", {})

    def post(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.posts.append(Post(handler.path, body, dict(handler.headers)))
        if handler.path in ("/cancel", "/seen"):
            self._send(handler, 204, "", "text/plain", {})
            return
        status, answer = (self._answer_rpc if handler.path == "/rpc" else self.message)(body)
        if isinstance(answer, str):
            self._send(handler, status, answer, "text/html", {"Location": "/sign-in"})
        else:
            self._send(
                handler, status, json.dumps(answer), "application/json", {"Retry-After": "7"}
            )

    def page(self) -> str:
        slots = "".join(
            f'<article class="row"><a href="#entry-{number}" data-copy-link>link</a>'
            f'<div class="panel-slot" id="slot-{number}" '
            f'hx-get="/panel?number={number}">{self.panel(number)}</div></article>'
            for number in range(len(self.panels))
        )
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Session</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="stylesheet" href="/static/css/app.css">'
            '<link rel="stylesheet" href="/static/css/panel.css">'
            f"{self.extra_head}"
            '<script src="/static/js/app.js" type="module"></script></head>'
            '<body data-events-url="/events" data-events-worker="/static/js/events_worker.js">'
            f'<main class="page"><button type="button" id="before">Before</button>{slots}'
            f"{self.extra_body}</main></body></html>"
        )

    def panel(self, number: int) -> str:
        spec = self.panels[number]
        ticket, nonce = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        self.tickets[ticket] = (number, nonce)
        data: dict[str, Any] = {
            "toolInput": {"city": "Bern"},
            "toolResult": {"content": [{"type": "text", "text": "sunny"}]},
            "state": "done",
            "server": "weather",
            "serverKey": "weather-key",
            "tool": "forecast",
            "hostInfo": {"name": "Vitrine", "version": "0.1.0"},
            "granted": dict(csp.build(spec.declared_csp).granted),
            "frameTitle": "View of weather/forecast",
            "toolInfo": {
                "id": "call-1",
                "tool": {"name": "forecast", "inputSchema": {"type": "object"}},
            },
        }
        data.update(spec.data)
        data = {key: value for key, value in data.items() if value is not ...}
        panel = _Panel(
            panel_id=f"panel-{number}",
            server=data["server"],
            tool=data["tool"],
            data=data,
            nonce=nonce,
            rpc_url="/rpc",
            message_url="/message",
            cancel_url="/cancel",
            seen_url="/seen",
            fragment_url=f"/fragments/{ticket}",
            result_json="{}",
        )
        return _TEMPLATES.get_template("partials/panel.html").render(panel=panel, url="/{}".format)

    def _fragment(self, handler: BaseHTTPRequestHandler, ticket: str) -> None:
        number, nonce = self.tickets.pop(ticket, (-1, ""))
        if number < 0:
            self._send(handler, 410, "This ticket is spent.", "text/html", {})
            return
        spec = self.panels[number]
        headers = {**csp.build(spec.declared_csp).headers, **_NO_STORE}
        document = prelude.document(spec.html, nonce)
        self._send(handler, 200, document, "text/html; charset=utf-8", headers)

    def _page_headers(self) -> dict[str, str]:
        return {
            **_NO_STORE,
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
            "connect-src 'self'; form-action 'self'; img-src 'self' data:; base-uri 'none'; "
            f"frame-src {self.views_from or self.host}/fragments/; frame-ancestors 'none'",
        }

    def _send(
        self,
        handler: BaseHTTPRequestHandler,
        status: int,
        body: str | bytes,
        content_type: str,
        headers: dict[str, str],
    ) -> None:
        payload = body.encode() if isinstance(body, str) else body
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        if "Content-Type" not in headers:
            handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(payload)))
        handler.end_headers()
        handler.wfile.write(payload)
