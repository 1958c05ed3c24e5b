"""Liveness for whatever watches the process; anybody may ask, so it says nothing else."""

import pytest
from fastapi import FastAPI
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient


def test_well(visitor: TestClient) -> None:
    answer = visitor.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_a_database_that_does_not_answer(
    app: FastAPI, visitor: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OperationalError("SELECT", {}, Exception("the password is hunter2"))

    monkeypatch.setattr(app.state.database, "session", fail)
    answer = visitor.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "unavailable"})
