"""A server that declares domains: what it declared is reached, and nothing beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from e2e.exfiltration import hostile
from e2e.exfiltration.listeners import HTTP, Listeners
from e2e.exfiltration.ways.way import Way
from e2e.pages import sign_in

CONNECTS, RESOURCES = "connectDomains", "resourceDomains"
# The directive that opens each way; everything else stays shut.
OPENED_BY = {
    "fetch": CONNECTS,
    "socket": CONNECTS,
    "events": CONNECTS,
    "beacon": CONNECTS,
    "picture": RESOURCES,
    "script": RESOURCES,
    "style": RESOURCES,
    "font": RESOURCES,
    "video": RESOURCES,
}
TRY = {
    "fetch": "fetch('$URL')",
    "socket": "new WebSocket('ws://$HOST/')",
    "events": "new EventSource('$URL')",
    "beacon": "navigator.sendBeacon('$URL')",
    "picture": "new Image().src = '$URL'",
    "script": "document.head.append(Object.assign(document.createElement('script'),"
    " {src: '$URL'}))",
    "style": "document.head.append(Object.assign(document.createElement('link'),"
    " {rel: 'stylesheet', href: '$URL'}))",
    "font": "new FontFace('f', 'url($URL)').load()",
    "video": "new Audio('$URL').load()",
    "frame": "document.body.append(Object.assign(document.createElement('iframe'), {src: '$URL'}))",
    "worker": "new Worker('$URL')",
    "object": "document.body.append(Object.assign(document.createElement('embed'), {src: '$URL'}))",
    "form": "document.body.append(Object.assign(document.createElement('form'),"
    " {action: '$URL'})), document.forms[0].submit()",
    "webrtc": "new RTCPeerConnection({iceServers: [{urls: 'stun:$HOST'}]})",
}
SIBLING = "-beside"


@pytest.fixture(scope="module")
def listeners() -> Iterator[Listeners]:
    names = [f"{way}{at}" for way in TRY for at in ("", SIBLING)]
    with Listeners(names) as listeners:
        yield listeners


def view(way: str, declared: str, listeners: Listeners) -> hostile.View:
    """One view that goes to the origin it declares and, a moment later, to its sibling."""
    port, beside = listeners.ports[way], listeners.ports[f"{way}{SIBLING}"]
    script = ""
    for at in (port, beside):
        host = f"127.0.0.1:{at}"
        one = TRY[way].replace("$URL", f"http://{host}/x").replace("$HOST", host)
        script += f"try {{ const done = ({one}); done?.catch?.(() => 0); }} catch {{}}"
    origins = [f"http://127.0.0.1:{port}"]
    if declared == CONNECTS:
        origins.append(f"ws://127.0.0.1:{port}")
    csp = {declared: origins}
    return hostile.View(f"{way}-{declared}", Way("x", script=script).document(9), csp)


def test_the_declared_origin_is_reached_and_its_sibling_is_not(
    chromium: Browser, listeners: Listeners, tmp_path: Path
) -> None:
    groups = [[view(way, declared, listeners) for way in TRY] for declared in (CONNECTS, RESOURCES)]
    with hostile.theatre(tmp_path, groups) as theatre:
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        sign_in(page, theatre.running)
        for declared, url in zip((CONNECTS, RESOURCES), theatre.sessions, strict=True):
            listeners.forget()
            states = hostile.unfold(page, url)
            assert set(states) <= {"ready", "closed"}, states
            fold = page.locator(".panel-details summary", has_text="May contact")
            expect(fold.first).to_contain_text(
                "May contact 2 addresses" if declared == CONNECTS else "May contact 1 address"
            )
            page.wait_for_timeout(2500)
            heard = listeners.heard()
            reached = {way for way, kinds in heard.items() if HTTP in kinds}
            assert reached == {way for way, by in OPENED_BY.items() if by == declared}, heard
            # A form, and a frame's navigation, may still be connected to where it may go anyway.
            assert {name for name in heard if name.endswith(SIBLING)} == set(), heard
        context.close()
