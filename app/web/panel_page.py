"""What a panel's lazy frame is filled with: the view and the host's chrome, or why not."""

import json

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.db import tables
from app.mcp.errors import McpError, ServerRejected
from app.mcp_apps import csp, documents, domains, permissions, tickets, viewers
from app.mcp_apps.fragment import Document, FragmentRefusedError
from app.mcp_apps.resolve import PanelCall, PanelRefusedError
from app.web import panel_view
from app.web.auth.gate import require_person
from app.web.state import database_of, fragments_of
from app.web.templating import render
from app.web.urls import link


async def document_of(request: Request, found: PanelCall) -> tuple[Document, str]:
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


def notice(
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


async def panel(
    request: Request,
    found: PanelCall,
    document: Document,
    login: tables.LoginSession,
    note: str,
) -> Response:
    policy = csp.build(
        document.declared_csp,
        private_hosts=found.target.private_ok,
        ceiling=domains.ceiling(found.server),
    )
    granted = permissions.judge(document.declared.get("permissions"), found.server.permissions)
    domain = panel_view.domain_line(document.declared)
    for_viewer = "" if require_person(request).is_operator else viewers.note(found)
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
        panel_id=f"panel-{call.address}",
        server=found.server_name,
        tool=found.tool.name,
        notes=[
            line
            for line in (
                note,
                for_viewer,
                *found.target.notes,
                *call.notes,
                *granted.refused,
                domain,
            )
            if line
        ],
        contacts=panel_view.contacts(policy),
        narrowed=policy.narrowed,
        refused=policy.refused,
        calls=panel_view.CALLS.get(found.server.calls, ""),
        server_url=link(request, "server", server_id=found.server.id),
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
