"""The client: one origin, no redirects, capped in size and in time."""

import re
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from functools import cache
from ssl import SSLContext
from typing import Any, NewType, cast

import anyio
import httpcore2
import httpx2

from app.egress.backend import Backend, BehindProxy, BlockedAddressError

# What ``client`` returns: a name to write in a signature, and nothing that makes one.
GuardedClient = NewType("GuardedClient", httpx2.AsyncClient)

# A line of a stream ends in LF, CR or CRLF; the last of these is within CRLF CRLF.
_BLANK_LINE = re.compile(rb"\n\n|\r\r|\n\r\n")


class LeftOriginError(httpx2.TransportError):
    """A request, most likely a followed redirect, for another origin than the client's own."""


class TooLargeError(httpx2.TransportError):
    """More than ``limit`` bytes in one answer, or in one event of a stream."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes")
        self.limit = limit


class EncodedError(httpx2.TransportError):
    """A compressed answer. None was asked for, and its real size would escape the cap."""


class _CappedStream(httpx2.AsyncByteStream):
    """Counts while it passes on. ``event_limit`` is the cap of one server-sent event;
    ``deadline`` (monotonic) is when the whole has to be there, however steadily it drips.
    """

    def __init__(
        self,
        inner: httpx2.AsyncByteStream,
        limit: int | None,
        event_limit: int | None,
        deadline: float | None,
    ) -> None:
        self._inner = inner
        self._limit = limit
        self._event_limit = event_limit
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = open_size = 0
        tail = b""
        async with aclosing(cast(Any, aiter(self._inner))) as chunks:
            while True:
                with _until(self._deadline):
                    chunk: bytes | None = await anext(chunks, None)
                if chunk is None:
                    return
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


@contextmanager
def _until(deadline: float | None) -> Iterator[None]:
    try:
        with anyio.fail_after(None if deadline is None else deadline - time.monotonic()):
            yield
    except TimeoutError as error:
        raise httpx2.ReadTimeout("the answer takes too long") from error


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
        pool: httpcore2.AsyncConnectionPool,
        *,
        max_bytes: int,
        max_stream_bytes: int | None,
        total_seconds: float,
    ) -> None:
        super().__init__(verify=_ssl_context(), trust_env=False)
        # httpx2 takes no network backend; this private attribute is the only way to give one.
        # tests/egress/test_guarded.py fails when it goes away.
        self._pool = pool
        self._origin = _origin(origin)
        self._max_bytes = max_bytes
        self._max_stream_bytes = max_stream_bytes
        self._total_seconds = total_seconds

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if _origin(request.url) != self._origin:
            raise LeftOriginError("the request leaves its origin")
        deadline = None if _waits_for_ever(request) else time.monotonic() + self._total_seconds
        with _until(deadline):
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
            # What a server says unasked, it says on the stream that answers a GET.
            deadline=None if is_stream and request.method == "GET" else deadline,
        )
        return response


def _waits_for_ever(request: httpx2.Request) -> bool:
    """Whether the one who asks set no time for reading: a subscription."""
    return request.extensions.get("timeout", {}).get("read") is None


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
    proxy: str = "",
) -> GuardedClient:
    """A client for the origin of ``url`` and no other; use it as an async context manager.

    ``private_ok`` allows private and loopback addresses. ``read_seconds`` is the longest silence;
    a whole answer has that and ``connect_seconds``, but for the event stream that answers a GET,
    and for a request whose own time for reading is None. ``max_bytes`` caps an answer, and each
    event of an event stream; ``max_stream_bytes`` caps a whole event stream (None: no cap, for
    streams that live long). ``on_connect`` is called for each connection opened. ``around``
    wraps the guarded transport. Redirects are not followed by the client itself.

    ``proxy`` (``http://host:port``) is dialled in the server's place, and then the address that
    the server's name leads to is the proxy's to find: it cannot be pinned. What is known of the
    name here is still judged. With ``private_ok`` the server is dialled directly.

    Raises ``httpx2.TransportError`` of many kinds, this module's among them; a refused address
    is an ``httpx2.ConnectError`` for which ``blocked`` gives the reason.
    """
    origin = httpx2.URL(url)
    options: dict[str, Any] = {
        "ssl_context": _ssl_context(),
        "max_connections": max_connections,
        "max_keepalive_connections": max_connections,
        "keepalive_expiry": 60,
        "http1": True,
        "http2": False,
    }
    pool: httpcore2.AsyncConnectionPool
    if proxy and not private_ok:
        backend: Backend = BehindProxy(origin.host, on_connect=on_connect)
        pool = httpcore2.AsyncHTTPProxy(proxy, network_backend=backend, **options)
    else:
        backend = Backend(private_ok=private_ok, on_connect=on_connect)
        pool = httpcore2.AsyncConnectionPool(network_backend=backend, **options)
    transport = _GuardedTransport(
        origin,
        pool,
        max_bytes=max_bytes,
        max_stream_bytes=max_stream_bytes,
        total_seconds=connect_seconds + read_seconds,
    )
    made = httpx2.AsyncClient(
        transport=around(transport),
        trust_env=False,
        follow_redirects=False,
        headers=[*headers, ("Accept-Encoding", "identity")],
        timeout=httpx2.Timeout(connect_seconds, read=read_seconds),
    )
    return GuardedClient(made)


def blocked(error: BaseException) -> BlockedAddressError | None:
    """The refusal of an address that ``error`` came of."""
    for one in (error, error.__cause__):
        if isinstance(one, BlockedAddressError):
            return one
    return None


def is_blocked(error: BaseException) -> bool:
    """Whether ``error`` came of an address that may not be contacted."""
    return blocked(error) is not None
