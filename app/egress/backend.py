"""What dials: resolves, checks and connects in one step."""

import time
from collections.abc import Callable, Iterable
from typing import Any, Final

import anyio
import httpcore2

from app.egress.addresses import IPAddress, Place, place, place_of, resolve

# How long a name is looked up that a proxy will look up by itself.
_GLANCE_SECONDS: Final = 2


class BlockedAddressError(httpcore2.ConnectError):
    """The name leads to an address that is never contacted, or, ``is_private``, to one in a
    private network for which there is no leave.
    """

    def __init__(self, words: str, *, is_private: bool = False) -> None:
        super().__init__(words)
        self.is_private = is_private


def _check(where: Place, *, private_ok: bool) -> None:
    if where == Place.NEVER:
        raise BlockedAddressError("the address is never contacted")
    if where == Place.PRIVATE and not private_ok:
        raise BlockedAddressError("the address is a private one", is_private=True)


class Backend(httpcore2.AsyncNetworkBackend):
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
            addresses = await resolve(host, port, seconds)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout("the name was not resolved in time") from error
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError("the name cannot be resolved") from error
        _check(place(addresses), private_ok=self._private_ok)
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


class BehindProxy(Backend):
    """Dials a proxy, which will look up ``host`` by itself: what can be judged of that name here
    is, before each connection. The proxy is the operator's, so it may lie in a private network.
    """

    def __init__(self, host: str, *, on_connect: Callable[[], None] | None) -> None:
        super().__init__(private_ok=True, on_connect=on_connect)
        self._host = host

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface of httpcore2
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        where = await place_of(self._host, min(timeout or _GLANCE_SECONDS, _GLANCE_SECONDS))
        # Unknown: where there is a proxy, names of the outside often mean nothing inside.
        _check(where, private_ok=False)
        return await super().connect_tcp(host, port, timeout, local_address, socket_options)
