"""Which addresses may be contacted, and where a name leads."""

import ipaddress
import socket
from enum import StrEnum

import anyio

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
# Names of the same services: where a proxy does the resolving, the name is all there is to judge.
_NEVER_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data"}
    | {"instance-data.ec2.internal"}
)


class Place(StrEnum):
    """Where a host lies, by every address that its name has."""

    PUBLIC = "public"
    PRIVATE = "private"  # this machine or a private network, one address is enough
    NEVER = "never"  # an address that is never contacted
    UNKNOWN = "unknown"  # no answer


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


def literal(host: str) -> IPAddress | None:
    """The address that ``host`` is, in any spelling that a resolver takes (``127.1``, ``0x7f1``),
    or ``None`` for a name.
    """
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


async def resolve(host: str, port: int | None, seconds: float | None) -> list[IPAddress]:
    """Every address of ``host``, in the resolver's order. Raises ``TimeoutError``, ``OSError``
    and ``UnicodeError``.
    """
    with anyio.fail_after(seconds):
        infos = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    texts = [str(info[4][0]).partition("%")[0] for info in infos]
    return [ipaddress.ip_address(text) for text in dict.fromkeys(texts)]


def place(addresses: list[IPAddress]) -> Place:
    """The worst of ``addresses``: which one is used would be an attacker's luck."""
    if not addresses:
        return Place.UNKNOWN
    if not all(address_allowed(ip, private_ok=True) for ip in addresses):
        return Place.NEVER
    if not all(address_allowed(ip, private_ok=False) for ip in addresses):
        return Place.PRIVATE
    return Place.PUBLIC


def place_of_literal(host: str) -> Place:
    """Of an address, and of a name that says by itself where it leads; else ``UNKNOWN``."""
    name = host.lower().rstrip(".")
    if name in _NEVER_NAMES:
        return Place.NEVER
    if name == "localhost" or name.endswith(".localhost"):
        return Place.PRIVATE
    ip = literal(host)
    return place([ip]) if ip is not None else Place.UNKNOWN


async def place_of(host: str, seconds: float) -> Place:
    """Where ``host`` leads now; ``UNKNOWN`` where that is not found out within ``seconds``."""
    known = place_of_literal(host)
    if known != Place.UNKNOWN:
        return known
    try:
        return place(await resolve(host, None, seconds))
    except (OSError, UnicodeError):
        return Place.UNKNOWN
