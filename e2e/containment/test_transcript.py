"""A transcript whose every field is hostile, on every page that shows some of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlmodel import select

from app.db import tables
from app.transcripts.ingest import import_paths
from e2e.containment import hostile_transcript
from e2e.exfiltration.hostile import allow
from e2e.exfiltration.listeners import Listeners
from e2e.pages import PATIENCE_MS, sign_in
from e2e.running import Running, prepared, vitrine

LURE = "lure"
# What of theirs must never be an element or an attribute.
_PLANTED = """(port) => [...document.querySelectorAll("*")].flatMap((element) => {
    const loads = /^(?:src|srcset|data|action|formaction|poster|srcdoc|background|style)$/i;
    const isLink = /^(?:href|xlink:href)$/i;
    const found = [...element.attributes].filter(({ name, value }) =>
        /^(?:on|hx-on|data-hx-)/i.test(name)
        || /^(?:hx-|data-fragment)/.test(name) && value.includes(port)
        || loads.test(name) && value.includes(port)
        || isLink.test(name) && !/^(?:https?:|mailto:|[/#?])/i.test(value)
        || /^(?:id|name)$/i.test(name) && /pwned|getElementById/.test(value));
    const isTheirs = element.matches(
        "base, object, embed, video, math, style, meta[http-equiv], iframe:not(.panel-view)");
    return found.length > 0 || isTheirs ? [element.outerHTML.slice(0, 200)] : [];
})"""


@pytest.fixture(scope="module")
def listeners() -> Iterator[Listeners]:
    with Listeners([LURE]) as listeners:
        yield listeners


@pytest.fixture(scope="module")
def lure(listeners: Listeners) -> str:
    return f"http://127.0.0.1:{listeners.ports[LURE]}"


@pytest.fixture(scope="module")
def running(lure: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("vitrine")
    database = prepared(folder)
    # With views on: their markup must not pass for a panel's.
    allow(database, "a", f"{lure}/mcp")
    import_paths(database, [hostile_transcript.write(folder / "agent", lure)])
    with database.session() as db:
        assert len(db.exec(select(tables.Session.id)).all()) == 1
    with vitrine("serve", folder) as running:
        yield running
        running.assert_nothing_went_wrong()
    database.dispose()


@pytest.fixture(scope="module")
def context(chromium: Browser, running: Running) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script("window.pwned = () => { window.pwnedBy = new Error().stack; };")
    page = context.new_page()
    sign_in(page, running)
    page.close()
    yield context
    context.close()


@pytest.fixture(scope="module")
def session_path(context: BrowserContext, running: Running) -> str:
    page = context.new_page()
    page.goto(running.url)
    path = page.locator("main a[href*='/sessions/']").first.get_attribute("href")
    page.close()
    assert path is not None
    return path.partition("?")[0]


def look(page: Page, address: str) -> None:
    """Open it, scroll through it, unfold and press what can be."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address)
    expect(page.locator("main")).to_be_visible()
    for _ in range(12):
        page.mouse.wheel(0, 2000)
        page.wait_for_timeout(50)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true;")
    page.wait_for_timeout(400)


PAGES = {
    "list": "/",
    "minimal": "{session}?level=minimal",
    "condensed": "{session}?level=condensed",
    "verbose": "{session}?level=verbose",
    "search": "/?q=pwned",
    "titles": "/?q=script&in=titles",
    "search-in-session": "{session}/search?q=pwned",
    "outbox": "/outbox",
    "servers": "/settings/servers",
    "views": "/settings/mcp-apps",
}


@pytest.mark.parametrize("name", PAGES)
def test_nothing_of_it_acts(
    name: str,
    running: Running,
    context: BrowserContext,
    session_path: str,
    listeners: Listeners,
    lure: str,
) -> None:
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    look(page, running.url + PAGES[name].format(session=session_path))
    if name != "outbox" and not name.startswith("views"):
        # It is there to be read; else nothing would be shown by its doing nothing.
        expect(page.locator("main")).to_contain_text("pwned()")
    planted = page.evaluate(_PLANTED, lure.rpartition(":")[2])
    assert planted == []
    assert page.evaluate("window.pwnedBy ?? null") is None
    assert page.title().find("<") == -1 or "pwned" in page.title()
    assert page.evaluate("document.getElementById instanceof Function")
    outside = [url for url in asked if not url.startswith((f"{running.url}/", "data:", "blob:"))]
    assert outside == []
    assert page.url.startswith(running.url)
    # Nor does a raw control or an invisible character stand in the page.
    text = page.locator("main").inner_text()
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2066\u200b\U000e0041")
    # The panels' own server is asked by Vitrine, not by the page.
    assert b"GET " not in listeners.first_bytes(LURE)
    page.close()
