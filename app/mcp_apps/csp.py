"""The headers of a view's document, built from the ``_meta.ui.csp`` that its resource declares.

A declaration only widens a closed policy, list by list (SEP-1865), and an entry counts only when
it is a plain origin. Whatever could end a directive, name a keyword or reach further than an
origin is refused whole and shown, never repaired. ``'self'`` never appears: in a document served
by URL into an opaque origin, browsers match it with Vitrine's own origin.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from typing import Any, Final

MAX_ENTRIES: Final = 32
# Services of a cloud's own machine outside the link-local range, as in app.egress.
_METADATA: Final = {
    IPv4Address("100.100.100.200"),  # Alibaba
    IPv4Address("168.63.129.16"),  # Azure
    IPv4Address("192.0.0.192"),  # Oracle
}
SANDBOX: Final = "allow-scripts allow-forms"

_WEB = ("http", "https")
_SOCKET = (*_WEB, "ws", "wss")
_SCHEMES: Final[Mapping[str, tuple[str, ...]]] = {
    "resourceDomains": _WEB,
    "connectDomains": _SOCKET,
    "frameDomains": _WEB,
    "baseUriDomains": _WEB,
}
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_ORIGIN = re.compile(
    rf"(?P<scheme>[a-z]+)://(?P<wild>\*\.)?(?P<host>{_LABEL}(?:\.{_LABEL})*)(?::(?P<port>\d{{1,5}}))?/?"
)
_NUMERIC_LABEL = re.compile(r"0x[0-9a-f]*|\d+")


@dataclass(frozen=True, slots=True)
class Refused:
    """A declared entry that was not granted: which list, the entry as text, and why."""

    list_name: str
    entry: str
    why: str


@dataclass(frozen=True, slots=True)
class FragmentPolicy:
    """``headers`` for the document's response; ``granted`` in the shape of
    ``McpUiResourceCsp`` (only lists that hold something); ``refused`` for the panel, and
    ``narrowed``: what could have been granted and is held back by the operator, wholly or in part.
    """

    headers: Mapping[str, str]
    granted: Mapping[str, list[str]]
    refused: tuple[Refused, ...]
    narrowed: tuple[str, ...] = ()


def _as_declared(origin: str) -> Sequence[str]:
    return [origin]


def build(
    declared: object,
    *,
    private_hosts: bool = False,
    ceiling: Callable[[str], Sequence[str]] = _as_declared,
) -> FragmentPolicy:
    """The policy for a resource that declared ``declared`` (``_meta.ui.csp`` or ``None``).

    ``private_hosts``: whether loopback and private addresses may be granted, which is so only
    for a server that somebody confirmed to be at such an address itself. ``ceiling``: what is
    granted of an origin.
    """
    granted: dict[str, list[str]] = {}
    refused: list[Refused] = []
    narrowed: list[str] = []
    if declared is not None and not isinstance(declared, Mapping):
        refused.append(Refused("csp", repr(declared), "it is not an object"))
        declared = None
    for list_name, schemes in _SCHEMES.items():
        entries = _checked_list((declared or {}).get(list_name), list_name, refused)
        origins: list[str] = []
        for entry in entries:
            origin, why = _origin(entry, schemes, private_hosts=private_hosts)
            if origin is None:
                refused.append(Refused(list_name, str(entry), why))
                continue
            within = ceiling(origin)
            origins += [one for one in within if one not in origins]
            if origin not in within and origin not in narrowed:
                narrowed.append(origin)
        if origins:
            granted[list_name] = origins
    return FragmentPolicy(_headers(granted), granted, tuple(refused), tuple(narrowed))


def judged(entry: object, *, private_hosts: bool = False) -> tuple[str | None, str]:
    """``entry`` as an origin that some list may hold, or ``None`` and why there is none."""
    return _origin(entry, _SOCKET, private_hosts=private_hosts)


def _checked_list(value: Any, list_name: str, refused: list[Refused]) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        refused.append(Refused(list_name, repr(value), "it is not a list"))
        return []
    refused.extend(
        Refused(list_name, str(entry), f"a list may hold {MAX_ENTRIES} entries")
        for entry in value[MAX_ENTRIES:]
    )
    return value[:MAX_ENTRIES]


def _origin(
    entry: object, schemes: tuple[str, ...], *, private_hosts: bool
) -> tuple[str | None, str]:
    """The entry as ``scheme://host[:port]`` in lower case, or ``None`` and why not."""
    if not isinstance(entry, str):
        return None, "it is not a text"
    match = _ORIGIN.fullmatch(entry.lower()) if entry.isascii() else None
    if match is None:
        return None, "it is not a plain scheme://host[:port]"
    scheme, wild, host, port = match["scheme"], match["wild"] or "", match["host"], match["port"]
    if scheme not in schemes:
        return None, f"the scheme is not one of {', '.join(schemes)}"
    if port is not None and not 1 <= int(port) <= 65535:
        return None, "the port is out of range"
    if wild and "." not in host:
        return None, "the wildcard would cover a whole top-level domain"
    why = _host_problem(host, private_hosts=private_hosts)
    if why:
        return None, why
    return f"{scheme}://{wild}{host}" + (f":{int(port)}" if port else ""), ""


def _host_problem(host: str, *, private_hosts: bool) -> str:
    if _NUMERIC_LABEL.fullmatch(host.rsplit(".", 1)[-1]):
        # Browsers read 0177.1 or 0x7f000001 as an address: only the plain form is looked at.
        try:
            address = IPv4Address(host)
        except AddressValueError:
            return "the address is not in plain dotted form"
        if (
            address in _METADATA
            or address.is_link_local
            or address.is_multicast
            or address.is_unspecified
        ):
            return "the address is never granted"
        if not address.is_global and not private_hosts:
            return "the address is private"
    elif (host == "localhost" or host.endswith(".localhost")) and not private_hosts:
        return "the address is private"
    return ""


def _headers(granted: Mapping[str, list[str]]) -> dict[str, str]:
    resources = granted.get("resourceDomains", [])
    connects = granted.get("connectDomains", [])
    frames = granted.get("frameDomains", [])
    bases = granted.get("baseUriDomains", [])
    directives = {
        "sandbox": SANDBOX.split(),
        "default-src": ["'none'"],
        "script-src": ["'unsafe-inline'", "data:", "blob:", *resources],
        "style-src": ["'unsafe-inline'", *resources],
        "img-src": ["data:", "blob:", *resources],
        "media-src": ["data:", "blob:", *resources],
        "font-src": ["data:", *resources],
        "worker-src": ["blob:", "data:"],
        "connect-src": connects or ["'none'"],
        "frame-src": frames or ["'none'"],
        "child-src": frames or ["'none'"],
        "base-uri": bases or ["'none'"],
        "object-src": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'self'"],
    }
    reached = dict.fromkeys([*resources, *connects, *frames])
    return {
        "Content-Security-Policy": "; ".join(
            f"{name} {' '.join(values)}" for name, values in directives.items()
        ),
        # Closes what no CSP directive does: navigation, WebRTC, preconnect (Chromium 156).
        "Connection-Allowlist": "(" + " ".join(f'"{origin}"' for origin in reached) + ")",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "X-DNS-Prefetch-Control": "off",
        "X-Frame-Options": "SAMEORIGIN",
        "Cross-Origin-Resource-Policy": "same-origin",
        # A sandboxed document opened in a tab of its own is refused under any other value.
        "Cross-Origin-Opener-Policy": "unsafe-none",
        "Cache-Control": "private, no-store",
    }
