"""Fills the demo's own database: its server, allowed; its recorded sessions, imported."""

from app.db.engine import Database
from app.demo.run import SERVER_NAME, server_url, sessions_folder
from app.mcp import registry
from app.mcp_apps import policy
from app.transcripts.ingest import import_paths


def prepare(database: Database, port: int) -> str:
    """Set up what the demo shows, or bring it up to date; returns the allowed server's URL.

    The name follows the port: a demo that was once run on another one keeps nothing allowed.
    """
    url = server_url(port)
    with database.session() as db:
        known = {server.name: server.server.url for server in registry.known_servers(db)}
        if SERVER_NAME in known and known[SERVER_NAME] != url:
            registry.remove_name(db, SERVER_NAME)
        if known.get(SERVER_NAME) != url:
            registry.add_server(db, SERVER_NAME, url)
        registry.set_allowed(db, url, allowed=True)
        policy.set_render(db, True)
    import_paths(database, [sessions_folder()])
    return url
