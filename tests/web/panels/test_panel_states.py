"""Every way a view's document can be wrong is a sentence in the panel, and never a blank box."""

import base64
from typing import Any

import pytest

from app.errors import VitrineError
from app.mcp import registry
from tests.support.scripted import VIEW_TYPE, VIEW_URI, RpcFailure, document, scripted, tool
from tests.web.panels.site import MakeSite

TOOLS = {"tools": [tool("show_capacity")]}


def panel_text(make_site: MakeSite, read: Any, tools: Any = None, **options: Any) -> str:
    with scripted(tools_list=tools or TOOLS, resources_read=read) as server:
        answer = make_site(server.url, **options).panel()
        assert answer.status_code == 200
        return str(answer.text)


@pytest.mark.parametrize(
    "mime_type",
    [
        VIEW_TYPE,
        "text/html; profile=mcp-app",
        'text/html;profile="mcp-app"',
        "Text/HTML ; Profile = 'MCP-App'",
        "text/html;charset=utf-8;profile=mcp-app",
    ],
)
def test_every_spelling_of_the_type_is_taken(make_site: MakeSite, mime_type: str) -> None:
    assert "data-fragment-url" in panel_text(make_site, document(mimeType=mime_type))


@pytest.mark.parametrize(
    "mime_type", ["text/html", "text/plain;profile=mcp-app", "text/html;profile=other", "", None, 5]
)
def test_another_type_is_refused(make_site: MakeSite, mime_type: object) -> None:
    text = panel_text(make_site, document(mimeType=mime_type))
    assert 'data-panel-state="wrong-type"' in text
    assert "text/html;profile=mcp-app" in text
    assert "data-fragment-url" not in text


@pytest.mark.parametrize(
    "contents",
    [[], [{"uri": "ui://a/1"}, {"uri": "ui://a/2"}]],
)
def test_an_answer_without_the_document_is_said(make_site: MakeSite, contents: object) -> None:
    assert 'data-panel-state="missing"' in panel_text(make_site, {"contents": contents})


@pytest.mark.parametrize("contents", ["x", {}, None, ["x"], [None]])
def test_contents_of_the_wrong_shape_are_garbage(make_site: MakeSite, contents: object) -> None:
    text = panel_text(make_site, {"contents": contents})
    assert 'data-panel-state="garbage"' in text


@pytest.mark.parametrize("read", [{}, {"content": []}])
def test_an_answer_without_contents_is_garbage(make_site: MakeSite, read: object) -> None:
    assert 'data-panel-state="garbage"' in panel_text(make_site, read)


def test_a_document_without_text_is_said(make_site: MakeSite) -> None:
    read = {"contents": [{"uri": VIEW_URI, "mimeType": VIEW_TYPE}]}
    assert 'data-panel-state="missing"' in panel_text(make_site, read)


@pytest.mark.parametrize("blob", ["%%%", "AAA", base64.b64encode(b"\xff\xfe").decode()])
def test_a_blob_that_is_not_utf8_in_base64_is_said(make_site: MakeSite, blob: str) -> None:
    read = {"contents": [{"uri": VIEW_URI, "mimeType": VIEW_TYPE, "blob": blob}]}
    assert 'data-panel-state="garbage"' in panel_text(make_site, read)


def test_a_document_over_the_cap_is_refused_and_one_at_the_cap_is_shown(
    make_site: MakeSite,
) -> None:
    big = "é" * 1000  # 2,000 bytes
    text = panel_text(make_site, document(big), view_max_bytes=1999)
    assert 'data-panel-state="too-large"' in text
    assert "2,000" in text


def test_the_servers_refusal_to_read_is_said(make_site: MakeSite) -> None:
    def read(_params: Any) -> Any:
        raise RpcFailure(-32602, "<b>no such thing</b>")

    text = panel_text(make_site, read)
    assert 'data-panel-state="rejected"' in text
    assert "<b>no such" not in text


def test_a_tool_that_is_gone_is_said(make_site: MakeSite) -> None:
    text = panel_text(make_site, document(), {"tools": [tool("other")]})
    assert 'data-panel-state="tool-gone"' in text


def test_a_tool_without_a_view_removes_its_row_s_frame(make_site: MakeSite) -> None:
    with scripted(tools_list={"tools": [tool("show_capacity", view=False)]}) as server:
        site = make_site(server.url)
        assert "panel-slot" in site.client.get(f"/sessions/{site.session_id}").text
        answer = site.panel()
        assert answer.headers["HX-Reswap"] == "delete"
        # That request warmed the index: the page itself knows now.
        assert "panel-slot" not in site.client.get(f"/sessions/{site.session_id}").text


def test_one_request_warms_the_index_for_the_other_rows(make_site: MakeSite) -> None:
    with scripted(tools_list=TOOLS, resources_read=document()) as server:
        site = make_site(server.url)
        for _ in range(3):
            assert "data-fragment-url" in site.panel().text
        assert server.count("tools/list") == 1
        assert server.count("resources/read") == 1
        assert server.count("tools/call") == 0


def granted(site: Any) -> str:
    url = site.parsed_panel().panel["data-fragment-url"]
    return str(site.client.get(url).headers["content-security-policy"])


def csp_meta(origin: str) -> dict[str, Any]:
    return {"_meta": {"ui": {"csp": {"connectDomains": [origin]}}}}


def test_the_policy_comes_from_the_content_item_first(make_site: MakeSite) -> None:
    listing = {"resources": [{"uri": VIEW_URI, "name": "v", **csp_meta("https://list.example")}]}
    with scripted(
        tools_list=TOOLS,
        resources_read=document(**csp_meta("https://item.example")),
        resources_list=listing,
    ) as server:
        policy = granted(make_site(server.url))
        assert "connect-src https://item.example;" in policy
        assert "list.example" not in policy


def test_the_policy_comes_from_the_listing_when_the_item_says_nothing(make_site: MakeSite) -> None:
    listing = {"resources": [{"uri": VIEW_URI, "name": "v", **csp_meta("https://list.example")}]}
    with scripted(tools_list=TOOLS, resources_read=document(), resources_list=listing) as server:
        assert "connect-src https://list.example;" in granted(make_site(server.url))


def test_what_was_refused_is_listed_in_the_panel(make_site: MakeSite) -> None:
    declared = {"ui": {"csp": {"resourceDomains": ["https://x.example/<b>", "*"]}}}
    text = panel_text(make_site, document(_meta=declared))
    assert "2 refused" in text
    assert "https://x.example/&lt;b&gt;" in text


@pytest.mark.parametrize("visibility", [["app"], ["model", "app"]])
def test_a_tool_marked_for_apps_is_forwarded(make_site: MakeSite, visibility: list[str]) -> None:
    tools = {"tools": [tool("show_capacity"), tool("act", view=False, visibility=visibility)]}
    result = {"content": [], "structuredContent": [1], "_meta": {"a": 1}, "unknown": {"b": 2}}
    with scripted(tools_list=tools, tools_call=result) as server:
        site = make_site(server.url)
        answer = site.rpc("tools/call", {"name": "act", "arguments": {"x": 1}, "_meta": {"p": 1}})
        assert answer == {"result": result}
        (params,) = [params for method, params in server.asked if method == "tools/call"]
        assert (params["name"], params["arguments"]) == ("act", {"x": 1})


@pytest.mark.parametrize(
    "visibility", [["model"], [], ["App"], ["application"], "app", {"app": True}, None, [["app"]]]
)
def test_no_other_visibility_reaches_the_server(make_site: MakeSite, visibility: object) -> None:
    tools = {"tools": [tool("show_capacity"), tool("act", view=False, visibility=visibility)]}
    with scripted(tools_list=tools, tools_call={"content": []}) as server:
        site = make_site(server.url)
        error = site.rpc("tools/call", {"name": "act"})["error"]
        assert error == {"code": -32602, "message": "Unknown tool: act"}
        assert server.count("tools/call") == 0


def test_an_unmarked_tool_is_not_reached(make_site: MakeSite) -> None:
    with scripted(tools_list=TOOLS, tools_call={"content": []}) as server:
        site = make_site(server.url)
        assert site.rpc("tools/call", {"name": "show_capacity"})["error"]["code"] == -32602
        assert server.count("tools/call") == 0


def test_a_server_that_wants_a_form_filled_in_gets_none(make_site: MakeSite) -> None:
    tools = {"tools": [tool("show_capacity"), tool("act", view=False, visibility=["app"])]}
    wants = {"resultType": "input_required", "inputRequests": {}}
    with scripted(tools_list=tools, tools_call=wants) as server:
        error = make_site(server.url).rpc("tools/call", {"name": "act"})["error"]
        assert error["code"] == -32603
        assert error["data"] == {"reason": "input_required"}


def test_the_servers_error_is_passed_on_with_its_code_and_data(make_site: MakeSite) -> None:
    tools = {"tools": [tool("show_capacity"), tool("act", view=False, visibility=["app"])]}

    def fail(_params: Any) -> Any:
        raise RpcFailure(-31999, "own words", {"why": ["x"]})

    with scripted(tools_list=tools, tools_call=fail) as server:
        error = make_site(server.url).rpc("tools/call", {"name": "act"})["error"]
        assert error == {"code": -31999, "message": "own words", "data": {"why": ["x"]}}


def test_unmarked_tools_are_reached_where_the_operator_says_so(make_site: MakeSite) -> None:
    marked = [tool("model_only", view=False, visibility=["model"]), tool("act", view=False)]
    tools = {"tools": [tool("show_capacity"), *marked]}
    with scripted(tools_list=tools, tools_call={"content": []}) as server:
        site = make_site(server.url)
        with site.database.session() as db:
            registry.set_unmarked_tools(db, server.url, True)
        assert site.rpc("tools/call", {"name": "act"}) == {"result": {"content": []}}
        assert site.rpc("tools/call", {"name": "show_capacity"}) == {"result": {"content": []}}
        # The choice is about tools that say nothing, not about those that say no.
        assert site.rpc("tools/call", {"name": "model_only"})["error"]["code"] == -32602
        with site.database.session() as db:
            registry.set_unmarked_tools(db, server.url, False)
        assert site.rpc("tools/call", {"name": "act"})["error"]["code"] == -32602


def test_trying_again_asks_at_once(make_site: MakeSite) -> None:
    def broken(_params: Any) -> Any:
        raise RpcFailure(-32050, "not now")

    with scripted(tools_list=broken, resources_read=broken) as server:
        site = make_site(server.url)
        for _ in range(3):
            text = site.panel().text
            assert 'data-panel-state="rejected"' in text
        assert server.count("tools/list") == 1
        retry_url = text.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
        server.answers["tools/list"] = TOOLS
        assert 'data-panel-state="rejected"' in site.client.get(retry_url).text
        server.answers["resources/read"] = document()
        assert "data-fragment-url" in site.client.get(retry_url).text


def test_a_stdio_server_is_never_reached_and_the_row_says_why(make_site: MakeSite) -> None:
    with scripted(tools_list=TOOLS, resources_read=document()) as server:
        site = make_site(server.url)
        with site.database.session() as db:
            registry.remove_name(db, "demo")
            stdio = registry.add_server(db, "demo", "", registry.STDIO)
            with pytest.raises(VitrineError, match="starts no programs"):
                registry.set_allowed(db, stdio.url, True)
        page = site.client.get(f"/sessions/{site.session_id}").text
        assert "panel-slot" not in page
        assert "Vitrine starts no programs" in page
        assert 'data-panel-state="not-eligible"' in site.panel().text
        assert server.asked == []


def test_a_refusal_is_said_again_to_whoever_asks_at_once(make_site: MakeSite) -> None:
    with scripted(tools_list=TOOLS, resources_read=document(mimeType="text/html")) as server:
        site = make_site(server.url)
        for _ in range(2):
            assert 'data-panel-state="wrong-type"' in site.panel().text
        assert server.count("resources/read") == 1
