"""The one guarded outbound HTTP client. Nothing else in Vitrine opens a connection.

A name is resolved once for a connection, every address of the answer is checked, and the
connection goes to a checked address without asking again: an answer that changes between the
check and the connection (DNS rebinding) gains nothing. Proxies and certificates named in the
environment are ignored, no request leaves the origin that the client was made for, and no
answer is read further than its cap.
"""

import ipaddress
import logging
import re
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing
from functools import cache
from ssl import SSLContext
from typing import Any, NewType, cast

import anyio
import httpcore2
import httpx2
from httpx2 import (
    URL,
    AsyncBaseTransport,
    AsyncByteStream,
    ByteStream,
    ConnectError,
    ConnectTimeout,
    EventSource,
    InvalidURL,
    PoolTimeout,
    Request,
    Response,
    ServerSentEvent,
    TimeoutException,
    TransportError,
)

# What those who stand around the client need, so that nobody else imports an HTTP library.
# Nothing that opens a connection is among it, but ``client``.
__all__ = [
    "URL",
    "AsyncBaseTransport",
    "AsyncByteStream",
    "BlockedAddressError",
    "ByteStream",
    "ConnectError",
    "ConnectTimeout",
    "EncodedError",
    "EventSource",
    "GuardedClient",
    "InvalidURL",
    "LeftOriginError",
    "PoolTimeout",
    "Request",
    "Response",
    "ServerSentEvent",
    "TimeoutException",
    "TooLargeError",
    "TransportError",
    "address_allowed",
    "client",
    "is_blocked",
]

# At INFO these write every request's URL, whose query may hold a key.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)

# What ``client`` returns: a name to write in a signature, and nothing that makes one.
GuardedClient = NewType("GuardedClient", httpx2.AsyncClient)

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Services of a cloud's own machine, outside the link-local range that holds most of them.
_METADATA: frozenset[IPAddress] = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure
        "192.0.0.192",  # Oracle
        "fd00:ec2::254",  # AWS
        "fd00:42::42",  # Scaleway
        "fd20:ce::254",  # Google
    )
)
_THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

# A line of a stream ends in LF, CR or CRLF; the last of these is within CRLF CRLF.
_BLANK_LINE = re.compile(rb"\n\n|\r\r|\n\r\n")


class BlockedAddressError(httpcore2.ConnectError):
    """The name resolved to an address that is never contacted, or not with these settings."""


class LeftOriginError(httpx2.TransportError):
    """A request, most likely a followed redirect, for another origin than the client's own."""


class TooLargeError(httpx2.TransportError):
    """More than ``limit`` bytes in one answer, or in one event of a stream."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes")
        self.limit = limit


class EncodedError(httpx2.TransportError):
    """A compressed answer. None was asked for, and its real size would escape the cap."""


def _readings(ip: IPAddress) -> list[IPAddress]:
    """``ip`` and every IPv4 address that it carries inside: a network may deliver to either."""
    if isinstance(ip, ipaddress.IPv4Address):
        return [ip]
    if ip.ipv4_mapped:
        # Not an IPv6 address at all, only the other spelling of an IPv4 one.
        return [ip.ipv4_mapped]
    if ip in _NAT64:
        # How a network of IPv6 alone names every IPv4 address.
        return [ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)]
    return [ip, *([ip.sixtofour] if ip.sixtofour else []), *(ip.teredo or ())]


def address_allowed(ip: IPAddress, *, private_ok: bool) -> bool:
    """Whether ``ip`` may be contacted.

    Link-local, metadata, unspecified, multicast, broadcast and reserved addresses never;
    private and loopback ones with ``private_ok`` only.
    """
    for reading in _readings(ip):
        if (
            reading in _METADATA
            or reading.is_link_local
            or reading.is_multicast
            # The unspecified address and the IPv4-compatible ones among them.
            or (reading.is_reserved and not reading.is_loopback)
            or (reading.version == 4 and reading in _THIS_NETWORK)
        ):
            return False
        if not private_ok and not reading.is_global:
            return False
    return True


class _Backend(httpcore2.AsyncNetworkBackend):
    """Resolves, checks and connects in one step; counts the connections that it opened."""

    def __init__(self, *, private_ok: bool, on_connect: Callable[[], None] | None) -> None:
        self._inner = httpcore2.AnyIOBackend()
        self._private_ok = private_ok
        self._on_connect = on_connect

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface of httpcore2
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        deadline = None if timeout is None else time.monotonic() + timeout
        addresses = await self._resolve(host, port, timeout)
        for number, address in enumerate(addresses, start=1):
            left = None if deadline is None else deadline - time.monotonic()
            # A silent first address (IPv6 without a route) must leave time for the others.
            share = None if left is None else max(left / (len(addresses) - number + 1), 0.001)
            try:
                stream = await self._inner.connect_tcp(
                    str(address), port, share, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if number == len(addresses):
                    raise
            else:
                if self._on_connect is not None:
                    self._on_connect()
                return stream
        raise httpcore2.ConnectError("the name has no address")

    async def _resolve(self, host: str, port: int, seconds: float | None) -> list[IPAddress]:
        try:
            with anyio.fail_after(seconds):
                infos = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout("the name was not resolved in time") from error
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError("the name cannot be resolved") from error
        texts = [str(info[4][0]).partition("%")[0] for info in infos]
        addresses = [ipaddress.ip_address(text) for text in dict.fromkeys(texts)]
        # One bad address condemns the name: which one is used would be the attacker's luck.
        if not all(address_allowed(ip, private_ok=self._private_ok) for ip in addresses):
            raise BlockedAddressError("the address is not allowed")
        return addresses

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface of httpcore2
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise BlockedAddressError("unix sockets are not allowed")

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


class _CappedStream(httpx2.AsyncByteStream):
    """Counts while it passes on. ``event_limit`` is the cap of one server-sent event."""

    def __init__(
        self, inner: httpx2.AsyncByteStream, limit: int | None, event_limit: int | None
    ) -> None:
        self._inner = inner
        self._limit = limit
        self._event_limit = event_limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = open_size = 0
        tail = b""
        async with aclosing(cast(Any, aiter(self._inner))) as chunks:
            async for chunk in chunks:
                total += len(chunk)
                if self._limit is not None and total > self._limit:
                    raise TooLargeError(self._limit)
                if self._event_limit is not None:
                    largest, open_size = _event_sizes(open_size, tail, chunk)
                    if largest > self._event_limit:
                        raise TooLargeError(self._event_limit)
                    tail = (tail + chunk)[-2:]
                yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def _event_sizes(open_size: int, tail: bytes, chunk: bytes) -> tuple[int, int]:
    """Bytes of the largest event that ``chunk`` ends or goes on with, and of the one still open.

    ``open_size`` bytes were open before; ``tail`` is the end of what came before, in which the
    blank line that ends an event may have begun.
    """
    seen = tail + chunk
    begin = len(tail) - open_size
    largest = 0
    for blank in _BLANK_LINE.finditer(seen):
        largest = max(largest, blank.end() - begin)
        begin = blank.end()
    return max(largest, len(seen) - begin), len(seen) - begin


class _GuardedTransport(httpx2.AsyncHTTPTransport):
    """httpx2's transport over the guarded backend, for one origin."""

    def __init__(
        self,
        origin: httpx2.URL,
        backend: httpcore2.AsyncNetworkBackend,
        *,
        max_bytes: int,
        max_stream_bytes: int | None,
        max_connections: int,
    ) -> None:
        super().__init__(verify=_ssl_context(), trust_env=False)
        # httpx2 takes no network backend; this private attribute is the only way to give one.
        # tests/test_egress.py fails when it goes away.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_ssl_context(),
            max_connections=max_connections,
            max_keepalive_connections=max_connections,
            keepalive_expiry=60,
            http1=True,
            http2=False,
            network_backend=backend,
        )
        self._origin = _origin(origin)
        self._max_bytes = max_bytes
        self._max_stream_bytes = max_stream_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if _origin(request.url) != self._origin:
            raise LeftOriginError("the request leaves its origin")
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            await response.aclose()
            raise EncodedError("the answer is compressed")
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_stream = media_type == "text/event-stream"
        response.stream = _CappedStream(
            cast(httpx2.AsyncByteStream, response.stream),
            limit=self._max_stream_bytes if is_stream else self._max_bytes,
            event_limit=self._max_bytes if is_stream else None,
        )
        return response


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


@cache
def _ssl_context() -> SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


def client(
    url: str,
    *,
    private_ok: bool,
    connect_seconds: float,
    read_seconds: float,
    max_bytes: int,
    max_stream_bytes: int | None = None,
    headers: Iterable[tuple[str, str]] = (),
    on_connect: Callable[[], None] | None = None,
    around: Callable[[httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport] = lambda inner: inner,
    max_connections: int = 100,
) -> GuardedClient:
    """A client for the origin of ``url`` and no other; use it as an async context manager.

    ``private_ok`` allows private and loopback addresses. ``max_bytes`` caps an answer, and each
    event of an event stream; ``max_stream_bytes`` caps a whole event stream (None: no cap, for
    streams that live long). ``on_connect`` is called for each connection opened. ``around``
    wraps the guarded transport. Redirects are not followed by the client itself.

    Raises ``httpx2.TransportError`` of many kinds, this module's among them; a refused address
    is an ``httpx2.ConnectError`` for which ``is_blocked`` is true.
    """
    backend = _Backend(private_ok=private_ok, on_connect=on_connect)
    transport = _GuardedTransport(
        httpx2.URL(url),
        backend,
        max_bytes=max_bytes,
        max_stream_bytes=max_stream_bytes,
        max_connections=max_connections,
    )
    made = httpx2.AsyncClient(
        transport=around(transport),
        trust_env=False,
        follow_redirects=False,
        headers=[*headers, ("Accept-Encoding", "identity")],
        timeout=httpx2.Timeout(connect_seconds, read=read_seconds),
    )
    return GuardedClient(made)


def is_blocked(error: BaseException) -> bool:
    """Whether ``error`` came of an address that may not be contacted."""
    return isinstance(error, BlockedAddressError) or isinstance(
        error.__cause__, BlockedAddressError
    )
