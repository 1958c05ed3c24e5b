"""The transport ``sse`` of the protocol's first years: one stream brings every answer, each
message goes out by a POST of its own.

The SDK has it too, with a reader that takes no event over 1 MiB, which many a view is, and a
writer that sends nothing while one POST is unanswered.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from app import egress
from app.mcp.errors import ServerGarbage

Incoming = MemoryObjectSendStream[SessionMessage | Exception]


@asynccontextmanager
async def sse_transport(url: str, http: egress.GuardedClient) -> AsyncIterator[TransportStreams]:
    """``http`` caps the size of an event, keeps to the origin, and answers a POST that failed
    with the JSON-RPC error for its request. It is closed at the end.
    """
    headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
    async with http, http.stream("GET", url, headers=headers, follow_redirects=True) as response:
        response.raise_for_status()
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "text/event-stream":
            raise ServerGarbage
        events = aiter(egress.EventSource(response, max_event_size=None))
        place = await _endpoint(url, events)
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage](0)
        async with (
            to_client,
            from_server,
            to_server,
            from_client,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(_read, events, to_client)
            tasks.start_soon(_write, http, place, from_client, to_client)
            yield from_server, to_server
            tasks.cancel_scope.cancel()


async def _endpoint(url: str, events: AsyncIterator[egress.ServerSentEvent]) -> egress.URL:
    """Where messages go: the first thing that the server says."""
    async for event in events:
        if event.event == "endpoint":
            try:
                return egress.URL(url).join(event.data)
            except (egress.InvalidURL, ValueError) as error:
                raise ServerGarbage from error
    raise ServerGarbage


async def _read(events: AsyncIterator[egress.ServerSentEvent], to_client: Incoming) -> None:
    """Closing ``to_client`` tells all who wait that nothing more will come."""
    async with to_client:
        try:
            async for event in events:
                if event.event == "message" and event.data:
                    await _hand_on(event.data, to_client)
        except egress.TransportError:
            return  # the wire has noted why


async def _hand_on(data: str | bytes, to_client: Incoming) -> None:
    try:
        message = jsonrpc_message_adapter.validate_json(data, by_name=False)
    except ValidationError as error:
        await to_client.send(error)
    else:
        await to_client.send(SessionMessage(message))


async def _write(
    http: egress.GuardedClient,
    place: egress.URL,
    from_client: MemoryObjectReceiveStream[SessionMessage],
    to_client: Incoming,
) -> None:
    """Requests go side by side; a notification is through before what comes after it."""

    async def post(sent: SessionMessage) -> None:
        body = sent.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        response = await http.post(place, json=body)
        if response.is_error and isinstance(sent.message, JSONRPCRequest):
            await _hand_on(response.content, to_client)

    async with anyio.create_task_group() as tasks:
        async for sent in from_client:
            if isinstance(sent.message, JSONRPCRequest):
                tasks.start_soon(post, sent)
            else:
                await post(sent)
