"""Where somebody wanted to go when they were asked to sign in: one of our own pages, or nowhere."""

import re
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from starlette.requests import Request

from app.web.urls import base_path, route_path

_PLAIN: Final = r"A-Za-z0-9._~!$&'()*+,;=:@%-"
_ADDRESS: Final = re.compile(rf"((?:/[{_PLAIN}]+)*/?)(?:\?[{_PLAIN}/?]*)?")
_MAX_LENGTH: Final = 2_000
# What is no page, and the links that sign somebody in.
_NOT_PAGES: Final = {"sign-in", "sign-out", "static", "fragments", "healthz"}


def is_own_page(base: str, address: str) -> bool:
    """Whether ``address``, a path with or without a query, stays below the base path.

    A list of what is allowed: browsers read a backslash as a slash, drop tabs and line breaks,
    take ``//host`` for another site and resolve ``%2e%2e``.
    """
    match = _ADDRESS.fullmatch(address) if len(address) <= _MAX_LENGTH else None
    if match is None or not match[1].startswith(f"{base}/"):
        return False
    segments = [unquote(segment) for segment in match[1][len(base) + 1 :].split("/")]
    return segments[0] not in _NOT_PAGES and not {".", ".."} & set(segments)


def wanted_page(request: Request) -> str:
    """The address to go to after signing in, or "". On the sign-in page itself it is the query's
    ``next``, which anybody may have written; elsewhere the page that was refused, or that htmx
    asked from.
    """
    base = base_path(request.scope)
    path = route_path(request.scope)
    if path == "/sign-in":
        address = request.query_params.get("next", "")
    elif "hx-request" in request.headers:
        parts = urlsplit(request.headers.get("hx-current-url", ""))
        address = _joined(parts.path, parts.query)
    elif request.method == "GET":
        address = _joined(base + quote(path, safe="/:@!$&'()*+,;=~"), request.url.query)
    else:
        return ""
    return address if address != f"{base}/" and is_own_page(base, address) else ""


def _joined(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path
