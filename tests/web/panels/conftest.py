"""Fixtures for a panel's routes, against the demo's real MCP server or one that a test names."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.demo.run import serving, sessions_folder
from app.main import create_app
from app.mcp import registry
from app.mcp_apps import policy
from app.settings import Settings
from app.transcripts.ingest import import_paths
from app.web.auth import issue_sign_in_link
from tests.web.panels.site import VIEW_TOOL, MakeSite, Site


@pytest.fixture(scope="module")
def demo_url() -> Iterator[str]:
    with serving(0) as url:
        yield url


@pytest.fixture
def make_site(database: Database, tmp_path: Path) -> Iterator[MakeSite]:
    stack = ExitStack()

    def make(
        url: str,
        *,
        agent: str = "claude-code",
        render: bool = True,
        allowed: bool = True,
        **options: Any,
    ) -> Site:
        settings = Settings(
            data_dir=tmp_path,
            database_url=database.engine.url.render_as_string(hide_password=False),
            **options,
        )
        import_paths(database, [sessions_folder()])
        with database.session() as db:
            # A second site on the same database is a restart.
            if "demo" not in {known.name for known in registry.known_servers(db)}:
                registry.add_server(db, "demo", url)
            registry.set_allowed(db, url, allowed=allowed)
            policy.set_render(db, render)
            call = db.exec(
                select(tables.ToolCall)
                .join(tables.Session)
                .where(tables.ToolCall.name == VIEW_TOOL, tables.Session.agent == agent)
            ).one()
        client = stack.enter_context(TestClient(create_app(settings)))
        client.get(f"/sign-in/{issue_sign_in_link(database)}")
        return Site(client, database, call.session_id, call, settings)

    yield make
    stack.close()


@pytest.fixture(params=["claude-code", "codex"])
def any_site(request: pytest.FixtureRequest, make_site: MakeSite, demo_url: str) -> Site:
    """The demo's session of each agent."""
    return make_site(demo_url, agent=request.param)


@pytest.fixture
def site(make_site: MakeSite, demo_url: str) -> Site:
    return make_site(demo_url)
