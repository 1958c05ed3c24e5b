"""What the audit trail keeps of a deed, and when two are one row."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlmodel import col, select

from app.db import tables
from app.db.engine import Database
from app.db.tables import AuditKind, AuditOutcome
from app.mcp.errors import (
    McpError,
    NotPermitted,
    ServerGarbage,
    ServerRejected,
    ServerTimeout,
    ServerUnreachable,
)
from app.mcp_apps import audit
from app.mcp_apps.audit import VARIED, Event, asked_for, digest, masked_uri, outcome_of
from app.mcp_apps.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, REFUSED, RpcError

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
CALL = Event(
    AuditKind.TOOL_CALL,
    AuditOutcome.OK,
    person_id="p" * 32,
    session_id="s",
    principal="view:demo/show",
    server="demo",
    tool="poll",
    latency_ms=10,
    request_bytes=100,
    result_bytes=1000,
    arguments_hash="a" * 64,
    at=NOON,
)


def write(database: Database, *events: Event) -> None:
    for event in events:
        with database.session() as db:
            audit.write(db, [event])


def rows(database: Database) -> list[tables.AuditEvent]:
    with database.session() as db:
        return list(db.exec(select(tables.AuditEvent).order_by(col(tables.AuditEvent.id))))


def later(minutes: float, event: Event = CALL) -> Event:
    return replace(event, at=NOON + timedelta(minutes=minutes))


def test_polls_are_one_row_that_grows(database: Database) -> None:
    write(database, CALL, replace(later(5), latency_ms=30), replace(later(14), latency_ms=20))
    (row,) = rows(database)
    assert (row.count, row.at, row.last_at) == (3, NOON, NOON + timedelta(minutes=14))
    assert (row.latency_ms, row.latency_max_ms) == (60, 30)
    assert (row.request_bytes, row.result_bytes) == (300, 3000)
    assert row.arguments_hash == "a" * 64


def test_polls_of_one_batch_are_one_row_too(database: Database) -> None:
    with database.session() as db:
        audit.write(db, [CALL, later(1), later(2)])
    assert [row.count for row in rows(database)] == [3]


def test_arguments_that_differ_are_said_to_have_varied(database: Database) -> None:
    write(database, CALL, replace(CALL, arguments_hash="b" * 64), CALL)
    assert [(row.count, row.arguments_hash) for row in rows(database)] == [(3, VARIED)]


@pytest.mark.parametrize(
    "other",
    [
        replace(CALL, person_id="q" * 32),
        replace(CALL, login_id="l"),
        replace(CALL, session_id="t"),
        replace(CALL, tool_call_id="toolu_2"),
        replace(CALL, principal="view:demo/other"),
        replace(CALL, kind=AuditKind.LISTING),
        replace(CALL, tool="other"),
        replace(CALL, outcome=AuditOutcome.DENIED),
        replace(CALL, about="elsewhere"),
        later(10.5),
    ],
)
def test_what_is_not_alike_is_a_row_of_its_own(database: Database, other: Event) -> None:
    write(database, CALL, other)
    assert [row.count for row in rows(database)] == [1, 1]


def test_after_a_pause_the_new_row_grows_and_the_old_does_not(database: Database) -> None:
    write(database, CALL, later(30), later(31))
    assert [row.count for row in rows(database)] == [1, 2]


def test_a_poll_that_never_pauses_has_a_row_each_day(database: Database) -> None:
    write(database, *(later(9 * n) for n in range(2 * 24 * 60 // 9)))
    days = rows(database)
    assert len(days) == 2
    assert sum(row.count for row in days) == 2 * 24 * 60 // 9


def test_none_is_lost_however_many_write_at_once(database: Database) -> None:
    # SQLite says BUSY_SNAPSHOT to whoever read before it wrote, PostgreSQL "duplicate key".
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: write(database, later(n * 0.01)), range(80)))
    (row,) = rows(database)
    assert (row.count, row.request_bytes) == (80, 8000)


def test_two_that_write_the_same_rows_in_other_orders_do_not_wait_for_each_other(
    database: Database,
) -> None:
    kinds = [replace(CALL, tool=f"tool{n}") for n in range(6)]

    def batch(n: int) -> None:
        with database.session() as db:
            audit.write(db, kinds if n % 2 else reversed(kinds))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(batch, range(40)))
    assert [row.count for row in rows(database)] == [40] * 6


def test_the_row_outlives_the_person_and_keeps_the_name(database: Database) -> None:
    with database.session() as db:
        user = tables.User(name="ada")
        db.add(user)
    write(database, replace(CALL, person_id=user.id))
    with database.session() as db:
        db.delete(db.get_one(tables.User, user.id))
    (row,) = rows(database)
    assert (row.person, row.person_id) == ("ada", user.id)


def test_hostile_names_are_cut_and_stored_on_both_databases(database: Database) -> None:
    hostile = "\x00\ud800\u202e<b>" + "x" * 5000
    write(
        database,
        replace(
            CALL,
            session_id=hostile,
            tool_call_id=hostile,
            principal=hostile,
            server=hostile,
            tool=hostile,
            about=hostile,
            address=hostile,
        ),
    )
    (row,) = rows(database)
    assert "\u202e" not in row.tool
    assert "⟨U+202E⟩" in row.tool
    assert len(row.tool) <= 200


def test_the_key_is_made_once_and_is_the_deployments_own(database: Database) -> None:
    key = audit.hash_key(database)
    assert audit.hash_key(database) == key
    assert len(key) == 32


def test_a_hash_cannot_be_made_without_the_key() -> None:
    one, other = digest(b"1" * 32, {"pin": 1234}), digest(b"2" * 32, {"pin": 1234})
    assert one != other
    assert one == digest(b"1" * 32, {"pin": 1234})
    assert digest(b"1" * 32, {"a": 1, "b": 2}) == digest(b"1" * 32, {"b": 2, "a": 1})
    assert digest(b"1" * 32, {"a": "\ud800"})


@pytest.mark.parametrize(
    ("uri", "masked"),
    [
        ("ui://demo/view.html", "ui://demo/view.html"),
        ("ui://demo/view.html?key=s3cret", "ui://demo/view.html?…"),
        (
            "https://me:s3cret@Example.org:8443/s3cret?key=s3cret#s3cret",
            "https://example.org:8443/…",
        ),
        ("https://example.org", "https://example.org"),
        ("https://example.org/?s3cret", "https://example.org/…"),
        ("file:///home/s3cret", "file:…"),
        ("data:text/plain,s3cret", "data:…"),
        ("s3cret", "…"),
        ("http://[s3cret", "…"),
        ("http://example.org:s3cret/", "…"),
        ("", "…"),
    ],
)
def test_an_address_is_masked(uri: str, masked: str) -> None:
    assert masked_uri(uri) == masked


def test_of_a_request_what_is_told_and_what_is_hashed() -> None:
    assert asked_for("tools/call", {"name": "buy", "arguments": {"n": 1}})[:3] == (
        AuditKind.TOOL_CALL,
        "buy",
        "",
    )
    read = asked_for("resources/read", {"uri": "https://a.example/s3cret"})
    assert (read.kind, read.about) == (AuditKind.RESOURCE_READ, "https://a.example/…")
    assert asked_for("tools/list", None).kind == AuditKind.LISTING
    assert asked_for("sampling/createMessage", {}).about == "sampling/createMessage"


@pytest.mark.parametrize("method", [None, 5, ["tools/call"], {"a": 1}])
@pytest.mark.parametrize("params", [None, 5, "x", [], {"name": 5, "uri": []}])
def test_a_request_of_any_shape_is_told_of(method: object, params: object) -> None:
    assert asked_for(method, params).kind == AuditKind.VIEW_REQUEST
    for known in ("tools/call", "resources/read"):
        asked = asked_for(known, params)
        assert (asked.tool, asked.about) == ("", "")


def caused(cause: McpError | None, code: int = INTERNAL_ERROR, data: object = None) -> RpcError:
    error = RpcError(code, "no", data)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (caused(None, INVALID_PARAMS), "refused"),
        (caused(None, REFUSED, {"reason": "denied"}), "denied"),
        (caused(None, REFUSED, {"reason": "busy"}), "limited"),
        (caused(None, REFUSED, {"retryAfterMs": 5}), "limited"),
        (caused(None, REFUSED, {"reason": ["denied"]}), "refused"),
        (caused(ServerRejected(-32000, "x"), REFUSED, {"reason": "denied"}), "error"),
        (caused(ServerTimeout(5)), "timeout"),
        (caused(ServerUnreachable()), "unreachable"),
        (caused(NotPermitted()), "refused"),
        (caused(ServerGarbage()), "error"),
    ],
)  # fmt: skip
def test_how_a_request_ended(error: RpcError, outcome: str) -> None:
    assert outcome_of(error) == outcome
