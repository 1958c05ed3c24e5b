"""Every way out of a view that we know of, in Chromium: without protections, with the document's
policy alone, and on the page of a session in a real Vitrine.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser

from e2e.exfiltration.host import BARE, POLICY
from e2e.exfiltration.listeners import HTTP, UDP, Listeners
from e2e.exfiltration.measuring import Heard, product, unprotected
from e2e.exfiltration.ways import ALL

# What the reference measured with the document's policy alone, and more of the same kind: these
# show that the header and the page's own policy are needed.
BY_POLICY_ALONE = {
    "location-href": HTTP,
    "location-replace": HTTP,
    "meta-refresh": HTTP,
    "link-click": HTTP,
    "webrtc-stun": UDP,
    "webrtc-turn": "bytes",
}


@dataclass
class Measured:
    """What was heard in each place, for the table."""

    columns: dict[str, Heard] = field(default_factory=dict)


@pytest.fixture(scope="module")
def listeners() -> Iterator[Listeners]:
    with Listeners(way.name for way in ALL) as listeners:
        yield listeners


@pytest.fixture(scope="module")
def measured() -> Measured:
    return Measured()


def test_without_protections_every_way_leaks_that_can(
    chromium: Browser, listeners: Listeners, measured: Measured
) -> None:
    """The positive control: a way that leaks nothing here could not be seen to be closed."""
    heard = unprotected(chromium, ALL, listeners, BARE, [way.name for way in ALL if not way.mute])
    measured.columns["without protections"] = heard
    assert {way.name for way in ALL if way.name not in heard} == {
        way.name for way in ALL if way.mute
    }


def test_the_documents_policy_alone_does_not_keep_it_in(
    chromium: Browser, listeners: Listeners, measured: Measured
) -> None:
    heard = unprotected(chromium, ALL, listeners, POLICY, BY_POLICY_ALONE)
    measured.columns["policy alone"] = heard
    assert {
        name: kind for name, kind in BY_POLICY_ALONE.items() if kind not in heard.get(name, ())
    } == {}


def test_nothing_leaves_a_view_on_the_page_of_a_session(
    chromium: Browser,
    listeners: Listeners,
    measured: Measured,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    heard, states = product(chromium, ALL, listeners, tmp_path_factory.mktemp("vitrine"))
    measured.columns["Vitrine"] = heard
    # Each view was up and made its attempt, or there is nothing to be learnt of it.
    assert {name: state for name, state in states.items() if state not in ("ready", "closed")} == {
        way.name: "crashed" for way in ALL if way.deadly
    }
    # A navigation that was blocked is seen as such.
    assert states["location-href"] == states["pressed-link-hushed"] == "closed"
    assert heard == {}, {name: listeners.first_bytes(name) for name in heard}


def test_the_table(measured: Measured, capsys: pytest.CaptureFixture[str]) -> None:
    columns = measured.columns
    assert len(columns) == 3, "the table needs all three measurements: run the whole module"
    lines = [_line("way", *columns)]
    for way in ALL:
        cells = ("+".join(sorted(heard.get(way.name, ()))) or "-" for heard in columns.values())
        note = f"cannot leak here: {way.mute}" if way.mute else ""
        lines.append(_line(way.name, *cells, note))
    can = [way for way in ALL if not way.mute]
    counts = [sum(way.name in heard for way in can) for heard in columns.values()]
    lines.append(_line(f"of {len(can)} that can leak", *map(str, counts)))
    lines.append(f"{len(ALL) - len(can)} more cannot leak in this browser at all")
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert counts[0] == len(can)
    assert counts[-1] == 0


def _line(name: str, *cells: str) -> str:
    return f"{name:26}" + " ".join(f"{cell:22}" for cell in cells).rstrip()
