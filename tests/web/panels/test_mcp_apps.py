"""A panel's routes, as a browser uses them, against the demo's real MCP server."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.demo.run import sessions_folder
from app.mcp import registry
from app.mcp.errors import NotPermitted
from app.mcp.target import Target
from app.mcp_apps import csp
from app.web.auth import issue_sign_in_link
from tests.support.listeners import Listener, garbage, hung, stopped
from tests.web.panels.site import ORIGIN, MakeSite, Site

VIEW = sessions_folder().parent / "view.html"


def nulls(value: object, path: str = "") -> list[str]:
    if value is None:
        return [path]
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in nulls(item, f"{path}.{key}")]
    if isinstance(value, list):
        return [found for n, item in enumerate(value) for found in nulls(item, f"{path}[{n}]")]
    return []


# The panel


def test_the_panel_is_fed_from_the_transcript_and_holds_no_null(any_site: Site) -> None:
    parsed = any_site.parsed_panel()
    data = parsed.data
    assert data["server"] == "demo"
    assert data["tool"] == "show_capacity"
    assert data["toolInput"]["service"]
    assert data["toolResult"]["structuredContent"]["history"]
    assert data["toolInfo"]["tool"]["name"] == "show_capacity"
    assert nulls({key: data[key] for key in data if key != "toolInfo"}) == []
    assert parsed.panel["data-fragment-url"].startswith("/fragments/")
    assert parsed.panel["data-rpc-url"] == f"{any_site.base}/rpc?at={any_site.address}"
    # A frame in page HTML would load before the broker listens.
    assert "iframe" not in parsed.tags


@pytest.mark.parametrize("at", ["0-0", "0-99999", "9-1", "1", "0-1-2", "-1-0", "x", "0-1%00"])
def test_an_address_that_does_not_carry_the_call_is_not_found(any_site: Site, at: str) -> None:
    assert any_site.panel(at).status_code == 404
    answer = any_site.client.post(
        f"{any_site.base}/rpc", params={"at": at}, json={"method": "tools/call"}, headers=ORIGIN
    )
    assert answer.status_code == 404


@pytest.mark.parametrize("call_id", ["toolu_unknown", "%2e%2e%2f", "a%0ab", "' OR 1=1"])
def test_a_call_that_the_session_does_not_hold_is_not_found(site: Site, call_id: str) -> None:
    answer = site.client.get(f"/sessions/{site.session_id}/mcp_apps/{call_id}")
    assert answer.status_code == 404


def test_another_session_cannot_name_this_call(site: Site) -> None:
    answer = site.client.get(
        f"/sessions/{'0' * 32}/mcp_apps/{site.call.tool_call_id}", params={"at": site.address}
    )
    assert answer.status_code == 404


# The switches


@pytest.mark.parametrize(
    ("switches", "reason"),
    [({"render": False}, "off"), ({"allowed": False}, "not-allowed")],
)
def test_with_a_switch_off_nothing_is_contacted_by_any_route(
    make_site: MakeSite, switches: dict[str, bool], reason: str
) -> None:
    with hung() as server:
        site = make_site(server.url, **switches)
        page = site.client.get(f"/sessions/{site.session_id}?level=verbose")
        assert page.status_code == 200
        assert "panel-slot" not in page.text
        assert f'data-panel-state="{reason}"' in site.panel().text
        for body in ({"method": "tools/call", "params": {"name": "forecast"}}, {}):
            assert site.rpc_answer(body).status_code == 409
        assert site.message("message", {"content": []}).status_code == 409
        assert site.outbox() == []
        assert server.connections == 0


def test_the_one_place_that_connects_asks_the_switches_itself(make_site: MakeSite) -> None:
    """Should a path around the panels' own check ever exist, it leads to no connection."""
    with hung() as server:
        site = make_site(server.url, allowed=False)
        hub = site.client.app.state.hub  # type: ignore[attr-defined]
        portal = site.client.portal
        assert portal is not None
        with pytest.raises(NotPermitted):
            portal.call(hub.tools, Target(server.url, private_ok=True))
        assert server.connections == 0


@pytest.mark.parametrize("value", ["{broken", "1", '"true"', "null", "[true]"])
def test_settings_that_cannot_be_read_mean_off(make_site: MakeSite, value: str) -> None:
    with hung() as server:
        site = make_site(server.url)
        with site.database.session() as db:
            row = db.get(tables.Setting, "mcp_apps.render")
            assert row is not None
            row.value = value
            db.add(row)
        assert site.client.get(f"/sessions/{site.session_id}").status_code == 200
        assert 'data-panel-state="off"' in site.panel().text
        assert server.connections == 0


def test_a_name_borrows_no_trust_from_another_servers_url(
    make_site: MakeSite, demo_url: str
) -> None:
    """The session's name now resolves to a URL that nobody allowed."""
    site = make_site(demo_url)
    with hung() as server:
        with site.database.session() as db:
            registry.remove_name(db, "demo")
            registry.add_server(db, "elsewhere", demo_url)
            registry.set_allowed(db, demo_url, allowed=True)
            registry.add_server(db, "demo", server.url)
        assert 'data-panel-state="not-allowed"' in site.panel().text
        assert server.connections == 0


# What the page load may do


@pytest.mark.parametrize("server", [stopped, hung, garbage])
def test_the_pages_own_get_contacts_nobody_and_asks_the_same_of_the_database(
    server: Callable[[], AbstractContextManager[Listener]], make_site: MakeSite, demo_url: str
) -> None:
    with server() as listener:
        site = make_site(listener.url, listing_timeout_seconds=1)
        queries: list[str] = []

        def note(_conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            queries.append(statement)

        engine = site.client.app.state.database.engine  # type: ignore[attr-defined]
        event.listen(engine, "before_cursor_execute", note)
        before = site.client.get(f"/sessions/{site.session_id}")
        first, queries[:] = list(queries), []
        assert 'class="panel-slot"' in before.text
        assert listener.connections == 0
        assert site.connections == 0

        assert 'class="panel panel-without-view"' in site.panel().text
        tried, queries[:] = listener.connections, []
        after = site.client.get(f"/sessions/{site.session_id}")
        assert after.status_code == 200
        assert queries == first
        assert listener.connections == tried


@pytest.mark.parametrize(
    ("server", "sentence"),
    [
        (stopped, "The server cannot be reached."),
        (hung, "The server did not answer within 1 second."),
        (garbage, "The server gave an answer that Vitrine cannot read."),
    ],
)
def test_the_panel_and_the_view_are_told_what_happened(
    server: Callable[[], AbstractContextManager[Listener]],
    sentence: str,
    make_site: MakeSite,
) -> None:
    with server() as listener:
        site = make_site(listener.url, listing_timeout_seconds=1)
        assert sentence in site.panel().text
        error = site.rpc("tools/call", {"name": "forecast"})["error"]
        assert error["code"] == -32603
        assert error["message"] == sentence
        assert error["data"]["reason"] in {"unreachable", "timeout", "garbage"}


def test_the_page_of_a_living_server_contacts_nobody_either(any_site: Site) -> None:
    assert 'class="panel-slot"' in any_site.client.get(f"/sessions/{any_site.session_id}").text
    assert any_site.connections == 0
    any_site.parsed_panel()
    opened = any_site.connections
    assert opened > 0
    any_site.client.get(f"/sessions/{any_site.session_id}")
    assert any_site.connections == opened


# The document


def test_the_document_comes_under_its_own_headers_after_the_prelude(any_site: Site) -> None:
    parsed = any_site.parsed_panel()
    answer = any_site.client.get(parsed.panel["data-fragment-url"])
    assert answer.status_code == 200
    for name, value in csp.build(None).headers.items():
        assert answer.headers[name] == value
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.text.startswith("<!doctype html><script>")
    assert parsed.panel["data-nonce"] in answer.text
    assert answer.text.endswith(VIEW.read_text())


def test_a_ticket_works_once(site: Site) -> None:
    url = site.parsed_panel().panel["data-fragment-url"]
    assert site.client.get(url).status_code == 200
    assert site.client.get(url).status_code == 410


def test_a_ticket_works_for_a_minute(site: Site) -> None:
    url = site.parsed_panel().panel["data-fragment-url"]
    with site.database.session() as db:
        (ticket,) = db.exec(select(tables.Ticket)).all()
        assert ticket.expires_at - tables.now() <= timedelta(minutes=1)
        ticket.expires_at = tables.now() - timedelta(seconds=1)
        db.add(ticket)
    assert site.client.get(url).status_code == 410


def test_a_ticket_is_for_one_sign_in_and_another_does_not_use_it_up(site: Site) -> None:
    url = site.parsed_panel().panel["data-fragment-url"]
    stranger = TestClient(site.client.app)
    assert stranger.get(url).status_code == 401
    stranger.get(f"/sign-in/{issue_sign_in_link(site.database)}")
    assert stranger.get(url).status_code == 410
    assert site.client.get(url).status_code == 200


def test_the_database_holds_no_ticket_in_clear(site: Site) -> None:
    token = site.parsed_panel().panel["data-fragment-url"].rsplit("/", 1)[1]
    with site.database.session() as db:
        assert all(token not in row.model_dump_json() for row in db.exec(select(tables.Ticket)))


# The proxy

PEAKS = [100.0, 110.0, 120.0, 130.0]


def test_an_app_tool_is_called_and_its_result_comes_whole(any_site: Site) -> None:
    arguments = {
        "weekly_peaks": PEAKS,
        "first_week": "2026-06-01",
        "growth_percent": 3,
        "capacity": 200,
    }
    result = any_site.rpc("tools/call", {"name": "forecast", "arguments": arguments})["result"]
    assert result["structuredContent"]["weeks_left"] > 0
    assert result["content"][0]["type"] == "text"


@pytest.mark.parametrize(
    "name",
    [
        "publish_plan",  # for the model alone
        "show_capacity",  # the panel's own tool: looking never runs it again
        "no_such_tool",
        "mcp__demo__forecast",
        "Forecast",
        "forecast ",
    ],
)
def test_any_other_tool_is_unknown_in_the_same_words(any_site: Site, name: str) -> None:
    assert any_site.rpc("tools/call", {"name": name})["error"] == {
        "code": -32602,
        "message": f"Unknown tool: {name}",
    }


@pytest.mark.parametrize(
    "method",
    [
        "prompts/list",
        "resources/subscribe",
        "sampling/createMessage",
        "initialize",
        "",
        None,
        7,
        ["tools/call"],
        {"a": 1},
    ],
)
def test_other_methods_are_not_forwarded(site: Site, method: object) -> None:
    opened = site.connections
    assert site.rpc(method)["error"]["code"] == -32601
    assert site.connections <= opened + 1  # the tool index at most


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", None),
        ("tools/call", []),
        ("tools/call", {}),
        ("tools/call", {"name": ""}),
        ("tools/call", {"name": 5}),
        ("tools/call", {"name": "forecast", "arguments": []}),
        ("tools/call", {"name": "forecast", "arguments": "x"}),
        ("resources/read", None),
        ("resources/read", {"uri": 5}),
        ("resources/read", {"uri": ""}),
        ("resources/read", {"uri": "demo://" + "x" * 2048}),
    ],
)
def test_wrong_params_are_refused(site: Site, method: str, params: object) -> None:
    error = site.rpc(method, params)["error"]
    assert error["code"] == -32602
    # Vitrine's own words: the server, which might refuse it too, was not asked.
    assert error["message"].startswith("params")


def test_a_resource_of_the_views_own_server_is_read(any_site: Site) -> None:
    result = any_site.rpc("resources/read", {"uri": "demo://notes/methods"})["result"]
    assert result["contents"][0]["uri"] == "demo://notes/methods"


def test_the_servers_own_error_is_passed_on_as_it_came(site: Site) -> None:
    error = site.rpc("resources/read", {"uri": "demo://nothing"})["error"]
    assert error["code"] in {-32602, -32002}
    assert "demo://nothing" in error["message"]
    assert nulls(error) == []


def test_requests_that_are_broken_get_a_status_of_their_own(make_site: MakeSite) -> None:
    with stopped() as server:
        site = make_site(server.url, request_max_bytes=2000)
        url = f"{site.base}/rpc"

        def post(body: str, content_type: str = "application/json") -> Any:
            return site.client.post(
                url, content=body, headers={**ORIGIN, "Content-Type": content_type}
            )

        assert post("{}", "text/plain").status_code == 415
        assert post("{").status_code == 400
        assert post("[]").status_code == 400
        assert post("[" * 1900).status_code == 400
        assert post(json.dumps({"method": "x" * 3000})).status_code == 413
        for answer in (post("{"), post("{}", "text/plain")):
            assert answer.json()["error"]["message"]


# Limits


def test_requests_and_messages_have_a_bucket_each_for_the_whole_session(
    make_site: MakeSite, demo_url: str
) -> None:
    site = make_site(demo_url, requests_per_minute=3, messages_per_minute=2)
    for _ in range(3):
        assert site.rpc("nothing")["error"]["code"] == -32601
    error = site.rpc("nothing")["error"]
    assert error["code"] == -32000
    assert 0 < error["data"]["retryAfterMs"] <= 60_000
    # Another panel of the session shares the bucket; messages do not.
    other = site.client.post(
        f"/sessions/{site.session_id}/mcp_apps/other/rpc", json={}, headers=ORIGIN
    )
    assert other.json()["error"]["code"] == -32000
    text = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    assert site.message("message", text).json() == {"result": {}}
    assert site.message("message", text).json() == {"result": {}}
    assert site.message("message", text).json()["error"]["code"] == -32000
    assert len(site.outbox()) == 2
    # Another session has its own.
    stranger = site.client.post("/sessions/x/mcp_apps/other/rpc", json={}, headers=ORIGIN)
    assert stranger.status_code == 404


# Messages


def test_a_message_is_kept_with_its_author_and_place(any_site: Site) -> None:
    params = {"role": "user", "content": [{"type": "text", "text": "Please publish."}]}
    assert any_site.message("message", params).json() == {"result": {}}
    (row,) = any_site.outbox()
    assert (row.server, row.tool, row.text) == ("demo", "show_capacity", "Please publish.")
    assert row.taint == "view:demo/show_capacity"
    assert row.address == any_site.address
    assert row.state == tables.MessageState.HELD
    page = any_site.client.get("/outbox").text
    assert "[MCP App message from demo/show_capacity]" in page
    assert "Please publish." in page


def test_a_single_block_is_taken_for_a_list(site: Site) -> None:
    site.message("message", {"content": {"type": "text", "text": "one"}})
    assert [row.text for row in site.outbox()] == ["one"]


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        {"content": []},
        {"content": [{"type": "text", "text": "  "}]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 5}]},
        {"content": "text"},
        {"content": [{"type": "image", "data": "", "mimeType": "image/png"}]},
        {"content": [{"type": "resource", "text": "has a text all the same"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
        {"content": [{"type": "text", "text": "x" * 4001}]},
        {"content": [{"type": "text", "text": "x" * 2000}] * 3},
    ],
)
def test_a_message_that_is_not_plain_text_within_the_cap_is_refused_whole(
    site: Site, params: object
) -> None:
    error = site.message("message", params).json()["error"]
    assert error["code"] == -32602
    assert site.outbox() == []


def test_the_cap_itself_is_taken(site: Site) -> None:
    site.message("message", {"content": [{"type": "text", "text": "x" * 4000}]})
    assert [len(row.text) for row in site.outbox()] == [4000]


def test_the_last_context_update_of_a_view_wins(site: Site) -> None:
    for text in ("first", "second"):
        site.message("context", {"content": [{"type": "text", "text": text}]})
    site.message("context", {"structuredContent": {"capacity": 7}})
    rows = site.outbox()
    assert [row.state for row in rows] == ["replaced", "replaced", "held"]
    assert json.loads(rows[-1].text) == {"capacity": 7}
    page = site.client.get("/outbox").text
    assert "[MCP App context update from demo/show_capacity]" in page


def test_an_unknown_kind_of_message_is_refused(site: Site) -> None:
    assert site.message("system", {"content": []}).json()["error"]["code"] == -32602


def test_hostile_text_is_kept_and_shown_harmless(site: Site) -> None:
    text = "a\0b\u202ec<script>alert(1)</script>\x1b[31m"
    site.message("message", {"content": [{"type": "text", "text": text}]})
    body = site.client.get("/outbox").text
    assert "<script>alert(1)" not in body
    assert "\u202e" not in body
    assert "\x1b" not in body
    assert "&lt;script&gt;alert(1)" in body


def test_a_lone_surrogate_breaks_nothing(site: Site) -> None:
    body = '{"kind":"message","params":{"content":{"type":"text","text":"a\\ud800b"}}}'
    answer = site.client.post(
        f"{site.base}/message",
        content=body,
        headers={**ORIGIN, "Content-Type": "application/json"},
    )
    assert answer.json() == {"result": {}}
    assert site.client.get("/outbox").status_code == 200


def test_without_a_sign_in_every_route_is_closed(site: Site) -> None:
    stranger = TestClient(site.client.app, headers=ORIGIN)
    assert stranger.get(site.base).status_code == 401
    assert stranger.post(f"{site.base}/rpc", json={}).status_code == 401
    assert stranger.post(f"{site.base}/message", json={}).status_code == 401
    assert stranger.get("/fragments/x").status_code == 401


def test_a_view_that_posts_by_itself_is_refused(site: Site) -> None:
    """A sandboxed document's requests carry ``Origin: null``, were one ever let out."""
    for origin in ("null", "http://evil.example", "http://testserver.evil.example"):
        answer = site.client.post(
            f"{site.base}/rpc", json={"method": "tools/call"}, headers={"Origin": origin}
        )
        assert answer.status_code == 403
