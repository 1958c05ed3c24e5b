"""Steps that a person takes, for several tests."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, Request, expect

from e2e.running import Running

# A loaded machine is slow; a test that hangs for good fails all the same.
PATIENCE_MS = 30_000

# What still moves on a page: lazy panels in sight that have not come, views that have not started.
# Then the frames must lie still, for as many pictures as they are looked at and for a while.
_UNSETTLED = """async ([frames, ms, patience]) => {
    const next = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const inSight = (element) => {
        const box = element.getBoundingClientRect();
        return box.bottom > 0 && box.top < innerHeight && box.width > 0;
    };
    const isMoving = (slot) => slot.matches(".htmx-request")
        || (inSight(slot) && slot.querySelector("[data-panel-state]") === null);
    const isStarting = (panel) => panel.dataset.panelState === "loading"
        && panel.querySelector("[data-note=startup][data-level=warning]") === null;
    const waitedFor = () => [
        ...[...document.querySelectorAll(".panel-slot[hx-get]")].filter(isMoving)
            .map((slot) => `${slot.id} has not come`),
        ...[...document.querySelectorAll("[data-panel][data-fragment-url]")].filter(isStarting)
            .map((panel) => `${panel.getAttribute("aria-label")} has not started`),
    ];
    const places = () => JSON.stringify([...document.querySelectorAll("iframe")].map((frame) => {
        const { x, y, width, height } = frame.getBoundingClientRect();
        return [x, y, width, height];
    }));
    const end = performance.now() + patience;
    let [since, seen, last, reasons] = [performance.now(), 0, places(), waitedFor()];
    while (reasons.length > 0 || seen < frames || performance.now() - since < ms) {
        if (performance.now() > end) return reasons.length > 0 ? reasons : ["frames move"];
        await next();
        const now = places();
        reasons = waitedFor();
        if (now === last && reasons.length === 0) seen += 1;
        else [since, seen, last] = [performance.now(), 0, now];
    }
    return [];
}"""
_HEAR = """if (window !== top) {
    window.heard = [];
    addEventListener("message", ({ data }) => { if (data?.jsonrpc === "2.0") heard.push(data); });
}"""
_STILL_FRAMES = 10
_STILL_MS = 300


def sign_in(page: Page, running: Running) -> None:
    """Open the printed link; it leads to the list of sessions."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto(running.link)
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()


def open_session(page: Page, title: str) -> None:
    page.get_by_role("link", name=title).first.click()
    expect(page.locator(".panel-slot").first).to_be_attached()


def session_of(page: Page, agent: str) -> Locator:
    """The session of an agent in the list of sessions."""
    return page.locator("main li", has=page.locator(".tag", has_text=agent))


def panel(page: Page, number: int = 0) -> Locator:
    """The panel of a call, scrolled to, so that its lazy frame loads."""
    slot = page.locator(".panel-slot").nth(number)
    slot.scroll_into_view_if_needed()
    return slot


def view(page: Page, number: int = 0) -> FrameLocator:
    """The document in a panel, with nothing moving any more: an input would reach it."""
    slot = panel(page, number)
    settled(page)
    return slot.frame_locator("[data-panel-frame] iframe")


def settled(page: Page) -> None:
    """Wait until every view on the page has started, or will not, and nothing moves any more.

    To be called before an input goes into a view: the browser finds the frame under the pointer
    by itself, a moment after Playwright has looked, and a page that moved in between loses it.
    """
    waits_for = page.evaluate(_UNSETTLED, [_STILL_FRAMES, _STILL_MS, PATIENCE_MS])
    if waits_for:
        pytest.fail(f"the page never settled: {'; '.join(waits_for)}")


def keep_what_views_hear(page: Page) -> None:
    """Let every view that is loaded from now on keep the messages it gets. Call before loading."""
    page.add_init_script(_HEAR)


def answer_to(
    view: FrameLocator,
    act: Callable[[], object],
    method: str,
    fits: Callable[[dict[str, Any]], bool] = lambda answer: True,
    **wanted: Any,
) -> dict[str, Any]:
    """Do ``act``, which makes the view ask its server for ``method`` with the ``wanted`` params;
    the first answer that ``fits`` of those that the view then hears, by whichever way it came.
    """
    root = view.locator("html")
    page = root.page

    def is_it(request: Request) -> bool:
        if not request.url.partition("?")[0].endswith("/rpc"):
            return False
        asked = request.post_data_json or {}
        if asked.get("method") != method:
            return False
        params = asked["params"]
        given = params | (params.get("arguments") or {})
        return bool(wanted.items() <= given.items())

    heard = "() => (window.heard ?? []).filter((message) => message.method === undefined)"
    before = len(root.evaluate(heard)) if page.locator("[data-panel-state=ready]").count() else 0
    with page.expect_request(is_it, timeout=PATIENCE_MS):
        act()
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < deadline:
        answers: list[dict[str, Any]] = root.evaluate(heard)[before:]
        for answer in answers:
            if fits(answer):
                return answer
        page.wait_for_timeout(50)
    pytest.fail(f"no fitting answer to {method} {wanted}")
