"""Bugs of other hosts, by their symptom; tests/test_host_bugs.py has the whole table."""

import base64
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from app.db import tables
from tests.support.scripted import VIEW_TYPE, VIEW_URI, document, scripted, tool
from tests.web.panels.site import MakeSite, Site
from tests.web.recording import Recording

LISTED = {"tools": [tool("show", visibility=["model", "app"])]}
UNLISTED = {"tools": [tool("show", view=False)]}
ELSEWHERE = "ui://elsewhere/view.html"


def recorded(site: Site, folder: Path, **meta: Any) -> Site:
    """The site, turned to a session whose one call has a result with this ``_meta``."""
    recording = (
        Recording().user("Show it").call("mcp__demo__show", {}, [{"type": "text", "text": "x"}])
    )
    recording.lines[-1]["mcpMeta"] = {"_meta": meta}
    recording.import_into(site.database, folder, source="elsewhere")
    with site.database.session() as db:
        call = db.exec(
            select(tables.ToolCall).where(tables.ToolCall.name == "mcp__demo__show")
        ).one()
    return Site(site.client, site.database, call.session_id, call, site.settings)


def test_a_document_in_base64_is_no_mojibake(make_site: MakeSite) -> None:
    html = "<p>hé – 日本 😀</p>"
    blob = base64.b64encode(html.encode()).decode()
    read = {"contents": [{"uri": VIEW_URI, "mimeType": VIEW_TYPE, "blob": blob}]}
    with scripted(tools_list={"tools": [tool("show_capacity")]}, resources_read=read) as server:
        site = make_site(server.url)
        url = site.parsed_panel().panel["data-fragment-url"]
        answer = site.client.get(url)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert html in answer.content.decode()


def test_a_result_that_names_a_view_itself_mounts_none(make_site: MakeSite, tmp_path: Path) -> None:
    with scripted(tools_list=UNLISTED, resources_read=document()) as server:
        site = recorded(make_site(server.url), tmp_path, ui={"resourceUri": ELSEWHERE})
        assert "data-panel" not in site.panel().text
        assert server.count("resources/read") == 0


def test_a_result_that_names_another_view_changes_nothing(
    make_site: MakeSite, tmp_path: Path
) -> None:
    with scripted(tools_list=LISTED, resources_read=document()) as server:
        site = recorded(make_site(server.url), tmp_path, ui={"resourceUri": ELSEWHERE})
        assert "data-fragment-url" in site.panel().text
        asked = [params["uri"] for method, params in server.asked if method == "resources/read"]
        assert asked == [VIEW_URI]
        # What the server sent with the result is the view's to see all the same.
        assert site.parsed_panel().data["toolResult"]["_meta"] == {"ui": {"resourceUri": ELSEWHERE}}


@pytest.mark.parametrize("domain", ["app.example", "<b>x</b>", "a\nb"])
def test_an_origin_of_its_own_is_declined_in_words_and_the_view_is_shown(
    make_site: MakeSite, domain: str
) -> None:
    asked = document(_meta={"ui": {"domain": domain}})
    with scripted(tools_list={"tools": [tool("show_capacity")]}, resources_read=asked) as server:
        site = make_site(server.url)
        page = site.panel().text
    assert "data-fragment-url" in page
    assert "asks for the origin" in page
    assert "<b>" not in page


def test_without_a_domain_nothing_is_said_of_one(make_site: MakeSite) -> None:
    with scripted(
        tools_list={"tools": [tool("show_capacity")]},
        resources_read=document(_meta={"ui": {"domain": 7}}),
    ) as server:
        assert "asks for the origin" not in make_site(server.url).panel().text
