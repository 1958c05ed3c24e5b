"""The demo's arithmetic."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.demo import plan

MONDAY = date(2026, 8, 10)
DOUBLING = [100.0, 200.0, 400.0, 800.0]


def test_fit_finds_the_rate_of_exact_growth() -> None:
    trend = plan.fit(DOUBLING)
    assert trend.growth_percent == pytest.approx(100)
    assert trend.level == pytest.approx(800)


def test_one_odd_week_hardly_moves_the_level() -> None:
    steady = [100.0] * 20
    odd = [*steady[:-1], 200.0]
    assert plan.fit(odd).level < 120


@pytest.mark.parametrize(
    ("level", "growth", "capacity", "expected"),
    [
        (100, 100, 800, 3),
        (100, 100, 801, 4),
        (100, 100, 100, 0),
        (100, 0, 101, None),
        (100, -5, 101, None),
    ],
)
def test_weeks_left(level: float, growth: float, capacity: float, expected: int | None) -> None:
    assert plan.weeks_left(level, growth, capacity) == expected


def test_a_forecast_continues_the_known_weeks() -> None:
    ahead = plan.forecast(DOUBLING, date(2026, 8, 12), 3200, 4)
    assert [point.week.isoformat() for point in ahead.forecast] == [
        "2026-09-07",
        "2026-09-14",
        "2026-09-21",
        "2026-09-28",
    ]
    assert [point.peak for point in ahead.forecast] == [1600, 3200, 6400, 12800]
    assert ahead.weeks_left == 2
    assert ahead.reached == date(2026, 9, 14)


def test_a_chosen_growth_replaces_the_fitted_one() -> None:
    ahead = plan.forecast(DOUBLING, MONDAY, 3200, 4, growth_percent=0)
    assert ahead.growth_percent == 0
    assert {point.peak for point in ahead.forecast} == {800}
    assert ahead.weeks_left is None
    assert ahead.reached is None


@pytest.mark.parametrize(
    ("capacity", "growth", "words"),
    [
        (3200, 100, "in 2 weeks, in the week of 2026-09-14"),
        (1600, 100, "in 1 week, in the week of 2026-09-07"),
        (800, 100, "already"),
        (3200, 0, "five years"),
    ],
)
def test_the_sentence(capacity: float, growth: float, words: str) -> None:
    ahead = plan.forecast(DOUBLING, MONDAY, capacity, 4, growth)
    assert words in plan.reached_sentence(ahead)


@given(
    peaks=st.lists(st.floats(1, 1e5), min_size=4, max_size=30),
    growth=st.floats(-5, 15),
    horizon=st.integers(4, 104),
    headroom=st.floats(0, 200),
)
def test_the_required_capacity_lasts_as_long_as_asked(
    peaks: list[float], growth: float, horizon: int, headroom: float
) -> None:
    need = plan.requirement(peaks, growth, horizon, headroom)
    at_the_end = plan.load_after(plan.fit(peaks).level, growth, horizon)
    assert need.capacity >= at_the_end
    assert need.capacity % 10 == 0
    assert need.capacity < at_the_end * (1 + headroom / 100) + 10.001
