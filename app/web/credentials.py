"""A server's page: the headers and tokens that go along with every request to it."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from app.errors import VitrineError
from app.mcp import credentials
from app.web import connections, servers
from app.web.auth.gate import Login
from app.web.state import database_of, hub_of
from app.web.urls import link
from app.web.view_models.credentials import BEARER_KIND

router = APIRouter()

_Text = Annotated[str, Form(max_length=256)]
# Room for a value that is too long, and for the sentence about it.
_Secret = Annotated[str, Form(max_length=65_536)]
_PLACE = "/settings/servers/{server_id:int}/credentials"


@router.post(_PLACE, name="set_credential")
def put(
    request: Request,
    _login: Login,
    server_id: int,
    key: _Text = "",
    kind: _Text = BEARER_KIND,
    header: _Text = "",
    value: _Secret = "",
    variable: _Text = "",
) -> Response:
    """``value``, or the name of a listed ``variable``, for ``header`` or as a bearer token. Takes
    the place of a credential of the same name. The value is shown nowhere afterwards.
    """
    wallet = hub_of(request).wallet
    try:
        is_bearer = kind == BEARER_KIND
        with database_of(request).session() as db:
            server = servers.meant(db, server_id, key)
            gone = connections.targets([server])
            credentials.put(
                db,
                wallet,
                server,
                credentials.AUTHORIZATION if is_bearer else header,
                value=value,
                variable=variable,
                scheme=credentials.BEARER if is_bearer else "",
            )
    except VitrineError as refusal:
        typed = {"kind": kind, "header": header, "variable": variable}
        return servers.refused(request, server_id, refusal, form="credential", **typed)
    connections.drop(request, gone)
    return _back(request, server_id, "credential")


@router.post(f"{_PLACE}/remove", name="remove_credential")
def remove(
    request: Request, _login: Login, server_id: int, key: _Text = "", header: _Text = ""
) -> Response:
    with database_of(request).session() as db:
        server = servers.meant(db, server_id, key)
        gone = connections.targets([server])
        credentials.remove(db, server, header)
    connections.drop(request, gone)
    return _back(request, server_id, "credential-removed")


def _back(request: Request, server_id: int, notice: str) -> Response:
    return RedirectResponse(link(request, "server", {"notice": notice}, server_id=server_id), 303)
