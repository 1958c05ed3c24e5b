"""What a view is told of its server's tools and resources: from Vitrine's own listing."""

from typing import Any

import pytest

from app.mcp import registry
from tests.support.scripted import document, scripted, tool
from tests.web.panels.site import MakeSite

MARKED = tool("show_capacity", visibility=["model", "app"])
APP_ONLY = {**tool("refresh", view=False, visibility=["app"]), "x-kept": {"as": "it came"}}
MODEL_ONLY = tool("plan", view=False, visibility=["model"])
UNMARKED = tool("free", view=False)
TOOLS = {"tools": [MARKED, APP_ONLY, MODEL_ONLY, UNMARKED]}
RESOURCES = {"resources": [{"uri": "data://a", "name": "a", "_meta": {"k": 1}}]}
TEMPLATES = {"resourceTemplates": [{"uriTemplate": "data://{id}", "name": "t"}]}
LISTS = {
    "tools/list": [MARKED, APP_ONLY],
    "resources/list": RESOURCES["resources"],
    "resources/templates/list": TEMPLATES["resourceTemplates"],
}
FIELDS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def serve() -> Any:
    return scripted(
        tools_list=TOOLS,
        resources_read=document(),
        resources_list=RESOURCES,
        **{"resources_templates/list": TEMPLATES},
    )


@pytest.mark.parametrize("method", list(LISTS))
@pytest.mark.parametrize("params", [None, {}, {"cursor": ""}])
def test_a_view_gets_the_listing_as_it_came(
    make_site: MakeSite, method: str, params: object
) -> None:
    with serve() as server:
        site = make_site(server.url)
        assert site.rpc(method, params) == {"result": {FIELDS[method]: LISTS[method]}}


def test_unmarked_tools_are_listed_where_they_may_be_called(make_site: MakeSite) -> None:
    with serve() as server:
        site = make_site(server.url)
        with site.database.session() as db:
            registry.set_unmarked_tools(db, server.url, True)
        names = [found["name"] for found in site.rpc("tools/list")["result"]["tools"]]
    assert names == ["show_capacity", "refresh", "free"]


@pytest.mark.parametrize("method", list(LISTS))
def test_asking_again_asks_the_server_nothing(make_site: MakeSite, method: str) -> None:
    with serve() as server:
        site = make_site(server.url)
        site.rpc(method)
        before = len(server.asked)
        site.rpc(method)
        assert len(server.asked) == before


@pytest.mark.parametrize("method", list(LISTS))
def test_a_cursor_that_was_never_given_out_is_refused(make_site: MakeSite, method: str) -> None:
    with serve() as server:
        site = make_site(server.url)
        answer = site.rpc(method, {"cursor": "2"})
        assert answer == {"error": {"code": -32602, "message": "Unknown cursor"}}
        assert site.rpc(method, ["no object"])["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["prompts/list", "completion/complete", "resources/subscribe"])
def test_nothing_else_is_forwarded(make_site: MakeSite, method: str) -> None:
    with serve() as server:
        site = make_site(server.url)
        site.panel()
        before = len(server.asked)
        assert site.rpc(method, {})["error"]["code"] == -32601
        assert len(server.asked) == before
