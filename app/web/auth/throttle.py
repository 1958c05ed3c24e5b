"""How often somebody may try a password, and how many tries are worked on at a time. In memory;
each process counts for itself.
"""

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from starlette.requests import Request

T = TypeVar("T")

ONE_CLIENT: Final = "10/minute"
ALL_CLIENTS: Final = "30/minute"
TOO_OFTEN: Final = (
    "Too many attempts. Wait a minute, then try again; a sign-in link works meanwhile."
)
# A check takes 64 MiB and a processor for a tenth of a second.
_AT_A_TIME: Final = 2
_capacity: Final[RunVar[CapacityLimiter]] = RunVar("vitrine password checks")


def client(request: Request) -> str:
    """The client's address; of IPv6 the network that one customer has. Behind a proxy that is not
    trusted everybody is that proxy.
    """
    named = request.client.host if request.client else ""
    try:
        address = ip_address(named)
    except ValueError:
        return "unknown"
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((int(address), 64), strict=False))
    return str(address)


def everybody(request: Request) -> str:
    return "everybody"


async def in_thread(work: Callable[[], T]) -> T:
    """``work`` in a thread, with few others: neither memory nor the threads that serve pages may
    go to password checks.
    """
    try:
        capacity = _capacity.get()
    except LookupError:
        capacity = CapacityLimiter(_AT_A_TIME)
        _capacity.set(capacity)
    return await to_thread.run_sync(work, limiter=capacity)
