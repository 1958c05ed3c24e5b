"""Every way is tried in one of three places; what the listeners then have heard."""

import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Error

from e2e.exfiltration import hostile
from e2e.exfiltration.host import POLICY, page, unprotected_host
from e2e.exfiltration.listeners import Listeners
from e2e.exfiltration.ways.way import Way
from e2e.pages import settled, sign_in

_ON_A_PAGE = 40
_TABS = 12
_AFTER = 2.5  # seconds for what a view does by and by
_SOON = 1.0
_PATIENCE = 15.0
_LAST = 1.0  # seconds for what is sent while a page closes

Heard = dict[str, set[str]]


def unprotected(
    browser: Browser, ways: Sequence[Way], listeners: Listeners, how: str, due: Collection[str]
) -> Heard:
    """On a host of ours without Vitrine's protections, but for the document's policy and the
    sandbox where ``how`` is ``POLICY``. What is ``due`` to be heard is waited for.
    """
    listeners.forget()
    documents = {way.name: way.document(listeners.ports[way.name]) for way in ways}
    pressed = [way.name for way in ways if way.pressed]
    takes_the_tab = [way.name for way in ways if way.alone and not way.pressed and how != POLICY]
    calm = [way.name for way in ways if way.name not in {*pressed, *takes_the_tab}]
    with unprotected_host(documents) as base:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        for names in _cut(calm, _ON_A_PAGE):
            tab = context.new_page()
            tab.goto(base + page(how, names), wait_until="commit")
            _listen(names, due, listeners, how)
            _close_all(context)
        for names in _cut(takes_the_tab, _TABS):
            for name in names:
                context.new_page().goto(base + page(how, [name]), wait_until="commit")
            _listen(names, due, listeners, how)
            _close_all(context)
        for name in pressed:
            tab = context.new_page()
            tab.goto(base + page(how, [name]))
            tab.wait_for_timeout(300)
            tab.mouse.click(200, 100)
            _listen([name], due, listeners, how)
            _close_all(context)
        time.sleep(_LAST)
        context.close()
    return listeners.heard()


def _listen(names: Collection[str], due: Collection[str], listeners: Listeners, how: str) -> None:
    """For a while; longer, on a slow machine, where something is bound to come."""
    missing = {name for name in names if name in due}
    end = time.monotonic() + _PATIENCE
    time.sleep(_AFTER if how == POLICY else _SOON)
    while not missing <= listeners.heard().keys() and time.monotonic() < end:
        time.sleep(0.1)


def product(
    browser: Browser, ways: Sequence[Way], listeners: Listeners, folder: Path
) -> tuple[Heard, dict[str, str]]:
    """On the page of a session in a real Vitrine; with it, how each panel ended up: ``ready``,
    ``closed``, or ``crashed`` with the whole page.
    """
    listeners.forget()
    groups = hostile.batches(ways)
    states: dict[str, str] = {}
    with hostile.theatre(folder, [hostile.of(group, listeners) for group in groups]) as theatre:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        first = context.new_page()
        sign_in(first, theatre.running)
        for group, url in zip(groups, theatre.sessions, strict=True):
            states.update(
                zip((way.name for way in group), _visit(context, group, url), strict=True)
            )
        time.sleep(_LAST)
        context.close()
    return listeners.heard(), states


def _visit(context: BrowserContext, group: Sequence[Way], url: str) -> list[str]:
    tab = hostile.new_tab(context)
    try:
        states = hostile.unfold(tab, url)
        if group[0].pressed:
            settled(tab)
            states = hostile.press(tab)
        tab.wait_for_timeout(_AFTER * 1000)
    except Error:
        # The browser ended the process, and the page with it.
        assert group[0].deadly, f"the page died of {[way.name for way in group]}"
        states = ["crashed"]
    tab.close()
    return states


def _cut(names: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return [names[at : at + size] for at in range(0, len(names), size)]


def _close_all(context: BrowserContext) -> None:
    for tab in context.pages:
        tab.close()
