"""The page of the audit trail and its export."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.db.tables import AuditKind, AuditOutcome
from app.mcp_apps import audit
from app.mcp_apps.audit import Event
from app.web.audit.pages import PAGE_SIZE

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
HOSTILE = "</li><script>alert(1)</script>\u202e"
Fill = Callable[..., None]


@pytest.fixture
def fill(client: TestClient, database: Database) -> Fill:
    """Writes events, beside nothing else."""
    with database.session() as db:
        db.execute(delete(tables.AuditEvent))

    def write(*events: Event) -> None:
        with database.session() as db:
            audit.write(db, events)

    return write


def event(**facts: Any) -> Event:
    made = Event(
        AuditKind.TOOL_CALL,
        AuditOutcome.OK,
        principal="view:demo/show",
        server="demo",
        tool="buy",
        latency_ms=1234,
        request_bytes=2345,
        arguments_hash="0123456789abcdef" * 4,
        at=NOON,
    )
    return replace(made, **facts)


def test_nobody_reads_it_without_a_sign_in(visitor: TestClient) -> None:
    for url in ("/audit", "/audit.json"):
        assert visitor.get(url).status_code == 401


def test_an_event_reads_well(client: TestClient, fill: Fill) -> None:
    fill(event(), event(at=NOON + timedelta(minutes=1)))
    text = client.get("/audit").text
    for said in (
        "Tool call", "buy", "2 times", "view:demo/show", "nobody signed in",
        "1,234 ms on average, 1,234 ms at most", "4.7 KB sent", "hash 0123456789ab…",
    ):  # fmt: skip
        assert said in text, said


def test_names_are_shown_and_not_run(client: TestClient, fill: Fill) -> None:
    fill(event(tool=HOSTILE, principal=HOSTILE, server=HOSTILE, session_id=HOSTILE))
    text = client.get("/audit", params={"server": HOSTILE, "person": HOSTILE}).text
    text += client.get("/audit").text
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_a_session_that_is_gone_is_not_linked_and_one_that_is_there_is(
    client: TestClient, database: Database, fill: Fill
) -> None:
    with database.session() as db:
        there = tables.Session(source="s", agent="claude-code", external_id="e", title="Plan it")
        db.add(there)
    fill(event(session_id=there.id, address="0-3"), event(session_id="gone"))
    text = client.get("/audit").text
    assert f'href="/sessions/{there.id}?at=0-3#0-3"' in text
    assert "Plan it" in text
    assert "session gone, which is gone" in text
    assert 'href="/sessions/gone' not in text


def test_the_pages_lead_from_one_to_the_next(client: TestClient, fill: Fill) -> None:
    fill(*(event(tool=f"tool{n}", at=NOON + timedelta(seconds=n)) for n in range(PAGE_SIZE + 1)))
    first = client.get("/audit", params={"kind": "tool_call"}).text
    assert f"tool{PAGE_SIZE}" in first
    older = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    second = client.get(older).text
    assert second.count('audit-event"') == 1
    assert "<bdi>tool0</bdi>" in second
    assert 'rel="next"' not in second
    assert 'rel="first" href="/audit?kind=tool_call"' in second


def test_filters_are_kept_in_the_form_and_the_export(client: TestClient, fill: Fill) -> None:
    fill(event(), event(kind=AuditKind.LINK, tool="", about="https://a.example"))
    asked = {"kind": "link", "from": "2026-12-01", "to": "2026-12-01", "server": "demo"}
    text = client.get("/audit", params=asked).text
    assert "https://a.example" in text
    assert "<bdi>buy</bdi>" not in text
    assert '<option value="link" selected>' in text
    link = text.split('class="audit-export"><a href="')[1].split('"')[0].replace("&amp;", "&")
    assert [one["kind"] for one in client.get(link).json()] == ["link"]


@pytest.mark.parametrize(
    "asked", [{"kind": "\x00"}, {"from": "x"}, {"to": "9999-12-31"}, {"after": "\x00"}]
)
def test_values_that_make_no_sense_are_no_error(
    client: TestClient, fill: Fill, asked: dict[str, str]
) -> None:
    fill(event())
    for url in ("/audit", "/audit.json"):
        assert client.get(url, params=asked).status_code == 200


def test_the_export_is_a_download_with_every_event(client: TestClient, fill: Fill) -> None:
    fill(*(event(tool=f"tool{n}{HOSTILE}") for n in range(1_201)))
    answer = client.get("/audit.json")
    assert answer.headers["content-disposition"] == 'attachment; filename="vitrine-audit.json"'
    assert answer.headers["content-type"] == "application/json"
    told = answer.json()
    assert len({one["tool"] for one in told}) == 1_201
    # An event on each line, for programs that read line by line.
    assert len(answer.text.splitlines()) == 1_201 + 2
    assert told[0]["time"] == "2026-12-01T12:00:00+00:00"
    assert set(told[0]) >= {
        "time", "person", "session", "principal", "server", "tool", "outcome", "latency_ms",
        "request_bytes", "result_bytes", "arguments_hash", "count", "last_time",
    }  # fmt: skip


def test_an_export_of_nothing_is_json(client: TestClient, fill: Fill) -> None:
    assert json.loads(client.get("/audit.json").text) == []
    assert "Nothing has happened yet" in client.get("/audit").text
