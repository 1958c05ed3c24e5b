"""A broken answer, a redirect, a lost session: each is the matter of its own request."""

import asyncio
import json
import logging
from typing import Any

import pytest

from app.mcp.errors import (
    ConnectionDropped,
    InputRequired,
    McpError,
    ServerForbidden,
    ServerGarbage,
    ServerRejected,
    ServerTooLarge,
    ServerUnreachable,
    UnsendableRequest,
)
from app.mcp.hub import Hub
from app.mcp.target import Target
from tests.mcp.scripts import (
    ERAS,
    SECRET,
    a_notification,
    a_number,
    accepted,
    another_id,
    call,
    compressed,
    content_not_a_list,
    deep,
    drop_at_once,
    drop_mid_body,
    drop_mid_stream,
    end_stream_without_answer,
    endless_stream,
    forbidden,
    html,
    html_500,
    huge,
    huge_stream,
    input_required,
    json_500,
    nan,
    not_found,
    not_json,
    nothing,
    redirect_to_http,
    stream_of_rubbish,
    target,
)
from tests.mcp.servers import (
    LEGACY,
    Request,
    Script,
    Scripted,
    until,
)

BROKEN: list[tuple[Script, type[McpError]]] = [
    (drop_at_once, ConnectionDropped),
    (drop_mid_body, ConnectionDropped),
    (drop_mid_stream, ConnectionDropped),
    (end_stream_without_answer, ConnectionDropped),
    (not_json, ServerGarbage),
    (html, ServerGarbage),
    (html_500, ServerGarbage),
    (json_500, ServerGarbage),
    (not_found, ServerGarbage),
    (accepted, ServerGarbage),
    (nothing, ServerGarbage),
    (a_number, ServerGarbage),
    (another_id, ServerGarbage),
    (a_notification, ServerGarbage),
    (nan, ServerGarbage),
    (deep, ServerGarbage),
    (stream_of_rubbish, ServerGarbage),
    (content_not_a_list, ServerGarbage),
    (compressed, ServerGarbage),
    (redirect_to_http, ServerGarbage),
    (forbidden, ServerForbidden),
    (huge, ServerTooLarge),
    (huge_stream, ServerTooLarge),
    (endless_stream, ServerTooLarge),
    (input_required, InputRequired),
]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("script", "expected"), BROKEN, ids=lambda one: one.__name__)
async def test_a_broken_answer_breaks_its_own_call_only(
    hub: Hub, era: str, script: Script, expected: type[McpError]
) -> None:
    """The call that is under way beside it, and the next one, end well on the same client."""
    release = asyncio.Event()

    async def by_name(request: Request) -> None:
        name = request.message["params"]["name"]
        if name == "broken":
            await script(request)
            return
        if name == "waits":
            await release.wait()
        await request.result({"content": [], "name": name})

    async with Scripted(by_name, era) as server:
        where = target(server)
        beside = asyncio.create_task(hub.call_tool(where, "waits", {}))
        await until(lambda: "tools/call" in server.seen.calls)
        with pytest.raises(McpError) as caught:
            await hub.call_tool(where, "broken", {})
        assert type(caught.value) is expected
        assert caught.value.sentence.endswith(".")
        assert SECRET not in str(caught.value)
        release.set()
        assert (await beside)["name"] == "waits"
        assert (await hub.call_tool(where, "next", {}))["name"] == "next"
        assert server.seen.calls.count("server/discover") == 1
        # Sent once, whatever became of it.
        assert server.seen.calls.count("tools/call") == 3


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ({}, "The server's answer holds no list of contents."),
        ({"contents": "text"}, "The server's answer holds no list of contents."),
        ({"contents": ["text"]}, "The server's answer holds no list of contents."),
    ],
)
async def test_contents_must_be_a_list_of_objects(
    hub: Hub, era: str, result: object, sentence: str
) -> None:
    async def answer(request: Request) -> None:
        await request.result(result)

    async with Scripted(answer, era) as server:
        with pytest.raises(ServerGarbage) as caught:
            await hub.read_resource(target(server), "ui://x")
    assert caught.value.sentence == sentence


@pytest.mark.parametrize("era", ERAS)
async def test_unknown_keys_and_blocks_are_kept(hub: Hub, era: str) -> None:
    whole = {
        "content": [{"type": "hologram", "x": None}],
        "structuredContent": [1, None],
        "_meta": {"k": {"deep": [True]}},
        "future": {"a": 1},
        "isError": True,
    }

    async def answer(request: Request) -> None:
        await request.result(whole)

    async with Scripted(answer, era) as server:
        assert await call(hub, target(server)) == whole


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("status", [200, 400, 404, 500])
async def test_the_servers_own_error_comes_as_it_was(hub: Hub, era: str, status: int) -> None:
    async def answer(request: Request) -> None:
        await request.error(status, -32602, "no such <b>tool</b>", {"hint": [1]})

    async with Scripted(answer, era) as server:
        with pytest.raises(ServerRejected) as caught:
            await call(hub, target(server))
    assert (caught.value.code, caught.value.message) == (-32602, "no such <b>tool</b>")
    assert caught.value.data == {"hint": [1]}


# Redirects


async def test_credentials_never_follow_a_redirect_to_another_origin(hub: Hub) -> None:
    async with Scripted(html) as other:

        async def away(request: Request) -> None:
            await request.answer(307, b"", location=other.url)

        async with Scripted(away) as server:
            with pytest.raises(ServerGarbage) as caught:
                await call(hub, target(server))
            server.opening = away
            hub.drop(target(server))
            with pytest.raises(ServerGarbage):
                await call(hub, target(server))
        assert caught.value.sentence == "The server redirects to another address."
        assert other.seen.sockets == 0


async def test_a_redirect_within_the_origin_is_followed(hub: Hub) -> None:
    async def slash(request: Request) -> None:
        if request.path.endswith("/"):
            await request.result({"content": []})
        else:
            await request.answer(307, b"", location="/mcp/")

    async with Scripted(slash) as server:
        assert await call(hub, Target(server.url, private_ok=True)) == {"content": []}


# Sessions and sending again


@pytest.mark.parametrize(
    "refusal",
    [(404, -32600, "Session not found"), (400, -32000, "Bad Request: No valid session ID")],
)
async def test_a_lost_session_is_opened_anew_once(hub: Hub, refusal: tuple[int, int, str]) -> None:
    lost = 1

    async def answer(request: Request) -> None:
        nonlocal lost
        if lost:
            lost -= 1
            await request.error(*refusal)
        elif request.message["method"] == "tools/call":
            await request.result({"content": []})
        else:
            await request.result({"tools": []})

    async with Scripted(answer, LEGACY) as server:
        await hub.tools(target(server))
        assert server.seen.calls.count("initialize") == 2
        lost = 1
        assert await call(hub, target(server)) == {"content": []}
        assert server.seen.calls.count("initialize") == 3
        lost = 2
        with pytest.raises(ServerUnreachable):
            await call(hub, target(server))


@pytest.mark.parametrize("era", ERAS)
async def test_a_read_is_sent_again_where_a_call_is_not(hub: Hub, era: str) -> None:
    drops = 1

    async def answer(request: Request) -> None:
        nonlocal drops
        if drops:
            drops -= 1
            request.cut()
            return
        await request.result({"contents": [], "content": []})

    async with Scripted(answer, era) as server:
        where = target(server)
        await hub.read_resource(where, "ui://x")
        assert server.seen.calls.count("resources/read") == 2
        drops = 1
        with pytest.raises(ConnectionDropped):
            await call(hub, where)
        assert server.seen.calls.count("tools/call") == 1
        drops = 9
        with pytest.raises(ConnectionDropped):
            await hub.read_resource(where, "ui://x")
        assert drops == 7


# What is sent


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("t", {"a": "\ud800"}),
        ("t", {"\udfff": 1}),
        ("t", {"a": float("nan")}),
        ("t", {"a": float("inf")}),
        ("t\ud800", {}),
        ("t", {"a": json.loads("[" * 400 + "]" * 400)}),
        ("t", {"a": object()}),
    ],
    ids=["surrogate", "key", "nan", "inf", "name", "deep", "object"],
)
async def test_what_json_cannot_hold_is_refused_before_it_is_sent(
    hub: Hub, name: str, arguments: dict[str, Any]
) -> None:
    async def answer(request: Request) -> None:
        await request.result({"content": []})

    async with Scripted(answer) as server:
        await call(hub, target(server))
        with pytest.raises(UnsendableRequest):
            await hub.call_tool(target(server), name, arguments)
        await call(hub, target(server))
        assert server.seen.calls == ["server/discover", "tools/call", "tools/call"]


@pytest.mark.parametrize("era", ERAS)
async def test_nothing_secret_or_foreign_is_logged(
    hub: Hub, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for script in (not_json, html_500, stream_of_rubbish, drop_mid_body, huge):
        async with Scripted(script, era) as server:
            with pytest.raises(McpError):
                await call(hub, target(server))
            hub.drop(target(server))
            server.opening = script
            with pytest.raises(McpError):
                await call(hub, target(server))
    assert SECRET not in caplog.text
    assert "Bearer hidden" not in caplog.text
    assert "not json" not in caplog.text
