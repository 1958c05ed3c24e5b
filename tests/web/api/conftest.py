"""A deployment with sessions, and programs that ask with a token."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.db.engine import Database
from app.db.tables import Scope
from app.web.auth import api_tokens, users
from app.web.auth.users import Person
from tests.web.recording import Recording

MakeToken = Callable[..., str]


@pytest.fixture
def make_token(database: Database, monkeypatch: pytest.MonkeyPatch) -> MakeToken:
    """A token with ``scopes``, also of those that are not given out yet."""

    def make(
        scopes: Iterable[Scope] = (Scope.READ,), *, name: str = "operator", days: int | None = 1
    ) -> str:
        with monkeypatch.context() as patched:
            patched.setattr(api_tokens, "OFFERED", dict.fromkeys(Scope, ""))
            with database.session() as db:
                person = Person.of(users.named(db, name))
                asked = [scope.value for scope in scopes]
                return api_tokens.create(db, person, "test", asked, days=days)[0]

    return make


@pytest.fixture
def program(app: FastAPI, visitor: TestClient, make_token: MakeToken) -> TestClient:
    """Something that asks with a token that reads. ``visitor`` keeps the application running."""
    token = make_token()
    return TestClient(app, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def session_id(database: Database, tmp_path: Path) -> str:
    recording = Recording(folder="/home/dev/checkout")
    recording.user("How long will it last?").call("mcp__demo__show", {}, "done")
    return recording.import_into(database, tmp_path)
