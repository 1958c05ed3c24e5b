"""Servers that crash and come back again and again under many callers: every call ends, as a
result or as an ``McpError``, and nothing is left behind.
"""

import asyncio
import gc
import logging
import random
from typing import Any

import pytest

from app.mcp.errors import McpError
from app.mcp.hub import Hub
from app.mcp.target import SSE, Target
from app.settings import Settings
from tests.mcp.servers import URI, VIEW, Running, start, until

CALLERS = 12
CRASHES = 6


def is_ours(task: asyncio.Task[Any]) -> bool:
    """The killed servers, which run in this process too, leave tasks of their own behind."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and "/app/" in code.co_filename


def port(server: Running) -> int:
    return int(server.url.split(":")[2].split("/")[0])


class Callers:
    """Ask without a pause until they are told to stop, each in its own way."""

    def __init__(self, hub: Hub, where: Target, seed: int) -> None:
        self._hub = hub
        self._where = where
        self._random = random.Random(seed)
        self._stop = False
        self.answered = 0
        self.failed: list[McpError] = []
        self.given_up = 0
        self._tasks = [asyncio.create_task(self._ask()) for _ in range(CALLERS)]

    async def more(self, *, answers: int = 0, failures: int = 0) -> None:
        """Waits for so many, beyond those that there are."""
        answered, failed = self.answered + answers, len(self.failed) + failures
        await until(lambda: self.answered >= answered and len(self.failed) >= failed, seconds=60)

    async def stop(self) -> list[Any]:
        self._stop = True
        return await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask(self) -> None:
        while not self._stop:
            try:
                await self._one()
                self.answered += 1
            except McpError as error:
                self.failed.append(error)
            await asyncio.sleep(self._random.random() * 0.02)

    async def _one(self) -> None:
        hub, where = self._hub, self._where
        match self._random.randrange(6):
            case 0:
                await hub.tools(where)
            case 1:
                assert (await hub.read_resource(where, URI))["contents"][0]["text"] == VIEW
            case 2:
                result = await hub.call_tool(where, "show", {"city": "Rome"})
                assert result["structuredContent"] == {"city": "Rome"}
            case 3:
                await hub.call_tool(where, "steps", {"count": 3}, on_progress=lambda *_: None)
            case 4:
                await hub.call_tool(where, "poll", {"seconds": self._random.random() * 0.1})
            case 5:
                slow = asyncio.create_task(hub.call_tool(where, "poll", {"seconds": 30}))
                await asyncio.sleep(self._random.random() * 0.05)
                if not slow.done():
                    slow.cancel()
                    self.given_up += 1
                await asyncio.gather(slow, return_exceptions=True)


@pytest.mark.parametrize("kind", ["modern", "legacy", "sse"])
async def test_a_server_that_crashes_again_and_again(
    settings: Settings, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    unhandled: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, context: unhandled.append(context))
    chance = random.Random(kind)
    server = await start(kind)
    where = Target(server.url, SSE if kind == "sse" else "streamable-http", private_ok=True)
    # Everything in it has its own limit; together they are far below this one.
    async with asyncio.timeout(300):
        async with Hub(settings, backoff_seconds=0.02, error_seconds=0.02) as hub:
            callers = Callers(hub, where, seed=len(kind))
            for _ in range(CRASHES):
                await callers.more(answers=10)
                await asyncio.sleep(chance.random() * 0.1)
                await server.stop()
                await callers.more(failures=1)
                server = await start(kind, port=port(server))
            await callers.more(answers=50)
            outcomes = await callers.stop()
            # At most the one that stands, whatever ended before it.
            await until(lambda: len(hub._live) <= 1)
            tools = await hub.tools(where)
            assert [task for task in asyncio.all_tasks() if is_ours(task)] != []
        await server.stop()
    assert outcomes == [None] * CALLERS
    assert "show" in tools.tools
    assert callers.given_up > 0
    assert all(error.sentence.endswith(".") for error in callers.failed)
    gc.collect()
    await asyncio.sleep(0)
    assert unhandled == []
    assert [task for task in asyncio.all_tasks() if is_ours(task)] == []
    # The crashing servers run in this process too, and have their own to say.
    ours = [record for record in caplog.records if record.name.startswith(("app", "asyncio"))]
    assert [record.getMessage() for record in ours if record.levelno >= logging.ERROR] == []


async def test_two_credentials_do_not_share_a_fate(settings: Settings) -> None:
    """One owner a server and credential: what ends the one leaves the other."""
    server = await start()
    async with Hub(settings) as hub:
        one, other = (
            Target(server.url, headers=(("Authorization", who),), private_ok=True)
            for who in ("one", "other")
        )
        await hub.tools(one)
        waiting = asyncio.create_task(hub.call_tool(other, "poll", {"seconds": 0.5}))
        await until(lambda: server.seen.running == 1)
        hub.drop(one)
        assert (await waiting)["content"][0]["text"] == "polled"
        assert len(hub._live) <= 2
    await server.stop()
