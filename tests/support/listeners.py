"""MCP servers that are not well: TCP listeners on 127.0.0.1 that count who comes."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

GARBAGE = b"<<<this is not MCP>>>"


class Listener:
    """Counts on accept, before a byte is read: a bare connection is contact too."""

    def __init__(self, behave: Callable[[socket.socket], None]) -> None:
        self._behave = behave
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.connections = 0
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            self._behave(connection)

    def close(self) -> None:
        # shutdown wakes the accept; close alone would leave it waiting on Linux.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in self._open:
            connection.close()
        self._thread.join(5)


def _hang(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def _garbage(connection: socket.socket) -> None:
    while connection.recv(65536):
        head = (
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(GARBAGE)}\r\n\r\n"
        )
        connection.sendall(head.encode() + GARBAGE)


@contextlib.contextmanager
def listening(behave: Callable[[socket.socket], None]) -> Iterator[Listener]:
    listener = Listener(behave)
    try:
        yield listener
    finally:
        listener.close()


@contextlib.contextmanager
def hung() -> Iterator[Listener]:
    """Takes every request and never answers."""
    with listening(_hang) as listener:
        yield listener


@contextlib.contextmanager
def garbage() -> Iterator[Listener]:
    """Answers every request with something that is not JSON."""
    with listening(_garbage) as listener:
        yield listener


@contextlib.contextmanager
def stopped() -> Iterator[Listener]:
    """An address at which nothing listens any more."""
    listener = Listener(_hang)
    listener.close()
    yield listener
