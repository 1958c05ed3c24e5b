"""The cookie of a signed-in browser."""

from typing import Final

from starlette.requests import HTTPConnection
from starlette.responses import Response

from app.web.host import host_of
from app.web.urls import base_path

_NAME: Final = "vitrine"


def cookie_name(connection: HTTPConnection) -> str:
    """``vitrine``, with the port where the address has one: browsers share cookies between the
    ports of a host, and two Vitrines on one machine would sign each other out.

    ``__Host-`` where the browser can enforce it: TLS, and the whole host is ours.
    """
    port = host_of(connection.scope).port
    name = _NAME if port is None else f"{_NAME}-{port}"
    whole_host = _is_secure(connection) and not base_path(connection.scope)
    return f"__Host-{name}" if whole_host else name


def _is_secure(connection: HTTPConnection) -> bool:
    return connection.scope["scheme"] in ("https", "wss")


def read_token(connection: HTTPConnection) -> str | None:
    return connection.cookies.get(cookie_name(connection)) or None


def set_cookie(connection: HTTPConnection, response: Response, token: str, *, days: int) -> None:
    response.set_cookie(
        cookie_name(connection),
        token,
        max_age=days * 86400,
        path=base_path(connection.scope) or "/",
        secure=_is_secure(connection),
        httponly=True,
        samesite="lax",
    )


def clear_cookie(connection: HTTPConnection, response: Response) -> None:
    response.delete_cookie(
        cookie_name(connection),
        path=base_path(connection.scope) or "/",
        secure=_is_secure(connection),
        httponly=True,
        samesite="lax",
    )
