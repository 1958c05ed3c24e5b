"""Addresses of Vitrine's own pages: path only, right behind a proxy that strips a base path.

No scheme and no host: a forwarded scheme that is wrong must not break a link.
"""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from starlette.requests import HTTPConnection
from starlette.types import Scope


def base_path(scope: Scope) -> str:
    """The base path (``--root-path``) as it goes into an address or a header: percent-encoded,
    without a trailing slash, empty when there is none.
    """
    # Inside a mounted application root_path includes the mount; app_root_path never does.
    raw = scope.get("app_root_path", scope.get("root_path", ""))
    return quote(raw.rstrip("/"), safe="/")


def route_path(scope: Scope) -> str:
    """The path that the router matches: the request's without the base path.

    The same rule as ``starlette._utils.get_route_path``, which is private; a test compares them.
    """
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/"):
        return path[len(root) :]
    return path


def link(connection: HTTPConnection, name: str, /, query: object = None, **params: object) -> str:
    """The path of the route called ``name``. ``query`` is a mapping; its empty values are left out.

    Path parameters are percent-encoded, slashes too: some hold an agent's own ids.
    """
    return with_query(path_of(connection, name, params), query)


def path_of(connection: HTTPConnection, name: str, params: Mapping[str, object]) -> str:
    """The path of the route called ``name``, without a query."""
    quoted = {key: quote(str(value), safe="", errors="replace") for key, value in params.items()}
    return base_path(connection.scope) + str(connection.app.url_path_for(name, **quoted))


def with_query(address: str, query: object) -> str:
    """``address`` with what a mapping holds as its query; empty values are left out."""
    if isinstance(query, dict):
        kept = {key: value for key, value in query.items() if value not in (None, "")}
        if kept:
            return f"{address}?{urlencode(kept, errors='replace')}"
    return address
