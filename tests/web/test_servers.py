"""Settings → Servers: the list, the names seen in sessions, and one server's page."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.mcp import registry
from app.mcp.registry import ServerEntry
from app.web.view_models.servers import switch_key
from tests.web.recording import Recording

URL = "https://a.example/mcp?key=hunter2"
PLAIN = "https://b.example/mcp"


def add(database: Database, name: str, url: str, transport: str = "streamable-http") -> int:
    with database.session() as db:
        server = registry.add_server(db, name, url, transport)
        assert server.id is not None
        return server.id


def entry(database: Database, server_id: int) -> ServerEntry:
    with database.session() as db:
        return registry.entry(db, server_id)


def allow(database: Database, server_id: int) -> None:
    with database.session() as db:
        registry.set_allowed(db, server_id, True)
        registry.set_unmarked_tools(db, server_id, True)


def key(database: Database, server_id: int) -> str:
    return switch_key(entry(database, server_id).server)


def post(
    client: TestClient, database: Database, server_id: int, what: str = "", **form: str | list[str]
) -> tuple[int, str]:
    """(status, address or page) of a form of the server's page as it is now."""
    data = {"key": key(database, server_id)} | form
    answer = client.post(f"/settings/servers/{server_id}{what}", data=data)
    return answer.status_code, answer.headers.get("location", answer.text)


def test_a_server_is_added_and_off(client: TestClient, database: Database) -> None:
    added = client.post("/settings/servers", data={"name": " weather ", "url": URL})
    assert (added.status_code, added.headers["location"]) == (303, "/settings/servers?notice=added")
    page = client.get(added.headers["location"]).text
    assert "Added." in page
    assert ">weather<" in page
    assert "views off" in page
    assert "Used in no session yet" in page
    with database.session() as db:
        assert [entry.server.allowed for entry in registry.servers(db)] == [False]


def test_a_key_in_an_address_is_masked_everywhere(client: TestClient, database: Database) -> None:
    number = add(database, "a", URL)
    for path in ("/settings/servers", f"/settings/servers/{number}"):
        page = client.get(path).text
        assert "hunter2" not in page
        assert "https://a.example/mcp?key=•••" in page
    assert 'name="url" value=""' in page


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("", URL),
        ("a", ""),
        ("a", "javascript:alert(1)"),
        ("a", "stdio:/bin/sh"),
        ("a", "https://user:password@a.example/"),
        ("a\u202e", URL),
        ("n" * 200, URL),
    ],
)
def test_what_is_refused_is_said_beside_what_was_typed(
    client: TestClient, database: Database, name: str, url: str
) -> None:
    answer = client.post("/settings/servers", data={"name": name, "url": url})
    assert answer.status_code == 400
    assert re.search(
        r'<p id="server-error" class="field-error" role="alert">[A-Z].+\.</p>', answer.text
    )
    if url:
        assert f'value="{url}"' in answer.text
    with database.session() as db:
        assert registry.servers(db) == []


def test_a_name_that_is_taken_is_refused(client: TestClient, database: Database) -> None:
    number = add(database, "a", URL)
    add(database, "b", PLAIN)
    answer = client.post("/settings/servers", data={"name": "a", "url": "https://c.example/"})
    assert answer.status_code == 409
    assert "already exists" in answer.text
    status, page = post(client, database, number, "/names", name="b")
    assert (status, "already exists" in page) == (409, True)
    assert 'name="name" value="b"' in page


def test_a_form_may_come_filled_in(client: TestClient) -> None:
    page = client.get("/settings/servers", params={"name": '"><b>x'}).text
    assert 'value="&#34;&gt;&lt;b&gt;x"' in page


def test_a_stdio_server_is_listed_with_why_it_is_not_eligible(
    client: TestClient, database: Database
) -> None:
    form = {"name": "local", "url": "", "transport": "stdio"}
    added = client.post("/settings/servers", data=form)
    assert added.headers["location"] == "/settings/servers?notice=added-stdio"
    page = client.get(added.headers["location"]).text
    assert "Vitrine starts no programs" in page
    assert "stdio:local" not in page
    with database.session() as db:
        (listed,) = registry.servers(db)
    page = client.get(f"/settings/servers/{listed.server.id}").text
    assert "Vitrine starts no programs" in page
    assert "stdio:local" not in page
    assert 'id="unmarked"' not in page


def test_an_address_of_a_program_is_refused(client: TestClient) -> None:
    form = {"name": "local", "url": PLAIN, "transport": "stdio"}
    answer = client.post("/settings/servers", data=form)
    assert answer.status_code == 400
    assert "A stdio server has no URL" in answer.text
    assert '<option value="stdio" selected>' in answer.text


def test_another_address_loses_every_permission(client: TestClient, database: Database) -> None:
    number = add(database, "a", URL)
    allow(database, number)
    status, target = post(client, database, number, url=PLAIN, transport="sse")
    assert (status, target) == (303, f"/settings/servers/{number}?notice=moved")
    server = entry(database, number).server
    assert (server.url, server.transport) == (PLAIN, "sse")
    assert (server.allowed, server.unmarked_tools) == (False, False)
    page = client.get(target).text
    assert "its views stay off until you allow them" in page
    assert f'name="url" value="{PLAIN}"' in page


@pytest.mark.parametrize("typed", ["", "  ", URL])
def test_the_same_address_keeps_them(client: TestClient, database: Database, typed: str) -> None:
    number = add(database, "a", URL)
    allow(database, number)
    status, target = post(client, database, number, url=typed, transport="sse")
    assert (status, target) == (303, f"/settings/servers/{number}?notice=saved")
    server = entry(database, number).server
    assert (server.url, server.transport) == (URL, "sse")
    assert (server.allowed, server.unmarked_tools) == (True, True)


def test_a_masked_address_sent_back_is_not_taken_for_the_real_one(
    client: TestClient, database: Database
) -> None:
    """Whoever copies what is shown gets another address, and so no permission with it."""
    number = add(database, "a", URL)
    allow(database, number)
    post(client, database, number, url="https://a.example/mcp?key=•••", transport="sse")
    assert entry(database, number).server.allowed is False


@pytest.mark.parametrize(
    ("url", "transport", "status"),
    [
        ("javascript:alert(1)", "sse", 400),
        (PLAIN, "sse", 409),
        (PLAIN, "stdio", 400),
        ("https://c.example/", "websocket", 400),
    ],
)
def test_an_edit_that_is_refused_changes_nothing(
    client: TestClient, database: Database, url: str, transport: str, status: int
) -> None:
    number = add(database, "a", URL)
    add(database, "b", PLAIN)
    allow(database, number)
    got, page = post(client, database, number, url=url, transport=transport)
    assert got == status
    assert re.search(r'<p id="address-error"[^>]*>[A-Z].+\.</p>', page)
    assert f'name="url" value="{url}"' in page
    server = entry(database, number).server
    assert (server.url, server.transport, server.allowed) == (URL, "streamable-http", True)


def test_a_program_can_become_a_server_and_back(client: TestClient, database: Database) -> None:
    number = add(database, "local", "", registry.STDIO)
    assert post(client, database, number, url="", transport="stdio")[0] == 303
    assert post(client, database, number, url="", transport="sse")[0] == 400
    assert post(client, database, number, url=PLAIN, transport="sse")[0] == 303
    allow(database, number)
    assert post(client, database, number, url="", transport="stdio")[0] == 303
    server = entry(database, number).server
    assert (server.transport, server.allowed) == ("stdio", False)


def test_views_may_call_unmarked_tools_by_choice(client: TestClient, database: Database) -> None:
    number = add(database, "a", URL)
    page = client.get(f"/settings/servers/{number}").text
    assert "tools that declare no visibility (as the specification has it)" in page
    assert not re.search(r'id="unmarked"[^>]* checked', page)
    for sent, kept in [("on", True), ("", False), ("on", True), ("no", False)]:
        status, target = post(client, database, number, "/unmarked-tools", unmarked=sent)
        assert (status, target) == (303, f"/settings/servers/{number}?notice=saved")
        assert entry(database, number).server.unmarked_tools is kept
        page = client.get(target).text
        assert bool(re.search(r'id="unmarked"[^>]* checked', page)) is kept


def test_permissions_are_given_and_taken_by_choice(client: TestClient, database: Database) -> None:
    number = add(database, "a", URL)
    page = client.get(f"/settings/servers/{number}").text
    assert "This device’s location" in page
    assert not re.search(r'id="permission-[a-zA-Z]+"[^>]* checked', page)
    for chosen in (["geolocation"], ["clipboardWrite", "geolocation"], []):
        status, target = post(client, database, number, "/permissions", permission=chosen)
        assert (status, target) == (303, f"/settings/servers/{number}?notice=saved")
        assert entry(database, number).server.permissions == chosen
        page = client.get(target).text
        checked = re.findall(r'id="permission-([a-zA-Z]+)"[^>]* checked', page)
        assert sorted(checked) == chosen


@pytest.mark.parametrize("name", ["camera", "microphone", "usb", "", "geolocation "])
def test_no_other_permission_can_be_given(
    client: TestClient, database: Database, name: str
) -> None:
    number = add(database, "a", URL)
    assert post(client, database, number, "/permissions", permission=[name])[0] == 400
    assert entry(database, number).server.permissions == []


def test_at_another_address_no_permission_is_left(client: TestClient, database: Database) -> None:
    number = add(database, "a", URL)
    post(client, database, number, "/permissions", permission=["geolocation"])
    assert post(client, database, number, url=PLAIN, transport="streamable-http")[0] == 303
    assert entry(database, number).server.permissions == []


def test_names_come_and_go_but_the_last_one(client: TestClient, database: Database) -> None:
    number = add(database, "a", URL)
    assert "Remove the name" not in client.get(f"/settings/servers/{number}").text
    assert post(client, database, number, "/names", name="b")[0] == 303
    assert entry(database, number).names == ("a", "b")
    other = add(database, "c", PLAIN)
    assert post(client, database, number, "/names/remove", name="c")[0] == 404
    assert entry(database, other).names == ("c",)
    assert post(client, database, number, "/names/remove", name="a")[0] == 303
    assert entry(database, number).names == ("b",)
    assert post(client, database, number, "/names/remove", name="b")[0] == 400
    assert entry(database, number).names == ("b",)


@pytest.mark.parametrize("name", ["", "a\u202e", "n" * 129])
def test_a_second_name_is_checked_too(client: TestClient, database: Database, name: str) -> None:
    number = add(database, "a", URL)
    status, page = post(client, database, number, "/names", name=name)
    assert status == 400
    assert re.search(r'<p id="name-error"[^>]*>A name .+\.</p>', page)
    assert entry(database, number).names == ("a",)


def test_removing_asks_first_and_takes_names_and_copies_along(
    client: TestClient, database: Database
) -> None:
    number, other = add(database, "a", URL), add(database, "b", PLAIN)
    post(client, database, number, "/names", name="a2")
    with database.session() as db:
        for url in (URL, PLAIN):
            db.add(tables.ToolIndexCopy(url=url, fingerprint="f", data=b""))
    page = client.get(f"/settings/servers/{number}").text
    assert (
        page.index("<summary") < page.index("Sessions stay as they are") < page.index("Remove it")
    )
    assert post(client, database, number, "/remove") == (303, "/settings/servers?notice=removed")
    with database.session() as db:
        assert [listed.server.id for listed in registry.servers(db)] == [other]
        assert [known.name for known in registry.known_servers(db)] == ["b"]
        assert list(db.exec(select(tables.ToolIndexCopy.url))) == [PLAIN]
    assert client.get(f"/settings/servers/{number}").status_code == 404


FORMS = ["", "/unmarked-tools", "/names", "/names/remove", "/remove"]


@pytest.mark.parametrize("what", FORMS)
def test_a_form_made_for_another_address_does_nothing(
    client: TestClient, database: Database, what: str
) -> None:
    """The id of a removed server may be given to the next one, and its URL may be changed."""
    number = add(database, "a", URL)
    with database.session() as db:
        registry.add_name(db, number, "a2")
    old = key(database, number)
    with database.session() as db:
        registry.edit_server(db, number, PLAIN, "streamable-http")
    form = {"key": old, "unmarked": "on", "name": "a2", "url": URL, "transport": "sse"}
    answer = client.post(f"/settings/servers/{number}{what}", data=form)
    assert answer.status_code == 409
    assert "changed elsewhere meanwhile" in answer.text
    now = entry(database, number)
    assert (now.server.url, now.server.unmarked_tools, now.names) == (PLAIN, False, ("a", "a2"))


@pytest.mark.parametrize("number", ["0", "99", str(2**31), "9" * 30, "-1", "x", "1.0"])
@pytest.mark.parametrize("what", FORMS)
def test_a_server_that_is_not_there_is_404(client: TestClient, number: str, what: str) -> None:
    path = f"/settings/servers/{number}"
    assert client.get(path).status_code == 404
    assert client.post(path + what, data={"key": "k"}).status_code == 404


@pytest.fixture
def sessions(client: TestClient, database: Database, tmp_path: Path) -> None:
    """Two sessions of Claude Code, and what a session of Codex leaves in the call index."""
    for number, recording in enumerate(
        [
            Recording()
            .call("mcp__plans__compare", {}, "x", call_id="1")
            .call("mcp__a__b__c", {}, "x", call_id="2")
            .call("Bash", {}, "x", call_id="3"),
            Recording()
            .call("mcp__plans__compare", {}, "x", call_id="1")
            .call("mcp__plans__show", {}, "x", call_id="2")
            .call("mcp__<b>__x", {}, "x", call_id="3"),
        ]
    ):
        recording.import_into(database, tmp_path / str(number), source=f"machine-{number}")
    with database.session() as db:
        session = tables.Session(
            source="local", agent="codex", external_id="c", entry_count=1, call_count=2
        )
        db.add(session)
        db.flush()
        transcript = tables.Transcript(session_id=session.id, number=0, source="local", path="/c")
        db.add(transcript)
        db.flush()
        assert transcript.id is not None
        for seq, (server, tool) in enumerate([("my server.v2", "do.it"), (None, None)]):
            db.add(
                tables.ToolCall(
                    session_id=session.id,
                    transcript_id=transcript.id,
                    tool_call_id=f"call_{seq}",
                    name="mcp__my_server_v2__do_it",
                    server=server,
                    tool=tool,
                    call_seq=seq,
                )
            )


def listed(page: str) -> dict[str, str]:
    """Name → what is said of it, of the names seen in sessions and not known."""
    part = page.partition("Seen in sessions, not known here")[2].partition("Add a server")[0]
    items = re.findall(r'<li class="server">(.*?)</li>', part, re.DOTALL)
    texts = [" ".join(re.sub("<[^>]+>", " ", item).split()) for item in items]
    return {
        re.findall(r"<bdi>(.*?)</bdi>", item)[0]: text
        for item, text in zip(items, texts, strict=True)
    }


@pytest.mark.usefixtures("sessions")
def test_names_seen_in_sessions_are_listed_until_they_are_known(
    client: TestClient, database: Database
) -> None:
    seen = listed(client.get("/settings/servers").text)
    assert seen == {
        "plans": "plans guessed Used in 2 sessions recorded as mcp__plans__compare , "
        "mcp__plans__show Add plans",
        "&lt;b&gt;": "&lt;b&gt; guessed Used in 1 session recorded as mcp__&lt;b&gt;__x "
        "Add &lt;b&gt;",
        "a": "a guessed Used in 1 session recorded as mcp__a__b__c Add a",
        "my server.v2": "my server.v2 Used in 1 session Add my server.v2",
    }
    number = add(database, "plans", URL)
    add(database, "my server.v2", PLAIN)
    page = client.get("/settings/servers").text
    assert set(listed(page)) == {"&lt;b&gt;", "a"}
    assert "Used in 2 sessions" in page
    assert "Used in 2 sessions" in client.get(f"/settings/servers/{number}").text


@pytest.mark.usefixtures("sessions")
def test_the_guess_is_not_what_a_longer_name_resolves_to(
    client: TestClient, database: Database
) -> None:
    number = add(database, "a__b", URL)
    assert "a" not in listed(client.get("/settings/servers").text)
    assert "Used in 1 session" in client.get(f"/settings/servers/{number}").text


@pytest.mark.usefixtures("sessions")
def test_each_name_has_a_link_that_fills_in_the_form(client: TestClient) -> None:
    page = client.get("/settings/servers").text
    links = re.findall(r'href="(/settings/servers\?name=[^"]+)"', page)
    assert {unquote(link.partition("=")[2].replace("+", " ")) for link in links} == {
        "plans",
        "<b>",
        "a",
        "my server.v2",
    }
    for link in links:
        form = client.get(link).text
        assert re.search(r'id="name" name="name" value="[^"]+"', form)
        assert re.search(r'id="url"[^>]* autofocus', form)


@pytest.mark.usefixtures("sessions")
def test_seen_names_are_offered_as_a_second_name(client: TestClient, database: Database) -> None:
    number = add(database, "plans", URL)
    page = client.get(f"/settings/servers/{number}").text
    assert '<option value="my server.v2">' in page
    assert '<option value="plans">' not in page
    assert '<option value="&lt;b&gt;">' in page


def test_a_great_many_names_do_not_make_a_great_page(
    client: TestClient, database: Database, tmp_path: Path
) -> None:
    recording = Recording()
    for number in range(250):
        recording.call(f"mcp__s{number:03d}__t", {}, "x", call_id=str(number))
    recording.import_into(database, tmp_path)
    page = client.get("/settings/servers").text
    assert len(listed(page)) == 100
    assert "And 150 more" in page


# Addresses that sessions give


def configured(database: Database, session_id: str, name: str, url: str) -> None:
    with database.session() as db:
        db.add(
            tables.SessionServer(
                session_id=session_id,
                name=name,
                url=url,
                transport="streamable-http" if url else "stdio",
                headers={},
                origin="project",
            )
        )


@pytest.fixture
def calling(database: Database, tmp_path: Path) -> str:
    """A session that called a tool of a server that nobody added."""
    recording = Recording().user("x").call("mcp__weather__today", {}, "sunny")
    return recording.import_into(database, tmp_path)


def test_one_click_fills_the_form_with_a_session_s_address(
    client: TestClient, database: Database, calling: str
) -> None:
    configured(database, calling, "weather", PLAIN)
    page = client.get("/settings/servers").text
    assert PLAIN in page
    assert "in the project’s .mcp.json" in page
    [link] = re.findall(r'href="([^"]+)#name">Use this address', page)
    assert PLAIN not in unquote(link)
    filled = client.get(link.replace("&amp;", "&")).text
    assert f'value="{PLAIN}"' in filled
    assert 'value="weather"' in filled
    with database.session() as db:
        assert registry.servers(db) == []  # a look adds nothing


def test_the_link_of_a_row_fills_it_too(
    client: TestClient, database: Database, calling: str
) -> None:
    configured(database, calling, "weather", PLAIN)
    assert f'value="{PLAIN}"' in client.get("/settings/servers", params={"name": "weather"}).text


@pytest.mark.parametrize("url", [URL, "https://${HOST}/mcp"])
def test_an_address_that_cannot_be_taken_over_is_said_only(
    client: TestClient, database: Database, calling: str, url: str
) -> None:
    configured(database, calling, "weather", url)
    page = client.get("/settings/servers", params={"name": "weather"}).text
    assert "Use this address" not in page
    assert "hunter2" not in page
    assert 'id="url" name="url" value=""' in page
    assert "in the project’s .mcp.json" in page


def test_a_program_in_a_configuration_is_no_unknown_server(
    client: TestClient, database: Database, calling: str
) -> None:
    configured(database, calling, "weather", "")
    assert "not known here" not in client.get("/settings/servers").text
