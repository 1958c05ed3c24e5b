"""What a view may call, decided by the server of Vitrine whatever a page shows or sends."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.mcp import registry
from app.mcp_apps import domains, grants
from app.mcp_apps.domains import Domains
from app.mcp_apps.grants import Calls
from app.web.auth import issue_sign_in_link
from tests.support.scripted import Scripted, document, scripted, tool
from tests.web.panels.site import ORIGIN, MakeSite, Site

SEEN: dict[str, Any] = {"visibility": ["model", "app"]}
DONE = {"content": [{"type": "text", "text": "done"}]}
ARGUMENTS = {"city": "Bern", "days": [1, 2]}


def listed() -> list[dict[str, Any]]:
    return [
        tool("show_capacity", **SEEN),
        tool("read", view=False, **SEEN) | {"annotations": {"readOnlyHint": True}},
        tool("write", view=False, **SEEN),
        tool("rename", view=False, **SEEN),
        tool("delete", view=False, **SEEN) | {"annotations": {"destructiveHint": True}},
        tool("hidden", view=False, visibility=["model"]),
    ]


@contextmanager
def serving(make_site: MakeSite, calls: Calls) -> Iterator[tuple[Site, Scripted]]:
    with scripted(
        tools_list=lambda _: {"tools": listed()}, tools_call=DONE, resources_read=document()
    ) as server:
        site = make_site(server.url)
        choose(site, server, calls)
        yield site, server


def choose(site: Site, server: Scripted, calls: Calls) -> None:
    with site.database.session() as db:
        grants.set_calls(db, row_of(db, server), calls)


def row_of(db: Any, server: Scripted) -> tables.Server:
    row: tables.Server = db.exec(select(tables.Server).where(tables.Server.url == server.url)).one()
    return row


def call(
    site: Site,
    name: str,
    arguments: Any = ...,
    *,
    client: TestClient | None = None,
    base: str = "",
    approval: Any = None,
) -> dict[str, Any]:
    params = {"name": name, "arguments": ARGUMENTS if arguments is ... else arguments}
    body = {"method": "tools/call", "params": params}
    if approval is not None:
        body["approval"] = approval
    answer = (client or site.client).post(
        f"{base or site.base}/rpc", params={"at": site.address}, json=body, headers=ORIGIN
    )
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def asked(answer: dict[str, Any]) -> str:
    """The handle of a question."""
    assert answer["error"]["code"] == -32000
    assert answer["error"]["data"] == {"reason": "ask"}
    assert "handle" not in str(answer["error"])
    return str(answer["ask"]["handle"])


def yes(handle: str, answer: str = "once") -> dict[str, str]:
    return {"handle": handle, "answer": answer}


def assert_denied(answer: dict[str, Any]) -> None:
    assert answer["error"]["code"] == -32000
    assert answer["error"]["data"] == {"reason": "denied"}
    assert "ask" not in answer


# Per server


def test_by_default_visible_tools_are_called_and_destructive_ones_ask(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ALLOWED) as (site, server):
        assert call(site, "read") == {"result": DONE}
        assert call(site, "write") == {"result": DONE}
        answer = call(site, "delete")
        assert answer["ask"]["lasting"] is False
        asked(answer)
        assert server.count("tools/call") == 2


def test_ask_asks_before_what_is_not_marked_read_only(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        assert call(site, "read") == {"result": DONE}
        answer = call(site, "write")
        assert answer["ask"]["lasting"] is True
        asked(answer)
        asked(call(site, "delete"))
        assert server.count("tools/call") == 1


def test_none_calls_and_lists_nothing(make_site: MakeSite) -> None:
    with serving(make_site, Calls.NONE) as (site, server):
        for name in ("read", "write", "delete"):
            assert_denied(call(site, name))
        assert site.rpc("tools/list") == {"result": {"tools": []}}
        assert "result" in site.rpc("resources/read", {"uri": "ui://scripted/view.html"})
        assert server.count("tools/call") == 0
        assert "It may call none of its server’s tools." in site.panel().text


@pytest.mark.parametrize("calls", list(Calls))
def test_what_a_view_does_not_see_reads_alike_in_every_mode(
    make_site: MakeSite, calls: Calls
) -> None:
    with serving(make_site, calls) as (site, server):
        for name in ("hidden", "nonsense"):
            error = call(site, name)["error"]
            assert error == {"code": -32602, "message": f"Unknown tool: {name}"}
        assert server.count("tools/call") == 0


# One yes, one call


def test_a_yes_lets_that_call_through_once(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        assert call(site, "write", approval=yes(handle)) == {"result": DONE}
        assert server.asked[-1][1]["arguments"] == ARGUMENTS
        assert_denied(call(site, "write", approval=yes(handle)))
        asked(call(site, "write"))
        assert server.count("tools/call") == 1


def test_of_two_clicks_at_once_one_counts(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ALLOWED) as (site, server):
        handle = asked(call(site, "delete"))
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: call(site, "delete", approval=yes(handle)), range(4)))
        assert sum("result" in answer for answer in answers) == 1
        assert server.count("tools/call") == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write", {"city": "Basel", "days": [1, 2]}),
        ("write", {"city": "Bern", "days": [2, 1]}),
        ("write", {"city": "Bern", "days": [1, 2.0]}),
        ("write", {"city": "Bern", "days": [1, 2], "force": True}),
        ("write", {}),
        ("rename", ARGUMENTS),
        ("delete", ARGUMENTS),
    ],
)
def test_a_yes_to_one_call_is_none_to_another(
    make_site: MakeSite, name: str, arguments: Any
) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        assert_denied(call(site, name, arguments, approval=yes(handle)))
        # And it is in the wrong hands, so it is used up.
        assert_denied(call(site, "write", approval=yes(handle)))
        assert server.count("tools/call") == 0


def test_the_order_of_members_is_no_difference(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, _server):
        handle = asked(call(site, "write"))
        turned = dict(reversed(ARGUMENTS.items()))
        assert call(site, "write", turned, approval=yes(handle)) == {"result": DONE}


def test_another_sign_in_has_no_use_for_it_and_does_not_use_it_up(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        other = TestClient(site.client.app)
        other.get(f"/sign-in/{issue_sign_in_link(site.database)}")
        assert_denied(call(site, "write", client=other, approval=yes(handle)))
        assert server.count("tools/call") == 0
        assert call(site, "write", approval=yes(handle)) == {"result": DONE}


def test_it_is_for_one_panel(make_site: MakeSite) -> None:
    """The same view of the same server under another call."""
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        with site.database.session() as db:
            other = db.exec(
                select(tables.ToolCall)
                .join(tables.Session)
                .where(
                    tables.ToolCall.name == "mcp__demo__show_capacity",
                    tables.Session.agent == "codex",
                )
            ).one()
        base = f"/sessions/{other.session_id}/mcp_apps/{other.tool_call_id}"
        params = {"name": "write", "arguments": ARGUMENTS}
        body = {"method": "tools/call", "params": params, "approval": yes(handle)}
        answer = site.client.post(
            f"{base}/rpc", params={"at": f"0-{other.call_seq}"}, json=body, headers=ORIGIN
        )
        assert_denied(answer.json())
        assert server.count("tools/call") == 0


def test_it_dies_by_itself(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        with site.database.session() as db:
            late = tables.now() - timedelta(seconds=1)
            db.execute(update(tables.Approval).values(expires_at=late))
        assert_denied(call(site, "write", approval=yes(handle)))
        asked(call(site, "write"))
        with site.database.session() as db:
            assert len(db.exec(select(tables.Approval)).all()) == 1  # the late one is swept
        assert server.count("tools/call") == 0


def test_a_no_is_said_and_uses_it_up(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        assert_denied(call(site, "write", approval=yes(handle, "no")))
        assert_denied(call(site, "write", approval=yes(handle)))
        assert server.count("tools/call") == 0


@pytest.mark.parametrize(
    "approval",
    [{}, [], "x", True, {"handle": 1, "answer": "once"}, {"handle": "x", "answer": "once"}],
)
def test_what_is_no_approval_is_a_no_even_for_a_free_tool(
    make_site: MakeSite, approval: Any
) -> None:
    with serving(make_site, Calls.ALLOWED) as (site, server):
        assert_denied(call(site, "read", approval=approval))
        assert server.count("tools/call") == 0


@pytest.mark.parametrize("answer", ["", "always", "yes", None, 1])
def test_an_answer_that_was_not_offered_is_a_no(make_site: MakeSite, answer: Any) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        assert_denied(call(site, "write", approval={"handle": handle, "answer": answer}))
        assert server.count("tools/call") == 0


def test_the_handle_is_not_in_the_database(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, _server):
        handle = asked(call(site, "write"))
        with site.database.session() as db:
            assert handle not in str([row.model_dump() for row in db.exec(select(tables.Approval))])


# A yes for the session


def test_a_yes_for_the_session_lets_the_view_call_that_tool_only(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        assert call(site, "write", approval=yes(handle, "session")) == {"result": DONE}
        assert call(site, "write", {"other": 1}) == {"result": DONE}
        # Two clicks, and the first was remembered: the second is none the less no call.
        assert_denied(call(site, "write", approval=yes(handle, "session")))
        asked(call(site, "delete"))
        asked(call(site, "rename"))
        with site.database.session() as db:
            (grant,) = db.exec(select(tables.Grant)).all()
        assert (grant.principal, grant.tool) == ("view:demo/show_capacity", "write")
        assert server.count("tools/call") == 2


def test_it_is_one_persons(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, _server):
        call(site, "write", approval=yes(asked(call(site, "write")), "session"))
        with site.database.session() as db:
            db.add(tables.User(id="f" * 32, name="somebody else"))
            db.flush()
            db.execute(update(tables.LoginSession).values(user_id="f" * 32))
        asked(call(site, "write"))


def test_no_yes_to_a_destructive_tool_is_kept(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ALLOWED) as (site, server):
        handle = asked(call(site, "delete"))
        assert_denied(call(site, "delete", approval=yes(handle, "session")))
        with site.database.session() as db:
            assert db.exec(select(tables.Grant)).all() == []
        assert server.count("tools/call") == 0


def test_a_tool_that_becomes_destructive_asks_in_spite_of_an_earlier_yes(
    make_site: MakeSite,
) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        call(site, "write", approval=yes(asked(call(site, "write")), "session"))
        server.answers["tools/list"] = {
            "tools": [one | {"annotations": {"destructiveHint": True}} for one in listed()]
        }
        relist(site, server)
        assert call(site, "write")["ask"]["lasting"] is False
        # What was shown before was the question of another tool.
        assert_denied(call(site, "write", approval=yes(handle)))
        assert server.count("tools/call") == 1


def relist(site: Site, server: Scripted) -> None:
    """The server's tools are read anew for the next call."""
    hub = site.client.app.state.hub  # type: ignore[attr-defined]
    with site.database.session() as db:
        target = registry.target(row_of(db, server))

    async def drop() -> None:
        hub.drop(target)

    portal = site.client.portal
    assert portal is not None
    portal.call(drop)


# Revoking


def test_revoking_takes_effect_with_the_next_call(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        call(site, "write", approval=yes(asked(call(site, "write")), "session"))
        with site.database.session() as db:
            (grant,) = db.exec(select(tables.Grant)).all()
            grants.revoke(db, grant.server_id, grant.id)
        asked(call(site, "write"))
        assert server.count("tools/call") == 1


def test_a_yes_given_before_the_operator_said_none_is_worth_nothing(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        choose(site, server, Calls.NONE)
        assert_denied(call(site, "write", approval=yes(handle, "session")))
        with site.database.session() as db:
            assert db.exec(select(tables.Grant)).all() == []
        assert server.count("tools/call") == 0


def test_a_server_that_is_off_gets_no_call_whatever_was_said(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        handle = asked(call(site, "write"))
        with site.database.session() as db:
            registry.set_allowed(db, server.url, False)
        body = {
            "method": "tools/call",
            "params": {"name": "write", "arguments": ARGUMENTS},
            "approval": yes(handle),
        }
        assert site.rpc_answer(body).status_code == 409
        assert server.count("tools/call") == 0


def test_at_another_address_nothing_that_was_given_is_left(make_site: MakeSite) -> None:
    with serving(make_site, Calls.ASK) as (site, server):
        call(site, "write", approval=yes(asked(call(site, "write")), "session"))
        with site.database.session() as db:
            row = row_of(db, server)
            domains.choose(db, row, Domains.CHOSEN, ["https://a.example"])
            assert row.id is not None
            moved = registry.edit_server(db, row.id, f"{server.url}2", "streamable-http")
            assert (moved.calls, moved.domains, moved.chosen_domains) == ("ask", "chosen", [])
            assert db.exec(select(tables.Grant)).all() == []


# Domains


def test_the_panel_says_what_is_granted_held_back_and_refused(make_site: MakeSite) -> None:
    lists = {
        "connectDomains": ["https://a.example", "https://b.example"],
        "resourceDomains": ["https://b.example", "https://*.com"],
    }
    with scripted(
        tools_list={"tools": listed()},
        resources_read=document(_meta={"ui": {"csp": lists}}),
    ) as server:
        site = make_site(server.url)
        page = site.panel().text
        assert "May contact 2 addresses; 1 refused" in page
        with site.database.session() as db:
            domains.choose(db, row_of(db, server), Domains.CHOSEN, ["https://a.example"])
        page = site.panel().text
        assert "May contact 1 address; 1 held back; 1 refused" in page
        parsed = site.parsed_panel()
        assert parsed.data["granted"] == {"connectDomains": ["https://a.example"]}
        headers = site.client.get(parsed.panel["data-fragment-url"]).headers
        assert "connect-src https://a.example;" in headers["content-security-policy"]
        assert "b.example" not in headers["content-security-policy"]
        assert headers["connection-allowlist"] == '("https://a.example")'
        with site.database.session() as db:
            domains.choose(db, row_of(db, server), Domains.NONE, [])
        assert "May contact no address; 2 held back; 1 refused" in site.panel().text
