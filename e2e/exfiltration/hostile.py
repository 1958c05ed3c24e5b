"""A malicious MCP server with a view for each way out, and a Vitrine that lets it show them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from app.db.engine import Database
from app.mcp import registry
from app.mcp_apps import policy
from e2e.exfiltration.listeners import Listeners
from e2e.exfiltration.ways.way import Way
from e2e.pages import PATIENCE_MS, settled
from e2e.running import Running, prepared, vitrine
from tests.support.scripted import VIEW_TYPE, RpcFailure, scripted
from tests.web.recording import Recording

SERVER = "hostile"
PER_PAGE = 30
_WENT = ("ready", "closed")  # the view was up and made its attempt, or left and was closed
_STATES = """() => [...document.querySelectorAll(".panel-slot")].map(
    (slot) => slot.querySelector("[data-panel]")?.dataset.panelState ?? "absent")"""


@dataclass(frozen=True)
class View:
    """``html`` is the document of the tool called ``name``."""

    name: str
    html: str
    csp: dict[str, Any] | None = None


def of(ways: Iterable[Way], listeners: Listeners) -> list[View]:
    return [View(way.name, way.document(listeners.ports[way.name])) for way in ways]


def allow(database: Database, name: str, url: str) -> None:
    """Both switches on for the server at ``url``."""
    with database.session() as db:
        registry.add_server(db, name, url)
        registry.set_allowed(db, url, allowed=True)
        policy.set_render(db, True)


def batches(ways: Sequence[Way]) -> list[list[Way]]:
    """What goes on one page together: the deadly each by itself, the pressed among themselves."""
    calm = [way for way in ways if not way.deadly and not way.pressed]
    pressed = [way for way in ways if way.pressed]
    found = [calm[at : at + PER_PAGE] for at in range(0, len(calm), PER_PAGE)]
    found += [pressed] if pressed else []
    return found + [[way] for way in ways if way.deadly]


@dataclass
class Theatre:
    """``sessions``: the addresses of the sessions, one for each batch that was asked for."""

    running: Running
    sessions: list[str]


@contextmanager
def theatre(folder: Path, groups: Sequence[Sequence[View]]) -> Iterator[Theatre]:
    """A Vitrine with a session for each group of views, and the server that offers them."""
    views = {view.name: view for group in groups for view in group}
    tools = [
        {
            "name": view.name,
            "inputSchema": {"type": "object"},
            "_meta": {"ui": {"resourceUri": f"ui://{SERVER}/{view.name}"}},
        }
        for view in views.values()
    ]

    def read(params: dict[str, Any]) -> dict[str, Any]:
        view = views.get(params["uri"].removeprefix(f"ui://{SERVER}/"))
        if view is None:
            raise RpcFailure(-32002, "Resource not found")
        meta = {"_meta": {"ui": {"csp": view.csp}}} if view.csp else {}
        item = {"uri": params["uri"], "mimeType": VIEW_TYPE, "text": view.html}
        return {"contents": [item | meta]}

    with ExitStack() as stack:
        server = stack.enter_context(scripted(tools_list={"tools": tools}, resources_read=read))
        database = prepared(folder)
        stack.callback(database.dispose)
        allow(database, SERVER, server.url)
        ids = [
            _record(database, folder / f"recorded-{number}", f"batch-{number}", group)
            for number, group in enumerate(groups)
        ]
        running = stack.enter_context(vitrine("serve", folder, VITRINE_REQUESTS_PER_MINUTE="6000"))
        yield Theatre(running, [f"{running.url}/sessions/{found}" for found in ids])
        running.assert_nothing_went_wrong()


def _record(database: Database, folder: Path, source: str, group: Sequence[View]) -> str:
    recording = Recording().user(f"Show {source}.")
    for number, view in enumerate(group):
        recording.call(f"mcp__{SERVER}__{view.name}", {}, "shown", call_id=f"toolu_{number}")
    return recording.import_into(database, folder, source=source)


def unfold(page: Page, url: str) -> list[str]:
    """Open the session and scroll through it; the state of each panel once every one has come to
    an end of its start.
    """
    page.goto(url)
    slots = page.locator(".panel-slot")
    expect(slots.first).to_be_attached()
    for number in range(slots.count()):
        slots.nth(number).scroll_into_view_if_needed()
    left = PATIENCE_MS
    while left > 0:
        states: list[str] = page.evaluate(_STATES)
        if all(state in _WENT for state in states):
            break
        page.wait_for_timeout(100)
        left -= 100
    return states


def press(page: Page) -> list[str]:
    """Press the middle of every view as a person does, and refuse what the host then asks; the
    state of each panel afterwards.
    """
    slots = page.locator(".panel-slot")
    for number in range(slots.count()):
        frame = slots.nth(number).locator("iframe")
        frame.scroll_into_view_if_needed()
        settled(page)
        box = frame.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(300)
        if page.get_by_role("dialog").count():
            page.get_by_role("button", name="Cancel").press("Escape")
            expect(page.get_by_role("dialog")).to_have_count(0)
    states: list[str] = page.evaluate(_STATES)
    return states


def new_tab(context: BrowserContext) -> Page:
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page
