"""The transcript page: levels, rows, addresses, windows, and nothing from anybody else."""

import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.db.engine import Database
from app.mcp import registry
from app.mcp_apps import policy
from tests.transcripts import making
from tests.web.recording import Recording

URL = "http://127.0.0.1:9/mcp"


@pytest.fixture
def session_id(client: TestClient, database: Database, tmp_path: Path) -> str:
    return (
        Recording()
        .user("Where is the **bug**?\nIn `shop.py`?")
        .thinking("Let me think.")
        .assistant("I will look.")
        .call("Bash", {"command": "grep -rn bug ."}, "shop.py:1: bug")
        .call("mcp__plans__compare", {"a": 1}, "compared", call_id="toolu_view")
        .call("mcp__other__tool", {}, "other", call_id="toolu_other")
        .call("Read", {"file_path": "/x"}, "no such file", call_id="toolu_f", failed=True)
        .call("Bash", {"command": "sleep 9"}, call_id="toolu_p")
        .assistant("Found it.")
        .import_into(database, tmp_path)
    )


def show(client: TestClient, session_id: str, **query: str) -> str:
    answer = client.get(f"/sessions/{session_id}", params=query)
    assert answer.status_code == 200
    return answer.text


def allow(database: Database, *, render: bool = True, allowed: bool = True) -> None:
    with database.session() as db:
        registry.add_server(db, "plans", URL)
        registry.set_allowed(db, URL, allowed)
        policy.set_render(db, render)


def roles(page: str) -> list[str]:
    return re.findall(r'<article class="row row-([a-z-]+?)(?: row-[a-z-]+)*" id=', page)


def test_minimal_is_the_conversation(client: TestClient, session_id: str) -> None:
    assert roles(show(client, session_id, level="minimal")) == ["user", "assistant", "assistant"]


def test_condensed_has_the_calls_and_is_the_default(client: TestClient, session_id: str) -> None:
    page = show(client, session_id)
    assert roles(page) == ["user", "assistant", *["tool-call"] * 5, "assistant"]
    assert roles(show(client, session_id, level="nonsense")) == roles(page)
    assert 'aria-current="true">Condensed</a>' in page


def test_verbose_has_the_thinking(client: TestClient, session_id: str) -> None:
    page = show(client, session_id, level="verbose")
    assert "thinking" in roles(page)
    assert "Let me think." in page


def test_markdown_is_rendered_and_out_of_reach_of_htmx(client: TestClient, session_id: str) -> None:
    page = show(client, session_id)
    assert '<div class="prose" hx-ignore><p>Where is the <strong>bug</strong>?' in page


def test_a_call_is_a_line_that_opens(client: TestClient, session_id: str) -> None:
    page = show(client, session_id)
    assert '<span class="fold-summary">grep -rn bug .</span>' in page
    assert "shop.py:1: bug" in page
    assert '<span class="badge badge-failed">failed</span>' in page


def test_every_row_has_an_address_that_leads_to_it(client: TestClient, session_id: str) -> None:
    page = show(client, session_id)
    addresses = re.findall(r'<article [^>]*id="([0-9]+-[0-9]+)"', page)
    assert len(addresses) == len(set(addresses)) == 8
    for address in addresses:
        target = f"/sessions/{session_id}?level=condensed&amp;at={address}#{address}"
        assert f'href="{target}" data-copy-link' in page
        assert f'row-focused" id="{address}"' in show(client, session_id, at=address) or (
            address == "0-0"
        )


def test_a_call_with_a_view_has_its_place_at_every_level(
    client: TestClient, session_id: str, database: Database
) -> None:
    allow(database)
    for level in ("minimal", "condensed", "verbose"):
        page = show(client, session_id, level=level)
        (slot,) = re.findall(r'<div class="panel-slot"[^>]*>', page)
        address = re.findall(r'id="slot-([0-9-]+)"', slot)[0]
        assert (
            f'hx-get="/sessions/{session_id}/mcp_apps/toolu_view?at={address}" '
            'hx-trigger="intersect once" hx-swap="innerHTML"' in slot
        )
        assert f'id="call-{address}"' in page
        assert "needs JavaScript" in page


def test_the_place_of_a_view_is_not_under_hx_ignore(
    client: TestClient, session_id: str, database: Database
) -> None:
    allow(database)
    page = show(client, session_id, level="minimal")
    before = page[: page.index('class="panel-slot"')]
    last = before[before.rindex("<article") :]
    assert last.count("hx-ignore") == 1
    assert "</details>" in last[last.index("hx-ignore") :]


LEVELS = ("minimal", "condensed", "verbose")


def lines(page: str) -> list[str]:
    """What rows say of their views, and the link beside it."""
    found = re.findall(r'<p class="call-line">(.*?)</p>', page, re.DOTALL)
    return [" ".join(line.split()) for line in found]


def notes(page: str) -> list[str]:
    """What the head of the page says."""
    found = re.findall(r'<p class="session-note">(.*?)</p>', page, re.DOTALL)
    return [" ".join(line.split()) for line in found]


@pytest.mark.parametrize(("render", "allowed"), [(False, True), (True, False), (False, False)])
def test_no_view_where_a_switch_is_off(
    client: TestClient, session_id: str, database: Database, render: bool, allowed: bool
) -> None:
    allow(database, render=render, allowed=allowed)
    for level in LEVELS:
        assert "panel-slot" not in show(client, session_id, level=level)


def test_views_switched_off_are_said_once_above(
    client: TestClient, session_id: str, database: Database
) -> None:
    allow(database, render=False)
    for level in LEVELS:
        page = show(client, session_id, level=level)
        assert notes(page) == [
            "Views are switched off, so this session’s MCP calls show none. "
            '<a href="/settings/mcp-apps">Change under MCP Apps</a>'
        ]
        assert lines(page) == []
    with database.session() as db:
        policy.set_render(db, True)
    assert notes(show(client, session_id)) == []


def test_a_session_without_mcp_calls_says_nothing_of_views(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    session_id = Recording().call("Bash", {}, "x").import_into(database, tmp_path)
    assert notes(show(client, session_id)) == []


def known_as_plans(database: Database, how: str) -> None:
    with database.session() as db:
        policy.set_render(db, True)
        registry.add_server(db, "other", "http://127.0.0.1:9/other")
        registry.set_allowed(db, "http://127.0.0.1:9/other", True)
        if how == "stdio":
            registry.add_server(db, "plans", "", registry.STDIO)
        elif how != "unknown":
            registry.add_server(db, "plans", URL)
        if how == "ambiguous":
            registry.add_server(db, "pläns", "http://127.0.0.1:9/third")
            registry.add_server(db, "pl.ns", "http://127.0.0.1:9/fourth")


@pytest.mark.parametrize(
    ("how", "tool", "said"),
    [
        (
            "unknown",
            "mcp__plans__compare",
            "The server of this call is not known here. "
            '<a href="/settings/servers?name=plans">Add the server</a>',
        ),
        (
            "not allowed",
            "mcp__plans__compare",
            "Views of plans are not allowed. "
            '<a href="/settings/mcp-apps">Change under MCP Apps</a>',
        ),
        (
            "stdio",
            "mcp__plans__compare",
            "A stdio server is a program that the agent starts. Vitrine starts no programs, so "
            'its views cannot be shown. <a href="/settings/servers">See the servers</a>',
        ),
        (
            "ambiguous",
            "mcp__pl_ns__compare",
            "Two servers are recorded under the same name as pl.ns. "
            '<a href="/settings/servers">See the servers</a>',
        ),
    ],
)
def test_a_row_says_why_it_has_no_view_and_where_to_change_it(
    client: TestClient, database: Database, tmp_path: Path, how: str, tool: str, said: str
) -> None:
    known_as_plans(database, how)
    recording = Recording().user("Compare.")
    for number in range(3):
        recording.call(tool, {}, "compared", call_id=f"toolu_{number}")
    session_id = recording.assistant("Done.").import_into(database, tmp_path)
    for level in ("condensed", "verbose"):
        page = show(client, session_id, level=level)
        # Once: forty times the same sentence is noise. The other calls say it when opened.
        assert lines(page) == [said]
        assert page.count(said.partition(" <a")[0]) == 3
        assert notes(page) == []
    assert lines(show(client, session_id, level="minimal")) == []


@pytest.mark.parametrize("level", ["condensed", "verbose"])
def test_a_call_says_how_it_ended(
    client: TestClient, database: Database, tmp_path: Path, level: str
) -> None:
    session_id = (
        Recording()
        .call("Bash", {"command": "a"}, call_id="toolu_1")
        .call("Bash", {"command": "b"}, "no such file", call_id="toolu_2", failed=True)
        .interrupted("Bash", {"command": "c"}, call_id="toolu_3")
        .assistant("Three were tried.")
        .call("Bash", {"command": "d"}, call_id="toolu_4")
        .import_into(database, tmp_path)
    )
    page = show(client, session_id, level=level)
    calls = re.findall(r'<details class="fold call call-([a-z]+)"(.*?)</details>', page, re.DOTALL)
    ends = [
        (state, re.findall(r'class="badge badge-[a-z]+">(.*?)<', text), labels(text))
        for state, text in calls
    ]
    assert ends == [
        ("pending", ["no result"], ["The transcript goes on without a result of this call."]),
        ("failed", ["failed"], ["Error"]),
        (
            "interrupted",
            ["interrupted"],
            ["The call was interrupted before it was done.", "Result"],
        ),
        ("pending", ["no result yet"], ["The transcript holds no result yet."]),
    ]


def labels(call: str) -> list[str]:
    return re.findall(r'<p class="part-label">(.*?)</p>', call)


def test_an_unknown_server_is_said_once_with_a_link_to_add_it(
    client: TestClient, session_id: str, database: Database
) -> None:
    allow(database)
    page = show(client, session_id)
    line = re.findall(r'<p class="call-line">.*?</p>', page, re.DOTALL)
    assert len(line) == 1
    assert 'href="/settings/servers?name=other"' in line[0]


def test_the_page_contacts_nobody(
    app: FastAPI, client: TestClient, session_id: str, database: Database
) -> None:
    allow(database)
    show(client, session_id)
    assert app.state.hub.connections_opened == 0


def test_windows(client: TestClient, database: Database, tmp_path: Path) -> None:
    recording = Recording()
    for number in range(250):
        recording.assistant(f"Word {number}.")
    session_id = recording.import_into(database, tmp_path)
    page = show(client, session_id)
    assert "Word 249." in page
    assert "Word 149." not in page
    assert 'id="load-after"' not in page
    seen = 100
    while match := re.search(r'id="load-before"[^>]*hx-get="([^"]+)"', page):
        answer = client.get(match[1].replace("&amp;", "&"), headers={"HX-Request": "true"})
        page = answer.text
        assert "<html" not in page
        assert 'id="load-after"' not in page
        seen += len(roles(page))
    assert seen == 250
    assert "Word 0." in page


def test_windows_without_a_script(client: TestClient, database: Database, tmp_path: Path) -> None:
    recording = Recording()
    for number in range(150):
        recording.assistant(f"Word {number}.")
    session_id = recording.import_into(database, tmp_path)
    page = show(client, session_id, at="0-0")
    match = re.search(r'id="load-after" class="[^"]*"\s+href="([^"]+)"', page)
    assert match is not None
    later = client.get(match[1].replace("&amp;", "&")).text
    assert "Word 149." in later
    assert 'id="load-before"' in later


@pytest.mark.parametrize("query", ["at=9-9", "at=x", "at=0-99999", "before=%00", "after=-1--1"])
def test_an_address_that_is_not_there_is_404(
    client: TestClient, session_id: str, query: str
) -> None:
    assert client.get(f"/sessions/{session_id}?{query}").status_code == 404


@pytest.mark.parametrize("name", ["x", "..%2f..%2fetc", "%00", "a" * 300, "%ff"])
def test_a_session_that_is_not_there_is_404(client: TestClient, name: str) -> None:
    assert client.get(f"/sessions/{name}").status_code == 404
    assert client.get(f"/sessions/{name}/entries").status_code == 404


def test_hostile_text_in_every_place(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    bad = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x1b[31m"
    session_id = (
        Recording(folder=bad)
        .user(bad)
        .thinking(bad)
        .assistant(bad)
        .call(f"mcp__{bad}__{bad}", {bad: bad, "command": bad}, bad, call_id=bad)
        .call(bad, {"nested": {bad: [bad]}}, bad, call_id="toolu_2", failed=True)
        .import_into(database, tmp_path, tail=b'{"type": "user", <script>alert(1)</script>\n')
    )
    page = show(client, session_id, level="verbose")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "unreadable" in roles(page)


def test_a_path_of_a_hostile_call_id_stays_in_its_place(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    allow(database)
    bad = '../../sign-out?x="#<>'
    session_id = (
        Recording()
        .call("mcp__plans__compare", {}, "x", call_id=bad)
        .import_into(database, tmp_path)
    )
    page = show(client, session_id)
    assert (
        f'hx-get="/sessions/{session_id}/mcp_apps/..%2F..%2Fsign-out%3Fx%3D%22%23%3C%3E?at=0-0"'
        in page
    )


def test_escape_sequences_of_tools_are_dropped(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    session_id = (
        Recording()
        .call("Bash", {"command": "ls"}, "\x1b[1;32mgreen\x1b[0m")
        .import_into(database, tmp_path)
    )
    assert '<pre class="box" tabindex="0">green</pre>' in show(client, session_id)


# What stands in a session's files beside its conversation


def sub_agent_session(database: Database, tmp_path: Path) -> str:
    """A session whose sub-agent called a tool with a view."""
    path = tmp_path / "projects" / f"{making.SESSION_ID}.jsonl"
    sub = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    sub.parent.mkdir(parents=True)
    main = [
        making.user("go"),
        making.call("task", "Agent", prompt="do it"),
        making.result("task", "report", toolUseResult={"agentId": "a1", "status": "completed"}),
        making.assistant({"type": "text", "text": "Done."}),
    ]
    inside = [
        making.user("do it", isSidechain=True, agentId="a1"),
        making.call("inner", "mcp__plans__compare"),
        making.result("inner", "compared"),
    ]
    for file, lines in ((path, main), (sub, inside)):
        file.write_bytes(b"".join(line + b"\n" for line in lines))
    return making.load(database, path, sub)


def test_a_sub_agent_stands_under_its_call(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    session_id = sub_agent_session(database, tmp_path)
    page = show(client, session_id)
    rows = f"/sessions/{session_id}/entries?level=condensed&amp;transcript=1"
    assert f'hx-get="{rows}"' in page
    assert '<details class="fold subagent">' in page
    inside = client.get(rows.replace("&amp;", "&")).text
    assert re.findall(r'id="(\d-\d)"', inside) == ["1-0", "1-1"]


def test_a_view_in_a_sub_agent_is_shown_at_every_level(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    session_id = sub_agent_session(database, tmp_path)
    assert roles(show(client, session_id, level="minimal")) == ["user", "assistant"]
    allow(database)
    page = show(client, session_id, level="minimal")
    assert roles(page) == ["user", "tool-call", "assistant"]
    assert '<details class="fold subagent" open>' in page
    inside = client.get(
        f"/sessions/{session_id}/entries", params={"level": "minimal", "transcript": "1"}
    ).text
    assert f"/sessions/{session_id}/mcp_apps/inner?at=1-1" in inside


@pytest.mark.parametrize("number", ["7", "-1", "99999999999", "x"])
def test_a_transcript_that_is_not_there(client: TestClient, session_id: str, number: str) -> None:
    answer = client.get(f"/sessions/{session_id}/entries", params={"transcript": number})
    assert answer.status_code in (404, 422)


def test_a_prompt_that_went_back_says_so(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    path = tmp_path / f"{making.SESSION_ID}.jsonl"
    lines = [
        making.user("one", uuid="u1", parentUuid=None),
        making.user("two", uuid="u2", parentUuid="u1"),
        making.user("two again", uuid="u3", parentUuid="u1"),
    ]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    page = show(client, making.load(database, path))
    assert "The conversation went back to" in page
    assert 'at=0-0#0-0">an earlier point</a>' in page


def test_lines_that_are_not_shown_are_counted(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    path = tmp_path / f"{making.SESSION_ID}.jsonl"
    lines = [making.user("one"), making.line("mode"), making.line("a type of tomorrow")]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    page = show(client, making.load(database, path))
    assert "Not shown: 2 lines of the agent’s own state and of types unknown here." in page


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"type":"user","mess', "It is not readable JSON: it was cut off, or damaged."),
        (b"[1]", "It is JSON, but no object."),
        (b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", "It is nested too deeply to be read."),
        (b'{"type":"us\xff', "This line holds bytes that are not UTF-8."),
        (making.user("x").replace(b'"x"', b'"x\xff"'), "This line holds bytes that are not UTF-8."),
    ],
)
def test_a_bad_line_says_what_it_is(
    client: TestClient, database: Database, tmp_path: Path, line: bytes, said: str
) -> None:
    path = tmp_path / f"{making.SESSION_ID}.jsonl"
    path.write_bytes(making.user("one") + b"\n" + line + b"\n" + making.user("two") + b"\n")
    page = show(client, making.load(database, path), level="verbose")
    assert said in page
    assert "two" in page
