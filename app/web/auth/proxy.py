"""Sign-in by a reverse proxy: the header that names the person, believed from its address only.

What counts is who holds the other end of the socket. ``scope["client"]`` is not that: where
forwarded headers are believed, it is what a header says. ``SocketPeer`` keeps the true one.
"""

from ipaddress import IPv6Address, ip_address
from typing import Final, NamedTuple

from sqlmodel import Session
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.db import tables
from app.db.tables import Role
from app.errors import VitrineError
from app.settings import Settings
from app.web.auth import logins, users
from app.web.auth.users import Person

_PEER: Final = "vitrine.peer"
_ODD: Final = "The reverse proxy did not name one person plainly, so nobody is signed in."


class SocketPeer:
    """Outermost of all, before anything that believes a forwarded header."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            client = scope.get("client")
            scope[_PEER] = client[0] if client else None
        await self.app(scope, receive, send)


class SignedIn(NamedTuple):
    """``begins``: with this request, and not with an earlier one."""

    login: tables.LoginSession
    person: Person
    begins: bool


def vouched_name(scope: Scope, settings: Settings) -> str | None:
    """Whom the reverse proxy names; None where this is not set up, the request comes from
    elsewhere (the header is then anybody's word) or the proxy names nobody.

    Raises ``VitrineError`` 400 where the header is there twice or holds no name.
    """
    if not settings.proxy_user_header or not _is_proxy(scope, settings):
        return None
    values = Headers(scope=scope).getlist(settings.proxy_user_header)
    if not any(value.strip() for value in values):
        return None
    name = users.normal_name(values[0]) if len(values) == 1 else None
    if name is None:
        raise VitrineError(400, _ODD)
    return name


def _is_proxy(scope: Scope, settings: Settings) -> bool:
    try:
        # Without SocketPeer around the application nobody is known, and so nobody is trusted.
        peer = ip_address(scope.get(_PEER) or "")
    except ValueError:
        return False
    if isinstance(peer, IPv6Address):
        peer = peer.ipv4_mapped or peer
    return any(peer in network for network in settings.proxy_networks)


def sign_in(db: Session, name: str, settings: Settings) -> SignedIn:
    """Raises ``VitrineError`` 403 for somebody who is nobody here."""
    user = users.find(db, name)
    if user is None and name == users.OPERATOR:
        # Whoever runs the proxy may call the first person by that name.
        user = users.operator(db) if users.find_operator(db) is None else None
    if user is None and settings.proxy_new_users == "viewer":
        try:
            user = users.add(db, name, Role.VIEWER)
        except VitrineError:  # another request was first
            user = users.named(db, name)
    if user is None:
        raise VitrineError(
            403,
            f"The reverse proxy signed you in as {name}, who is not known here. An operator can "
            "add that name under Settings, People, or with vitrine user add.",
        )
    login, begins = logins.of_proxy(db, user.id, days=settings.login_days)
    return SignedIn(login, Person.of(user), begins)
