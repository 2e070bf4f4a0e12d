"""Ticks of axes: round numbers, and round times."""

import math
from dataclasses import dataclass

from matroid_bandits.service.dashboard.formatting import moment, number

__all__ = ["Axis", "count_axis", "time_ticks", "value_axis"]

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_TIME_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(_MINUTE * k for k in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * k for k in (1, 2, 3, 6, 12)),
    *(_DAY * k for k in (1, 2, 5, 10, 30, 90, 365)),
)


@dataclass(frozen=True)
class Axis:
    """An axis of numbers.

    Attributes
    ----------
    low, high : float
        Its ends; `high` is larger.
    ticks : list of (float, str)
        Where labels stand, and the labels.
    """

    low: float
    high: float
    ticks: list[tuple[float, str]]

    def place(self, value: float) -> float:
        """Where a value is, as a part of the way from `low` to `high`."""
        # Halves: the difference of two huge numbers may be infinite.
        return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)


def count_axis(largest: int) -> Axis:
    """An axis of counts from 0 up to at least `largest`."""
    step = max(1, round(_round_step(max(largest, 1) / 4)))
    top = step * math.ceil(max(largest, 1) / step)
    return Axis(0, top, [(k, _tick(k, 0)) for k in range(0, top + 1, step)])


def value_axis(low: float, high: float) -> Axis:
    """An axis from a round number below `low` to one above `high`."""
    margin = 0.0 if high > low else (abs(high) / 10 or 1.0)
    low, high = low - margin, high + margin
    step = _round_step(high / 4 - low / 4)
    first, last = low / step, high / step
    if not max(abs(first), abs(last)) < 1e12:
        # Digits end here: no round number lies between the two.
        ends = [(low, number(low)), (high, number(high))]
        return Axis(low, high, ends)
    # Rounding must not add a tick below a number that is round already.
    steps = range(math.floor(first + 1e-9), math.ceil(last - 1e-9) + 1)
    digits = max(0, -math.floor(math.log10(step)))
    ticks = [(k * step, _tick(k * step, digits)) for k in steps]
    return Axis(ticks[0][0], ticks[-1][0], ticks)


def time_ticks(start: float, end: float, *, most: int = 6) -> list[tuple[float, str]]:
    """Round times from `start` to `end` in UTC, at most `most` of them, with their labels."""
    longest = _round_step((end - start) / (most - 1))
    step: float = next((s for s in _TIME_STEPS if (end - start) / s < most), longest)
    first = math.ceil(start / step)
    places = (k * step for k in range(first, math.floor(end / step) + 1))
    return [(time, _time_label(time, step)) for time in places]


def _round_step(rough: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, ... that is at least `rough`, of any power of ten."""
    # The smallest normal number: below it, a quotient would be infinite.
    power = 10.0 ** math.floor(math.log10(max(rough, 1e-300)))
    return next(k * power for k in (1, 2, 5, 10) if k * power >= rough * (1 - 1e-9))


def _tick(value: float, digits: int) -> str:
    """The label of a tick, which must be short."""
    if digits > 5 or abs(value) >= 1e10:
        text = f"{value:.4g}"
    elif abs(value) >= 1e6:
        text = f"{value / 1e6:,.6g} M"
    else:
        text = f"{value:,.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def _time_label(time: float, step: float) -> str:
    when = moment(time)
    if when is None:
        return ""
    if step >= 30 * _DAY:
        return f"{when:%b %Y}"
    if step >= _DAY or time % _DAY == 0:
        return f"{when:%b} {when.day}"
    return f"{when:%H:%M:%S}" if step < _MINUTE else f"{when:%H:%M}"
