"""Settings → Servers: the MCP servers that the operator knows, and the names seen in sessions."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from sqlmodel import Session
from starlette.responses import RedirectResponse, Response

from app.db import tables
from app.errors import VitrineError
from app.mcp import credentials, registry
from app.mcp.target import STREAMABLE_HTTP
from app.mcp_apps import session_servers
from app.mcp_apps.permissions import CHOICES
from app.mcp_apps.seen_servers import Usage, usage
from app.transcripts import beside
from app.transcripts.server_names import seen_tools
from app.web import connections, places
from app.web.auth.gate import Login
from app.web.places import PrivatePlaceError
from app.web.state import database_of, hub_of
from app.web.templating import render
from app.web.urls import link
from app.web.view_models.credentials import CredentialsView
from app.web.view_models.grants import DomainsForm, ServerGrants
from app.web.view_models.servers import MOST_UNKNOWN, Addresses, ServerPage, ServersPage, switch_key
from app.web.view_models.settings import NOTICES

router = APIRouter()

# The registry says what is wrong with a value; these only bound what it has to look at.
_Text = Annotated[str, Form(max_length=4096)]
_ONE = "/settings/servers/{server_id:int}"


def _usage(db: Session) -> Usage:
    known = registry.known_servers(db)
    by_session = session_servers.known_by_session(db, known)
    return usage(seen_tools(db), known, by_session, beside.configured_names(db))


def _addresses(db: Session, found: Usage, *names: str) -> Addresses:
    """What sessions' configurations say of the names that stand for no server yet."""
    wanted = {*names, *(server.name for server in found.unknown[:MOST_UNKNOWN])}
    return Addresses.of(beside.addresses(db, wanted))


def _list(request: Request, status: int = 200, **form: str) -> Response:
    with database_of(request).session() as db:
        found = _usage(db)
        addresses = _addresses(db, found, form.get("name", ""))
        model = ServersPage.of(registry.servers(db), found, addresses, **form)
    return render(request, "servers.html", {"page": model, "nav": "settings"}, status=status)


def one_page(
    request: Request,
    server_id: int,
    status: int = 200,
    typed: DomainsForm | None = None,
    **form: str,
) -> Response:
    """The page of a server; ``typed`` and ``form`` are what was refused, to be put right."""
    wallet = hub_of(request).wallet
    with database_of(request).session() as db:
        entry = registry.entry(db, server_id)
        model = ServerPage.of(entry, _usage(db), **form)
        may = ServerGrants.of(db, entry.server, typed)
        asked = session_servers.asked_headers(db, entry.server)
        stored = credentials.of_server(db, server_id)
    held = CredentialsView.of(entry.server, stored, asked, wallet, **form)
    context = {"page": model, "grants": may, "held": held, "nav": "settings"}
    return render(request, "server.html", context, status=status)


def refused(request: Request, server_id: int, refusal: VitrineError, **form: str) -> Response:
    """The server's page with what was wrong and what was typed, but a secret."""
    return one_page(request, server_id, refusal.status, None, error=refusal.sentence, **form)


def _to_list(request: Request, notice: str) -> Response:
    return RedirectResponse(link(request, "servers", {"notice": notice}), 303)


def to_page(request: Request, server_id: int, notice: str) -> Response:
    return RedirectResponse(link(request, "server", {"notice": notice}, server_id=server_id), 303)


def meant(db: Session, server_id: int, key: str) -> tables.Server:
    """The server that a form was made for. Raises ``VitrineError`` where it is another by now."""
    server = registry.entry(db, server_id).server
    if switch_key(server) != key:
        raise VitrineError(
            409, "This server was changed elsewhere meanwhile. Nothing was changed here."
        )
    return server


@router.get("/settings/servers", name="servers")
def show(
    request: Request,
    _login: Login,
    name: Annotated[str, Query(max_length=128)] = "",
    address: Annotated[str, Query(max_length=32)] = "",
    notice: str = "",
) -> Response:
    """``name`` fills in the form: a transcript links here for a server that it names. So does
    ``address``, one of those that sessions give for that name.
    """
    return _list(request, name=name, address=address, notice=NOTICES.get(notice, ""))


@router.post("/settings/servers", name="add_server")
def add(
    request: Request,
    _login: Login,
    name: _Text = "",
    url: _Text = "",
    transport: _Text = STREAMABLE_HTTP,
    private: _Text = "",
) -> Response:
    """409 with the question where the address is a private one and ``private`` does not say so."""
    try:
        places.check(url, private=private == "on")
        with database_of(request).session() as db:
            registry.add_server(db, name, url, transport, private=private == "on")
    except VitrineError as refusal:
        asked = "on" if private or isinstance(refusal, PrivatePlaceError) else ""
        typed = {"name": name, "url": url, "transport": transport}
        typed |= {"private": private, "ask_private": asked}
        return _list(request, refusal.status, error=refusal.sentence, **typed)
    return _to_list(request, "added-stdio" if transport == registry.STDIO else "added")


@router.get(_ONE, name="server")
def show_one(request: Request, _login: Login, server_id: int, notice: str = "") -> Response:
    return one_page(request, server_id, notice=NOTICES.get(notice, ""))


@router.post(_ONE, name="edit_server")
def edit(
    request: Request,
    _login: Login,
    server_id: int,
    key: _Text = "",
    url: _Text = "",
    transport: _Text = "",
    private: _Text = "",
) -> Response:
    """At another URL the server is allowed nothing yet; an empty one keeps the URL."""
    try:
        with database_of(request).session() as db:
            kept = meant(db, server_id, key).url
        if transport != registry.STDIO:
            places.check(url.strip() or kept, private=private == "on")
        with database_of(request).session() as db:
            before = connections.targets([meant(db, server_id, key)])
            server = registry.edit_server(db, server_id, url, transport, private=private == "on")
            moved = switch_key(server) != key
            after = connections.targets([server])
    except VitrineError as refusal:
        typed = {"form": "address", "url": url, "transport": transport, "private": private}
        return one_page(request, server_id, refusal.status, None, error=refusal.sentence, **typed)
    connections.drop(request, [target for target in before if target not in after])
    return to_page(request, server_id, "moved" if moved else "saved")


@router.post(f"{_ONE}/unmarked-tools", name="set_unmarked_tools")
def set_unmarked_tools(
    request: Request,
    _login: Login,
    server_id: int,
    key: _Text = "",
    unmarked: _Text = "",
) -> Response:
    with database_of(request).session() as db:
        meant(db, server_id, key)
        registry.set_unmarked_tools(db, server_id, unmarked == "on")
    return to_page(request, server_id, "saved")


@router.post(f"{_ONE}/viewers", name="set_viewers_may_call")
def set_viewers_may_call(
    request: Request,
    _login: Login,
    server_id: int,
    key: _Text = "",
    viewers: _Text = "",
) -> Response:
    with database_of(request).session() as db:
        server = meant(db, server_id, key)
        server.viewers_may_call = viewers == "on"
        db.add(server)
    return to_page(request, server_id, "saved")


@router.post(f"{_ONE}/permissions", name="set_permissions")
def set_permissions(
    request: Request,
    _login: Login,
    server_id: int,
    key: _Text = "",
    permission: Annotated[list[str] | None, Form(max_length=16)] = None,
) -> Response:
    """``permission``: each that is given from now on; those not named are taken away."""
    chosen = permission or []
    if not set(chosen) <= CHOICES.keys():
        raise VitrineError(400, "There is no such permission.")
    with database_of(request).session() as db:
        meant(db, server_id, key)
        registry.set_permissions(db, server_id, chosen)
    return to_page(request, server_id, "saved")


@router.post(f"{_ONE}/names", name="add_server_name")
def add_name(
    request: Request, _login: Login, server_id: int, key: _Text = "", name: _Text = ""
) -> Response:
    try:
        with database_of(request).session() as db:
            meant(db, server_id, key)
            registry.add_name(db, server_id, name)
    except VitrineError as refusal:
        return one_page(
            request, server_id, refusal.status, form="name", name=name, error=refusal.sentence
        )
    return to_page(request, server_id, "saved")


@router.post(f"{_ONE}/names/remove", name="remove_server_name")
def remove_name(
    request: Request, _login: Login, server_id: int, key: _Text = "", name: _Text = ""
) -> Response:
    """The last name is not taken away: that is what removing the server is for."""
    with database_of(request).session() as db:
        meant(db, server_id, key)
        names = registry.entry(db, server_id).names
        if name in names and len(names) == 1:
            raise VitrineError(400, "A server keeps at least one name. Remove the server instead.")
        if name not in names:
            raise VitrineError(404, "This server has no such name.")
        registry.remove_name(db, name)
    return to_page(request, server_id, "saved")


@router.post(f"{_ONE}/remove", name="remove_server")
def remove(request: Request, _login: Login, server_id: int, key: _Text = "") -> Response:
    with database_of(request).session() as db:
        gone = connections.targets([meant(db, server_id, key)])
        registry.remove_server(db, server_id)
    connections.drop(request, gone)
    return _to_list(request, "removed")
