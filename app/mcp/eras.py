"""Which protocol a server was last spoken to in, so that the next connection need not try twice.

A server of the handshake era answers the first try, ``server/discover``, with an error; one that
is remembered as such is greeted with ``initialize`` at once. The later era needs no memory: there
the first try is the greeting.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Final

import anyio.to_thread
from cachetools import LRUCache, TTLCache
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from sqlmodel import Session, select

from app.db import tables
from app.db.engine import Database
from app.mcp.target import Target

# A server that speaks both is greeted in the older way for so long after it learnt the newer one.
BELIEVED_SECONDS: Final = 86_400

Recall = Callable[[Target], Awaitable[str | None]]
Learn = Callable[[Target, str], Awaitable[None]]


async def _nothing(_target: Target) -> None:
    return None


async def _nobody(_target: Target, _protocol: str) -> None:
    return None


class Eras:
    """``recall`` asks the durable memory, ``learn`` tells it what has changed."""

    def __init__(
        self,
        *,
        recall: Recall = _nothing,
        learn: Learn = _nobody,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._recall = recall
        self._learn = learn
        self._known: TTLCache[tuple[str, str], str | None] = TTLCache(512, BELIEVED_SECONDS, clock)
        # What the durable memory holds, which outlives belief.
        self._kept: LRUCache[tuple[str, str], str | None] = LRUCache(512)

    async def of(self, target: Target) -> str | None:
        """The protocol version that ``target`` agreed to last, unless that is long ago."""
        place = (target.url, target.transport)
        if place not in self._kept:
            self._kept[place] = self._known[place] = await self._recall(target)
        return self._known.get(place)

    async def learned(self, target: Target, protocol: str) -> None:
        """``target`` has agreed to ``protocol``."""
        place = (target.url, target.transport)
        if self._known.get(place) != protocol:
            self._known[place] = protocol
        if self._kept.get(place) != protocol:
            self._kept[place] = protocol
            await self._learn(target, protocol)

    def forget(self, target: Target) -> None:
        place = (target.url, target.transport)
        self._known.pop(place, None)
        self._kept.pop(place, None)


def is_handshake(protocol: str | None) -> bool:
    return protocol in HANDSHAKE_PROTOCOL_VERSIONS


def kept_in(database: Database) -> Eras:
    """What the servers' rows say. A server without a row is remembered while Vitrine runs."""

    def load(url: str, transport: str) -> str | None:
        with database.session() as db:
            server = _row(db, url, transport)
            return server.protocol if server is not None else None

    def save(url: str, transport: str, protocol: str) -> None:
        with database.session() as db:
            server = _row(db, url, transport)
            if server is not None:
                server.protocol = protocol
                db.add(server)

    async def recall(target: Target) -> str | None:
        return await anyio.to_thread.run_sync(load, target.url, target.transport)

    async def learn(target: Target, protocol: str) -> None:
        await anyio.to_thread.run_sync(save, target.url, target.transport, protocol)

    return Eras(recall=recall, learn=learn)


def _row(db: Session, url: str, transport: str) -> tables.Server | None:
    query = select(tables.Server).where(
        tables.Server.url == url, tables.Server.transport == transport
    )
    return db.exec(query).one_or_none()
