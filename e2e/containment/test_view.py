"""A view on the page of a session in a real Vitrine tries for what is not its own."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Frame, Page, expect

from e2e.exfiltration import hostile
from e2e.exfiltration.ways.way import Way
from e2e.pages import PATIENCE_MS, sign_in

# Each gives what it got; all must be refused. `real` undoes the prelude's stand-ins, as a view can.
REACHES = {
    "document": "top.document.title",
    "parent-document": "Object.getPrototypeOf(window).constructor && top.frames.parent.document",
    "host-variable": "top.htmx",
    "host-address": "top.location.href",
    "host-origin": "top.origin",
    "frame-element": "window.frameElement.ownerDocument",
    "ancestor-function": "top.fetch('/')",
    "other-view": "other().document.body.innerText",
    "other-view-address": "other().location.href",
    "other-view-variable": "other().mine",
    "cookie": "real(Document.prototype, 'cookie').call(document)",
    "local-storage": "real(window, 'localStorage').call(window).length",
    "frame-cookie": "blank().contentDocument.cookie",
    "frame-storage": "blank().contentWindow.localStorage.length",
    "cookie-store": "cookieStore.getAll()",
    "database": "new Promise((yes, no) => { const r = indexedDB.open('x'); r.onsuccess = yes;"
    " r.onerror = no; })",
    "caches": "caches.keys()",
    "locks": "navigator.locks.query()",
    "directory": "navigator.storage.getDirectory()",
    "service-worker": "navigator.serviceWorker.register(location.href)",
    "pages": "fetch(HOST + '/settings/servers')",
    "pages-blindly": "fetch(HOST + '/outbox', {mode: 'no-cors', credentials: 'include'})",
    "switches": "fetch(HOST + '/settings/mcp-apps', {method: 'POST', mode: 'no-cors',"
    " credentials: 'include', body: new URLSearchParams('render=')})",
    "open-route": "fetch(HOST + '/healthz')",
    "static": "new Promise((yes, no) => { const s = document.createElement('script');"
    " s.onload = yes; s.onerror = no; s.src = HOST + '/static/js/app.js';"
    " document.head.append(s); })",
    "picture": "new Promise((yes, no) => { const i = new Image(); i.onload = yes; i.onerror = no;"
    " i.src = HOST + '/static/icon.svg'; })",
    "events": "new Promise((yes, no) => { const e = new EventSource(HOST + '/events?stream=' +"
    " 'x'.repeat(22)); e.onopen = yes; e.onerror = no; })",
    "own-address-again": "fetch(location.href)",
    "open": "open(HOST + '/settings/servers') ?? refuse()",
    "full-screen": "document.documentElement.requestFullscreen()",
    "pointer-lock": "document.body.requestPointerLock()",
    "keyboard-lock": "navigator.keyboard.lock()",
    "camera": "navigator.mediaDevices.getUserMedia({video: true})",
    "screen": "navigator.mediaDevices.getDisplayMedia()",
    "location": "new Promise((yes, no) => navigator.geolocation.getCurrentPosition(yes, no))",
    "clipboard-read": "navigator.clipboard.readText()",
    "clipboard-write": "navigator.clipboard.writeText('stolen')",
    "notification": "Notification.requestPermission().then((p) => p === 'granted' || refuse())",
    "payment": "new PaymentRequest([{supportedMethods: 'https://a.example'}],"
    " {total: {label: 'x', amount: {currency: 'CHF', value: '1'}}}).show()",
    "wake-lock": "navigator.wakeLock.request('screen')",
    "alert": "alert('x') || refuse()",
    "confirm": "confirm('x') || refuse()",
    "prompt": "prompt('x') ?? refuse()",
    "domain": "(document.domain = '127.0.0.1')",
}
_TRY = """
const HOST = new URL(location.href).origin;
const real = (owner, name) => Object.getOwnPropertyDescriptor(owner, name).get;
const refuse = () => { throw new Error("refused"); };
const other = () => [...Array(top.length).keys()].map((at) => top[at]).find((w) => w !== window);
const blank = () => document.body.appendChild(document.createElement("iframe"));
window.mine = "the first view's";
const got = {};
const within = (promise) => Promise.race([promise,
    new Promise((_, no) => setTimeout(no, 3000, new Error("nothing happened")))]);
await Promise.all(Object.entries($REACHES).map(async ([name, expression]) => {
    try {
        const element = document.createElement("script");
        element.textContent = `window.run = async () => (${expression})`;
        Object.assign(window, { HOST, real, refuse, blank, other });
        document.head.append(element);
        got[name] = String(await within(window.run()));
    } catch { /* as it should be */ }
}));
print();
window.got = got;
"""
QUIET = "window.mine = 'the second view\\'s';"
NAVIGATES = {
    "to-settings": "location.href = new URL(location.href).origin + '/settings/servers';",
    "to-itself": "location.reload();",
    "form-to-settings": "document.body.innerHTML = `<form method=post action=${"
    "new URL(location.href).origin}/settings/mcp-apps><input name=render></form>`;"
    "document.forms[0].submit();",
}
NESTS = {
    "frame-of-settings": "const f = document.createElement('iframe');"
    "f.src = new URL(location.href).origin + '/settings/servers'; document.body.append(f);",
    "frame-of-its-own": "const f = document.createElement('iframe'); f.src = location.href;"
    "document.body.append(f);",
}


def document(script: str) -> str:
    return Way("x", "<p>a view</p>", script).document(9)


@pytest.fixture(scope="module")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hostile.Theatre]:
    reaching = _TRY.replace("$REACHES", json.dumps(REACHES).replace("</", "<\\/"))
    groups = [
        [hostile.View("reaching", document(reaching)), hostile.View("quiet", document(QUIET))],
        [hostile.View(name, document(script)) for name, script in NAVIGATES.items()],
        [hostile.View(name, document(script)) for name, script in NESTS.items()],
    ]
    with hostile.theatre(tmp_path_factory.mktemp("vitrine"), groups) as theatre:
        yield theatre


@pytest.fixture(scope="module")
def context(chromium: Browser, theatre: hostile.Theatre) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    sign_in(context.new_page(), theatre.running)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    page.close()


def frame(page: Page, number: int) -> Frame:
    handle = page.locator(".panel-slot").nth(number).locator("iframe").element_handle()
    found = handle.content_frame()
    assert found is not None
    return found


def of_frames(page: Page) -> list[str]:
    """Addresses that answered anything but the page itself, from now on. What the browser refuses
    to ask for is a request for Playwright, but has no answer.
    """
    answered: list[str] = []
    page.on(
        "response",
        lambda answer: answered.append(answer.url) if answer.frame != page.main_frame else None,
    )
    return answered


def test_it_gets_nothing_that_is_not_its_own(page: Page, theatre: hostile.Theatre) -> None:
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    page.add_init_script("if (window === top) window.print = () => { window.printed = true; };")
    opened: list[Any] = []
    page.context.on("page", lambda page: opened.append(page))
    answered = of_frames(page)
    assert hostile.unfold(page, theatre.sessions[0]) == ["ready", "ready"]
    got = None
    for _ in range(100):
        got = frame(page, 0).evaluate("window.got ?? null")
        if got is not None:
            break
        page.wait_for_timeout(100)
    assert got == {}
    assert dialogs == []
    assert opened == []
    assert page.evaluate("document.fullscreenElement") is None
    # Nothing but the two documents went through the network for a frame.
    assert [url for url in answered if "/fragments/" not in url] == []
    assert len([url for url in answered if "/fragments/" in url]) == 2
    # The page is as it was, and so is the other view.
    expect(page.locator("[data-panel-state=ready]")).to_have_count(2)
    assert frame(page, 1).evaluate("mine") == "the second view's"


def test_it_cannot_go_to_vitrines_own_pages(page: Page, theatre: hostile.Theatre) -> None:
    hostile.unfold(page, theatre.sessions[1])
    notices = page.locator("[data-note=gone]")
    expect(notices).to_have_count(len(NAVIGATES))
    for number in range(len(NAVIGATES)):
        expect(notices.nth(number)).to_contain_text("tried to leave its page")
    assert page.url.startswith(theatre.sessions[1])
    # The switch that the form was for is as it was.
    page.goto(f"{theatre.running.url}/settings/mcp-apps")
    expect(page.get_by_role("checkbox").first).to_be_checked()


def test_it_cannot_show_vitrines_own_pages_in_a_frame(page: Page, theatre: hostile.Theatre) -> None:
    answered = of_frames(page)
    assert hostile.unfold(page, theatre.sessions[2]) == ["ready", "ready"]
    page.wait_for_timeout(1000)
    assert len(answered) == len(NESTS), answered  # its own documents
    for number in range(len(NESTS)):
        [child] = frame(page, number).child_frames
        assert not child.url.startswith(theatre.running.url)


def test_a_document_that_was_loaded_is_not_given_again(
    page: Page, theatre: hostile.Theatre
) -> None:
    hostile.unfold(page, theatre.sessions[0])
    address = page.locator("iframe").first.get_attribute("src")
    assert page.context.request.get(f"{theatre.running.url}{address}").status == 410
