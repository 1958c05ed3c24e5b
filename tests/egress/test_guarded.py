"""The outbound client: where it goes, where it does not, and how much it reads."""

import asyncio
import gzip
import ipaddress
import logging
import socket
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpcore2
import httpx2
import pytest

from app import egress
from app.egress import backend, guarded
from tests.mcp.servers import Request, Scripted

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8"]
PRIVATE = [
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "127.0.0.1",
    "127.8.8.8",
    "::1",
    "fd12:3456::1",
    "100.64.0.1",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "64:ff9b::10.0.0.1",
]
NEVER = [
    "169.254.169.254",
    "169.254.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "0.0.0.0",
    "0.1.2.3",
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "::",
    "fe80::1",
    "ff02::1",
    "fd00:ec2::254",
    "fd00:42::42",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "::169.254.169.254",
    "64:ff9b::169.254.169.254",
    "2002:a9fe:a9fe::",
    "2001:0:a9fe:a9fe::1",  # Teredo, whose server this is
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert egress.address_allowed(ipaddress.ip_address(address), private_ok=False)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_need_leave(address: str) -> None:
    ip = ipaddress.ip_address(address)
    assert not egress.address_allowed(ip, private_ok=False)
    assert egress.address_allowed(ip, private_ok=True)


@pytest.mark.parametrize("address", NEVER)
@pytest.mark.parametrize("private_ok", [True, False])
def test_some_addresses_are_never_allowed(address: str, private_ok: bool) -> None:
    assert not egress.address_allowed(ipaddress.ip_address(address), private_ok=private_ok)


class Dialled:
    """Takes the place of the real dialling, so that a broken rule sends nothing anywhere."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *refused: str) -> None:
        self.addresses: list[str] = []
        real = httpcore2.AnyIOBackend.connect_tcp

        async def dial(backend: Any, host: str, port: int, *rest: Any, **named: Any) -> Any:
            self.addresses.append(host)
            if host not in ("127.0.0.1",) or host in refused:
                raise httpcore2.ConnectError("refused")
            return await real(backend, host, port, *rest, **named)

        monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", dial)


def resolve_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Each lookup gets the next answer, the last one for ever; returns the names looked up."""
    asked: list[str] = []

    async def lookup(host: str, port: int, **named: Any) -> list[Any]:
        asked.append(str(host))
        texts = answers[min(len(asked), len(answers)) - 1]
        return [(0, socket.SOCK_STREAM, 6, "", (text, port)) for text in texts]

    monkeypatch.setattr(anyio, "getaddrinfo", lookup)
    return asked


def client(url: str, **options: Any) -> httpx2.AsyncClient:
    given: dict[str, Any] = {
        "private_ok": True,
        "connect_seconds": 2,
        "read_seconds": 2,
        "max_bytes": 10_000,
    }
    return egress.client(url, **(given | options))


async def ok(request: Request) -> None:
    await request.answer(200, b"{}")


@pytest.fixture
async def server() -> AsyncIterator[Scripted]:
    async with Scripted(ok) as scripted:
        yield scripted


BODY = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://2852039166/",  # the same address as one number
        "http://0xa9fea9fe/",
        "http://100.100.100.200/",
        "http://0.0.0.0:8080/",
    ],
)
async def test_metadata_services_are_never_dialled(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = Dialled(monkeypatch)
    async with client(url) as http:
        with pytest.raises(httpx2.ConnectError) as caught:
            await http.get(url)
    assert egress.is_blocked(caught.value)
    assert dialled.addresses == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"])
async def test_loopback_is_not_dialled_without_leave(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = Dialled(monkeypatch)
    url = f"http://{host}:8080/"
    async with client(url, private_ok=False) as http:
        with pytest.raises(httpx2.ConnectError) as caught:
            await http.get(url)
    assert egress.is_blocked(caught.value)
    assert dialled.addresses == []


async def test_one_bad_address_condemns_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    dialled = Dialled(monkeypatch)
    resolve_to(monkeypatch, ["127.0.0.1", "169.254.169.254"])
    async with client("http://mixed.example/") as http:
        with pytest.raises(httpx2.ConnectError) as caught:
            await http.get("http://mixed.example/")
    assert egress.is_blocked(caught.value)
    assert dialled.addresses == []


async def test_the_checked_address_is_dialled_without_asking_again(
    server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = Dialled(monkeypatch)
    asked = resolve_to(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    url = server.url.replace("127.0.0.1", "rebind.example")
    async with client(url) as http:
        assert (await http.post(url, json=BODY)).status_code == 200
    assert asked == ["rebind.example"]
    assert dialled.addresses == ["127.0.0.1"]
    assert server.seen.headers[0]["host"].startswith("rebind.example")


async def test_the_next_address_is_tried_when_one_refuses(
    server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = Dialled(monkeypatch)
    resolve_to(monkeypatch, ["::1", "127.0.0.1"])
    url = server.url.replace("127.0.0.1", "localhost")
    async with client(url) as http:
        assert (await http.post(url, json=BODY)).status_code == 200
    assert dialled.addresses == ["::1", "127.0.0.1"]


async def test_unix_sockets_are_refused() -> None:
    dialling = backend.Backend(private_ok=True, on_connect=None)
    with pytest.raises(egress.BlockedAddressError):
        await dialling.connect_unix_socket("/run/docker.sock")


async def test_httpx2_still_keeps_its_pool_where_the_guard_puts_its_own(
    server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release that renames the private attribute would dial unguarded."""
    assert isinstance(httpx2.AsyncHTTPTransport()._pool, httpcore2.AsyncConnectionPool)
    used: list[str] = []
    real = backend.Backend.connect_tcp

    async def connect(self: backend.Backend, host: str, *rest: Any, **named: Any) -> Any:
        used.append(host)
        return await real(self, host, *rest, **named)

    monkeypatch.setattr(backend.Backend, "connect_tcp", connect)
    async with client(server.url) as http:
        await http.post(server.url, json=BODY)
    assert used == ["127.0.0.1"]


async def test_a_connection_is_used_again_and_counted(server: Scripted) -> None:
    opened: list[int] = []
    async with client(server.url, on_connect=lambda: opened.append(1)) as http:
        for _ in range(5):
            await http.post(server.url, json=BODY)
    assert len(opened) == server.seen.sockets == 1


async def test_a_redirect_elsewhere_is_not_followed_even_when_asked_for(server: Scripted) -> None:
    async def away(request: Request) -> None:
        await request.answer(307, b"", location=server.url)

    async with Scripted(away) as first:
        headers = [("Authorization", "Bearer secret")]
        async with client(first.url, headers=headers) as http:
            assert (await http.post(first.url, json=BODY)).status_code == 307
            with pytest.raises(egress.LeftOriginError):
                await http.post(first.url, json=BODY, follow_redirects=True)
    assert server.seen.sockets == 0


async def test_proxies_of_the_environment_are_ignored(
    server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Scripted(ok) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/mcp"))
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        async with client(server.url) as http:
            await http.post(server.url, json=BODY)
        assert proxy.seen.sockets == 0
    assert server.seen.sockets == 1


def test_certificates_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    monkeypatch.setenv("SSL_CERT_DIR", "/nowhere")
    assert guarded._ssl_context.__wrapped__().cert_store_stats()["x509_ca"] > 0


@pytest.mark.parametrize("size", [10_000, 10_001])
async def test_an_answer_is_read_up_to_its_cap(size: int) -> None:
    async def answer(request: Request) -> None:
        await request.answer(200, b"x" * size)

    async with Scripted(answer) as server, client(server.url) as http:
        if size <= 10_000:
            assert len((await http.post(server.url, json=BODY)).content) == size
            return
        with pytest.raises(egress.TooLargeError) as caught:
            await http.post(server.url, json=BODY)
    assert caught.value.limit == 10_000


async def test_an_answer_without_a_length_is_capped_too() -> None:
    async def answer(request: Request) -> None:
        request.writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            request.writer.write(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
            await request.writer.drain()

    async with Scripted(answer) as server, client(server.url) as http:
        with pytest.raises(egress.TooLargeError):
            await http.post(server.url, json=BODY)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("split", [1, 7, 1000])
async def test_a_stream_is_capped_by_event(newline: bytes, split: int) -> None:
    event = b"data: " + b"x" * 900 + newline + newline

    async def answer(request: Request) -> None:
        await request.stream()
        text = event * 12
        for start in range(0, len(text), split):
            request.writer.write(text[start : start + split])
        await request.writer.drain()
        request.writer.close()

    async with Scripted(answer) as server:
        async with client(server.url, max_bytes=1_000) as http:
            assert len((await http.post(server.url, json=BODY)).content) == len(event) * 12
        async with client(server.url, max_bytes=800) as http:
            with pytest.raises(egress.TooLargeError):
                await http.post(server.url, json=BODY)
        async with client(server.url, max_bytes=1_000, max_stream_bytes=5_000) as http:
            with pytest.raises(egress.TooLargeError):
                await http.post(server.url, json=BODY)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("step", [1, 2, 3, 50])
def test_an_event_is_measured_alike_however_it_arrives(newline: bytes, step: int) -> None:
    text = b"".join(b"data: " + b"x" * size + newline * 2 for size in (3, 40, 5)) + b"data: yy"
    sizes = []
    open_size, tail = 0, b""
    for start in range(0, len(text), step):
        chunk = text[start : start + step]
        largest, open_size = guarded._event_sizes(open_size, tail, chunk)
        tail = (tail + chunk)[-2:]
        sizes.append(largest)
    # Of CR LF CR LF, the last LF may have to wait for the next chunk.
    assert max(sizes) == len(b"data: ") + 40 + 2 * len(newline)
    assert open_size == len(b"data: yy")


async def test_a_compressed_answer_is_refused() -> None:
    async def answer(request: Request) -> None:
        bomb = gzip.compress(b"x" * 1_000_000)
        await request.answer(200, bomb, content_encoding="gzip")

    async with Scripted(answer) as server, client(server.url) as http:
        with pytest.raises(egress.EncodedError):
            await http.post(server.url, json=BODY)
        assert server.seen.headers[0]["accept-encoding"] == "identity"


async def test_a_hung_server_ends_in_a_timeout() -> None:
    async with Scripted(Request.hang) as server, client(server.url, read_seconds=0.1) as http:
        with pytest.raises(httpx2.ReadTimeout):
            await http.post(server.url, json=BODY)


async def test_no_url_is_logged(server: Scripted, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with client(server.url) as http:
        await http.post(f"{server.url}?key=hidden-key", json=BODY)
    assert "hidden-key" not in caplog.text


async def drip_body(request: Request) -> None:
    request.writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    await drip(request, b"1\r\nx\r\n")


async def drip_head(request: Request) -> None:
    request.writer.write(b"HTTP/1.1 200 OK\r\nx: ")
    await drip(request, b"x")


async def drip_stream(request: Request) -> None:
    await request.stream()
    await drip(request, b": still there\n\n")


async def drip(request: Request, piece: bytes) -> None:
    while True:
        request.writer.write(piece)
        await request.writer.drain()
        await anyio.sleep(0.02)


@pytest.mark.parametrize("script", [drip_body, drip_head, drip_stream])
async def test_an_answer_that_drips_for_ever_is_cut_off(script: Any) -> None:
    """Each piece comes in time; the whole does not."""
    times = {"connect_seconds": 0.1, "read_seconds": 0.3}
    async with Scripted(script) as server, client(server.url, **times) as http:
        with anyio.fail_after(10), pytest.raises(httpx2.ReadTimeout):
            await http.post(server.url, json=BODY)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_what_a_server_says_unasked_may_take_its_time(method: str) -> None:
    """The stream that answers a GET, and a request whose reading has no limit."""

    async def answer(request: Request) -> None:
        await request.stream()
        for _ in range(30):
            request.writer.write(b": still there\n\n")
            await request.writer.drain()
            await anyio.sleep(0.02)
        request.writer.close()

    times = {"connect_seconds": 0.1, "read_seconds": 0.2}
    async with Scripted(answer) as server, client(server.url, **times) as http:
        server.standing = answer
        options: dict[str, Any] = {"timeout": httpx2.Timeout(None), "json": BODY}
        if method == "GET":
            options = {}
        assert (await http.request(method, server.url, **options)).text.count("still") == 30


async def test_a_public_server_is_asked_through_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialled = Dialled(monkeypatch)
    resolve_to(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    async with Scripted(ok) as proxy:
        through = proxy.url.removesuffix("/mcp")
        async with client("http://mcp.example/mcp", private_ok=False, proxy=through) as http:
            assert (await http.post("http://mcp.example/mcp", json=BODY)).status_code == 200
        assert dialled.addresses == ["127.0.0.1"]
        assert proxy.seen.headers[0]["host"] == "mcp.example"


async def test_over_tls_the_proxy_gets_a_tunnel_and_no_credential(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Dialled(monkeypatch)
    resolve_to(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    seen: list[bytes] = []

    async def heard(reader: Any, writer: Any) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    listening = await asyncio.start_server(heard, "127.0.0.1", 0)
    async with listening:
        through = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        headers = [("Authorization", "Bearer secret")]
        url = "https://mcp.example/mcp"
        async with client(url, private_ok=False, proxy=through, headers=headers) as http:
            with pytest.raises(httpx2.ProxyError):
                await http.post(url, json=BODY)
    assert seen[0].startswith(b"CONNECT mcp.example:443 ")
    assert b"secret" not in seen[0]


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("localhost", "93.184.216.34"),
        ("169.254.169.254", "169.254.169.254"),
        ("metadata.google.internal", "93.184.216.34"),
        ("rebound.example", "10.0.0.1"),
        ("rebound.example", "169.254.169.254"),
    ],
)
async def test_the_proxy_is_not_asked_for_what_is_known_to_be_private(
    host: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = Dialled(monkeypatch)
    resolve_to(monkeypatch, [answer])
    url = f"http://{host}/mcp"
    async with client(url, private_ok=False, proxy="http://127.0.0.1:3128") as http:
        with pytest.raises(httpx2.ConnectError) as caught:
            await http.get(url)
    assert egress.is_blocked(caught.value)
    assert dialled.addresses == []


async def test_a_private_server_is_not_asked_through_the_proxy(server: Scripted) -> None:
    async with Scripted(ok) as proxy:
        through = proxy.url.removesuffix("/mcp")
        async with client(server.url, private_ok=True, proxy=through) as http:
            assert (await http.post(server.url, json=BODY)).status_code == 200
        assert proxy.seen.sockets == 0


@pytest.mark.parametrize(("address", "is_private"), [("10.0.0.1", True), ("169.254.1.1", False)])
async def test_a_refusal_says_which_it_is(
    address: str, is_private: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, [address])
    Dialled(monkeypatch)
    async with client("http://mcp.example/", private_ok=False) as http:
        with pytest.raises(httpx2.ConnectError) as caught:
            await http.get("http://mcp.example/")
    refusal = egress.blocked(caught.value)
    assert refusal is not None
    assert refusal.is_private == is_private
