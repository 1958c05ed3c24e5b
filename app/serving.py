"""Running the web app with uvicorn."""

import asyncio
from collections.abc import Callable
from socket import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.main import create_app
from app.settings import Settings
from app.web.auth.proxy import SocketPeer


class _Server(uvicorn.Server):
    """Calls ``announce`` once the socket listens, since a link printed earlier might not work, and
    ``stopping`` before open connections are waited for.
    """

    def __init__(
        self, config: uvicorn.Config, announce: Callable[[], None], stopping: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._announce = announce
        self._stopping = stopping

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            await asyncio.to_thread(self._announce)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        # An open event stream would be waited for.
        self._stopping()
        await super().shutdown(sockets)


def local_url(settings: Settings) -> str:
    """The address to open on this machine, with the base path."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{settings.port}{settings.root_path}"


def outermost(app: ASGIApp, settings: Settings) -> ASGIApp:
    """``app``, told of forwarded headers where they are believed. Whose socket it is is kept
    before, since uvicorn's own setting for this would have replaced it.
    """
    if settings.trusted_proxies:
        trusted: Any = ProxyHeadersMiddleware(app, settings.trusted_proxies)  # type: ignore[arg-type]
        return SocketPeer(trusted)
    return SocketPeer(app)


def run(settings: Settings, announce: Callable[[], None]) -> None:
    """Serve until a signal ends it."""
    app = create_app(settings)
    config = uvicorn.Config(
        outermost(app, settings),
        host=settings.host,
        port=settings.port,
        root_path=settings.root_path,
        # The app writes its own log: this one would hold tickets and sign-in tokens.
        access_log=False,
        server_header=False,
        proxy_headers=False,  # see ``outermost``
        timeout_graceful_shutdown=1,
        log_config=None,
    )
    _Server(config, announce, stopping=app.state.streams.close).run()
