"""A server that is switched off, removed or given another URL is let go at once."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from app.mcp import registry
from app.mcp.target import Target
from app.mcp_apps import policy
from app.web.view_models.servers import switch_key
from tests.support.scripted import document, scripted, tool
from tests.web.panels.site import ORIGIN, MakeSite, Site

TOOLS = {"tools": [tool("show_capacity", visibility=["model", "app"])]}


def post(site: Site, path: str, **form: str | list[str]) -> None:
    answer = site.client.post(path, data=form, headers=ORIGIN, follow_redirects=False)
    assert answer.status_code == 303, answer.text


def form(site: Site) -> tuple[str, str]:
    """The path of the server's page, and what its forms call it by."""
    with site.database.session() as db:
        (entry,) = registry.servers(db)
    return f"/settings/servers/{entry.server.id}", switch_key(entry.server)


def server_off(site: Site) -> None:
    post(site, "/settings/mcp-apps", master="on", shown=[form(site)[1]])


def all_off(site: Site) -> None:
    key = form(site)[1]
    post(site, "/settings/mcp-apps", shown=[key], allowed=[key])


def removed(site: Site) -> None:
    path, key = form(site)
    post(site, f"{path}/remove", key=key)


def moved(site: Site) -> None:
    path, key = form(site)
    url = "http://127.0.0.1:9/mcp"
    post(site, path, key=key, url=url, transport="streamable-http", private="on")


def other_transport(site: Site) -> None:
    path, key = form(site)
    post(site, path, key=key, url="", transport="sse", private="on")


def made_stdio(site: Site) -> None:
    path, key = form(site)
    post(site, path, key=key, url="", transport="stdio")


def target_of(site: Site) -> Target:
    with site.database.session() as db:
        (entry,) = registry.servers(db)
    return registry.target(entry.server)


@contextmanager
def connected(make_site: MakeSite) -> Iterator[tuple[Site, Target, Callable[[], bool]]]:
    """A site with a panel open; the last part says whether its connection is still there."""
    with scripted(tools_list=TOOLS, resources_read=document()) as server:
        site = make_site(server.url)
        assert "data-fragment-url" in site.panel().text
        target = target_of(site)
        hub = site.client.app.state.hub  # type: ignore[attr-defined]

        def is_open() -> bool:
            return any(connection.target == target for connection in hub._live)

        assert is_open()
        assert hub.peek_tools(target) is not None
        yield site, target, is_open


def until_gone(is_open: Callable[[], bool]) -> bool:
    """Whether it ends by itself: its task needs a moment of the event loop."""
    waiting = threading.Event()
    for _ in range(500):
        if not is_open():
            return True
        waiting.wait(0.02)
    return False


@pytest.mark.parametrize("change", [server_off, all_off, removed, moved, made_stdio])
def test_what_is_switched_off_is_disconnected(
    make_site: MakeSite, change: Callable[[Site], None]
) -> None:
    with connected(make_site) as (site, target, is_open):
        change(site)
        assert until_gone(is_open)
        hub = site.client.app.state.hub  # type: ignore[attr-defined]
        assert hub.peek_tools(target) is None
        before = site.connections
        assert "data-fragment-url" not in site.panel().text
        assert site.connections == before


def test_what_is_reached_in_another_way_is_disconnected(make_site: MakeSite) -> None:
    with connected(make_site) as (site, _, is_open):
        other_transport(site)
        assert until_gone(is_open)


def test_what_stays_on_stays_connected(make_site: MakeSite) -> None:
    with connected(make_site) as (site, target, is_open):
        path, key = form(site)
        post(site, "/settings/mcp-apps", master="on", shown=[key], allowed=[key])
        for url in ("", target.url):
            post(site, path, key=key, url=url, transport="streamable-http", private="on")
        post(site, f"{path}/unmarked-tools", key=key, unmarked="on")
        post(site, f"{path}/names", key=key, name="second")
        before = site.connections
        assert is_open()
        assert "data-fragment-url" in site.panel().text
        assert site.connections == before


def test_switched_on_again_it_is_connected_anew(make_site: MakeSite) -> None:
    with connected(make_site) as (site, target, is_open):
        server_off(site)
        assert until_gone(is_open)
        before = site.connections
        with site.database.session() as db:
            registry.set_allowed(db, target.url, True)
            assert policy.load(db).render
        assert "data-fragment-url" in site.panel().text
        assert site.connections > before
