"""The real server against clients that take their time."""

import contextlib
import resource
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from app import serving
from app.db.engine import Database
from app.main import create_app
from app.settings import Settings
from app.web.middleware import body_deadline
from app.web.middleware.body_deadline import BodyDeadline

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"


async def reads(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body unless the path says otherwise, waits if it says so, and answers."""
    while scope["path"] != "/unread":
        if not (await receive()).get("more_body"):
            break
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.5)
    config = uvicorn.Config(
        BodyDeadline(reads, seconds=20),
        http=serving.PunctualProtocol,
        log_config=None,
        lifespan="off",
    )
    with served(config) as number:
        yield number


@contextlib.contextmanager
def served(config: uvicorn.Config) -> Iterator[int]:
    """The port of 127.0.0.1 at which it is served."""
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield int(listening.getsockname()[1])
        server.should_exit = True
        thread.join(20)


@contextlib.contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), 20) as client:
        yield client


def rest(client: socket.socket) -> bytes:
    """What comes until the server closes; a test that waits 20 seconds for that fails."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while part := client.recv(65536):
            said += part
    return said


def drip(client: socket.socket) -> bytes:
    """Sends a byte now and then, until the server closes."""
    client.settimeout(0.1)
    said, end = b"", time.monotonic() + 20
    while time.monotonic() < end:
        try:
            client.sendall(b"x")
            part = client.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            return said
        if not part:
            return said
        said += part
    pytest.fail("the connection stayed open")


def test_a_connection_that_says_nothing_is_closed(port: int) -> None:
    with connected(port) as client:
        assert rest(client) == b""


def test_a_head_that_drips_is_closed(port: int) -> None:
    with connected(port) as client:
        client.sendall(HEAD + b"X: ")
        assert drip(client) == b""


def test_a_second_head_that_drips_is_closed(port: int) -> None:
    with connected(port) as client:
        client.sendall(HEAD + b"Content-Length: 0\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(HEAD + b"X: ")
        assert b"HTTP/1.1 200" not in drip(client)


def test_a_body_that_nobody_reads_is_not_waited_for(port: int) -> None:
    with connected(port) as client:
        client.sendall(b"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        assert b"HTTP/1.1 200" in drip(client)


def test_a_request_that_takes_its_time_is_answered(port: int) -> None:
    with connected(port) as client:
        client.sendall(HEAD + b"Content-Length: 2\r\n\r\nx")
        threading.Event().wait(1.0)  # twice what a head may take
        client.sendall(b"x")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")


def test_a_connection_is_used_again(port: int) -> None:
    with connected(port) as client:
        for _ in range(3):
            client.sendall(HEAD + b"Content-Length: 0\r\n\r\n")
            said = b""
            while not said.endswith(b"\r\n\r\nok"):
                part = client.recv(65536)
                assert part
                said += part
            assert said.startswith(b"HTTP/1.1 200")


def test_the_applications_own_forms_are_not_waited_for(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_deadline, "SECONDS", 0.3)
    url = database.engine.url.render_as_string(hide_password=False)
    app = create_app(Settings(data_dir=tmp_path, database_url=url))
    with (
        served(uvicorn.Config(app, http=serving.PunctualProtocol, log_config=None)) as port,
        connected(port) as client,
    ):
        origin = f"127.0.0.1:{port}"
        head = (
            f"POST /sign-in HTTP/1.1\r\nHost: {origin}\r\nOrigin: http://{origin}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n"
        )
        client.sendall(head.encode() + b"pass")
        said = b""
        while b"</html>" not in said:
            part = client.recv(65536)
            assert part
            said += part
    assert said.startswith(b"HTTP/1.1 408")
    assert b"The request took too long to arrive." in said


def test_the_process_allows_itself_many_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    limits, chosen = (1024, 1_000_000), []
    monkeypatch.setattr(resource, "getrlimit", lambda _what: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _what, both: chosen.append(both))
    serving._allow_many_files()
    assert chosen == [(65_536, 1_000_000)]
    limits, chosen[:] = (1024, 4096), []
    serving._allow_many_files()
    assert chosen == [(4096, 4096)]
    limits, chosen[:] = (100_000, 100_000), []
    serving._allow_many_files()
    assert chosen == []
