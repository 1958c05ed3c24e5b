"""Panels of Codex's calls, which record the names of server and tool, and the view."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from app.db import tables
from app.mcp import registry
from app.transcripts.ingest import import_paths
from app.web.panel_view import NOT_THE_RECORDED_VIEW
from tests.support.listeners import hung
from tests.support.scripted import (
    VIEW_TYPE,
    VIEW_URI,
    RpcFailure,
    Scripted,
    document,
    scripted,
    tool,
)
from tests.transcripts.codex_making import call, mcp, meta, output
from tests.web.panels.site import MakeSite, Site

OLD_URI = "ui://scripted/old.html"
LISTED = {"tools": [tool("structured")]}
MakeRollout = Callable[..., Site]


@pytest.fixture
def rollout(make_site: MakeSite, tmp_path: Path) -> MakeRollout:
    """A site that holds a rollout too, and is about its first call. ``names`` are what the
    server is known as.
    """

    def make(url: str, *lines: bytes, names: tuple[str, ...] = ("probe",), **options: Any) -> Site:
        site = make_site(url, **options)
        path = tmp_path / "rollout.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in (meta(), *lines)))
        import_paths(site.database, [path])
        with site.database.session() as db:
            for name in names:
                if name not in {known.name for known in registry.known_servers(db)}:
                    registry.add_server(db, name, url)
            transcript = db.exec(
                select(tables.Transcript).where(tables.Transcript.path == str(path))
            ).one()
            first = db.exec(
                select(tables.ToolCall)
                .where(tables.ToolCall.transcript_id == transcript.id)
                .order_by(tables.ToolCall.call_seq)  # type: ignore[arg-type]
            ).first()
        assert first is not None
        return Site(site.client, site.database, first.session_id, first, site.settings)

    return make


def ended(uri: str | None = VIEW_URI, **fields: Any) -> tuple[bytes, bytes]:
    """A call that ended, linked to a view."""
    return call("c"), mcp("c", mcpAppResourceUri=uri, **fields)


def page(site: Site, level: str = "condensed") -> str:
    return str(site.client.get(f"/sessions/{site.session_id}?level={level}").text)


def read(html: dict[str, str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """An answer to ``resources/read``: the documents that there are."""

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        uri = params["uri"]
        if uri not in html:
            raise RpcFailure(-32002, "Resource not found")
        return {"contents": [{"uri": uri, "mimeType": VIEW_TYPE, "text": html[uri]}]}

    return answer


def html_of(site: Site) -> str:
    return str(site.client.get(site.parsed_panel().panel["data-fragment-url"]).text)


def reads(server: Scripted) -> list[str]:
    return [params["uri"] for method, params in server.asked if method == "resources/read"]


# Names


def test_the_names_are_shown_as_the_servers_are_called(rollout: MakeRollout) -> None:
    lines = (
        call("c", "get_time", "mcp__basic_vanillajs"),
        mcp("c", server="basic-vanillajs", tool="get-time"),
    )
    with hung() as server:
        text = page(rollout(server.url, *lines, names=("basic-vanillajs",)))
        assert '<span class="call-server">basic-vanillajs</span>get-time' in text
        assert "panel-slot" in text
        assert server.connections == 0


@pytest.mark.parametrize("known", ["my_srv", "My-srv", "my-srv2", "my"])
def test_a_recorded_server_name_stands_for_no_other(rollout: MakeRollout, known: str) -> None:
    lines = call("c", "structured", "mcp__my_srv"), mcp("c", server="my-srv")
    with hung() as server:
        site = rollout(server.url, *lines, names=(known,))
        assert "The server of this call is not known here." in page(site)
        assert "panel-slot" not in page(site)
        assert 'data-panel-state="unknown-server"' in site.panel().text
        assert site.rpc_answer({"method": "tools/call"}).status_code == 409
        assert server.connections == 0


def test_of_two_servers_written_alike_the_recorded_one_is_meant(rollout: MakeRollout) -> None:
    lines = call("c", "structured", "mcp__my_srv"), mcp("c", server="my-srv")
    with scripted(tools_list=LISTED, resources_read=document("<p>mine</p>")) as right:
        site = rollout(right.url, *lines, names=("my-srv",))
        with hung() as wrong:
            with site.database.session() as db:
                registry.add_server(db, "my_srv", wrong.url)
                registry.set_allowed(db, wrong.url, True)
            assert "panel-slot" in page(site)
            assert html_of(site).endswith("<p>mine</p>")
            assert wrong.connections == 0


def test_without_a_recorded_name_two_servers_written_alike_are_ambiguous(
    rollout: MakeRollout,
) -> None:
    with hung() as one, hung() as other:
        site = rollout(one.url, call("c", "x", "mcp__my_srv"), names=("my-srv",))
        assert "panel-slot" in page(site)
        with site.database.session() as db:
            registry.add_server(db, "my_srv", other.url)
            registry.set_allowed(db, other.url, True)
        assert "Two servers are recorded under the same name" in page(site)
        assert 'data-panel-state="ambiguous"' in site.panel().text


def test_a_recorded_tool_name_stands_for_no_other(rollout: MakeRollout) -> None:
    lines = call("c", "get_time"), mcp("c", tool="get-time")
    listed = {"tools": [tool("get_time"), tool("get.time")]}
    with scripted(tools_list=listed, resources_read=document()) as server:
        site = rollout(server.url, *lines)
        assert 'data-panel-state="tool-gone"' in site.panel().text
        assert reads(server) == []
        server.answers["tools/list"] = {"tools": [tool("get-time"), tool("get_time")]}
        again = rollout(server.url, *lines)
        assert again.parsed_panel().data["tool"] == "get-time"


def test_a_call_without_a_result_is_matched_by_how_codex_writes_names(
    rollout: MakeRollout,
) -> None:
    listed = {"tools": [tool("get-time")]}
    with scripted(tools_list=listed, resources_read=document()) as server:
        site = rollout(
            server.url, call("c", "get_time", "mcp__basic_vanillajs"), names=("basic-vanillajs",)
        )
        data = site.parsed_panel().data
        assert (data["server"], data["tool"]) == ("basic-vanillajs", "get-time")
        assert data["state"] == "pending"
        assert "toolResult" not in data


def test_a_claude_code_name_is_not_matched_by_how_codex_writes_names(
    make_site: MakeSite, demo_url: str
) -> None:
    """There a dash stays a dash: ``show-capacity`` of another server is another name."""
    site = make_site(demo_url)
    with site.database.session() as db:
        row = db.get_one(tables.ToolCall, site.call.id)
        row.name = "mcp__de_mo__show_capacity"
        row.server = row.tool = None  # as before the agent recorded the names themselves
        db.add(row)
        registry.add_server(db, "de-mo", demo_url)
    assert 'data-panel-state="unknown-server"' in site.panel().text


def test_a_tool_that_the_agent_did_not_find_has_no_panel(rollout: MakeRollout) -> None:
    lines = call("c", "nosuch"), output("c", "unsupported call: mcp__probenosuch")
    with scripted(tools_list=LISTED, resources_read=document()) as server:
        site = rollout(server.url, *lines)
        assert 'data-panel-state="tool-gone"' in site.panel().text  # which reads the index
        text = page(site)
        assert "panel-slot" not in text
        assert "unsupported call: mcp__probenosuch" in text


# The recorded view


def test_a_recorded_view_gives_its_row_a_frame_whatever_is_listed(rollout: MakeRollout) -> None:
    listed = {"tools": [tool("structured", view=False), tool("other", view=False)]}
    lines = (*ended(), call("d", "other"), mcp("d", tool="other", mcpAppResourceUri=None))
    with scripted(tools_list=listed, resources_read=document("<p>linked</p>")) as server:
        site = rollout(server.url, *lines)
        assert page(site).count('class="panel-slot"') == 2  # one is recorded, one not known yet
        assert server.asked == []
        assert html_of(site).endswith("<p>linked</p>")
        for level in ("minimal", "condensed", "verbose"):
            assert page(site, level).count('class="panel-slot"') == 1


def test_the_document_is_the_one_that_the_call_was_linked_to(rollout: MakeRollout) -> None:
    documents = {OLD_URI: "<p>old</p>", VIEW_URI: "<p>new</p>"}
    with scripted(tools_list=LISTED, resources_read=read(documents)) as server:
        site = rollout(server.url, *ended(OLD_URI))
        assert html_of(site).endswith("<p>old</p>")
        assert reads(server) == [OLD_URI]


@pytest.mark.parametrize(
    "answer",
    [
        read({VIEW_URI: "<p>new</p>"}),
        # A server that gives an empty answer for what it does not have.
        lambda params: document("<p>new</p>") if params["uri"] == VIEW_URI else {"contents": []},
    ],
)
def test_where_it_is_gone_the_tools_own_one_is_shown_and_that_is_said(
    rollout: MakeRollout, answer: Any
) -> None:
    with scripted(tools_list=LISTED, resources_read=answer) as server:
        site = rollout(server.url, *ended(OLD_URI))
        assert NOT_THE_RECORDED_VIEW in site.panel().text
        assert html_of(site).endswith("<p>new</p>")
        assert reads(server)[:2] == [OLD_URI, VIEW_URI]


def test_where_both_are_gone_the_first_refusal_counts(rollout: MakeRollout) -> None:
    with scripted(tools_list=LISTED, resources_read=read({})) as server:
        text = rollout(server.url, *ended(OLD_URI)).panel().text
        assert 'data-panel-state="rejected"' in text
        assert reads(server) == [OLD_URI, VIEW_URI]


def test_a_view_is_not_fetched_for_a_tool_that_is_gone(rollout: MakeRollout) -> None:
    with scripted(tools_list={"tools": [tool("other")]}, resources_read=document()) as server:
        site = rollout(server.url, *ended())
        assert 'data-panel-state="tool-gone"' in site.panel().text
        assert "probe no longer lists the tool of this call." in site.panel().text
        assert reads(server) == []


def test_where_the_tools_cannot_be_listed_the_recorded_view_is_shown(
    rollout: MakeRollout,
) -> None:
    def broken(_params: Any) -> Any:
        raise RpcFailure(-32050, "not now")

    with scripted(tools_list=broken, resources_read=document("<p>linked</p>")) as server:
        site = rollout(server.url, *ended())
        text = site.panel().text
        assert "The view is the recorded one; what it asks its server will fail." in text
        data = site.parsed_panel().data
        assert "toolInfo" not in data
        assert data["toolResult"] == {"content": [{"type": "text", "text": "ok"}]}
        assert html_of(site).endswith("<p>linked</p>")
        # What the call recorded authorizes nothing that the view asks.
        error = site.rpc("tools/call", {"name": "structured"})["error"]
        assert (error["code"], error["data"]) == (-32603, {"reason": "rejected"})
        assert server.count("tools/call") == 0


def test_a_server_that_does_not_answer_is_not_asked_for_the_view_too(
    rollout: MakeRollout,
) -> None:
    """The panel would only wait again."""
    ended_test = threading.Event()

    def never(_params: Any) -> Any:
        ended_test.wait(30)
        raise RpcFailure(-32050, "too late")

    with scripted(tools_list=never, resources_read=document()) as server:
        site = rollout(server.url, *ended(), listing_timeout_seconds=1)
        assert 'data-panel-state="timeout"' in site.panel().text
        assert reads(server) == []
        ended_test.set()


def test_a_restart_without_the_server_shows_the_recorded_view_again(rollout: MakeRollout) -> None:
    documents = {OLD_URI: "<p>old</p>"}
    with scripted(tools_list=LISTED, resources_read=read(documents)) as server:
        assert html_of(rollout(server.url, *ended(OLD_URI))).endswith("<p>old</p>")
    site = rollout(server.url, *ended(OLD_URI))
    assert "This is the view as it was read on" in site.panel().text
    assert html_of(site).endswith("<p>old</p>")


@pytest.mark.parametrize(
    "uri",
    [
        "http://evil.example/",
        "file:///etc/passwd",
        "ui",
        "UI://x",
        "ui://a\u202eb",
        "ui://a\nb",
        "",
    ],
)
def test_what_is_no_views_address_is_never_asked_for(rollout: MakeRollout, uri: str) -> None:
    listed = {"tools": [tool("structured", view=False)]}
    with scripted(tools_list=listed, resources_read=document()) as server:
        site = rollout(server.url, *ended(uri))
        assert site.panel().headers["HX-Reswap"] == "delete"
        assert "panel-slot" not in page(site)
        assert reads(server) == []


@pytest.mark.parametrize("switches", [{"render": False}, {"allowed": False}])
def test_a_recorded_view_overrides_no_switch(
    rollout: MakeRollout, switches: dict[str, bool]
) -> None:
    with hung() as server:
        site = rollout(server.url, *ended(), **switches)
        assert "panel-slot" not in page(site, "verbose")
        assert "data-fragment-url" not in site.panel().text
        assert server.connections == 0


def test_a_result_that_the_log_cut_is_said_in_the_panel(rollout: MakeRollout) -> None:
    text = '{"content":[{"type":"text","text":"' + "x" * 65_000 + '…752080 chars truncated…"}]}'
    with scripted(tools_list=LISTED, resources_read=document()) as server:
        lines = ended(result={"content": [{"type": "text", "text": text}]})
        site = rollout(server.url, *lines)
        assert "log kept only the first and last part of this result." in site.panel().text
        assert "toolResult" not in site.parsed_panel().data
