"""What is old is forgotten while the application runs, and nothing where the setting says so."""

import time
from datetime import timedelta

import pytest
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.db.tables import AuditKind, AuditOutcome
from app.main import create_app
from app.mcp_apps import audit
from app.mcp_apps.audit import Event
from app.settings import Settings
from app.web.live import background


def fill(database: Database) -> None:
    """Five events of a hundred days ago, and one of today."""
    with database.session() as db:
        for number in range(6):
            age = timedelta(days=0 if number == 5 else 100, minutes=20 * number)
            event = Event(AuditKind.LINK, AuditOutcome.OK, about=f"{number}", at=tables.now() - age)
            audit.write(db, [event])


def left(database: Database) -> list[str]:
    with database.session() as db:
        return sorted(db.exec(select(tables.AuditEvent.about)))


def test_what_is_older_than_the_setting_goes(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_AT_A_TIME", 2)  # more than one batch
    fill(database)
    with TestClient(create_app(settings)):
        end = time.monotonic() + 20
        while left(database) != ["5"] and time.monotonic() < end:
            time.sleep(0.05)
    assert left(database) == ["5"]


@pytest.mark.parametrize("days", [0, 101])
def test_what_is_to_be_kept_stays(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    monkeypatch.setattr(background, "_FORGET_SECONDS", 0.01)
    fill(database)
    with TestClient(create_app(settings.model_copy(update={"audit_days": days}))) as client:
        for _ in range(5):
            assert client.get("/healthz").status_code == 200
    assert len(left(database)) == 6
