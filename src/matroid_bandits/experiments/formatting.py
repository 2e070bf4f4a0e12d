"""Numbers as reports and terminals show them."""

from decimal import Decimal

import numpy as np

__all__ = ["as_printed", "count", "number", "ratio"]


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
