"""Every view again, under the session of the other agent: it starts, is given what was recorded,
and takes one press.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from e2e.official.catalog import BARS, OFFICIAL, other
from e2e.official.pdf_file import PAGES
from e2e.official.stage import App
from e2e.official.test_basics import recorded_time
from e2e.official.test_not_granted import CESIUM, EVAL, MICROPHONE


def basic(app: App) -> None:
    view = app.open()
    time = view.locator("code").first
    expect(time).to_have_text(recorded_time(app))
    app.press(view.get_by_role("button", name="Get Server Time"))
    expect(time).not_to_have_text(recorded_time(app))


def budget_allocator(app: App) -> None:
    view = app.open()
    expect(view.locator("#status-bar")).to_contain_text("Allocated: $100,000 / $100,000")
    view.locator("#budget-selector").select_option("500000")
    expect(view.locator("#status-bar")).to_contain_text("$500,000")


def cohort_heatmap(app: App) -> None:
    view = app.open()
    expect(view.locator("body")).to_contain_text("M11")
    app.answer_to(
        lambda: view.locator("select").first.select_option("active"),
        "tools/call",
        name="get-cohort-data",
    )


def customer_segmentation(app: App) -> None:
    view = app.open()
    legend = view.locator(".legend-item").first
    app.press(legend)
    expect(legend).to_contain_class("hidden")


def scenario_modeler(app: App) -> None:
    view = app.open()
    view.locator(".template-select").select_option("cash-cow")
    expect(view.locator(".metrics-column.template h3")).to_contain_text("Cash Cow")


def shadertoy(app: App) -> None:
    app.open()
    app.press("#fullscreen-btn")
    expect(app.panel.get_by_role("button", name="Leave fullscreen")).to_be_visible()


def sheet_music(app: App) -> None:
    view = app.open()
    expect(view.locator("#sheet-music .abcjs-note")).to_have_count(4 * BARS)
    app.press(".abcjs-midi-loop")
    expect(view.locator(".abcjs-midi-loop")).to_contain_class("abcjs-pushed")


def system_monitor(app: App) -> None:
    view = app.open()
    app.press("#poll-toggle-btn")
    expect(view.locator("#status-text")).to_have_text("Stopped")


def video_resource(app: App) -> None:
    view = app.open()
    expect(view.locator("#video")).to_be_visible()
    app.press("#change-video-btn")
    expect(view.locator("#video-picker option")).to_have_count(7)


def wiki_explorer(app: App) -> None:
    app.open()
    app.answer_to(lambda: app.press("#reset-graph"), "tools/call", name="get-first-degree-links")


def pdf(app: App) -> None:
    view = app.open()
    expect(view.locator("#text-layer")).to_contain_text(PAGES[0])
    app.press("#next-btn")
    expect(view.locator("#text-layer")).to_contain_text(PAGES[1])


def debug(app: App) -> None:
    view = app.open()
    expect(view.locator("#event-log")).to_contain_text("ontoolresult:")
    app.press("#call-debug-refresh-btn")
    expect(view.locator("#event-log")).to_contain_text("server-tool-result:")


def threejs(app: App) -> None:
    app.open()
    app.says(EVAL)


def cesium_map(app: App) -> None:
    app.page.route(
        "https://cesium.com/**",
        lambda route: route.fulfill(body=CESIUM, content_type="text/javascript"),
    )
    app.open(starts=False)
    expect(app.notice).to_contain_text("The view has not started.")
    app.says(EVAL)


def transcript(app: App) -> None:
    view = app.open()
    app.says(MICROPHONE)
    app.press("#start-btn")
    expect(view.locator("body")).to_contain_text("Microphone access denied")


STEPS: dict[str, Callable[[App], None]] = {
    "budget-allocator": budget_allocator,
    "cohort-heatmap": cohort_heatmap,
    "customer-segmentation": customer_segmentation,
    "scenario-modeler": scenario_modeler,
    "shadertoy": shadertoy,
    "sheet-music": sheet_music,
    "system-monitor": system_monitor,
    "video-resource": video_resource,
    "wiki-explorer": wiki_explorer,
    "pdf": pdf,
    "debug": debug,
    "threejs": threejs,
    "map": cesium_map,
    "transcript": transcript,
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.official(name, agent=other(official.full)))
        for name, official in OFFICIAL.items()
    ],
)
def test_it_starts_and_takes_a_press(name: str, app: App) -> None:
    STEPS.get(name, basic)(app)
    app.took_a_press()
