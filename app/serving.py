"""Running the web app with uvicorn."""

import asyncio
import resource
from collections.abc import Callable
from socket import socket
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.main import create_app
from app.settings import Settings
from app.web.auth.proxy import SocketPeer

HEAD_SECONDS: Final = 20.0  # that a connection may take to bring a request's head
_FILES: Final = 65_536


class PunctualProtocol(H11Protocol):
    """Closes a connection that brings no whole request head in ``HEAD_SECONDS``.

    uvicorn's own time-out is for a connection that is silent between two requests. One that has
    never sent anything, that drips its head, or that goes on dripping a body after it was
    answered, would stay for ever. A body that is read has its own limit.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._expect_nothing()
        elif self._late is None:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _expect_nothing(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def _allow_many_files() -> None:
    """Each waiting browser and each hanging server is an open file; the usual soft limit of 1,024
    is soon reached, and then nobody is let in.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


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
    _allow_many_files()
    app = create_app(settings)
    config = uvicorn.Config(
        outermost(app, settings),
        http=PunctualProtocol,
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
