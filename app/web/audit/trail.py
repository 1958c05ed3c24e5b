"""What a route tells the audit trail of its request. A route that says nothing is told of by its
name: ``app.web.middleware.audit_trail``.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from starlette.requests import Request

from app.db import tables
from app.db.tables import AuditOutcome
from app.errors import VitrineError
from app.mcp_apps import audit
from app.mcp_apps.audit import Asked, Event
from app.mcp_apps.jsonrpc import RpcError
from app.mcp_apps.resolve import PanelCall
from app.web.rpc_response import encoded
from app.web.state import audit_log_of

VIEW = "view"  # the principal where the call, and so the server, was not found


@dataclass
class ViewRequest:
    """Filled in while the request is worked on: ``panel`` once it is found, ``answer`` once it
    is there.
    """

    panel: PanelCall | None = None
    answer: Mapping[str, Any] | None = None
    decided: AuditOutcome | None = None  # where the answer does not tell

    @property
    def outcome(self) -> AuditOutcome:
        if self.decided is not None:
            return self.decided
        result = self.answer.get("result") if self.answer else None
        failed = isinstance(result, Mapping) and result.get("isError") is True
        return AuditOutcome.ERROR if failed else AuditOutcome.OK


def ended(request: Request, outcome: AuditOutcome) -> None:
    """How a request ended whose status does not tell."""
    request.state.audit_outcome = outcome


def signed_in(request: Request, login: tables.LoginSession) -> None:
    """Who signed in with this request."""
    request.state.signed_in = login


@asynccontextmanager
async def view_request(
    request: Request,
    login: tables.LoginSession,
    session_id: str,
    tool_call_id: str,
    asked: Asked,
) -> AsyncIterator[ViewRequest]:
    """Around everything that is done for a request of a view, so that it leaves an event however
    it ends: answered, refused, failed, or given up by who asked.
    """
    log = audit_log_of(request)
    request.state.audited = True
    size = len(await request.body())
    at, began = tables.now(), perf_counter()
    entry, outcome = ViewRequest(), AuditOutcome.ERROR
    try:
        yield entry
        outcome = entry.outcome
    except RpcError as error:
        outcome = audit.outcome_of(error)
        raise
    except VitrineError:
        outcome = AuditOutcome.REFUSED
        raise
    except asyncio.CancelledError:
        outcome = AuditOutcome.CANCELLED
        raise
    finally:
        panel = entry.panel
        event = Event(
            asked.kind,
            outcome,
            person_id=login.user_id,
            login_id=login.id,
            session_id=session_id,
            tool_call_id=tool_call_id,
            address=panel.call.address if panel else "",
            principal=panel.principal if panel else VIEW,
            server=panel.server_name if panel else "",
            tool=asked.tool,
            about=asked.about,
            latency_ms=round((perf_counter() - began) * 1000),
            request_bytes=size,
            result_bytes=len(encoded(entry.answer)) if entry.answer is not None else 0,
            arguments_hash=log.digest(asked.hashed) if asked.hashed is not None else "",
            at=at,
        )
        if outcome == AuditOutcome.CANCELLED:
            log.add(event)
        else:
            await log.record(event)
