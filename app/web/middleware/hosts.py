"""DNS rebinding: only the hosts that this deployment has are answered.

A page of a stranger's can make its own name point at this address, and is then of one origin with
what answers there. It cannot choose the ``Host`` that the browser sends: that is its own name.
"""

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import VitrineError
from app.settings import Settings
from app.web.host import Host, host_of, parse_host
from app.web.urls import route_path

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_EVERY_ADDRESS: Final = {"0.0.0.0", "::"}  # noqa: S104
# Asked by what watches the process, under whatever address it has there; says nothing.
_ANY_HOST: Final = "/healthz"


class AllowedHosts:
    """``names`` are compared without their ports: a browser cannot be made to leave one out."""

    def __init__(self, settings: Settings) -> None:
        public = urlsplit(settings.public_url).netloc
        listed = [*settings.host_names, public]
        named = [host.name for text in listed if (host := parse_host(text)) is not None]
        bound = parse_host(f"[{settings.host}]" if ":" in settings.host else settings.host)
        own = {bound.name} if bound and settings.host not in _EVERY_ADDRESS else set()
        self.names = frozenset({*_LOOPBACK, *named, *own})
        # Rebinding needs a name: nobody can point an address elsewhere.
        self.any_address = settings.host in _EVERY_ADDRESS and not named

    def __contains__(self, host: Host) -> bool:
        return host.name in self.names or (self.any_address and _is_address(host.name))


def _is_address(name: str) -> bool:
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


class HostCheck:
    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._allowed = AllowedHosts(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and route_path(scope) != _ANY_HOST:
            host = host_of(scope)
            if host not in self._allowed:
                if scope["type"] == "websocket":
                    await send({"type": "websocket.close", "code": 1008})
                    return
                raise VitrineError(
                    421,
                    f"This Vitrine does not go by the name {host.name}. If it should, add that to "
                    "VITRINE_ALLOWED_HOSTS, or set VITRINE_PUBLIC_URL, and start it again.",
                )
        await self.app(scope, receive, send)
