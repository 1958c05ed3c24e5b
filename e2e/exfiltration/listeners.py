"""Ears on 127.0.0.1: one port for each way out, TCP and UDP, so that whatever arrives, were it a
connection without a byte, says by itself which way it came.
"""

import contextlib
import selectors
import socket
import threading
from collections import defaultdict
from collections.abc import Iterable
from types import TracebackType

CONNECTED, HTTP, BYTES, UDP = "connection", "HTTP", "bytes", "UDP"
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nAccess-Control-Allow-Origin: *\r\n"
    b"Content-Length: 2\r\nConnection: close\r\n\r\nok"
)
_METHODS = (b"GET ", b"POST ", b"HEAD ", b"PUT ", b"OPTIONS ", b"DELETE ", b"PATCH ")


def _pair() -> tuple[socket.socket, socket.socket]:
    """A TCP listener and a UDP socket on the same free port."""
    for _ in range(100):
        tcp = socket.create_server(("127.0.0.1", 0), backlog=64)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            udp.bind(tcp.getsockname())
        except OSError:
            tcp.close()
            udp.close()
            continue
        return tcp, udp
    raise OSError("no port is free for both TCP and UDP")


class Listeners:
    """``ports``: name → port. A context manager; one thread serves all of them."""

    def __init__(self, names: Iterable[str]) -> None:
        self.ports: dict[str, int] = {}
        self._heard: defaultdict[str, set[str]] = defaultdict(set)
        self._bytes: defaultdict[str, bytes] = defaultdict(bytes)
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        for name in names:
            tcp, udp = _pair()
            for made in (tcp, udp):
                made.setblocking(False)
            self._selector.register(tcp, selectors.EVENT_READ, (name, self._accept))
            self._selector.register(udp, selectors.EVENT_READ, (name, self._datagram))
            self.ports[name] = tcp.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Listeners":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._wake.send(b"x")
        self._thread.join(10)
        for key in list(self._selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
        self._wake.close()
        self._selector.close()

    def heard(self) -> dict[str, set[str]]:
        """What arrived so far: name → kinds. A connection counts on accept."""
        return {name: set(kinds) for name, kinds in list(self._heard.items())}

    def first_bytes(self, name: str) -> bytes:
        return self._bytes[name]

    def forget(self) -> None:
        self._heard.clear()
        self._bytes.clear()

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                name, act = key.data
                with contextlib.suppress(OSError):
                    act(name, key.fileobj)

    def _accept(self, name: str, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        self._heard[name].add(CONNECTED)
        connection.setblocking(False)
        self._selector.register(connection, selectors.EVENT_READ, (name, self._stream))

    def _stream(self, name: str, connection: socket.socket) -> None:
        try:
            data = connection.recv(65536)
        except OSError:
            data = b""
        if data:
            self._bytes[name] = (self._bytes[name] + data)[:2000]
            is_http = data.startswith(_METHODS)
            self._heard[name].add(HTTP if is_http else BYTES)
            if is_http:
                with contextlib.suppress(OSError):
                    connection.sendall(_ANSWER)
            else:
                return  # TURN and the like go on talking
        self._selector.unregister(connection)
        connection.close()

    def _datagram(self, name: str, udp: socket.socket) -> None:
        data, _ = udp.recvfrom(65536)
        self._heard[name].add(UDP)
        self._bytes[name] = (self._bytes[name] + data)[:2000]
