"""How long a view's document is kept, and what ends that."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from app.db.engine import Database
from app.mcp.hub import Hub
from app.mcp.target import Target
from app.mcp_apps.fragment import Fragments
from app.settings import Settings
from tests.mcp.servers import Request, Scripted, until

MIME = "text/html;profile=mcp-app"
URI = "ui://x/view"


class Shelf:
    """A server whose documents count how often they were read."""

    def __init__(self, **said: Any) -> None:
        self.said = said
        self.reads = 0

    async def __call__(self, request: Request) -> None:
        if request.message["method"] == "tools/call":
            await request.stream()
            await request.say(request.message["params"]["name"])
            await request.finish({"content": []})
            return
        if request.message["method"] != "resources/read":
            await request.result({"resources": []})
            return
        self.reads += 1
        uri = request.message["params"]["uri"]
        item = {"uri": uri, "mimeType": MIME, "text": f"<p>{self.reads}", "_meta": {"ui": {}}}
        await request.result({"contents": [item], **self.said})


@pytest.fixture
async def kept(settings: Settings, database: Database) -> AsyncIterator[Callable[[Hub], Fragments]]:
    made: list[Fragments] = []

    def make(hub: Hub) -> Fragments:
        made.append(Fragments(hub, database, cache_seconds=300, max_bytes=10_000))
        return made[-1]

    yield make
    for fragments in made:
        await fragments.aclose()


@pytest.fixture
def settings(tmp_path: Any) -> Settings:
    return Settings(data_dir=tmp_path)


async def test_a_server_that_changed_gives_its_documents_anew(
    settings: Settings, kept: Callable[[Hub], Fragments]
) -> None:
    shelf = Shelf()
    fragments: list[Fragments] = []
    async with (
        Scripted(shelf) as server,
        Hub(settings, changed=lambda target, _what: fragments[0].expire(target)) as hub,
    ):
        fragments.append(kept(hub))
        where = Target(server.url, private_ok=True)
        other = Target(server.url, headers=(("Authorization", "another"),), private_ok=True)
        assert (await fragments[0].get(where, URI)).html == "<p>1"
        assert (await fragments[0].get(where, "ui://x/second")).html == "<p>2"
        assert (await fragments[0].get(other, URI)).html == "<p>3"
        for said in ("notifications/tools/list_changed", "notifications/resources/list_changed"):
            before = shelf.reads
            await hub.call_tool(where, said, {})
            await until(lambda: fragments[0]._cache.peek((where.key, URI)) is None)
            assert (await fragments[0].get(where, URI)).html == f"<p>{before + 1}"
            assert (await fragments[0].get(where, "ui://x/second")).html == f"<p>{before + 2}"
        # Another credential's server may be another program altogether.
        assert (await fragments[0].get(other, URI)).html == "<p>3"


async def test_a_document_that_may_not_be_kept_is_soon_read_anew(
    settings: Settings, kept: Callable[[Hub], Fragments], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.mcp.hints.LEAST_SECONDS", 0.2)
    shelf = Shelf(ttlMs=0)
    async with Scripted(shelf) as server, Hub(settings) as hub:
        fragments = kept(hub)
        where = Target(server.url, private_ok=True)
        await fragments.get(where, URI)
        await until(lambda: fragments._cache.peek((where.key, URI)) is None)
        assert (await fragments.get(where, URI)).html == "<p>2"


async def test_a_document_is_kept_where_nothing_is_said(
    settings: Settings, kept: Callable[[Hub], Fragments]
) -> None:
    shelf = Shelf()
    async with Scripted(shelf) as server, Hub(settings) as hub:
        fragments = kept(hub)
        for _ in range(3):
            assert (await fragments.get(Target(server.url, private_ok=True), URI)).html == "<p>1"
