"""The HTTP server under the tests' stand-ins."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class PatientServer(ThreadingHTTPServer):
    """On a free port of 127.0.0.1."""

    daemon_threads = True
    # A browser opens more at once than the five that the library lets wait; a connection that is
    # dropped is tried anew after a second, then three, then seven.
    request_queue_size = 128

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that went away while it was answered is nobody's failure.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
