"""A stand-in for the hosts that official servers and views fetch from: nothing leaves the machine.

A server's ``https://host/path`` comes here as ``/host/path`` (``reroute.mjs``); a browser's is
routed here by the test.
"""

import io
import math
import struct
import threading
import wave
from http.server import BaseHTTPRequestHandler
from types import TracebackType

from tests.support.http import PatientServer

# A small encyclopedia: which article links to which.
ARTICLES = {
    "Display_case": ["Museum", "Glass", "Shelf_(storage)"],
    "Museum": ["Display_case", "Curator", "Gallery"],
    "Glass": ["Sand"],
}
_LINK = '<p>See <a href="/wiki/{0}" title="{1}">{1}</a>.</p>'


def article(name: str) -> bytes:
    links = "".join(_LINK.format(to, to.replace("_", " ")) for to in ARTICLES[name])
    page = f"<!doctype html><title>{name}</title><h1>{name}</h1>"
    return f'{page}<div id="mw-content-text"><div id="bodyContent">{links}</div></div>'.encode()


def tone() -> bytes:
    """A second of A4 as a WAV file, which passes for a soundfont's note."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        samples = (int(9000 * math.sin(2 * math.pi * 440 * n / 8000)) for n in range(8000))
        sound.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return file.getvalue()


class Outside:
    """``asked`` holds what was fetched, as ``host/path``; ``video`` is every film there is."""

    def __init__(self, video: bytes = b"") -> None:
        self.asked: list[str] = []
        self.video = video
        outside = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                return

            def do_GET(self) -> None:
                outside.asked.append(self.path.removeprefix("/"))
                status, kind, body = outside.answer(*self.path[1:].partition("/")[::2])
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = PatientServer(Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> "Outside":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, host: str, path: str) -> tuple[int, str, bytes]:
        name = path.removeprefix("wiki/")
        if host == "en.wikipedia.org" and name in ARTICLES:
            return 200, "text/html; charset=utf-8", article(name)
        if host == "test-videos.co.uk" and self.video:
            return 200, "video/mp4", self.video
        return 404, "text/plain", b"not here"
