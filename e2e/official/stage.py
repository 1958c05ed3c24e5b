"""A Vitrine for each agent, and the official servers, each started when it is first looked at."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FrameLocator,
    Locator,
    Page,
    Request,
    expect,
)
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.mcp import registry
from app.mcp_apps import policy
from app.transcripts.ingest import import_paths
from e2e.official.catalog import AGENTS, OFFICIAL, Official
from e2e.official.recorded import Call, write
from e2e.official.seen import ALL, STARTED, Seen
from e2e.pages import (
    PATIENCE_MS,
    answer_to,
    keep_what_views_hear,
    panel,
    settled,
    sign_in,
)
from e2e.running import Running, prepared, vitrine
from e2e.servers import free_port, official_server

_ASKING = {"Accept": "application/json, text/event-stream"}


def ask(url: str, method: str, **params: Any) -> dict[str, Any]:
    """One request of a plain MCP client; the result."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = httpx.post(url, json=body, headers=_ASKING, timeout=60, trust_env=False)
    answer.raise_for_status()
    [data] = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")]
    said = json.loads(data)
    assert "result" in said, said
    found: dict[str, Any] = said["result"]
    return found


@dataclass
class Host:
    """The Vitrine that holds one agent's sessions, and a browser that is signed in there."""

    agent: str
    running: Running
    database: Database
    context: BrowserContext
    folder: Path
    sessions: dict[str, str] = field(default_factory=dict)  # by the call's key
    known: set[str] = field(default_factory=set)  # servers

    def learn(self, key: str, url: str, call: Call) -> None:
        """Take over the session of ``call``; let the server's views and all its tools be used."""
        if call.server not in self.known:
            self.known.add(call.server)
            with self.database.session() as db:
                registry.add_server(db, call.server, url)
                registry.set_allowed(db, url, allowed=True)
                registry.set_unmarked_tools(db, url, True)
        path = write(self.agent, self.folder / key, call)
        summary = import_paths(self.database, [path], key)
        assert summary.files_skipped == []
        with self.database.session() as db:
            found = db.exec(select(tables.Session.id).where(tables.Session.source == key)).one()
        self.sessions[key] = f"{self.running.url}/sessions/{found}"


@dataclass
class App:
    """One official server's view on the page of the session whose agent called it."""

    official: Official
    host: Host
    page: Page
    call: Call
    url: str  # the server's
    session_url: str
    seen: Seen

    @property
    def panel(self) -> Locator:
        return self.page.locator("[data-panel]")

    @property
    def notice(self) -> Locator:
        return self.panel.locator("[data-panel-notice]")

    @property
    def view(self) -> FrameLocator:
        return self.page.frame_locator("[data-panel-frame] iframe")

    def open(self, *, starts: bool = True) -> FrameLocator:
        """Open the session; the view, once it has started and lies still."""
        self.page.goto(self.session_url)
        panel(self.page)
        if starts:
            expect(self.panel).to_have_attribute("data-panel-state", "ready")
            settled(self.page)
        return self.view

    def did(self, *what: str) -> None:
        """Everything ``what`` says was done in the view, and it worked."""
        self.seen.did(self.official.name, *what)
        self._seen_under(ALL)

    def took_a_press(self) -> None:
        self._seen_under(STARTED)

    def says(self, *sentences: str) -> None:
        """The panel says, where a person sees it, what the view does not get."""
        for sentence in sentences:
            expect(self.panel.get_by_text(sentence).filter(visible=True).first).to_be_visible()
        known = self.seen.not_granted[self.official.name]
        known += [sentence for sentence in sentences if sentence not in known]

    def _seen_under(self, how: str) -> None:
        self.seen.how[self.official.name, self.host.agent] = how

    def listen(self) -> None:
        """Remember what the view asks its server for."""

        def note(request: Request) -> None:
            if request.url.partition("?")[0].endswith("/rpc"):
                asked = request.post_data_json
                if asked is None:  # Firefox tells no body of what a page sends as it goes
                    return
                name = asked["params"].get("name") if asked["method"] == "tools/call" else None
                self.seen.asked[self.official.name].add(name or asked["method"])

        self.page.on("request", note)

    def press(self, selector: str | Locator) -> None:
        """Click in the view, after all has come to rest there."""
        target = self.view.locator(selector) if isinstance(selector, str) else selector
        target.scroll_into_view_if_needed()
        settled(self.page)
        target.click()

    def answer_to(
        self,
        act: Callable[[], object],
        method: str,
        fits: Callable[[dict[str, Any]], bool] = lambda answer: True,
        **wanted: Any,
    ) -> dict[str, Any]:
        """The answer that the view hears to the request of its server that ``act`` leads to."""
        return answer_to(self.view, act, method, fits, **wanted)

    def outbox(self) -> str:
        """All that waits for the agent, as a person reads it."""
        other = self.host.context.new_page()
        other.goto(f"{self.host.running.url}/outbox")
        said = other.locator("main").inner_text()
        other.close()
        return said

    def log(self) -> Locator:
        """The panel's log, unfolded."""
        details = self.panel.locator(".panel-log")
        if details.get_attribute("open") is None:
            details.locator("summary").click()
        return details.locator("li")

    def call_server(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The agent calls a tool of the view's server."""
        return ask(self.url, "tools/call", name=name, arguments=arguments)


class Stage:
    """Keeps one official server running, the one that was asked for last."""

    def __init__(
        self, hosts: dict[str, Host], seen: Seen, stand_in: str, options: dict[str, list[str]]
    ) -> None:
        self.hosts = hosts
        self.seen = seen
        self._stand_in = stand_in
        self._options = options
        self._ports: dict[str, int] = {}
        self._calls: dict[str, Call] = {}
        self._running = ExitStack()
        self._name = ""
        self.url = ""

    def start(self, official: Official) -> None:
        if self._name == official.name:
            return
        self.stop()
        port = self._ports.setdefault(official.name, free_port())
        args = self._options.get(official.name, [])
        self.url = self._running.enter_context(
            official_server(official.name, *args, port=port, stand_in=self._stand_in)
        )
        self._name = official.name

    def stop(self) -> None:
        self._running.close()
        self._name = ""

    def learnt(self, official: Official, key: str, agent: str, arguments: dict[str, Any]) -> Call:
        """The call that the agent's session holds; made, once, when it is first needed."""
        if key not in self._calls:
            listed = ask(self.url, "tools/list")["tools"]
            [tool] = [tool for tool in listed if tool["name"] == official.tool]
            result = ask(self.url, "tools/call", name=official.tool, arguments=arguments)
            uri = tool["_meta"]["ui"]["resourceUri"]
            self._calls[key] = Call(official.name, official.tool, arguments, uri, result)
        if key not in self.hosts[agent].sessions:
            self.hosts[agent].learn(key, self.url, self._calls[key])
        return self._calls[key]

    def opened(self, name: str, variant: str, agent: str, arguments: dict[str, Any]) -> App:
        """A page for the session in which ``agent`` called that server; ``variant`` names a call
        with arguments of its own.
        """
        official = OFFICIAL[name]
        key = f"{name}-{variant}" if variant else name
        self.start(official)
        call = self.learnt(official, key, agent, official.arguments | arguments)
        host = self.hosts[agent]
        page = host.context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        keep_what_views_hear(page)
        app = App(official, host, page, call, self.url, host.sessions[key], self.seen)
        app.listen()
        return app


@contextmanager
def hosts(browser: Browser, folder: Path) -> Iterator[dict[str, Host]]:
    with ExitStack() as stack:
        found: dict[str, Host] = {}
        for agent in AGENTS:
            database = prepared(folder / agent)
            stack.callback(database.dispose)
            with database.session() as db:
                policy.set_render(db, True)
            running = stack.enter_context(
                vitrine("serve", folder / agent, VITRINE_REQUESTS_PER_MINUTE="600")
            )
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            stack.callback(context.close)
            page = context.new_page()
            sign_in(page, running)
            page.close()
            found[agent] = Host(agent, running, database, context, folder / agent)
        yield found
        for host in found.values():
            host.running.assert_nothing_went_wrong()
