"""Running the demo's MCP server, for the command line and for tests.

It is served on 127.0.0.1 only: the demo is something to look at on one's own machine.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import uvicorn

from app.demo.server import PATH, create_app
from app.errors import VitrineError

SERVER_NAME = "demo"
"""The server's name in the recorded sessions: its tools are called ``mcp__demo__…`` there."""

HOST = "127.0.0.1"


def sessions_folder() -> Path:
    """The folder of recorded sessions: ``claude-code`` laid out as that agent's own ``projects``
    folder, ``codex`` as its ``sessions`` folder.
    """
    return Path(str(files("app.demo").joinpath("sessions")))


def server_url(port: int) -> str:
    return f"http://{HOST}:{port}{PATH}"


def listen(port: int) -> socket.socket:
    """A socket that listens on 127.0.0.1; port 0 takes a free one.

    Raises ``VitrineError`` with a sentence when the port is taken or may not be used.
    """
    # Named as TCP, asyncio turns Nagle's delay off: 2 ms an answer and not 44.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise VitrineError(
            503,
            f"The demo's MCP server cannot listen on {HOST}:{port} ({error.strerror}). "
            "Stop the program that uses the port, or set VITRINE_DEMO_PORT to another one.",
        ) from error
    return listener


def port_is_free(host: str, port: int) -> bool:
    """Whether a server could listen now on every address that ``host`` means."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(_can_listen(family, address) for family, *_, address in addresses)


def _can_listen(family: socket.AddressFamily, address: tuple[object, ...]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
        except OSError:
            return False
    return True


def _server() -> uvicorn.Server:
    # log_config: uvicorn's would change the loggers of a Vitrine in the same process.
    return uvicorn.Server(
        uvicorn.Config(create_app(), log_config=None, timeout_graceful_shutdown=1)
    )


def serve(port: int) -> None:
    """Serve until interrupted; raises ``VitrineError`` as ``listen`` does."""
    with listen(port) as listener:
        _server().run(sockets=[listener])


@contextmanager
def serving(port: int) -> Iterator[str]:
    """Serve in a thread while the block runs; gives the server's URL.

    Raises ``VitrineError`` as ``listen`` does, and when the server ends before it is ready.
    """
    with listen(port) as listener:
        server = _server()
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, name="demo-server", daemon=True
        )
        thread.start()
        try:
            while not server.started:
                thread.join(0.01)
                if not thread.is_alive():
                    raise VitrineError(503, "The demo's MCP server ended before it was ready.")
            yield server_url(listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(10)
