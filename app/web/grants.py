"""Settings → a server: what its views may call and reach, and what people said yes to."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from app.errors import VitrineError
from app.mcp_apps import domains
from app.mcp_apps import grants as granting
from app.mcp_apps.domains import Domains
from app.mcp_apps.grants import Calls
from app.web import servers
from app.web.auth.gate import Login
from app.web.state import database_of
from app.web.view_models.grants import DomainsForm

router = APIRouter()

_Text = Annotated[str, Form(max_length=4096)]
_ONE = "/settings/servers/{server_id:int}"
_MANY = 1_000  # entries of a form; how many count is the rule's to say


@router.post(f"{_ONE}/calls", name="set_calls")
def set_calls(
    request: Request, _login: Login, server_id: int, key: _Text = "", calls: _Text = ""
) -> Response:
    if calls not in set(Calls):
        raise VitrineError(400, "Choose what views of this server may call.")
    with database_of(request).session() as db:
        granting.set_calls(db, servers.meant(db, server_id, key), Calls(calls))
    return servers.to_page(request, server_id, "may-saved")


@router.post(f"{_ONE}/domains", name="set_domains")
def set_domains(
    request: Request,
    _login: Login,
    server_id: int,
    key: _Text = "",
    reach: _Text = "",
    origin: Annotated[list[str] | None, Form(max_length=_MANY)] = None,
    more: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:
    """``reach``: ``all``, ``chosen`` or ``none``. ``origin``: each that was ticked; ``more``:
    others, one a line.
    """
    if reach not in set(Domains):
        raise VitrineError(400, "Choose what views of this server may contact.")
    picked = origin or []
    try:
        with database_of(request).session() as db:
            server = servers.meant(db, server_id, key)
            private = server.private_confirmed
            chosen = domains.checked([*picked, *more.split()], private_hosts=private)
            domains.choose(db, server, Domains(reach), chosen)
    except VitrineError as refusal:
        if refusal.status != 400:
            raise
        typed = DomainsForm(reach, picked, more, refusal.sentence)
        return servers.one_page(request, server_id, refusal.status, typed)
    return servers.to_page(request, server_id, "may-saved")


@router.post(f"{_ONE}/grants/revoke", name="revoke_grant")
def revoke_grant(
    request: Request, _login: Login, server_id: int, key: _Text = "", grant: _Text = ""
) -> Response:
    with database_of(request).session() as db:
        servers.meant(db, server_id, key)
        granting.revoke(db, server_id, grant)
    return servers.to_page(request, server_id, "revoked")
