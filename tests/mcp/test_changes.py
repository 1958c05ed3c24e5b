"""A server whose lists have changed is asked anew, and so is one whose answers are out of date."""

import asyncio
from typing import Any

import httpx2
import pytest

from app.mcp import hints, notices
from app.mcp.hub import Hub
from app.mcp.target import SSE, Target
from app.settings import Settings
from tests.mcp.scripts import ERAS, pages, target
from tests.mcp.servers import MODERN, Request, Running, Scripted, running, until

Heard = list[tuple[Target, str]]


def place(server: Running) -> Target:
    return Target(
        server.url, SSE if server.url.endswith("/sse") else "streamable-http", private_ok=True
    )


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "CHANGED_SECONDS", 0.05)


async def listening(server: Running, kind: str) -> None:
    """Until the stream stands on which the server speaks unasked."""
    if kind == "modern":
        await until(lambda: "subscriptions/listen" in server.seen.calls)
    elif kind == "legacy":
        await until(lambda: server.seen.standing)
    # The stream is there a moment before the server has written it down.
    await asyncio.sleep(0.2)


@pytest.mark.parametrize("kind", ["modern", "legacy", "sse"])
async def test_what_a_server_has_learnt_is_found_at_once(settings: Settings, kind: str) -> None:
    heard: Heard = []
    async with (
        running(kind) as server,
        Hub(settings, changed=lambda *change: heard.append(change)) as hub,
    ):
        where = place(server)
        before = await hub.tools(where)
        assert "new" not in before.tools
        await hub.list_resources(where)
        await listening(server, kind)
        await hub.call_tool(where, "learn", {"name": "new"})
        await until(lambda: {what for _, what in heard} == {"tools", "resources"})
        assert {told for told, _ in heard} == {where}
        assert hub.peek_tools(where) is None
        assert hub.peek_tools_stale(where) is before
        assert "new" in (await hub.tools(where)).tools
        assert "test://new" in [entry["uri"] for entry in await hub.list_resources(where)]


def cached(hub: Hub, where: Target) -> list[bool]:
    caches = (hub._tools, hub._resources, hub._templates)
    return [cache.peek(where.key) is not None for cache in caches]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("method", "kept"),
    [
        ("notifications/tools/list_changed", [False, True, True]),
        ("notifications/resources/list_changed", [True, False, False]),
        ("notifications/prompts/list_changed", [True, True, True]),
    ],
)
async def test_only_what_changed_is_forgotten(
    settings: Settings, era: str, method: str, kept: list[bool]
) -> None:
    async def answer(request: Request) -> None:
        if request.message["method"] == "tools/call":
            await request.stream()
            await request.say(method)
            await request.say("notifications/message", level="info", data="done")
            await request.finish({"content": []})
        else:
            lists: dict[str, Any] = {"tools": [], "resources": [], "resourceTemplates": []}
            await request.result(lists)

    other = Target("http://127.0.0.1:1/mcp", private_ok=True)
    heard: Heard = []
    async with (
        Scripted(answer, era) as server,
        Hub(settings, changed=lambda *change: heard.append(change)) as hub,
    ):
        where = target(server)
        elsewhere = target(server, "Bearer of another")
        for one in (where, elsewhere):
            await hub.tools(one)
            await hub.list_resources(one)
            await hub.list_resource_templates(one)
        assert cached(hub, where) == [True, True, True]
        await hub.call_tool(where, "t", {})
        await until(lambda: cached(hub, where) == kept)
        assert cached(hub, elsewhere) == [True, True, True]
        assert cached(hub, other) == [False, False, False]
        assert [what for _, what in heard] == (
            [] if all(kept) else ["tools" if not kept[0] else "resources"]
        )


async def test_a_server_that_cannot_stop_saying_so_is_not_asked_each_time(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "CHANGED_SECONDS", 60)

    async def answer(request: Request) -> None:
        await request.stream()
        for _ in range(200):
            await request.say("notifications/tools/list_changed")
        await request.finish({"content": []})

    heard: Heard = []
    async with (
        Scripted(answer) as server,
        Hub(settings, changed=lambda *change: heard.append(change)) as hub,
    ):
        await hub.call_tool(target(server), "t", {})
        assert len(heard) == 1
        hub.drop(target(server))
        await until(lambda: not hub._live)
    # The last word is not lost with the connection.
    assert len(heard) == 2


async def test_a_subscription_that_ends_is_opened_again_and_the_lists_with_it(
    settings: Settings,
) -> None:
    """What was said while none stood is not known."""
    opened = 0

    async def answer(request: Request) -> None:
        nonlocal opened
        if request.message["method"] != "subscriptions/listen":
            await request.result({"tools": []})
            return
        opened += 1
        await request.stream()
        if opened == 1:
            request.cut()
            return
        await request.acknowledge()
        if opened == 2:
            request.writer.close()
            return
        await request.hang()

    heard: Heard = []
    async with (
        Scripted(answer, capabilities={"tools": {"listChanged": True}}) as server,
        Hub(settings, changed=lambda *change: heard.append(change), backoff_seconds=0.05) as hub,
    ):
        await hub.tools(target(server))
        # The first never stood: nothing was listed before it that could have changed since.
        await until(lambda: opened == 3)
        await until(lambda: heard)
        assert {what for _, what in heard} == {"tools"}
        assert (await hub.tools(target(server))).tools == {}


async def test_a_server_that_offers_no_subscription_is_not_asked_for_one(hub: Hub) -> None:
    async with Scripted(pages(lambda _: {"tools": []})) as server:
        await hub.tools(target(server))
        await asyncio.sleep(0.1)
        assert "subscriptions/listen" not in server.seen.calls


async def test_a_server_that_refuses_the_subscription_it_offered_is_asked_once(
    settings: Settings,
) -> None:
    async def answer(request: Request) -> None:
        if request.message["method"] == "subscriptions/listen":
            await request.error(404, -32601, "Method not found")
        else:
            await request.result({"tools": []})

    async with (
        Scripted(answer, capabilities={"tools": {"listChanged": True}}) as server,
        Hub(settings, backoff_seconds=0.01) as hub,
    ):
        await hub.tools(target(server))
        await until(lambda: "subscriptions/listen" in server.seen.calls)
        await asyncio.sleep(0.2)
        assert server.seen.calls.count("subscriptions/listen") == 1


async def test_a_connection_that_only_listens_is_idle(settings: Settings) -> None:
    """It is not opened again to listen either: that waits until somebody asks."""
    async with running("modern") as server, Hub(settings, idle_seconds=0.3) as hub:
        await hub.tools(place(server))
        await until(lambda: "subscriptions/listen" in server.seen.calls)
        await until(lambda: not hub._live)
        calls = len(server.seen.calls)
        await asyncio.sleep(0.5)
        assert len(server.seen.calls) == calls


async def test_a_stream_that_ends_at_once_is_not_opened_without_a_pause(hub: Hub) -> None:
    """A server of the handshake era that says ``retry: 0`` and hangs up."""

    async def standing(request: Request) -> None:
        await request.stream()
        request.writer.write(b"retry: 0\ndata:\n\n")
        await request.writer.drain()
        request.writer.close()

    async with Scripted(pages(lambda _: {"tools": []}), "2025-11-25") as server:
        server.standing = standing
        await hub.tools(target(server))
        await until(lambda: server.seen.calls.count("GET") == 2)
        await asyncio.sleep(0.5)
        assert server.seen.calls.count("GET") <= 3


@pytest.mark.parametrize("kind", ["modern", "legacy"])
async def test_a_server_may_say_nothing_for_hours(settings: Settings, kind: str) -> None:
    """What it speaks on unasked has no read time-out; a call still has one."""
    waits: dict[str, float | None] = {}

    class Noted(httpx2.AsyncBaseTransport):
        def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
            self._inner = inner

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            is_standing = request.method == "GET" or b"subscriptions/listen" in request.content
            wait = request.extensions["timeout"]["read"]
            waits["standing" if is_standing else "other"] = wait
            return await self._inner.handle_async_request(request)

        async def aclose(self) -> None:
            await self._inner.aclose()

    async with running(kind) as server, Hub(settings, around=Noted) as hub:
        await hub.tools(place(server))
        await until(lambda: "standing" in waits)
    assert waits["standing"] is None
    assert waits["other"] is not None


# Hints


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("hint", "seconds"),
    [
        (10_000, 10),
        (0, hints.LEAST_SECONDS),
        (-5, hints.LEAST_SECONDS),
        (2_500.5, hints.LEAST_SECONDS),
        (10_000_000_000, 300),
        (10**400, 300),
        ("10000", 300),
        (None, 300),
        (True, 300),
        ([1], 300),
    ],
    ids=lambda value: str(value)[:12],
)
async def test_a_hint_shortens_and_never_lengthens(
    settings: Settings, hint: object, seconds: float
) -> None:
    clock = Clock()
    script = pages(lambda _: {"tools": [], "resources": [], "resourceTemplates": [], "ttlMs": hint})
    async with Scripted(script) as server, Hub(settings, clock=clock) as hub:
        where = target(server)
        for read in (hub.tools, hub.list_resources, hub.list_resource_templates):
            before = len(server.seen.calls)
            await read(where)
            await read(where)
            asked = len(server.seen.calls)
            clock.now += seconds * 0.7
            await read(where)
            assert len(server.seen.calls) == asked > before
            clock.now += seconds * 0.31
            await read(where)
            assert len(server.seen.calls) == asked + 1
            clock.now += 1_000


async def test_the_shortest_hint_of_all_pages_counts(settings: Settings) -> None:
    def answer(cursor: str | None) -> object:
        if cursor:
            return {"tools": [], "ttlMs": 5_000}
        return {"tools": [], "ttlMs": 60_000, "nextCursor": "2"}

    clock = Clock()
    async with Scripted(pages(answer)) as server, Hub(settings, clock=clock) as hub:
        await hub.tools(target(server))
        clock.now = 5.1
        assert hub.peek_tools(target(server)) is None
        assert hub.peek_tools_stale(target(server)) is not None


async def test_ten_panels_at_once_cost_one_listing_though_nothing_may_be_kept(
    settings: Settings,
) -> None:
    clock = Clock()
    script = pages(lambda _: {"tools": [], "ttlMs": 0, "cacheScope": "private"})
    async with Scripted(script, MODERN) as server, Hub(settings, clock=clock) as hub:
        await asyncio.gather(*(hub.tools(target(server)) for _ in range(10)))
        for _ in range(10):
            clock.now += 0.2
            await hub.tools(target(server))
        assert server.seen.calls.count("tools/list") == 1


@pytest.mark.parametrize("scope", ["public", "private", "?", None])
async def test_whatever_the_scope_says_nothing_is_shared_between_credentials(
    hub: Hub, scope: object
) -> None:
    script = pages(lambda _: {"tools": [], "ttlMs": 60_000, "cacheScope": scope})
    async with Scripted(script) as server:
        await hub.tools(target(server))
        await hub.tools(target(server, "Bearer of another"))
        assert server.seen.calls.count("tools/list") == 2
