"""Requests of views that may take long: answered at once when they are quick, else over the
page's event stream.

A browser opens six HTTP/1.1 connections to an origin. Ten views that each wait half a minute for
their server would leave none for the page.
"""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from app.errors import VitrineError
from app.mcp_apps.jsonrpc import INTERNAL_ERROR, REFUSED, RpcError
from app.web.live.streams import Stream, Streams
from app.web.rpc_response import encoded

ANSWER_WITHIN: Final = 1.0  # seconds that the request itself waits when there is a stream
MAX_PENDING: Final = 200  # calls of one sign-in that may be under way
CALL_ID: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")

_log = logging.getLogger(__name__)

Progress = Callable[[float, float | None, str | None], None]
Gone = Callable[[], Awaitable[object]]
Run = Callable[[Progress | None], Awaitable[dict[str, Any]]]


@dataclass(eq=False)
class _Call:
    login_id: str
    stream: Stream | None
    task: "asyncio.Task[dict[str, Any]]"


class LongCalls:
    """Calls under way, for any number of requests of one event loop. ``answer_within`` is in
    seconds.
    """

    def __init__(self, streams: Streams, *, answer_within: float = ANSWER_WITHIN) -> None:
        self._answer_within = answer_within
        self._calls: dict[tuple[str, str], _Call] = {}
        self._unnamed: dict[asyncio.Task[dict[str, Any]], str] = {}  # to the sign-in
        streams.forgotten = self.forget_stream

    def __len__(self) -> int:
        return len(self._calls) + len(self._unnamed)

    async def answer(
        self,
        run: Run,
        *,
        login_id: str,
        call_id: object,
        stream: Stream | None,
        gone: Gone,
    ) -> dict[str, Any] | None:
        """The JSON-RPC answer of ``run``, or ``None`` when it will come over ``stream``.

        Without a stream, or a call id to find the answer by, it is waited for to the end.
        ``gone()`` returns when nobody waits for the request's own response any more; the call is
        cancelled then, and with it the request at the MCP server. Raises ``RpcError`` when too
        many are under way or the id is in use, and what ``run`` raises.
        """
        if not isinstance(call_id, str) or CALL_ID.fullmatch(call_id) is None:
            return await self._to_the_end(run, login_id, gone)
        key = (login_id, call_id)
        if key in self._calls:
            raise RpcError(REFUSED, "This call is under way already.", {"reason": "busy"})
        self._check_room(login_id)
        progress = _progress_over(stream, call_id) if stream is not None else None
        task = asyncio.ensure_future(run(progress))
        self._calls[key] = _Call(login_id, stream, task)
        task.add_done_callback(lambda _done: self._calls.pop(key, None))
        if stream is None:
            return await _first_of(task, gone)
        done, _ = await asyncio.wait({task}, timeout=self._answer_within)
        if done:
            return _outcome(task)
        task.add_done_callback(lambda done: _deliver(done, stream, call_id))
        return None

    def _check_room(self, login_id: str) -> None:
        named = sum(call.login_id == login_id for call in self._calls.values())
        unnamed = sum(one == login_id for one in self._unnamed.values())
        if named + unnamed >= MAX_PENDING:
            raise RpcError(REFUSED, "Too many requests at once", {"reason": "busy"})

    async def _to_the_end(self, run: Run, login_id: str, gone: Gone) -> dict[str, Any]:
        self._check_room(login_id)
        task = asyncio.ensure_future(run(None))
        self._unnamed[task] = login_id
        task.add_done_callback(lambda done: self._unnamed.pop(done, None))
        return await _first_of(task, gone)

    def cancel(self, login_id: str, call_id: object) -> None:
        """Ends one call of this sign-in, if it is under way."""
        call = self._calls.get((login_id, call_id)) if isinstance(call_id, str) else None
        if call is not None:
            call.task.cancel()

    def forget_stream(self, stream_id: str) -> None:
        """Ends the calls whose answers nobody would read."""
        for call in list(self._calls.values()):
            if call.stream is not None and call.stream.id == stream_id:
                call.task.cancel()

    async def aclose(self) -> None:
        """Ends every call."""
        tasks = [call.task for call in self._calls.values()] + list(self._unnamed)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _first_of(task: "asyncio.Task[dict[str, Any]]", gone: Gone) -> dict[str, Any]:
    """The task's answer; the task is cancelled when ``gone()`` comes first, or the caller ends."""
    left = asyncio.ensure_future(gone())
    try:
        await asyncio.wait({task, left}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        return _outcome(task)
    finally:
        left.cancel()
        task.cancel()


def _outcome(task: "asyncio.Task[dict[str, Any]]") -> dict[str, Any]:
    """The answer of a call that is over; one that was taken back has an error for an answer."""
    if task.cancelled():
        return {"error": RpcError(REFUSED, "Cancelled", {"reason": "cancelled"}).as_object()}
    return task.result()


def _progress_over(stream: Stream, call_id: str) -> Progress:
    def progress(done: float, total: float | None, message: str | None) -> None:
        data: dict[str, Any] = {"call": call_id, "progress": done}
        if total is not None:
            data["total"] = total
        if message is not None:
            data["message"] = message
        stream.send("progress", data)

    return progress


def _deliver(task: "asyncio.Task[dict[str, Any]]", stream: Stream, call_id: str) -> None:
    if task.cancelled():
        return
    error = task.exception()
    if error is None:
        answer = task.result()
    elif isinstance(error, VitrineError):
        # What the response's status would have said, had there been one still.
        answer = {"error": RpcError(REFUSED, error.sentence, {"reason": "gone"}).as_object()}
    else:
        _log.error("a call that was answered over the event stream failed", exc_info=error)
        answer = {"error": RpcError(INTERNAL_ERROR, "Vitrine failed.").as_object()}
    body = encoded(answer)
    stream.send_json("answer", f'{{"call":{json.dumps(call_id)},{body[1:]}')
