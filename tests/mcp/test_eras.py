"""Each server is greeted in the era that it was last known to speak."""

from collections.abc import Callable

import pytest
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.mcp import eras, registry
from app.mcp.eras import BELIEVED_SECONDS, Eras
from app.mcp.errors import McpError, ServerRejected, ServerUnreachable
from app.mcp.hub import Hub
from app.mcp.target import Target
from app.settings import Settings
from tests.mcp.scripts import html, pages, target
from tests.mcp.servers import LEGACY, MODERN, Request, Scripted, free_port, running, until


class Memory:
    """A durable memory that counts what it is asked and told."""

    def __init__(self, protocol: str | None = None) -> None:
        self.protocol = protocol
        self.recalled = 0
        self.learnt: list[str] = []

    async def recall(self, _target: Target) -> str | None:
        self.recalled += 1
        return self.protocol

    async def learn(self, _target: Target, protocol: str) -> None:
        self.learnt.append(protocol)
        self.protocol = protocol

    def eras(self, clock: Callable[[], float] = lambda: 0.0) -> Eras:
        return Eras(recall=self.recall, learn=self.learn, clock=clock)


def greetings(server: Scripted) -> list[str]:
    return [call for call in server.seen.calls if call in ("server/discover", "initialize")]


async def reconnect(hub: Hub, where: Target) -> None:
    connection = hub._connections[where.key]
    connection.stop()
    await until(lambda: connection not in hub._live)
    hub.forget(where)
    await hub.tools(where)


TOOLS = pages(lambda _: {"tools": []})


@pytest.mark.parametrize(
    ("era", "first", "second"),
    [
        (LEGACY, ["server/discover", "initialize"], ["initialize"]),
        (MODERN, ["server/discover"], ["server/discover"]),
    ],
)
async def test_the_second_connection_tries_once(
    settings: Settings, era: str, first: list[str], second: list[str]
) -> None:
    memory = Memory()
    async with Scripted(TOOLS, era) as server, Hub(settings, eras=memory.eras()) as hub:
        await hub.tools(target(server))
        assert greetings(server) == first
        await reconnect(hub, target(server))
        assert greetings(server) == first + second
        await until(lambda: memory.learnt)
        assert memory.learnt == [era]
        assert memory.recalled == 1


async def test_what_was_known_before_a_start_saves_the_first_try(settings: Settings) -> None:
    memory = Memory(LEGACY)
    async with Scripted(TOOLS, LEGACY) as server, Hub(settings, eras=memory.eras()) as hub:
        await hub.tools(target(server))
        assert greetings(server) == ["initialize"]
    assert memory.learnt == []


@pytest.mark.parametrize("status", [200, 400, 404, 405])
async def test_a_server_that_speaks_another_era_now_is_learnt_anew(
    settings: Settings, status: int
) -> None:
    memory = Memory(LEGACY)

    async def opening(request: Request) -> None:
        if request.message["method"] == "initialize":
            if status == 405:
                await html_of(request, status)
            else:
                await request.error(status, -32601, "Method not found")
        else:
            await server._open(request)

    async with Scripted(TOOLS, MODERN) as server, Hub(settings, eras=memory.eras()) as hub:
        server.opening = opening
        index = await hub.tools(target(server))
        assert index.tools == {}
        assert greetings(server) == ["initialize", "server/discover"]
        await until(lambda: memory.learnt == [MODERN])
        await reconnect(hub, target(server))
        assert greetings(server)[2:] == ["server/discover"]


async def html_of(request: Request, status: int) -> None:
    await request.answer(status, b"<h1>No</h1>", "text/html")


async def test_a_server_that_went_back_to_the_handshake_is_learnt_anew(settings: Settings) -> None:
    memory = Memory(MODERN)
    async with Scripted(TOOLS, LEGACY) as server, Hub(settings, eras=memory.eras()) as hub:
        await hub.tools(target(server))
        await until(lambda: memory.learnt == [LEGACY])
        await reconnect(hub, target(server))
        assert greetings(server) == ["server/discover", "initialize", "initialize"]


async def test_a_handshake_is_believed_in_for_a_day(settings: Settings) -> None:
    """A server that speaks both meanwhile is found out."""
    now = 0.0
    memory = Memory(LEGACY)
    async with (
        Scripted(TOOLS, LEGACY) as server,
        Hub(settings, eras=memory.eras(lambda: now)) as hub,
    ):
        await hub.tools(target(server))
        now = BELIEVED_SECONDS - 1
        await reconnect(hub, target(server))
        now = BELIEVED_SECONDS + 1
        await reconnect(hub, target(server))
        assert greetings(server) == ["initialize", "initialize", "server/discover", "initialize"]
        await reconnect(hub, target(server))
        assert greetings(server)[4:] == ["initialize"]
    assert memory.learnt == []
    assert memory.recalled == 1


async def test_a_dead_server_is_tried_once_and_says_nothing_about_its_era(
    settings: Settings,
) -> None:
    memory = Memory(LEGACY)
    where = Target(f"http://127.0.0.1:{free_port()}/mcp", private_ok=True)
    async with Hub(settings, eras=memory.eras()) as hub:
        with pytest.raises(ServerUnreachable):
            await hub.tools(where)
        assert await memory.eras().of(where) == LEGACY
    assert memory.learnt == []


async def test_the_servers_own_refusal_comes_through_both_tries(settings: Settings) -> None:
    async def refuse(request: Request) -> None:
        await request.error(200, -32002, "closed on Sundays")

    memory = Memory(LEGACY)
    async with Scripted(html) as server, Hub(settings, eras=memory.eras()) as hub:
        server.opening = refuse
        with pytest.raises(ServerRejected) as caught:
            await hub.tools(target(server))
    assert caught.value.message == "closed on Sundays"


async def test_a_memory_that_fails_fails_no_call(settings: Settings) -> None:
    async def fails(_target: Target, _protocol: str) -> None:
        raise OSError("the disk is full")

    async with Scripted(TOOLS) as server, Hub(settings, eras=Eras(learn=fails)) as hub:
        assert (await hub.tools(target(server))).tools == {}


async def test_a_server_that_is_dropped_is_recalled_anew(settings: Settings) -> None:
    memory = Memory()
    async with Scripted(TOOLS) as server, Hub(settings, eras=memory.eras()) as hub:
        await hub.tools(target(server))
        hub.drop(target(server))
        await hub.tools(target(server))
    assert memory.recalled == 2


@pytest.mark.parametrize("kind", ["modern", "legacy", "sse"])
async def test_the_era_is_kept_in_the_servers_row(
    settings: Settings, database: Database, kind: str
) -> None:
    async with running(kind) as server:
        transport = "sse" if kind == "sse" else "streamable-http"
        with database.session() as db:
            where = registry.target(registry.add_server(db, "clock", server.url, transport))
        async with Hub(settings, eras=eras.kept_in(database)) as hub:
            await hub.tools(where)
        assert protocol_of(database) == (LEGACY if kind == "legacy" else MODERN)
        server.seen.calls.clear()
        async with Hub(settings, eras=eras.kept_in(database)) as hub:
            await hub.tools(where)
    first = next(call for call in server.seen.calls if not call.startswith("subscriptions/"))
    assert first == ("initialize" if kind == "legacy" else "server/discover")


def protocol_of(database: Database) -> str | None:
    with database.session() as db:
        return db.exec(select(tables.Server.protocol)).one()


async def test_a_server_without_a_row_is_remembered_while_vitrine_runs(
    settings: Settings, database: Database
) -> None:
    async with (
        Scripted(TOOLS, LEGACY) as server,
        Hub(settings, eras=eras.kept_in(database)) as hub,
    ):
        await hub.tools(target(server))
        await reconnect(hub, target(server))
        assert greetings(server) == ["server/discover", "initialize", "initialize"]


@pytest.mark.parametrize(
    ("url", "transport", "kept"),
    [
        ("", "sse", None),
        ("http://other/mcp", "streamable-http", None),
        ("", "streamable-http", LEGACY),
    ],
)
def test_another_address_may_speak_another_era(
    database: Database, url: str, transport: str, kept: str | None
) -> None:
    with database.session() as db:
        server = registry.add_server(db, "clock", "http://clock/mcp")
        server.protocol = LEGACY
        db.flush()
        assert server.id is not None
        registry.edit_server(db, server.id, url, transport)
    assert protocol_of(database) == kept


async def test_permission_is_asked_after_the_memory(settings: Settings) -> None:
    """Nothing may come between the leave to connect and the connection."""
    order: list[str] = []
    memory = Memory()

    class Asked(Memory):
        async def recall(self, target: Target) -> str | None:
            order.append("memory")
            return await memory.recall(target)

    async def permit(_target: Target) -> bool:
        order.append("permission")
        return False

    async with (
        Scripted(html) as server,
        Hub(settings, permit=permit, eras=Asked().eras()) as hub,
    ):
        with pytest.raises(McpError):
            await hub.tools(target(server))
        assert server.seen.sockets == 0
    assert order == ["memory", "permission"]
