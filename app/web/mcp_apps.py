"""The routes of a panel: the lazy frame, the document, and what a view may ask for."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from slowapi import Limiter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.db import tables
from app.db.tables import AuditKind, AuditOutcome
from app.errors import VitrineError
from app.mcp.errors import McpError
from app.mcp.tool_index import Tool
from app.mcp_apps import (
    admission,
    messages,
    prelude,
    proxy,
    tickets,
    viewers,
)
from app.mcp_apps.admission import Caller
from app.mcp_apps.audit import Asked, asked_for, outcome_of
from app.mcp_apps.fragment import FragmentRefusedError
from app.mcp_apps.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from app.mcp_apps.resolve import PanelCall, PanelRefusedError, panel_call
from app.settings import Settings
from app.text import one_line
from app.transcripts.recorded_call import recorded_call
from app.web import panel_page
from app.web.audit import trail
from app.web.auth.gate import Login, require_person
from app.web.auth.users import Person
from app.web.live.long_calls import Progress
from app.web.rpc_response import Answer, rpc_answer, rpc_error, rpc_result
from app.web.state import database_of, fragments_of, hub_of, long_calls_of, streams_of

_log = logging.getLogger(__name__)


def make_router(settings: Settings, limiter: Limiter) -> APIRouter:
    """The router, with the limits of one application: two in a process must not share them."""
    router = APIRouter()

    @router.get("/sessions/{session_id}/mcp_apps/{tool_call_id}", name="panel")
    async def panel(
        request: Request,
        session_id: str,
        tool_call_id: str,
        login: Login,
        at: str | None = None,
        retry: bool = False,
    ) -> Response:
        """The lazy frame. Every way it can fail is a sentence in its place. ``retry`` asks anew
        what failed a moment ago, for a person who pressed the button.
        """
        try:
            found = await _resolve(
                request, session_id, tool_call_id, at, for_showing=True, retry=retry
            )
            if not found.document_addresses:
                # The index was not read when the page was made; now the row needs no frame.
                return Response(headers={"HX-Reswap": "delete"})
            if retry:
                for uri in found.document_addresses:
                    fragments_of(request).retry(found.target, uri)
            document, note = await panel_page.document_of(request, found)
        except (McpError, FragmentRefusedError, PanelRefusedError) as refusal:
            return panel_page.notice(request, session_id, tool_call_id, at, refusal)
        return await panel_page.panel(request, found, document, login, note)

    @router.get("/sessions/{session_id}/mcp_apps/{tool_call_id}/result", name="panel_result")
    def result(
        request: Request, session_id: str, tool_call_id: str, _login: Login, at: str | None = None
    ) -> Response:
        """``{"state", "toolResult"?}`` as recorded by now, for a view that runs already. Asks the
        database only.
        """
        with database_of(request).session() as db:
            call = recorded_call(db, session_id, tool_call_id, at)
        known = {"state": call.state} | ({"toolResult": call.result} if call.result else {})
        return rpc_answer(known)

    @router.get("/fragments/{token}", name="fragment")
    def fragment(request: Request, token: str, login: Login) -> Response:
        """Somebody else's HTML, under its own sandbox, once."""
        with database_of(request).session() as db:
            admission = tickets.consume(db, token, login.id)
        return Response(
            prelude.document(admission.html, admission.nonce),
            headers=dict(admission.headers),
            media_type="text/html; charset=utf-8",
        )

    @router.post("/sessions/{session_id}/mcp_apps/{tool_call_id}/rpc", name="rpc")
    @limiter.limit(f"{settings.requests_per_minute}/minute")
    async def rpc(
        request: Request, session_id: str, tool_call_id: str, login: Login, at: str | None = None
    ) -> Response:
        """``{"method", "params", "call"?, "stream"?, "approval"?}`` of the view → ``{"result"}``
        or ``{"error"}``, with ``"ask"`` beside it for a call that a person is to be asked about;
        202 when the answer will come over the event stream.
        """
        body = await _json_object(request)
        person = require_person(request)
        caller = Caller(login.id, login.user_id, body.get("approval"))

        async def run(on_progress: Progress | None) -> dict[str, Any]:
            return await _forward(
                request, login, person, session_id, tool_call_id, at, body, caller, on_progress
            )

        try:
            answer = await long_calls_of(request).answer(
                run,
                login_id=login.id,
                call_id=body.get("call"),
                stream=streams_of(request).find(body.get("stream"), login.id),
                gone=lambda: _disconnected(request),
            )
        except RpcError as error:  # it was not begun
            trail.ended(request, outcome_of(error))
            return rpc_error(error)
        return Response(status_code=202) if answer is None else rpc_answer(answer)

    @router.post("/sessions/{session_id}/mcp_apps/{tool_call_id}/cancel", name="cancel")
    async def cancel(
        request: Request, session_id: str, tool_call_id: str, login: Login
    ) -> Response:
        """``{"call"}`` that a view or its page gave up → 204, also when there is none such: it
        may just have ended. A call is found by who made it and its id alone.
        """
        body = await _json_object(request)
        long_calls_of(request).cancel(login.id, body.get("call"))
        return Response(status_code=204)

    @router.post("/sessions/{session_id}/mcp_apps/{tool_call_id}/message", name="message")
    @limiter.limit(f"{settings.messages_per_minute}/minute")
    async def message(
        request: Request, session_id: str, tool_call_id: str, login: Login, at: str | None = None
    ) -> Response:
        """``{"kind": "message" | "context", "params"}`` of the view → the outbox."""
        body = await _json_object(request)
        try:
            try:
                kind = tables.MessageKind(str(body.get("kind")))
            except ValueError:
                trail.ended(request, AuditOutcome.REFUSED)
                raise RpcError(INVALID_PARAMS, "kind must be message or context") from None
            asked = Asked(AuditKind(kind), hashed=body.get("params"))
            async with trail.view_request(request, login, session_id, tool_call_id, asked) as entry:
                if not require_person(request).is_operator:
                    viewers.check_message()
                found = entry.panel = await _resolve_rpc(request, session_id, tool_call_id, at)
                await run_in_threadpool(_record, request, found, kind, body.get("params"))
        except RpcError as error:
            return rpc_error(error)
        return rpc_result({})

    return router


async def _forward(
    request: Request,
    login: tables.LoginSession,
    person: Person,
    session_id: str,
    tool_call_id: str,
    at: str | None,
    body: dict[str, Any],
    caller: Caller,
    on_progress: Progress | None,
) -> dict[str, Any]:
    try:
        asked = asked_for(body.get("method"), body.get("params"))
        async with trail.view_request(request, login, session_id, tool_call_id, asked) as entry:
            found = entry.panel = await _resolve_rpc(request, session_id, tool_call_id, at)
            if not person.is_operator:
                viewers.check_request(found, body.get("method"))

            async def admit(tool: Tool, arguments: Mapping[str, Any]) -> None:
                database = database_of(request)
                await run_in_threadpool(admission.admit, database, found, caller, tool, arguments)

            result = await proxy.forward(
                hub_of(request),
                found,
                body.get("method"),
                body.get("params"),
                on_progress,
                admit=admit,
            )
            answer = entry.answer = Answer({"result": result})
    except RpcError as error:
        _log.info(
            # Not its words: a server may send back in them what it was sent, a token for one.
            "view request refused: session=%s method=%s code=%d",
            one_line(session_id, 40),
            one_line(str(body.get("method")), 40),
            error.code,
        )
        return error.as_answer()
    return answer


async def _disconnected(request: Request) -> None:
    """Returns when the browser waits for this request's response no longer."""
    while (await request.receive())["type"] != "http.disconnect":
        continue


def _record(request: Request, found: PanelCall, kind: tables.MessageKind, params: object) -> None:
    with database_of(request).session() as db:
        messages.record(db, found, kind, params)


async def _resolve(
    request: Request,
    session_id: str,
    tool_call_id: str,
    at: str | None,
    *,
    for_showing: bool = False,
    retry: bool = False,
) -> PanelCall:
    return await panel_call(
        database_of(request),
        hub_of(request),
        session_id,
        tool_call_id,
        at,
        for_showing=for_showing,
        retry=retry,
    )


async def _resolve_rpc(
    request: Request, session_id: str, tool_call_id: str, at: str | None
) -> PanelCall:
    """As ``_resolve``; a server that cannot be asked for its tools is the view's to hear."""
    try:
        return await _resolve(request, session_id, tool_call_id, at)
    except McpError as error:
        raise RpcError(INTERNAL_ERROR, error.for_view, {"reason": error.reason}) from error


async def _json_object(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise VitrineError(415, "The request must be application/json.")
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise VitrineError(400, "The request is not valid JSON.") from None
    if not isinstance(body, dict):
        raise VitrineError(400, "The request must be a JSON object.")
    return body
