"""Where a host leads: asked when a server is added, moved or allowed."""

import ipaddress
from typing import Any

import anyio
import pytest

from app.egress import Place
from app.egress.addresses import literal, place, place_of, place_of_literal

LITERALS = {
    "127.0.0.1": Place.PRIVATE,
    "127.1": Place.PRIVATE,
    "2130706433": Place.PRIVATE,
    "0x7f000001": Place.PRIVATE,
    "017700000001": Place.PRIVATE,
    "[::1]": Place.PRIVATE,
    "::ffff:10.0.0.1": Place.PRIVATE,
    "localhost": Place.PRIVATE,
    "LOCALHOST.": Place.PRIVATE,
    "x.localhost": Place.PRIVATE,
    "169.254.169.254": Place.NEVER,
    "2852039166": Place.NEVER,
    "metadata.google.internal": Place.NEVER,
    "Metadata.Google.Internal.": Place.NEVER,
    "93.184.216.34": Place.PUBLIC,
    "mcp.example": Place.UNKNOWN,
    "localhost.example": Place.UNKNOWN,
    "": Place.UNKNOWN,
}


@pytest.mark.parametrize(("host", "expected"), LITERALS.items())
def test_a_host_that_says_by_itself_where_it_leads(host: str, expected: Place) -> None:
    assert place_of_literal(host) == expected


def test_a_name_is_no_address() -> None:
    assert literal("mcp.example") is None


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (["93.184.216.34"], Place.PUBLIC),
        (["93.184.216.34", "10.0.0.1"], Place.PRIVATE),
        (["10.0.0.1", "169.254.169.254"], Place.NEVER),
        ([], Place.UNKNOWN),
    ],
)
def test_the_worst_of_several_addresses_counts(addresses: list[str], expected: Place) -> None:
    assert place([ipaddress.ip_address(text) for text in addresses]) == expected


async def test_a_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lookup(host: str, port: object, **_: Any) -> list[Any]:
        assert (host, port) == ("mcp.example", None)
        return [(0, 0, 0, "", ("10.1.2.3", 0))]

    monkeypatch.setattr(anyio, "getaddrinfo", lookup)
    assert await place_of("mcp.example", 1) == Place.PRIVATE


async def test_a_name_that_nobody_knows_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lookup(*_: Any, **__: Any) -> list[Any]:
        raise OSError("no such name")

    monkeypatch.setattr(anyio, "getaddrinfo", lookup)
    assert await place_of("mcp.example", 1) == Place.UNKNOWN


async def test_a_resolver_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lookup(*_: Any, **__: Any) -> list[Any]:
        await anyio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(anyio, "getaddrinfo", lookup)
    assert await place_of("mcp.example", 0.01) == Place.UNKNOWN
