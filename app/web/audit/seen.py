"""What a person answered where a view asked to open a link or to save files. The page itself
opens and saves; it tells of it here, for the audit trail.
"""

from contextlib import suppress
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Body, Request
from pydantic import BaseModel, ConfigDict, Field
from slowapi import Limiter
from starlette.responses import Response

from app.db.tables import AuditKind, AuditOutcome
from app.mcp.errors import McpError
from app.mcp_apps.audit import Asked, masked_uri
from app.mcp_apps.resolve import PanelRefusedError, panel_call
from app.settings import Settings
from app.web.audit import trail
from app.web.auth.gate import Login
from app.web.state import database_of, hub_of

_OUTCOMES: Final = {
    "confirmed": AuditOutcome.OK,
    "declined": AuditOutcome.DENIED,
    "refused": AuditOutcome.REFUSED,
}


class _Seen(BaseModel):
    """``refused``: by the page, before anybody was asked. A link has a ``url``, a download
    ``sizes``: of each file, in bytes.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Literal["link", "download"]
    answer: Literal["confirmed", "declined", "refused"]
    url: str = Field(default="", max_length=8000)
    sizes: list[Annotated[int, Field(ge=0, le=2**40)]] = Field(default_factory=list, max_length=100)

    def asked(self) -> Asked:
        if self.kind == "link":
            return Asked(AuditKind.LINK, about=masked_uri(self.url), hashed=self.url)
        count = len(self.sizes)
        about = f"{count} {'file' if count == 1 else 'files'}, {sum(self.sizes):,} bytes"
        return Asked(AuditKind.DOWNLOAD, about=about if self.sizes else "")


def make_router(settings: Settings, limiter: Limiter) -> APIRouter:
    """The router, with the limits of one application."""
    router = APIRouter()

    @router.post("/sessions/{session_id}/mcp_apps/{tool_call_id}/seen", name="seen")
    @limiter.limit(f"{settings.messages_per_minute}/minute")
    async def seen(
        request: Request,
        session_id: str,
        tool_call_id: str,
        login: Login,
        said: Annotated[_Seen, Body()],
        at: str | None = None,
    ) -> Response:
        """204. Of a link's address, origin and hash are kept; of files, number and sizes."""
        async with trail.view_request(
            request, login, session_id, tool_call_id, said.asked()
        ) as entry:
            entry.decided = _OUTCOMES[said.answer]
            # What was done is told of, whether or not its server can be named.
            with suppress(McpError, PanelRefusedError):
                entry.panel = await panel_call(
                    database_of(request),
                    hub_of(request),
                    session_id,
                    tool_call_id,
                    at,
                    for_showing=True,
                )
        return Response(status_code=204)

    return router
