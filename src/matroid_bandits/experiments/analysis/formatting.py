"""Numbers and durations as reports and terminals show them."""

from decimal import Decimal

import numpy as np

__all__ = ["as_printed", "count", "duration", "number", "ratio"]


def number(value: float) -> str:
    """A number to three digits: 12,308, 38.1, 0.0312; a dash for NaN."""
    if not np.isfinite(value):
        return "-"
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def count(value: int | None) -> str:
    """A count of any size: 155,117,520, then 1.95e15; empty where it is unknown."""
    if value is None:
        return ""
    if value < 10**9:
        return f"{value:,}"
    # A float overflows at 1e308.
    return f"{Decimal(value):.2e}".replace("e+", "e")


def as_printed(value: float) -> str:
    """A published number with all its digits."""
    return f"{value:,.12g}" if np.isfinite(value) else "-"


def ratio(value: float) -> str:
    """A ratio: 1.22, or 1/103 where it is small."""
    if 0 < value < 0.095:
        return f"1/{number(1 / value)}"
    return f"{value:.2f}" if value < 100 else number(value)


def duration(seconds: float) -> str:
    """A time in words: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min, 3 days 4 h; a dash for NaN."""
    if not np.isfinite(seconds):
        return "-"
    if 0 < seconds < 9.95:
        return _short(seconds)
    # Each unit is rounded before the next one is tried: 59.7 s is 1 min, not 60 s.
    whole, minutes, hours = (round(seconds / unit) for unit in (1, 60, 3600))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return _two_units(whole, 60, "min", "s")
    if minutes < 24 * 60:
        return _two_units(minutes, 60, "h", "min")
    return _two_units(hours, 24, "day" if hours < 48 else "days", "h")


def _short(seconds: float) -> str:
    """A time of less than ten seconds."""
    if seconds < 0.01:
        return "< 0.01 s"
    return f"{seconds:.1f} s" if seconds >= 0.095 else f"{seconds:.2f} s"


def _two_units(value: int, size: int, large: str, small: str) -> str:
    """`value` small units as large ones, of `size` small ones each, and the rest."""
    rest = value % size
    return f"{value // size:,} {large}" + (f" {rest} {small}" if rest else "")
