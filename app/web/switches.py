"""Settings → MCP Apps: the master switch, and one for each server."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from app.mcp import registry
from app.mcp_apps import policy
from app.web import connections
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
    master: Annotated[str, Form(max_length=8)] = "",
) -> Response:
    """``shown`` are the servers that the form held: one that was added or got another URL
    meanwhile, in another tab, keeps its switch. What is off afterwards is disconnected.
    """
    with database_of(request).session() as db:
        before = policy.load(db).allowed_urls
        policy.set_render(db, master == "on")
        for entry in registry.servers(db):
            key = switch_key(entry.server)
            if key in shown:
                registry.set_allowed(db, entry.server.url, key in allowed)
        db.flush()
        gone = before - policy.load(db).allowed_urls
        switched_off = connections.targets(
            entry.server for entry in registry.servers(db) if entry.server.url in gone
        )
    connections.drop(request, switched_off)
    return RedirectResponse(link(request, "mcp_apps_settings", {"notice": "saved"}), 303)
