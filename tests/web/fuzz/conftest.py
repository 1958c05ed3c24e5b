"""A deployment with something to tell, and two who ask: a stranger and the operator."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from app.db.engine import Database
from app.main import create_app
from app.mcp import registry
from app.mcp_apps import policy
from app.settings import Settings
from app.web.auth import issue_sign_in_link
from tests.web.recording import Recording

# Stands in every text that a page could show: where a stranger reads it, something leaked.
SECRET: Final = "Zs3cr3tWord"
ORIGIN: Final = {"Origin": "http://testserver"}


def may_be_open(path: str) -> bool:
    """What a stranger may see. Written out here: a gate that opens more is what is looked for."""
    return path in ("/healthz", "/sign-in") or path.startswith(("/static/", "/sign-in/"))


@dataclass
class Deployment:
    """``client`` follows no redirect and is signed in as nobody until ``sign_in``."""

    client: TestClient
    database: Database
    session_id: str
    server_id: int

    def sign_in(self) -> dict[str, str]:
        """The cookies of a new sign-in."""
        self.client.cookies.clear()
        self.client.get(f"/sign-in/{issue_sign_in_link(self.database)}")
        cookies = dict(self.client.cookies)
        self.client.cookies.clear()
        return cookies

    def ask(self, method: str, url: str, **more: Any) -> Any:
        """One request; an error that no rule foresaw is a 500 and not a traceback."""
        self.client.cookies.clear()
        cookies = more.pop("cookies", {})
        self.client.cookies.update(cookies)
        return self.client.request(method, url, **more)


@pytest.fixture
def deployment(database: Database, tmp_path: Path, quick_hashing: object) -> Iterator[Deployment]:
    recording = Recording(folder=f"/home/dev/{SECRET}")
    recording.user(f"Please say {SECRET}.").thinking(SECRET).assistant(SECRET)
    recording.call(f"mcp__{SECRET}__show", {"word": SECRET}, [{"type": "text", "text": SECRET}])
    session_id = recording.import_into(database, tmp_path)
    with database.session() as db:
        # Nobody listens there: what asks the server is told so at once.
        server = registry.add_server(db, SECRET, f"http://127.0.0.1:1/{SECRET}?key={SECRET}")
        registry.set_allowed(db, server.url, allowed=True)
        policy.set_render(db, True)
        server_id = server.id
    assert server_id is not None
    settings = Settings(
        data_dir=tmp_path,
        database_url=database.engine.url.render_as_string(hide_password=False),
        requests_per_minute=100_000,
        messages_per_minute=100_000,
        connect_timeout_seconds=1,
    )
    with ExitStack() as stack:
        client = stack.enter_context(
            TestClient(create_app(settings), follow_redirects=False, raise_server_exceptions=False)
        )
        yield Deployment(client, database, session_id, server_id)
