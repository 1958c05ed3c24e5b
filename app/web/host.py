"""The ``Host`` header, checked before it is written into another header."""

import re
from dataclasses import dataclass

from starlette.types import Scope

from app.errors import VitrineError

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"({_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]{{2,45}}\])(?::([0-9]{{1,5}}))?")
_MAX_LENGTH = 260


@dataclass(frozen=True, slots=True)
class Host:
    """``name`` in lower case, an IPv6 address with its brackets; ``port`` None when not given."""

    name: str
    port: int | None

    def __str__(self) -> str:
        return self.name if self.port is None else f"{self.name}:{self.port}"


def parse_host(text: str) -> Host | None:
    """``text`` as ``name[:port]``, or None. Stricter than RFC 3986: no user, no percent-encoding,
    nothing that could end a directive of a content security policy.
    """
    match = _HOST.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        return None
    port = int(match[2]) if match[2] else None
    if port is not None and not 0 < port < 65536:
        return None
    return Host(match[1].lower(), port)


def host_of(scope: Scope) -> Host:
    """The request's host. Raises ``VitrineError`` 400 when it is missing, doubled or malformed."""
    values = [value for name, value in scope["headers"] if name == b"host"]
    host = parse_host(values[0].decode("latin-1")) if len(values) == 1 else None
    if host is None:
        raise VitrineError(400, "The request's Host header is not a plain host name and port.")
    return host
