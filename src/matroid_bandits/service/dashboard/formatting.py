"""Numbers, times and labels as the pages show them."""

import math
from datetime import UTC, datetime

__all__ = [
    "ago",
    "count",
    "duration",
    "ends",
    "iso_time",
    "isolated",
    "moment",
    "number",
    "percent",
    "short",
    "utc",
]

# Stands where there is no value.
_DASH = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
# A label can have a million characters, and stands on the page several times.
_LONGEST = 120
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def number(value: float | None, scale: float | None = None) -> str:
    """A number to four digits: 12,308, 38.10, 0.03120; a dash for None and NaN.

    Parameters
    ----------
    value : float or None
    scale : float, optional
        The largest of the numbers beside it. Digits below a hundred-thousandth of it are left out:
        beside 0.5, 0.000123 is 0.00012.
    """
    if value is None or math.isnan(value):
        return _DASH
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else f"{_MINUS}\N{INFINITY}"
    size = abs(value)
    least = _least_digit(scale)
    if size < least / 2 or size == 0:
        return "0"
    if size < 1000 * least:
        return f"{value:.{-round(math.log10(least))}f}".replace("-", _MINUS)
    if size >= 1e15 or size < 1e-4:
        digits, _, power = f"{value:.3e}".partition("e")
        text = f"{digits}e{int(power)}"
    elif size >= 999.95:
        text = f"{value:,.0f}"
    else:
        text = f"{value:#.4g}"
    return text.replace("-", _MINUS)


def _least_digit(scale: float | None) -> float:
    """The power of ten of the last digit that is shown; 0 if all are."""
    # Of smaller numbers, all digits are behind many zeros.
    if scale is None or not 1e-3 <= scale < math.inf:
        return 0.0
    return 10.0 ** min(0, math.floor(math.log10(scale)) - 4)


def count(value: int) -> str:
    """A whole number with separators: 1,234,567."""
    return f"{value:,}".replace("-", _MINUS)


def percent(share: float) -> str:
    """A share of 1 as percent: 12.3 %, and < 0.1 % for what would be rounded to nothing."""
    if not math.isfinite(share):
        return _DASH
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.1f} %"


def ago(seconds: float | None) -> str:
    """How long ago, in the largest unit: 3 s ago, 5 min ago, 2 h ago, 4 days ago; never."""
    if seconds is None or not math.isfinite(seconds):
        return "never"
    if seconds < 1:
        return "just now"
    for unit, limit, name in ((1, _MINUTE, "s"), (_MINUTE, _HOUR, "min"), (_HOUR, _DAY, "h")):
        if seconds < limit:
            return f"{int(seconds // unit)} {name} ago"
    days = int(seconds // _DAY)
    return f"{days:,} day{'s' if days > 1 else ''} ago"


def duration(seconds: float) -> str:
    """A length of time in one or two units: 1 s, 64 s, 17 min, 4 h 33 min, 6 days."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:g} s"
    parts = []
    left = round(seconds)
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s")):
        amount, left = divmod(left, unit)
        if amount:
            parts.append(f"{amount:,} {name}")
    return " ".join(parts[:2])


def moment(time: float) -> datetime | None:
    """Seconds since 1970 as a date; None if no calendar has it."""
    try:
        return datetime.fromtimestamp(time, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def utc(time: float) -> str:
    """A time as people read it: 2026-03-04 14:05:09 UTC."""
    when = moment(time)
    return _DASH if when is None else f"{when:%Y-%m-%d %H:%M:%S} UTC"


def iso_time(time: float) -> str | None:
    """A time for the attribute ``datetime``: 2026-03-04T14:05:09Z."""
    when = moment(time)
    return None if when is None else f"{when:%Y-%m-%dT%H:%M:%SZ}"


def short(text: str, longest: int = _LONGEST) -> str:
    """A label that fits: at most `longest` characters, and never nothing."""
    if not text.strip():
        return "(blank)"
    return text if len(text) <= longest else f"{text[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"


def ends(text: str, longest: int = 14) -> str:
    """An id that fits: of a longer one, the middle is left out, as most differ at their ends."""
    if len(text) <= longest:
        return short(text)
    first = longest // 2
    return f"{text[:first]}\N{HORIZONTAL ELLIPSIS}{text[first + 1 - longest :]}"


def isolated(text: str, longest: int = _LONGEST) -> str:
    """A label inside a plain text, where it must not turn the words around it from right to left.

    In HTML, the element ``bdi`` does this.
    """
    return f"\N{FIRST STRONG ISOLATE}{short(text, longest)}\N{POP DIRECTIONAL ISOLATE}"
