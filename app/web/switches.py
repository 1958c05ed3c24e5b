"""Settings → MCP Apps: the master switch, and one for each server."""

from collections.abc import Collection, Iterable
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from app.mcp import registry
from app.mcp.registry import ServerEntry
from app.mcp.urls import Place
from app.mcp_apps import policy
from app.web import connections, places
from app.web.auth.gate import Login
from app.web.state import database_of
from app.web.templating import render
from app.web.urls import link
from app.web.view_models.servers import switch_key
from app.web.view_models.settings import SwitchesPage

router = APIRouter()

Keys = Annotated[list[str], Form(default_factory=list, max_length=10_000)]


@router.get("/settings/mcp-apps", name="mcp_apps_settings")
def show(request: Request, _login: Login, notice: str = "") -> Response:
    with database_of(request).session() as db:
        model = SwitchesPage.of(policy.load(db), registry.servers(db), notice)
    return render(request, "mcp_apps_settings.html", {"page": model, "nav": "settings"})


@router.post("/settings/mcp-apps", name="save_mcp_apps_settings")
def save(
    request: Request,
    _login: Login,
    shown: Keys,
    allowed: Keys,
    private: Keys,
    master: Annotated[str, Form(max_length=8)] = "",
) -> Response:
    """``shown`` are the servers that the form held: one that was added or got another URL
    meanwhile, in another tab, keeps its switch. What is off afterwards is disconnected.

    Where a server that is to be allowed lies in a private network, and is not in ``private``,
    nothing is saved: 409 with the form as it was filled in, and the question.
    """
    with database_of(request).session() as db:
        entries = registry.servers(db)
    asked = _unconfirmed(entries, set(shown) & set(allowed), private)
    if asked - set(private):
        model = SwitchesPage.asking(master == "on", entries, allowed, asked)
        context = {"page": model, "nav": "settings"}
        return render(request, "mcp_apps_settings.html", context, status=409)
    with database_of(request).session() as db:
        before = policy.load(db).allowed_urls
        policy.set_render(db, master == "on")
        for entry in registry.servers(db):
            key = switch_key(entry.server)
            if key in shown:
                registry.set_allowed(db, entry.server.url, key in allowed)
                if key in asked:
                    registry.set_private(db, entry.server.url, True)
        db.flush()
        gone = before - policy.load(db).allowed_urls
        switched_off = connections.targets(
            entry.server for entry in registry.servers(db) if entry.server.url in gone
        )
    connections.drop(request, switched_off)
    return RedirectResponse(link(request, "mcp_apps_settings", {"notice": "saved"}), 303)


def _unconfirmed(
    entries: Iterable[ServerEntry], allowed: Collection[str], private: Collection[str]
) -> set[str]:
    """Keys of the servers that are ``allowed`` anew and lie in a private network, unasked so
    far. One in ``private`` was asked for a moment ago and is not looked up again.
    """
    found = set()
    for entry in entries:
        server, key = entry.server, switch_key(entry.server)
        if server.allowed or server.private_confirmed or key not in allowed:
            continue
        if key in private or places.place_of(server.url) == Place.PRIVATE:
            found.add(key)
    return found
