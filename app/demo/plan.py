"""The arithmetic of the demo: how long a service's capacity lasts when its load keeps growing.

Loads are requests per second, the highest of each week; growth is in percent a week.
"""

import math
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from pydantic import BaseModel, Field

LONGEST_WEEKS = 260
"""Further ahead than five years, a growth rate says nothing: then capacity counts as enough."""


class Trend(NamedTuple):
    """``level`` is the fitted load of the last known week, so one odd week does not move it."""

    level: float
    growth_percent: float


class WeekPeak(BaseModel):
    week: date = Field(description="Monday of the week")
    peak: float = Field(description="Highest load of that week, requests per second")


class Forecast(BaseModel):
    growth_percent: float = Field(description="Assumed growth, percent a week")
    capacity: float = Field(description="Load that the service can carry, requests per second")
    horizon_weeks: int = Field(description="Weeks that the forecast looks ahead")
    forecast: list[WeekPeak] = Field(description="One row a week, the first after the last known")
    weeks_left: int | None = Field(
        description="Weeks until the load reaches the capacity; null: not within five years"
    )
    reached: date | None = Field(description="Monday of the week in which that happens, or null")


class CapacityPlan(Forecast):
    service: str = Field(description="Name of the service")
    history: list[WeekPeak] = Field(description="The known weeks, oldest first")


class Requirement(BaseModel):
    capacity: float = Field(description="Capacity to plan for, requests per second")
    peak: float = Field(description="Expected load at the end of the horizon, requests per second")
    headroom_percent: float = Field(description="Reserve above that load, percent")


def fit(weekly_peaks: Sequence[float]) -> Trend:
    """Exponential growth through ``weekly_peaks`` (oldest first, all positive, at least two).

    Least squares on the logarithms: the textbook fit for a quantity that grows by a rate.
    """
    count = len(weekly_peaks)
    logs = [math.log(peak) for peak in weekly_peaks]
    middle = (count - 1) / 2
    mean = sum(logs) / count
    spread = sum((index - middle) ** 2 for index in range(count))
    slope = sum((index - middle) * value for index, value in enumerate(logs)) / spread
    return Trend(math.exp(mean + slope * (count - 1 - middle)), math.expm1(slope) * 100)


def load_after(level: float, growth_percent: float, weeks: int) -> float:
    return level * math.exp(weeks * math.log1p(growth_percent / 100))


def weeks_left(level: float, growth_percent: float, capacity: float) -> int | None:
    """Weeks until the load reaches ``capacity``: 0 when it has, None when not in five years."""
    for week in range(LONGEST_WEEKS + 1):
        # A load that equals the capacity reaches it, whatever the last bits of the powers say.
        if load_after(level, growth_percent, week) >= capacity * (1 - 1e-9):
            return week
    return None


def weeks_from(first: date, peaks: Sequence[float]) -> list[WeekPeak]:
    """``peaks`` dated week by week, from the Monday of the week of ``first``."""
    monday = first - timedelta(days=first.weekday())
    return [
        WeekPeak(week=monday + timedelta(weeks=index), peak=round(peak, 1))
        for index, peak in enumerate(peaks)
    ]


def forecast(
    weekly_peaks: Sequence[float],
    first_week: date,
    capacity: float,
    horizon_weeks: int,
    growth_percent: float | None = None,
) -> Forecast:
    """What comes after ``weekly_peaks``; ``growth_percent`` None takes the fitted growth."""
    trend = fit(weekly_peaks)
    growth = round(trend.growth_percent, 1) if growth_percent is None else growth_percent
    after = first_week + timedelta(weeks=len(weekly_peaks))
    ahead = range(1, horizon_weeks + 1)
    left = weeks_left(trend.level, growth, capacity)
    last = after - timedelta(days=after.weekday(), weeks=1)
    return Forecast(
        growth_percent=growth,
        capacity=capacity,
        horizon_weeks=horizon_weeks,
        forecast=weeks_from(after, [load_after(trend.level, growth, week) for week in ahead]),
        weeks_left=left,
        reached=None if left is None else last + timedelta(weeks=left),
    )


def requirement(
    weekly_peaks: Sequence[float],
    growth_percent: float,
    horizon_weeks: int,
    headroom_percent: float,
) -> Requirement:
    """The capacity that lasts ``horizon_weeks`` with a reserve, rounded up to a ten."""
    peak = load_after(fit(weekly_peaks).level, growth_percent, horizon_weeks)
    return Requirement(
        capacity=math.ceil(peak * (1 + headroom_percent / 100) / 10) * 10,
        peak=round(peak, 1),
        headroom_percent=headroom_percent,
    )


def reached_sentence(result: Forecast) -> str:
    if result.reached is None:
        return "At this rate the capacity is enough for five years and more."
    if result.weeks_left == 0:
        return "The load has reached the capacity already."
    weeks = "1 week" if result.weeks_left == 1 else f"{result.weeks_left} weeks"
    return f"The load reaches the capacity in {weeks}, in the week of {result.reached.isoformat()}."
