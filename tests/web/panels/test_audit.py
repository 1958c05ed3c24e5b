"""Whatever a view asks for leaves an event, however it ends."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event as sa_event
from sqlalchemy.exc import OperationalError
from sqlmodel import col, select

from app.db import tables
from app.mcp import registry
from app.mcp.errors import NotPermitted
from app.mcp_apps.audit import VARIED
from app.web.audit import log
from app.web.view_models.audit import exported
from tests.support.listeners import hung, stopped
from tests.support.scripted import RpcFailure, Scripted, document, scripted, tool
from tests.web.panels.site import ORIGIN, MakeSite, Site

SECRET = "s3cr3t-w0rd"
TOOLS = [
    tool("show_capacity", visibility=["model", "app"]),
    tool("buy", view=False, visibility=["app"]),
    tool("hidden", view=False, visibility=["model"]),
]


def failing(params: dict[str, Any]) -> Any:
    raise RpcFailure(-32000, "no", {"reason": "denied"})


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer waits for its row: these tests look for it at once, on however busy a machine."""
    monkeypatch.setattr(log, "WAITED_FOR", 60)


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted(
        tools_list={"tools": TOOLS},
        tools_call={"content": [{"type": "text", "text": SECRET}]},
        resources_read=document(),
        resources_list={"resources": []},
    ) as running:
        yield running


@pytest.fixture
def site(make_site: MakeSite, server: Scripted) -> Site:
    return make_site(server.url)


def events(site: Site, *, views_only: bool = True) -> list[tables.AuditEvent]:
    query = select(tables.AuditEvent).order_by(col(tables.AuditEvent.id))
    with site.database.session() as db:
        rows = list(db.exec(query))
    return [row for row in rows if row.kind != "sign_in"] if views_only else rows


def one(site: Site) -> tables.AuditEvent:
    (row,) = events(site)
    return row


def call(site: Site, name: str = "buy", **arguments: Any) -> dict[str, Any]:
    return site.rpc("tools/call", {"name": name, "arguments": arguments})


def eventually(site: Site, count: int = 1) -> list[tables.AuditEvent]:
    """The events, once there are as many: who gave up did not wait for them."""
    end = time.monotonic() + 20
    while len(rows := events(site)) < count and time.monotonic() < end:
        time.sleep(0.02)
    assert len(rows) == count
    return rows


def test_a_call_is_told_with_everything_but_what_it_said(site: Site) -> None:
    answer = call(site, card=SECRET)
    row = one(site)
    with site.database.session() as db:
        login = db.exec(select(tables.LoginSession)).one()
    assert (row.kind, row.outcome, row.count) == ("tool_call", "ok", 1)
    assert (row.person, row.person_id, row.login_id) == ("operator", login.user_id, login.id)
    assert (row.principal, row.server, row.tool) == ("view:demo/show_capacity", "demo", "buy")
    assert (row.session_id, row.tool_call_id) == (site.session_id, site.call.tool_call_id)
    assert row.address == site.address
    assert row.result_bytes == len(json.dumps(answer, separators=(",", ":")))
    assert row.request_bytes > len(SECRET)
    assert len(row.arguments_hash) == 64
    assert SECRET not in json.dumps(exported(row))


def test_the_hash_is_keyed(site: Site) -> None:
    call(site, pin=1234)
    key = site.client.app.state.audit_log  # type: ignore[attr-defined]
    assert one(site).arguments_hash == key.digest({"pin": 1234})
    with site.database.session() as db:
        stored = db.get_one(tables.Setting, "audit.hash_key").value
    export = site.client.get("/audit.json").text
    assert json.loads(stored) not in export


def test_polls_are_one_row(site: Site) -> None:
    for _ in range(5):
        call(site, since=1)
    call(site, since=2)
    row = one(site)
    assert (row.count, row.arguments_hash) == (6, VARIED)
    assert row.latency_max_ms <= row.latency_ms


def test_a_result_that_is_an_error_is_one(site: Site, server: Scripted) -> None:
    server.answers["tools/call"] = {"content": [], "isError": True}
    call(site)
    assert one(site).outcome == "error"


def test_the_servers_own_error_is_not_taken_for_vitrines(site: Site, server: Scripted) -> None:
    server.answers["tools/call"] = failing
    call(site)
    assert one(site).outcome == "error"


@pytest.mark.parametrize("name", ["hidden", "nowhere", "show_capacity2"])
def test_a_tool_that_is_not_for_views_is_told_of(site: Site, server: Scripted, name: str) -> None:
    assert "Unknown tool" in call(site, name)["error"]["message"]
    row = one(site)
    assert (row.kind, row.outcome, row.tool) == ("tool_call", "refused", name)
    assert row.principal == "view:demo/show_capacity"
    assert server.count("tools/call") == 0


def test_a_read_is_told_with_its_address_masked(site: Site) -> None:
    site.rpc("resources/read", {"uri": f"https://a.example/{SECRET}?key={SECRET}"})
    row = one(site)
    assert (row.kind, row.outcome, row.about) == ("resource_read", "ok", "https://a.example/…")
    assert SECRET not in json.dumps(exported(row))


def test_listings_and_unknown_methods_are_told_of(site: Site) -> None:
    site.rpc("tools/list")
    site.rpc("sampling/createMessage", {"prompt": SECRET})
    assert [(row.kind, row.outcome, row.about) for row in events(site)] == [
        ("listing", "ok", "tools/list"),
        ("view_request", "refused", "sampling/createMessage"),
    ]


@pytest.mark.parametrize("content", [b"{", b"[]", b'"x"'])
def test_a_request_that_is_none_is_told_of(site: Site, content: bytes) -> None:
    headers = {**ORIGIN, "Content-Type": "application/json"}
    assert site.client.post(f"{site.base}/rpc", content=content, headers=headers).status_code == 400
    row = one(site)
    assert (row.kind, row.outcome, row.about) == ("view_request", "refused", "rpc")


def test_what_a_limit_refuses_is_told_of_and_folded(make_site: MakeSite, server: Scripted) -> None:
    site = make_site(server.url, requests_per_minute=2, messages_per_minute=1)
    for _ in range(5):
        call(site)
    for _ in range(3):
        site.message("message", {"content": {"type": "text", "text": "hello"}})
    assert [(row.kind, row.outcome, row.about, row.count) for row in events(site)] == [
        ("tool_call", "ok", "", 2),
        ("view_request", "limited", "rpc", 3),
        ("message", "ok", "", 1),
        ("view_request", "limited", "message", 2),
    ]


def test_too_many_at_once_are_told_of(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.live.long_calls.MAX_PENDING", 0)
    assert call(site)["error"]["data"] == {"reason": "busy"}
    assert one(site).outcome == "limited"


def test_a_server_that_is_off_is_told_of(site: Site, server: Scripted) -> None:
    with site.database.session() as db:
        registry.set_allowed(db, server.url, allowed=False)
    assert site.rpc_answer({"method": "tools/list"}).status_code == 409
    row = one(site)
    assert (row.outcome, row.principal) == ("refused", "view")


def test_a_server_that_was_switched_off_meanwhile(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no(*_: object, **__: object) -> Any:
        raise NotPermitted

    monkeypatch.setattr(site.client.app.state.hub, "call_tool", no)  # type: ignore[attr-defined]
    call(site)
    assert one(site).outcome == "refused"


def test_a_call_that_is_not_in_the_transcript(site: Site) -> None:
    url = f"/sessions/{site.session_id}/mcp_apps/toolu_other/rpc"
    assert site.client.post(url, json={"method": "tools/list"}, headers=ORIGIN).status_code == 404
    row = one(site)
    assert (row.outcome, row.tool_call_id) == ("refused", "toolu_other")


def test_a_server_that_is_not_there(make_site: MakeSite) -> None:
    with stopped() as listener:
        site = make_site(listener.url)
        assert "error" in call(site)
        assert one(site).outcome == "unreachable"


def test_a_server_that_never_answers(make_site: MakeSite) -> None:
    with hung() as listener:
        site = make_site(listener.url, listing_timeout_seconds=0.3, call_timeout_seconds=0.3)
        assert "error" in call(site)
        assert one(site).outcome in ("timeout", "unreachable")


def test_a_call_that_is_taken_back_is_told_of(site: Site, server: Scripted) -> None:
    call(site, "nowhere")  # the index is read now
    begun, over = threading.Event(), threading.Event()

    def slow(_params: dict[str, Any]) -> Any:
        begun.set()
        over.wait(20)
        return {"content": []}

    server.answers["tools/call"] = slow
    body = {"method": "tools/call", "params": {"name": "buy"}, "call": "c" * 16}
    answers: list[Any] = []
    asking = threading.Thread(target=lambda: answers.append(site.rpc_answer(body)))
    asking.start()
    assert begun.wait(20)
    site.client.post(f"{site.base}/cancel", json={"call": "c" * 16}, headers=ORIGIN)
    asking.join(20)
    over.set()
    assert "error" in answers[0].json()
    rows = {(row.kind, row.outcome, row.tool or row.about) for row in eventually(site, 3)}
    assert ("tool_call", "cancelled", "buy") in rows
    assert ("view_request", "ok", "cancel") in rows


def test_a_message_is_told_without_its_words(site: Site) -> None:
    site.message("message", {"content": {"type": "text", "text": SECRET}})
    site.message("context", {"content": [{"type": "text", "text": SECRET}]})
    site.message("message", {"content": {"type": "image"}})
    site.message("other", {})
    rows = events(site)
    assert [(row.kind, row.outcome) for row in rows] == [
        ("message", "ok"),
        ("context", "ok"),
        ("message", "refused"),
        ("view_request", "refused"),
    ]
    assert {row.principal for row in rows[:3]} == {"view:demo/show_capacity"}
    assert SECRET not in json.dumps([exported(row) for row in rows])


@pytest.mark.parametrize(
    ("answer", "outcome"), [("confirmed", "ok"), ("declined", "denied"), ("refused", "refused")]
)
def test_links_and_downloads_are_told_with_what_the_person_said(
    site: Site, answer: str, outcome: str
) -> None:
    url = f"https://a.example/{SECRET}"
    link = {"kind": "link", "answer": answer, "url": url}
    files = {"kind": "download", "answer": answer, "sizes": [5, 10]}
    for body in (link, files):
        seen = site.client.post(
            f"{site.base}/seen", params={"at": site.address}, json=body, headers=ORIGIN
        )
        assert seen.status_code == 204
    told = events(site)
    assert [(row.kind, row.outcome, row.about) for row in told] == [
        ("link", outcome, "https://a.example/…"),
        ("download", outcome, "2 files, 15 bytes"),
    ]
    assert {row.principal for row in told} == {"view:demo/show_capacity"}
    assert told[0].arguments_hash
    assert SECRET not in json.dumps([exported(row) for row in told])


def test_a_link_is_told_of_when_its_server_is_gone(make_site: MakeSite) -> None:
    with stopped() as listener:
        site = make_site(listener.url)
        body = {"kind": "link", "answer": "confirmed", "url": "https://a.example"}
        assert site.client.post(f"{site.base}/seen", json=body, headers=ORIGIN).status_code == 204
        row = one(site)
        assert (row.kind, row.outcome, row.about) == ("link", "ok", "https://a.example")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "link"},
        {"kind": "grant", "answer": "confirmed"},
        {"kind": "link", "answer": "yes"},
        {"kind": "link", "answer": "confirmed", "url": "x" * 8001},
        {"kind": "link", "answer": "confirmed", "url": 5},
        {"kind": "download", "answer": "confirmed", "sizes": [-1]},
        {"kind": "download", "answer": "confirmed", "sizes": [1] * 101},
        {"kind": "link", "answer": "confirmed", "person": "somebody else"},
    ],
)
def test_what_the_page_would_not_tell_is_refused(site: Site, body: object) -> None:
    answer = site.client.post(f"{site.base}/seen", json=body, headers=ORIGIN)
    assert answer.status_code == 422
    assert one(site).outcome == "refused"


def test_what_is_told_of_links_is_limited(make_site: MakeSite, server: Scripted) -> None:
    site = make_site(server.url, messages_per_minute=2)
    body = {"kind": "link", "answer": "confirmed", "url": "https://a.example"}
    for _ in range(4):
        site.client.post(f"{site.base}/seen", json=body, headers=ORIGIN)
    assert [(row.kind, row.outcome, row.count) for row in events(site)] == [
        ("link", "ok", 2),
        ("view_request", "limited", 2),
    ]


def test_where_the_trail_cannot_be_written_the_answer_comes_and_the_log_says_so_once(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    call(site)  # the index is read

    def broken(_conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "audit_events" in statement:
            raise OperationalError(statement, {}, Exception("disk full"))

    sa_event.listen(site.database.engine, "before_cursor_execute", broken)
    app: Any = site.client.app
    sa_event.listen(app.state.database.engine, "before_cursor_execute", broken)
    for _ in range(3):
        assert "result" in call(site, card=SECRET)
    sa_event.remove(app.state.database.engine, "before_cursor_execute", broken)
    sa_event.remove(site.database.engine, "before_cursor_execute", broken)
    assert "result" in call(site)
    said = [record.getMessage() for record in caplog.records if record.name == "vitrine.audit"]
    assert said == [
        "events are missing in the audit trail: they cannot be written",
        "the audit trail is written again; 3 events are missing",
    ]
    assert SECRET not in caplog.text
    assert one(site).count == 2
