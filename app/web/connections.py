"""Ending what Vitrine has open to an MCP server, from a synchronous route."""

from collections.abc import Iterable

import anyio.from_thread
from starlette.requests import HTTPConnection

from app.db import tables
from app.mcp import registry
from app.mcp.target import TRANSPORTS, Target
from app.web.state import fragments_of, hub_of


def targets(servers: Iterable[tables.Server]) -> list[Target]:
    """Where ``servers`` are reached; a stdio server is not. Take them before a change: they are
    what is open now.
    """
    return [registry.target(server) for server in servers if server.transport in TRANSPORTS]


def drop(connection: HTTPConnection, gone: Iterable[Target]) -> None:
    """End the connections to ``gone``, whoever they are as, and forget what those servers listed
    and showed. Call it after the change is committed, so that none is opened again, and in a
    thread of the event loop's pool: connections belong to the loop.
    """
    hub, fragments = hub_of(connection), fragments_of(connection)
    for url in {target.url for target in gone}:
        anyio.from_thread.run_sync(hub.drop_server, url)
        anyio.from_thread.run_sync(fragments.drop_server, url)
