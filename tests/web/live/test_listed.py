"""A server's new list, told to open pages by the server's own key."""

import asyncio
import json

from app.db.engine import Database
from app.mcp import registry
from app.mcp.target import Target
from app.web.live.listed import Listed
from app.web.live.streams import Stream, Streams

URL = "http://127.0.0.1:9/mcp"


def opened(streams: Streams) -> Stream:
    found = streams.open("s", "login-1")
    assert found is not None
    return found[0]


async def test_the_key_is_that_of_the_panel(database: Database) -> None:
    with database.session() as db:
        server = registry.add_server(db, "demo", URL)
        key = str(server.id)
    streams = Streams()
    stream = opened(streams)
    listed = Listed(database, streams)
    listed(Target(URL, private_ok=True), "resources")
    async for event in stream.read(0, idle_seconds=5):
        assert event is not None
        assert event.name == "listed"
        assert json.loads(event.data) == {"server": key, "what": "resources"}
        break


async def test_a_server_that_is_gone_by_now_is_not_told_of(database: Database) -> None:
    streams = Streams()
    stream = opened(streams)
    listed = Listed(database, streams)
    listed(Target(URL, private_ok=True), "tools")
    await asyncio.wait_for(asyncio.gather(*listed._telling), 5)
    assert list(stream.events) == []


async def test_the_end_waits_for_nobody(database: Database) -> None:
    streams = Streams()
    opened(streams)
    listed = Listed(database, streams)
    listed(Target(URL, private_ok=True), "tools")
    await listed.aclose()
    assert not listed._telling
