"""What the panel of a view hands on to its frame, and what it says of the rest."""

from typing import Any

import pytest

from app.mcp import registry
from tests.support.scripted import document, scripted, tool
from tests.web.panels.site import MakeSite, Site

TOOLS = {"tools": [tool("show_capacity", visibility=["model", "app"])]}


def asking(*names: str) -> dict[str, Any]:
    ui: dict[str, Any] = {"permissions": {name: {} for name in names}}
    return document(_meta={"ui": ui})


def document_policy(site: Site) -> str:
    url = site.parsed_panel().panel["data-fragment-url"]
    return str(site.client.get(url).headers["permissions-policy"])


@pytest.mark.parametrize("allowed", [[], ["geolocation"], ["clipboardWrite", "geolocation"]])
def test_a_view_gets_what_its_server_asks_for_and_is_allowed(
    make_site: MakeSite, allowed: list[str]
) -> None:
    asked = asking("geolocation", "clipboardWrite")
    with scripted(tools_list=TOOLS, resources_read=asked) as server:
        site = make_site(server.url)
        with site.database.session() as db:
            registry.set_permissions(db, server.url, allowed)
        assert sorted(site.parsed_panel().data["permissions"]) == allowed
        policy = document_policy(site)
        assert ("geolocation=*" in policy) is ("geolocation" in allowed)
        assert ("clipboard-write=*" in policy) is ("clipboardWrite" in allowed)
        assert site.panel().text.count("is not allowed") == 2 - len(allowed)


def test_what_is_allowed_and_not_asked_for_is_not_given(make_site: MakeSite) -> None:
    with scripted(tools_list=TOOLS, resources_read=document()) as server:
        site = make_site(server.url)
        with site.database.session() as db:
            registry.set_permissions(db, server.url, ["geolocation"])
        assert site.parsed_panel().data["permissions"] == []
        assert "geolocation=()" in document_policy(site)


def test_the_panel_says_what_no_browser_gives(make_site: MakeSite) -> None:
    asked = asking("microphone", "<img src=x>")
    with scripted(tools_list=TOOLS, resources_read=asked) as server:
        site = make_site(server.url)
        page = site.panel().text
        assert site.parsed_panel().data["permissions"] == []
    assert "asks for the microphone" in page
    assert "Browsers give it to no sandboxed view" in page
    assert "<img src=x>" not in page


def test_only_a_page_with_views_can_hand_anything_on(make_site: MakeSite) -> None:
    with scripted(tools_list=TOOLS, resources_read=document()) as server:
        site = make_site(server.url)
        page = site.client.get(f"/sessions/{site.session_id}")
        assert page.headers["permissions-policy"].startswith("geolocation=*, clipboard-write=*, ")
        assert site.client.get("/").headers["permissions-policy"].startswith("geolocation=(), ")
