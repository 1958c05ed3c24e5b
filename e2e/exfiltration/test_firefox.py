"""The same ways in Firefox ESR, which knows no ``Connection-Allowlist``: nothing leaves as a
request or a navigation; what is left is what docs/security.md names, and no more.
"""

import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from e2e.exfiltration.host import BARE
from e2e.exfiltration.listeners import BYTES, CONNECTED, HTTP, UDP, Listeners
from e2e.exfiltration.measuring import product, unprotected
from e2e.exfiltration.ways import ALL, BY_NAME

# WebRTC in a frame with a script of its own, and connections opened ahead of time: for a link that
# says so, and for a link that a person presses, before the press is over.
NAMED = {
    "link-preconnect": {CONNECTED},
    "webrtc-srcdoc": {UDP},
    "webrtc-srcdoc-turn": {CONNECTED, BYTES},
} | {way.name: {CONNECTED} for way in ALL if way.pressed}
# Enough to see that the listeners hear this browser. Not what it does when it has nothing else to
# do (prefetch): on a busy machine that may be never.
CONTROL = [
    "img",
    "fetch",
    "websocket",
    "beacon",
    "css-font-face",
    "location-href",
    "meta-refresh",
    "form-get",
    "link-click",
    "link-preconnect",
    "webrtc-stun",
    "webrtc-turn",
    "webrtc-srcdoc",
    "webrtc-blank-stun",
]


@pytest.fixture(scope="module")
def listeners() -> Iterator[Listeners]:
    with Listeners(way.name for way in ALL) as listeners:
        yield listeners


def test_without_protections_the_listeners_hear_it(firefox: Browser, listeners: Listeners) -> None:
    ways = [BY_NAME[name] for name in CONTROL]
    heard = unprotected(firefox, ways, listeners, BARE, CONTROL)
    assert set(heard) == set(CONTROL), heard


def test_no_request_leaves_and_only_the_ways_that_are_named(
    firefox: Browser,
    listeners: Listeners,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    heard, states = product(firefox, ALL, listeners, tmp_path_factory.mktemp("vitrine"))
    with capsys.disabled():
        sys.stdout.write(f"\nFirefox: {len(ALL)} ways; heard: {heard}\n")
    assert set(states.values()) <= {"ready", "closed"}, states
    assert {name for name, kinds in heard.items() if HTTP in kinds} == set()
    assert {
        name: kinds for name, kinds in heard.items() if not kinds <= NAMED.get(name, set())
    } == {}
    assert NAMED.keys() & heard.keys() >= {"link-preconnect", "webrtc-srcdoc"}, (
        "Firefox has closed a way: say so in docs/security.md"
    )
