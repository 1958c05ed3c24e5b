"""The routes of a panel: the lazy frame, the document, and what a view may ask for."""

import json
import logging
from typing import Any

from fastapi import APIRouter, Request
from slowapi import Limiter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.db import tables
from app.db.tables import AuditKind, AuditOutcome
from app.errors import VitrineError
from app.mcp.errors import McpError, ServerRejected
from app.mcp_apps import csp, documents, messages, permissions, prelude, proxy, tickets
from app.mcp_apps.audit import Asked, asked_for, outcome_of
from app.mcp_apps.fragment import Document, FragmentRefusedError
from app.mcp_apps.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from app.mcp_apps.resolve import PanelCall, PanelRefusedError, panel_call
from app.settings import Settings
from app.text import one_line
from app.transcripts.recorded_call import recorded_call
from app.web import panel_view
from app.web.audit import trail
from app.web.auth.gate import Login
from app.web.live.long_calls import Progress
from app.web.rpc_response import Answer, rpc_answer, rpc_error, rpc_result
from app.web.state import database_of, fragments_of, hub_of, long_calls_of, streams_of
from app.web.templating import render
from app.web.urls import link

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
            document, note = await _document(request, found)
        except (McpError, FragmentRefusedError, PanelRefusedError) as refusal:
            return _notice(request, session_id, tool_call_id, at, refusal)
        return await _panel(request, found, document, login, note)

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
        """``{"method", "params", "call"?, "stream"?}`` of the view → ``{"result"}`` or
        ``{"error"}``; 202 when the answer will come over the event stream.
        """
        body = await _json_object(request)

        async def run(on_progress: Progress | None) -> dict[str, Any]:
            return await _forward(request, login, session_id, tool_call_id, at, body, on_progress)

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
                found = entry.panel = await _resolve_rpc(request, session_id, tool_call_id, at)
                await run_in_threadpool(_record, request, found, kind, body.get("params"))
        except RpcError as error:
            return rpc_error(error)
        return rpc_result({})

    return router


async def _forward(
    request: Request,
    login: tables.LoginSession,
    session_id: str,
    tool_call_id: str,
    at: str | None,
    body: dict[str, Any],
    on_progress: Progress | None,
) -> dict[str, Any]:
    try:
        asked = asked_for(body.get("method"), body.get("params"))
        async with trail.view_request(request, login, session_id, tool_call_id, asked) as entry:
            found = entry.panel = await _resolve_rpc(request, session_id, tool_call_id, at)
            result = await proxy.forward(
                hub_of(request), found, body.get("method"), body.get("params"), on_progress
            )
            answer = entry.answer = Answer({"result": result})
    except RpcError as error:
        _log.info(
            "view request refused: session=%s method=%s code=%d %s",
            one_line(session_id, 40),
            one_line(str(body.get("method")), 40),
            error.code,
            one_line(error.message),
        )
        return {"error": error.as_object()}
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


async def _document(request: Request, found: PanelCall) -> tuple[Document, str]:
    """The document, and a sentence when it is not the one that was asked for first: a copy,
    because the server cannot be asked, or what the tool names now.
    """
    try:
        if found.may_ask_for_document:
            return await _live_document(request, found)
        failure = found.trouble
    except McpError as error:
        failure = error
    for uri in found.document_addresses:
        copy = await fragments_of(request).copy(found.target, uri)
        if copy is not None and failure is not None:
            return copy.document, panel_view.trouble_line(failure, copy.read_at)
    raise failure or AssertionError("a server that may not be asked has its reason")


async def _live_document(request: Request, found: PanelCall) -> tuple[Document, str]:
    """From the server. Where it says no to one address, the next one is tried; what it said of
    the first one counts.
    """
    refusal: FragmentRefusedError | ServerRejected | None = None
    for uri in found.document_addresses:
        try:
            document = await fragments_of(request).get(found.target, uri)
        except (FragmentRefusedError, ServerRejected) as error:
            refusal = refusal or error
            continue
        if refusal is not None:
            return document, panel_view.NOT_THE_RECORDED_VIEW
        return document, panel_view.untold_line(found.trouble)
    raise refusal or AssertionError("a call without an address has no panel")


async def _resolve_rpc(
    request: Request, session_id: str, tool_call_id: str, at: str | None
) -> PanelCall:
    """As ``_resolve``; a server that cannot be asked for its tools is the view's to hear."""
    try:
        return await _resolve(request, session_id, tool_call_id, at)
    except McpError as error:
        raise RpcError(INTERNAL_ERROR, error.sentence, {"reason": error.reason}) from error


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


def _panel_id(address: str) -> str:
    return f"panel-{address}"


def _notice(
    request: Request,
    session_id: str,
    tool_call_id: str,
    at: str | None,
    refusal: McpError | FragmentRefusedError | PanelRefusedError,
) -> Response:
    # Status 200: the panel was served, and this is what it holds. Proxies in between put their
    # own pages in the place of a 502.
    context = {
        "reason": refusal.reason,
        "sentence": refusal.sentence,
        "retry_url": link(
            request,
            "panel",
            {"at": at, "retry": 1},
            session_id=session_id,
            tool_call_id=tool_call_id,
        ),
    }
    return render(request, "partials/panel_notice.html", context)


async def _panel(
    request: Request,
    found: PanelCall,
    document: Document,
    login: tables.LoginSession,
    note: str,
) -> Response:
    policy = csp.build(document.declared_csp, private_hosts=csp.is_private(found.target.url))
    granted = permissions.judge(document.declared.get("permissions"), found.server.permissions)
    domain = panel_view.domain_line(document.declared)
    call = found.call

    def issue() -> tickets.Issued:
        with database_of(request).session() as db:
            return tickets.issue(
                db,
                login_id=login.id,
                session_id=call.session_id,
                tool_call_id=call.tool_call_id,
                content_hash=documents.store(db, document.html),
                headers={
                    **policy.headers,
                    "Permissions-Policy": permissions.header(granted.granted),
                },
            )

    issued = await run_in_threadpool(issue)

    def url(name: str) -> str:
        return link(
            request,
            name,
            {"at": call.address},
            session_id=call.session_id,
            tool_call_id=call.tool_call_id,
        )

    view = panel_view.PanelView(
        panel_id=_panel_id(call.address),
        server=found.server_name,
        tool=found.tool.name,
        notes=[line for line in (note, *call.notes, *granted.refused, domain) if line],
        contacts=panel_view.contacts(policy),
        refused=policy.refused,
        result_json=json.dumps(call.result, indent=2, ensure_ascii=False) if call.result else "",
        bordered=document.is_bordered,
        nonce=issued.nonce,
        fragment_url=link(request, "fragment", token=issued.token),
        rpc_url=url("rpc"),
        cancel_url=url("cancel"),
        result_url=url("panel_result"),
        message_url=url("message"),
        seen_url=url("seen"),
        data=panel_view.broker_data(found, policy, granted),
    )
    return render(request, "partials/panel.html", {"panel": view})
