"""A Vitrine that really listens: an event stream has no end that a test client could wait for."""

import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.demo.run import sessions_folder
from app.main import create_app
from app.mcp import registry
from app.mcp_apps import policy
from app.settings import Settings
from app.transcripts.ingest import import_paths
from app.web.auth import issue_sign_in_link
from tests.support.scripted import Scripted, scripted
from tests.web.panels.site import VIEW_TOOL


@dataclass
class Live:
    """``client`` is signed in; ``base`` is the path of the demo's panel, without ``at``."""

    app: FastAPI
    client: httpx.Client
    database: Database
    server: Scripted
    base: str
    at: str

    def another(self) -> AbstractContextManager[httpx.Client]:
        """A second browser, signed in by a link of its own."""
        return signed_in(str(self.client.base_url), self.database)

    def rpc(self, method: str, params: object = None, **more: object) -> httpx.Response:
        body = {"method": method, "params": params, **more}
        return self.client.post(f"{self.base}/rpc", params={"at": self.at}, json=body)


@contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
            assert thread.is_alive(), "the server ended before it was ready"
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        app.state.streams.close()
        server.should_exit = True
        thread.join(10)
        listener.close()


@contextmanager
def signed_in(url: str, database: Database) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, headers={"Origin": url}, trust_env=False, timeout=30) as client:
        client.get(f"/sign-in/{issue_sign_in_link(database)}")
        yield client


@pytest.fixture
def live(database: Database, tmp_path: Path) -> Iterator[Live]:
    settings = Settings(
        data_dir=tmp_path,
        database_url=database.engine.url.render_as_string(hide_password=False),
    )
    import_paths(database, [sessions_folder()])
    with scripted() as server:
        with database.session() as db:
            registry.add_server(db, "demo", server.url)
            registry.set_allowed(db, server.url, allowed=True)
            policy.set_render(db, True)
            call = db.exec(
                select(tables.ToolCall)
                .join(tables.Session)
                .where(tables.ToolCall.name == VIEW_TOOL, tables.Session.agent == "claude-code")
            ).one()
        app = create_app(settings)
        base = f"/sessions/{call.session_id}/mcp_apps/{call.tool_call_id}"
        with listening(app) as url, signed_in(url, database) as client:
            yield Live(app, client, database, server, base, f"0-{call.call_seq}")
