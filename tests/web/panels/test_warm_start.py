"""A restart with the servers stopped still shows every view that was shown before."""

from typing import Any

import pytest
from sqlmodel import select

from app.db import tables
from app.mcp import registry
from tests.support.listeners import hung
from tests.support.scripted import RpcFailure, document, scripted, tool
from tests.web.panels.site import MakeSite, Site

TOOLS = {"tools": [tool("show_capacity", visibility=["model", "app"])]}
CSP = {"ui": {"csp": {"connectDomains": ["https://c.example"]}, "prefersBorder": True}}
HTML = "<p>é the view</p>"


def shown_once(make_site: MakeSite, **more: Any) -> Site:
    """A site whose server gave its view, and is gone now; as after a restart."""
    with scripted(tools_list=TOOLS, resources_read=document(HTML, _meta=CSP), **more) as server:
        site = make_site(server.url)
        assert "data-fragment-url" in site.panel().text
    return make_site(server.url)


def test_the_view_is_there_with_its_policy_and_a_sentence(make_site: MakeSite) -> None:
    site = shown_once(make_site)
    assert 'class="panel-slot"' in site.client.get(f"/sessions/{site.session_id}").text
    answer = site.panel()
    assert "The server cannot be reached. This is the view as it was read on" in answer.text
    parsed = site.parsed_panel()
    assert parsed.data["toolResult"]["structuredContent"]
    fragment = site.client.get(parsed.panel["data-fragment-url"])
    assert fragment.text.endswith(HTML)
    assert "connect-src https://c.example;" in fragment.headers["content-security-policy"]


def test_a_copy_authorizes_no_call(make_site: MakeSite) -> None:
    site = shown_once(make_site, tools_call={"content": []})
    error = site.rpc("tools/call", {"name": "show_capacity"})["error"]
    assert error == {
        "code": -32603,
        "message": "The server cannot be reached.",
        "data": {"reason": "unreachable"},
    }


def test_the_page_knows_what_has_no_view_without_asking(make_site: MakeSite) -> None:
    with scripted(tools_list={"tools": [tool("show_capacity", view=False)]}) as server:
        site = make_site(server.url)
        assert site.panel().headers["HX-Reswap"] == "delete"
    site = make_site(server.url)
    assert "panel-slot" not in site.client.get(f"/sessions/{site.session_id}").text
    # A copy that is older than a day is asked about again: a tool may have gained a view.
    with site.database.session() as db:
        (copy,) = db.exec(select(tables.ToolIndexCopy)).all()
        copy.read_at = copy.read_at.replace(year=copy.read_at.year - 1)
        db.add(copy)
    assert "panel-slot" in site.client.get(f"/sessions/{site.session_id}").text


def test_a_hung_server_shows_its_copy_too(make_site: MakeSite) -> None:
    site = shown_once(make_site)
    with hung() as server, site.database.session() as db:
        rows: list[tables.Server | tables.ToolIndexCopy | tables.FragmentCopy] = [
            *db.exec(select(tables.Server)),
            *db.exec(select(tables.ToolIndexCopy)),
            *db.exec(select(tables.FragmentCopy)),
        ]
        assert len(rows) == 3
        for row in rows:
            row.url = server.url
            db.add(row)
        db.commit()
        again = make_site(server.url, listing_timeout_seconds=1)
        assert "did not answer within 1 second" in again.panel().text
        assert "data-fragment-url" in again.panel().text


def test_another_url_gets_nobody_elses_copy(make_site: MakeSite) -> None:
    site = shown_once(make_site)
    with site.database.session() as db:
        registry.remove_name(db, "demo")
    with hung() as server:
        other = make_site(server.url, listing_timeout_seconds=1)
        assert 'data-panel-state="timeout"' in other.panel().text


def test_a_server_that_answers_again_replaces_its_copy(make_site: MakeSite) -> None:
    with scripted(tools_list=TOOLS, resources_read=document("<p>old</p>")) as server:
        site = make_site(server.url)
        assert "data-fragment-url" in site.panel().text
        server.answers["resources/read"] = document("<p>new</p>")
        again = make_site(server.url)
        url = again.parsed_panel().panel["data-fragment-url"]
        assert again.client.get(url).text.endswith("<p>new</p>")
        with again.database.session() as db:
            assert len(db.exec(select(tables.FragmentCopy)).all()) == 1


@pytest.mark.parametrize("switches", [{"render": False}, {"allowed": False}])
def test_a_copy_is_not_shown_with_a_switch_off(
    make_site: MakeSite, switches: dict[str, bool]
) -> None:
    site = shown_once(make_site)
    with site.database.session() as db:
        url = db.exec(select(tables.Server)).one().url
    off = make_site(url, **switches)
    assert "data-fragment-url" not in off.panel().text


def test_a_document_that_the_server_has_no_longer_is_shown_as_it_was(make_site: MakeSite) -> None:
    def gone(_params: Any) -> Any:
        raise RpcFailure(-32602, "gone")

    with scripted(tools_list=TOOLS, resources_read=document(HTML)) as server:
        assert "data-fragment-url" in make_site(server.url).panel().text
        server.answers["resources/read"] = gone
        answer = make_site(server.url).panel()
        assert "The server refused the request" in answer.text
        assert "data-fragment-url" in answer.text
        assert server.count("resources/read") == 2
