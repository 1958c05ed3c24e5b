"""The whole application over a fresh database, met as a browser would."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.db.engine import Database
from app.db.tables import Role
from app.main import create_app
from app.settings import Settings
from app.web.auth import issue_sign_in_link, passwords, users

ORIGIN = {"Origin": "http://testserver"}


@pytest.fixture
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> PasswordHasher:
    """The real algorithm at its smallest: a hash takes no tenth of a second."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", quick)
    return quick


@pytest.fixture
def settings(database: Database, tmp_path: Path) -> Settings:
    return Settings(
        data_dir=tmp_path,
        database_url=database.engine.url.render_as_string(hide_password=False),
        request_max_bytes=4096,
    )


@pytest.fixture
def app(settings: Settings) -> FastAPI:
    return create_app(settings)


@pytest.fixture
def visitor(app: FastAPI) -> Iterator[TestClient]:
    """Somebody who is not signed in, and follows no redirect."""
    with TestClient(app, follow_redirects=False) as client:
        yield client


@pytest.fixture
def client(visitor: TestClient, database: Database) -> TestClient:
    """The same browser, signed in; its unsafe requests say that they come from our own page."""
    answer = visitor.get(f"/sign-in/{issue_sign_in_link(database)}")
    assert answer.status_code == 303
    visitor.headers.update(ORIGIN)
    return visitor


@pytest.fixture
def viewer(app: FastAPI, client: TestClient, database: Database) -> TestClient:
    """Another browser, of a viewer called vera. ``client`` is the operator's."""
    with database.session() as db:
        users.add(db, "vera", Role.VIEWER)
    browser = TestClient(app, follow_redirects=False, headers=ORIGIN)
    assert browser.get(f"/sign-in/{issue_sign_in_link(database, 'vera')}").status_code == 303
    return browser
