"""As whom a panel's server is asked, that nobody else is, and that no credential shows."""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.egress import backend
from app.main import create_app
from app.mcp import registry
from app.mcp_apps.session_servers import known_in
from app.transcripts.ingest import import_paths
from app.vault import FILE_NAME
from app.web.view_models.servers import switch_key
from tests.support.scripted import RpcFailure, Scripted, document, scripted, tool
from tests.web.panels.site import ORIGIN, VIEW_TOOL, MakeSite, Site

TOOLS = {"tools": [tool("show_capacity", visibility=["model", "app"])]}
HEADER_VALUE = "sentinel-header-value"
BEARER = "sentinel-bearer-token"
VARIABLE_VALUE = "sentinel-variable-value"
UNLISTED_VALUE = "sentinel-unlisted-value"
QUERY_KEY = "sentinel-query-key"
SENTINELS = (HEADER_VALUE, BEARER, VARIABLE_VALUE, UNLISTED_VALUE, QUERY_KEY)


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LISTED", VARIABLE_VALUE)
    monkeypatch.setenv("UNLISTED", UNLISTED_VALUE)


@contextmanager
def served(**more: Any) -> Iterator[Scripted]:
    with scripted(tools_list=TOOLS, resources_read=document(), **more) as server:
        yield server


def listing(make_site: MakeSite, url: str, **more: Any) -> Site:
    return make_site(url, credential_variables="LISTED", **more)


def server_of(site: Site) -> tables.Server:
    with site.database.session() as db:
        (entry,) = registry.servers(db)
        return entry.server


def post(site: Site, what: str, **form: Any) -> Any:
    server = server_of(site)
    return site.client.post(
        f"/settings/servers/{server.id}/credentials{what}",
        data={"key": switch_key(server), **form},
        headers=ORIGIN,
        follow_redirects=False,
    )


def configure(site: Site, session_id: str | None = None, **headers: str) -> None:
    """The session's own configuration names the server with these headers."""
    with site.database.session() as db:
        db.merge(
            tables.SessionServer(
                session_id=session_id or site.session_id,
                name="demo",
                url=server_of(site).url,
                transport="streamable-http",
                headers={name.replace("_", "-"): value for name, value in headers.items()},
                origin="project",
            )
        )


def sent(server: Scripted, header: str = "authorization") -> set[str | None]:
    return {one.get(header) for one in server.headers}


def test_a_token_that_was_entered_goes_along_with_every_request(make_site: MakeSite) -> None:
    with served(tools_call={"content": []}) as server:
        site = listing(make_site, server.url)
        assert post(site, "", kind="bearer", value=BEARER).status_code == 303
        assert post(site, "", kind="header", header="X-Key", variable="LISTED").status_code == 303
        assert "data-fragment-url" in site.panel().text
        assert "result" in site.rpc("tools/call", {"name": "show_capacity"})
    assert len(server.headers) > 4
    assert sent(server) == {f"Bearer {BEARER}"}
    assert sent(server, "x-key") == {VARIABLE_VALUE}


def test_the_page_shows_what_there_is_and_no_value(make_site: MakeSite) -> None:
    with served() as server:
        site = listing(make_site, server.url)
        post(site, "", kind="bearer", value=BEARER)
        post(site, "", kind="header", header="X-Key", variable="LISTED")
        page = site.client.get(f"/settings/servers/{server_of(site).id}").text
    assert "Authorization" in page
    assert re.search(r"stored encrypted</span>\s*<span class=\"muted\">set <time", page)
    assert "from the variable <code>LISTED</code>" in page
    assert BEARER not in page
    assert VARIABLE_VALUE not in page


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "header", "header": "Host", "value": BEARER},
        {"kind": "bearer", "value": f"{BEARER}\r\nX-Other: y"},
        {"kind": "bearer", "value": BEARER, "variable": "LISTED"},
        {"kind": "bearer", "variable": "UNLISTED"},
        {"kind": "bearer", "value": BEARER + "x" * 9_000},
    ],
)
def test_what_is_refused_is_said_beside_what_was_typed_but_the_value(
    make_site: MakeSite, form: dict[str, str]
) -> None:
    with served() as server:
        site = listing(make_site, server.url)
        refused = post(site, "", **form)
        assert refused.status_code == 400
        assert 'id="credential-error"' in refused.text
        assert BEARER not in refused.text
        if "header" in form:
            assert 'value="Host"' in refused.text
        site.panel()
        assert sent(server) == {None}


def test_a_form_made_for_another_address_gives_no_credential(make_site: MakeSite) -> None:
    with served() as server:
        site = listing(make_site, server.url)
        assert post(site, "", key="0" * 32, kind="bearer", value=BEARER).status_code == 409
        assert post(site, "/remove", key="0" * 32, header="authorization").status_code == 409
        site.panel()
        assert sent(server) == {None}


def test_a_change_takes_effect_at_once_and_ends_what_was_open(make_site: MakeSite) -> None:
    with served() as server:
        site = listing(make_site, server.url)
        hub = site.client.app.state.hub  # type: ignore[attr-defined]
        changes: list[tuple[str, dict[str, str], str | None]] = [
            ("", {"kind": "bearer", "value": "one"}, "Bearer one"),
            ("", {"kind": "bearer", "value": "two"}, "Bearer two"),
            ("/remove", {"header": "authorization"}, None),
        ]
        assert "data-fragment-url" in site.panel().text
        for what, form, value in changes:
            server.headers.clear()
            server.asked.clear()
            assert post(site, what, **form).status_code == 303
            assert not hub._connections
            assert "data-fragment-url" in site.panel().text
            # What comes before is the goodbye of the connection that was open.
            assert {one.get("authorization") for one in server.headers[-2:]} == {value}
            assert server.count("tools/list") == server.count("resources/read") == 1


def test_a_session_s_own_header_is_used_for_its_own_calls(make_site: MakeSite) -> None:
    with served() as server:
        site = listing(make_site, server.url)
        configure(site, Authorization="Bearer ${LISTED}")
        assert "data-fragment-url" in site.panel().text
    assert sent(server) == {f"Bearer {VARIABLE_VALUE}"}


def test_a_session_s_configuration_cannot_pull_an_unlisted_variable(make_site: MakeSite) -> None:
    with served() as server:
        site = listing(make_site, server.url)
        configure(site, Authorization="Bearer ${UNLISTED}", X_Key="${UNLISTED}")
        panel = site.panel().text
        page = site.client.get(f"/settings/servers/{server_of(site).id}").text
    assert sent(server) == {None}
    assert UNLISTED_VALUE not in str(server.headers)
    for text in (panel, page):
        assert "add UNLISTED to VITRINE_CREDENTIAL_VARIABLES" in text


def test_a_server_that_refuses_is_told_with_the_reason(make_site: MakeSite) -> None:
    with served() as server:
        server.status = 401
        site = listing(make_site, server.url)
        assert "give it a credential under Settings" in site.panel().text
        configure(site, Authorization="Bearer ${UNLISTED}")
        assert "add UNLISTED to VITRINE_CREDENTIAL_VARIABLES" in site.panel().text


def test_a_configured_header_goes_to_the_configured_address_only(make_site: MakeSite) -> None:
    """A repository may name a server as the operator does, and a place of its own."""
    with served() as server:
        site = listing(make_site, server.url)
        configure(site, Authorization="Bearer ${LISTED}")
        with site.database.session() as db:
            (row,) = db.exec(select(tables.SessionServer)).all()
            row.url = "https://evil.example/mcp"
            db.add(row)
        assert "data-fragment-url" in site.panel().text
    assert sent(server) == {None}


def second_session(site: Site, folder: Path) -> Site:
    """The demo's session once more, as another one."""
    with site.database.session() as db:
        path = db.exec(
            select(tables.Transcript.path).where(tables.Transcript.session_id == site.session_id)
        ).first()
    assert path is not None
    text = Path(path).read_text()
    old = Path(path).stem
    new = "0" * 8 + old[8:]
    copy = folder / "projects" / "-other" / f"{new}.jsonl"
    copy.parent.mkdir(parents=True)
    copy.write_text(text.replace(old, new))
    import_paths(site.database, [copy])
    with site.database.session() as db:
        call = db.exec(
            select(tables.ToolCall).where(
                tables.ToolCall.name == VIEW_TOOL, tables.ToolCall.session_id != site.session_id
            )
        ).all()
        calls = [one for one in call if one.session_id != site.session_id]
        other = next(one for one in calls if _external(db, one.session_id) == new)
    return Site(site.client, site.database, other.session_id, other, site.settings)


def _external(db: Any, session_id: str) -> str:
    return str(db.get(tables.Session, session_id).external_id)


def test_nothing_that_is_kept_crosses_from_one_credential_to_another(
    make_site: MakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER", "other-token")
    with scripted() as server:

        def who() -> str:
            return server.headers[-1].get("authorization", "nobody").removeprefix("Bearer ")

        server.answers = {
            "tools/list": lambda _: {
                "tools": [tool("show_capacity", visibility=["app"]), tool(f"tool of {who()}")]
            },
            "resources/read": lambda _: document(f"<p>view of {who()}</p>"),
        }
        one = make_site(server.url, credential_variables="LISTED,OTHER")
        other = second_session(one, tmp_path)
        configure(one, Authorization="Bearer ${LISTED}")
        configure(one, other.session_id, Authorization="Bearer ${OTHER}")
        for _ in range(2):
            for site, token in ((one, VARIABLE_VALUE), (other, "other-token")):
                fragment = site.client.get(site.parsed_panel().panel["data-fragment-url"])
                assert fragment.text.endswith(f"<p>view of {token}</p>")
        hub = one.client.app.state.hub  # type: ignore[attr-defined]
        assert len(hub._connections) == 2
        # Once for each, and from the cache afterwards.
        assert server.count("tools/list") == server.count("resources/read") == 2
        with one.database.session() as db:
            indexes = db.exec(select(tables.ToolIndexCopy)).all()
            fragments = db.exec(select(tables.FragmentCopy)).all()
        assert len({row.fingerprint for row in indexes}) == len(indexes) == 2
        assert len({row.fingerprint for row in fragments}) == len(fragments) == 2
        listed = {site.session_id: tools_of(site) for site in (one, other)}
    assert f"tool of {VARIABLE_VALUE}" not in listed[other.session_id]
    assert "tool of other-token" not in listed[one.session_id]
    # As after a restart with the server gone: each gets its own copy.
    with TestClient(create_app(one.settings)) as client:
        client.cookies = one.client.cookies
        for site, token in ((one, VARIABLE_VALUE), (other, "other-token")):
            again = Site(client, site.database, site.session_id, site.call, site.settings)
            fragment = client.get(again.parsed_panel().panel["data-fragment-url"])
            assert fragment.text.endswith(f"<p>view of {token}</p>")


def tools_of(site: Site) -> str:
    hub = site.client.app.state.hub  # type: ignore[attr-defined]
    with site.database.session() as db:
        (known,) = known_in(db, site.session_id)
    index = hub.peek_tools(hub.wallet.target(known.server, known.claims))
    return json.dumps(sorted(index.tools))


def test_a_server_that_is_not_allowed_is_never_contacted(make_site: MakeSite) -> None:
    with served() as server:
        site = listing(make_site, server.url, allowed=False)
        post(site, "", kind="bearer", value=BEARER)
        configure(site, Authorization="Bearer ${LISTED}")
        for path in pages(site):
            site.client.get(path)
        assert "error" in site.rpc_answer({"method": "tools/list", "params": {}}).json()
        assert site.connections == 0
    assert server.headers == []


def test_a_credential_that_cannot_be_decrypted_is_said_and_the_server_left_alone(
    make_site: MakeSite,
) -> None:
    with served() as server:
        site = listing(make_site, server.url)
        post(site, "", kind="bearer", value=BEARER)
        (site.settings.data_dir / FILE_NAME).unlink()
        again = listing(make_site, server.url)
        server.headers.clear()
        panel = again.panel().text
        page = again.client.get(f"/settings/servers/{server_of(again).id}").text
        assert again.connections == 0
    assert server.headers == []
    for text in (panel, page):
        assert "cannot be decrypted" in text.lower()
    assert "not contacted" in page


def test_a_view_is_not_told_how_vitrine_is_set_up(make_site: MakeSite) -> None:
    with served() as server:
        site = listing(make_site, server.url)
        configure(site, Authorization="Bearer ${UNLISTED}")
        server.status = 401
        told = [site.rpc("tools/call", {"name": "show_capacity"})]
        post(site, "", kind="header", header="X-Key", value=HEADER_VALUE)
        (site.settings.data_dir / FILE_NAME).unlink()
        again = listing(make_site, server.url)
        told.append(again.rpc("tools/call", {"name": "show_capacity"}))
        with site.database.session() as db:
            registry.set_private(db, server.url, False)
        told.append(site.rpc("tools/call", {"name": "show_capacity"}))
    assert [one["error"]["data"]["reason"] for one in told] == [
        "forbidden",
        "credential",
        "not-permitted",
    ]
    for word in ("UNLISTED", "VITRINE_", "X-Key", "private", "Settings"):
        assert word not in str(told)


def test_a_server_that_has_moved_into_a_private_network_is_left_alone_and_said(
    make_site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Allowed at a public address; now the name leads here."""
    with served() as server:
        url = server.url.replace("127.0.0.1", "mcp.example")
        site = listing(make_site, url)

        async def lookup(host: str, port: int, **_: Any) -> list[Any]:
            assert host == "mcp.example"
            return [(0, 0, 0, "", ("127.0.0.1", port))]

        monkeypatch.setattr(anyio, "getaddrinfo", lookup)
        panel = site.panel().text
        assert server.headers == []
        assert "private network" in panel
        assert "Settings, Servers" in panel
        with site.database.session() as db:
            registry.set_private(db, url, True)
        assert "data-fragment-url" in site.panel().text
        assert server.headers != []


def test_a_view_reaches_private_places_only_where_its_server_may_lie_in_one(
    make_site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = {"ui": {"csp": {"connectDomains": ["http://10.0.0.5"]}}}
    with scripted(tools_list=TOOLS, resources_read=document(_meta=declared)) as server:
        # The address alone says nothing: what it leads to is what was confirmed.
        url = server.url.replace("127.0.0.1", "mcp.example")
        site = listing(make_site, url)

        async def lookup(_host: str, port: int, **_: Any) -> list[Any]:
            return [(0, 0, 0, "", ("127.0.0.1", port))]

        monkeypatch.setattr(anyio, "getaddrinfo", lookup)
        with site.database.session() as db:
            registry.set_private(db, url, True)
        assert site.parsed_panel().data["granted"]["connectDomains"] == ["http://10.0.0.5"]
        # A public server, as far as anybody said; the guard is out of the way here.
        monkeypatch.setattr(backend, "_check", lambda *_, **__: None)
        with site.database.session() as db:
            registry.set_private(db, url, False)
        assert site.parsed_panel().data["granted"].get("connectDomains", []) == []


# What a reader may be shown, and what may be written, while every way of going wrong is gone.


def pages(site: Site) -> list[str]:
    """Every address that a GET has."""
    call = site.call
    values = {
        "session_id": site.session_id,
        "tool_call_id": str(call.tool_call_id),
        "server_id": str(server_of(site).id),
        "transcript": "0",
        "address": site.address,
        "token": "x" * 43,
    }
    found = []
    app = site.client.app
    for context in iter_route_contexts(app.routes):  # type: ignore[attr-defined]
        route = context.original_route
        if not isinstance(route, APIRoute) or "GET" not in (context.methods or ()):
            continue
        path = re.sub(r"{(\w+)(:\w+)?}", lambda match: values.get(match[1], "x"), str(context.path))
        if path not in ("/events", "/sign-in/x"):
            found += [path, f"{path}?at={site.address}"]
    assert len(found) > 20
    return found


def echo(server: Scripted) -> RpcFailure:
    return RpcFailure(
        -32000, f"I was sent {server.headers[-1]} at {server.url}", server.headers[-1]
    )


def test_no_credential_shows_anywhere(
    make_site: MakeSite, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []

    with served() as server:
        url = f"{server.url}?api_key={QUERY_KEY}"
        site = listing(make_site, url)

        def look() -> None:
            for path in pages(site):
                for headers in ({}, {"Accept": "application/json"}, {"HX-Request": "true"}):
                    answer = site.client.get(path, headers=headers)
                    shown.append(f"{path} {answer.text} {answer.headers}")

        def said(answer: Any) -> None:
            shown.append(f"{answer.text} {answer.headers}")

        said(post(site, "", kind="bearer", value=BEARER))
        said(post(site, "", kind="header", header="X-Key", value=HEADER_VALUE))
        said(post(site, "", kind="header", header="X-Other", variable="LISTED"))
        said(post(site, "", kind="header", header="Host", value=HEADER_VALUE))
        said(post(site, "", kind="bearer", value=f"{BEARER}\n{BEARER}"))
        said(post(site, "", kind="bearer", value=BEARER * 5_000))
        said(post(site, "", kind="bearer", value=[BEARER, BEARER], variable="\0"))
        configure(site, X_Mine="${UNLISTED}", X_Yours="${LISTED}")
        look()
        assert sent(server, "x-key") == {HEADER_VALUE}
        assert f"api_key={QUERY_KEY}" in server_of(site).url
        # It refuses, tells the panel what it got, answers garbage, and is gone.
        for status in (401, 403, 404, 500):
            server.status = status
            look()
        server.status = 0
        # What a server sends back of what it was sent goes to its own view, and is written
        # nowhere: those answers are left out.
        server.answers |= dict.fromkeys(("tools/call", "resources/read"), _failing(server))
        echoed = site.rpc_answer({"method": "tools/call", "params": {"name": "show_capacity"}})
        assert BEARER in echoed.text
        site.rpc_answer({"method": "resources/read", "params": {"uri": "x"}})
        server.answers["tools/list"] = _failing(server)
        site.client.post(
            f"/settings/servers/{server_of(site).id}/unmarked-tools",
            data={"key": switch_key(server_of(site))},
            headers=ORIGIN,
        )
        look()
        said(post(site, "/remove", header="x-key"))
        said(post(site, "/remove", header="x-key"))
        with site.database.session() as db:
            target = server_of(site)
            shown += [repr(row) for row in db.exec(select(tables.ServerCredential))]
        hub = site.client.app.state.hub  # type: ignore[attr-defined]
        claims = registry.known_servers
        with site.database.session() as db:
            (known,) = claims(db)
        shown += [repr(hub.wallet.target(target, known.claims)), repr(site.settings)]
    look()
    written = caplog.text + "".join(capfd.readouterr())
    for sentinel in SENTINELS:
        assert sentinel not in written
        assert [text[:80] for text in shown if sentinel in text] == []


def _failing(server: Scripted) -> Any:
    def fail(_params: object) -> Any:
        raise echo(server)

    return fail
