"""Dashboards: budget-allocator, cohort-heatmap, customer-segmentation, scenario-modeler and
system-monitor.
"""

import re
import socket

import pytest
from playwright.sync_api import Response, expect

from e2e.official.stage import App

COHORTS = "get-cohort-data"


@pytest.mark.official("budget-allocator")
def test_budget_allocator_allocates_compares_and_says_when_it_is_over(app: App) -> None:
    allocate(app)


def allocate(app: App) -> None:
    view = app.open()
    status = view.locator("#status-bar")
    expect(status).to_contain_text("Allocated: $100,000 / $100,000")
    row = view.locator(".slider-row[data-category-id=marketing]")
    row.locator("input.slider").focus()
    for _ in range(15):
        app.page.keyboard.press("ArrowRight")
    expect(row.locator(".percent")).to_have_text("40.0%")
    expect(status).to_contain_text("Allocated: $115,000 / $100,000")
    expect(status).to_contain_text("Over")
    view.locator("#budget-selector").select_option("500000")
    expect(status).to_contain_text("Allocated: $575,000 / $500,000")
    stage = view.locator("#stage-selector")
    before = view.locator(".percentile-badge").all_inner_texts()
    stage.select_option("Growth")
    expect(stage).to_have_value("Growth")
    assert view.locator(".percentile-badge").all_inner_texts() != before
    app.did("sliders", "budget", "stage to compare with")


@pytest.mark.official("cohort-heatmap")
def test_cohort_heatmap_asks_its_server_for_what_is_selected(app: App) -> None:
    def choose(index: int, value: str, **wanted: str) -> None:
        select = view.locator("select").nth(index)
        app.answer_to(
            lambda: select.select_option(value),
            "tools/call",
            lambda found: wanted.items() <= found["result"]["structuredContent"].items(),
            **wanted,
        )

    view = app.open()
    expect(view.locator("body")).to_contain_text("Cohort Retention Analysis")
    # The agent had asked for six periods: these twelve are the view's own call.
    expect(view.locator("body")).to_contain_text("M11")
    choose(0, "revenue", metric="revenue")
    choose(1, "weekly", periodType="weekly")
    view.get_by_text("100", exact=True).first.hover()
    expect(view.locator("body")).to_contain_text("Retention:")
    app.did("metric", "period", "a cell's details")


@pytest.mark.official("customer-segmentation")
def test_customer_segmentation_changes_axes_hides_segments_and_shows_a_customer(app: App) -> None:
    view = app.open()
    # Asked for before the view had been let in: queued, not refused.
    startups = view.locator(".legend-item[data-segment=Startup]")
    expect(startups.locator(".legend-count")).to_have_text(re.compile(r"\([1-9]\d*\)"))
    for axis, value in (
        ("#x-axis", "nps"),
        ("#y-axis", "accountAge"),
        ("#size-metric", "employeeCount"),
    ):
        view.locator(axis).select_option(value)
        expect(view.locator(axis)).to_have_value(value)
    app.press(startups)
    expect(startups).to_have_class(re.compile("hidden"))
    app.press(startups)
    expect(startups).not_to_have_class(re.compile("hidden"))
    chart = view.locator("#scatter-chart")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    placeholder = view.locator(".detail-placeholder")
    for step in range(60, int(box["width"]) - 20, 6):
        if placeholder.count() == 0:
            break
        app.page.mouse.move(
            box["x"] + step, box["y"] + box["height"] * (0.3 + 0.4 * (step % 5) / 4)
        )
    expect(placeholder).to_have_count(0)
    app.did("axes and size", "segments hidden and shown", "a customer's details")


@pytest.mark.official("scenario-modeler")
def test_scenario_modeler_compares_changes_and_resets(app: App) -> None:
    view = app.open()
    compared = view.locator(".metrics-column.template")
    expect(compared).to_have_count(0)
    view.locator(".template-select").select_option("vc-rocketship")
    expect(compared.locator("h3")).to_contain_text("VC Rocketship")
    row = view.locator(".slider-row", has_text="Growth Rate")
    earned = view.locator(".metric-value").first
    before = earned.inner_text()
    row.locator("input").focus()
    app.page.keyboard.press("ArrowRight")
    expect(row.locator(".slider-value")).to_have_text("5.5%")
    expect(earned).not_to_have_text(before)
    app.press(view.get_by_role("button", name="Reset"))
    expect(row.locator(".slider-value")).to_have_text("5%")
    expect(earned).to_have_text(before)
    expect(compared).to_have_count(0)
    view.locator(".template-select").select_option("cash-cow")
    app.press(view.get_by_role("button", name="Load"))
    expect(row.locator(".slider-value")).not_to_have_text("5%")
    app.did("a template to compare with", "sliders", "reset", "a template taken over")


@pytest.mark.official("system-monitor")
def test_system_monitor_polls_until_it_is_stopped(app: App) -> None:
    polls: list[str] = []

    def note(response: Response) -> None:
        asked = response.request.post_data or ""
        if response.url.partition("?")[0].endswith("/rpc") and "poll-system-stats" in asked:
            polls.append(response.url)

    app.page.on("response", note)
    view = app.open()
    expect(view.locator("#info-hostname")).to_have_text(socket.gethostname())
    expect(view.locator("#memory-percent")).to_have_text(re.compile(r"^\d+%$"))
    for _ in range(2):
        with app.page.expect_response(lambda answer: "/rpc" in answer.url):
            pass
    app.press("#poll-toggle-btn")
    expect(view.locator("#status-text")).to_have_text("Stopped")
    # One of its rounds of two seconds, for what was under way; then two without a question.
    app.page.wait_for_timeout(2000)
    stopped = len(polls)
    assert stopped >= 2
    app.page.wait_for_timeout(4500)
    assert len(polls) == stopped
    with app.page.expect_response(lambda answer: "/rpc" in answer.url):
        app.press("#poll-toggle-btn")
    expect(view.locator("#poll-toggle-btn")).to_have_text("Stop")
    app.did("polls every two seconds", "stop", "start")
