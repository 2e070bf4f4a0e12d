"""Charts of what happened over time, as SVG.

Widths are in percent, so that a chart fills any page while its texts keep their size.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from matroid_bandits.service.dashboard.axes import Axis, count_axis, time_ticks, value_axis
from matroid_bandits.service.dashboard.formatting import count, duration, number, utc
from matroid_bandits.service.dashboard.svg import described, element, share
from matroid_bandits.service.dashboard.views import Bucket, Series

__all__ = ["decisions_chart", "is_drawable", "mean_chart"]

_HEIGHT = 160.0
# Fewer intervals would be drawn as broad as doors.
_FEWEST = 12
# A silence up to now is shown, unless it is longer than this many intervals.
_LONGEST = 240
# Above this many points, only those without neighbors get a dot.
_MOST_DOTS = 40


@dataclass(frozen=True)
class _Span:
    """The part of time that a chart shows, and its intervals in order."""

    start: float
    end: float
    seconds: float
    buckets: list[Bucket]
    now: float

    def place(self, time: float) -> float:
        return (time - self.start) / (self.end - self.start)

    @property
    def width(self) -> float:
        """The width of an interval."""
        return self.seconds / (self.end - self.start)

    def is_unfinished(self, bucket: Bucket) -> bool:
        return self.now < bucket.start + self.seconds

    def when(self, bucket: Bucket) -> str:
        """The time of an interval in words."""
        so_far = ", so far" if self.is_unfinished(bucket) else ""
        return f"{utc(bucket.start)}, {duration(self.seconds)}{so_far}"


def decisions_chart(series: Series, *, now: float) -> Markup | None:
    """How many decisions were made in each interval, as bars; None if there is no interval."""
    span = _span(series, now)
    if span is None:
        return None
    axis = count_axis(max(bucket.decided for bucket in span.buckets))
    bars = [_bar(span, bucket, axis) for bucket in span.buckets if bucket.decided]
    total = sum(bucket.decided for bucket in span.buckets)
    busiest = max(span.buckets, key=lambda bucket: bucket.decided)
    description = (
        f"{count(total)} decisions from {utc(span.buckets[0].start)} to {utc(span.end)}, in "
        f"intervals of {duration(span.seconds)}. Most in one interval: {count(busiest.decided)}, "
        f"at {utc(busiest.start)}."
    )
    titles = (f"{count(bucket.decided)} decisions" for bucket in span.buckets)
    return _chart("chart-decisions", "Decisions over time", description, span, axis, bars, titles)


def mean_chart(series: Series, *, now: float, word: str) -> Markup | None:
    """The mean reward in each interval, as a line that is broken where nothing was observed.

    Parameters
    ----------
    series : Series
    now : float
        Seconds since 1970.
    word : str
        "reward" or "cost".

    Returns
    -------
    Markup or None
        None if nothing was observed.
    """
    span = _span(series, now)
    if span is None:
        return None
    known = [(b, b.mean) for b in span.buckets if b.mean is not None and is_drawable(b.mean)]
    if not known:
        return None
    means = [mean for _, mean in known]
    axis = value_axis(min(means), max(means))
    description = (
        f"Mean {word} of what was observed from {utc(span.buckets[0].start)} to {utc(span.end)}, "
        f"in intervals of {duration(span.seconds)}. Lowest {number(min(means))}, highest "
        f"{number(max(means))}, last {number(means[-1])}."
    )
    titles = (f"mean {word} {number(b.mean)} of {count(b.observed)}" for b in span.buckets)
    title = f"Mean {word} over time"
    line = _line(span, known, axis)
    return _chart("chart-mean", title, description, span, axis, line, titles)


def is_drawable(value: float | None) -> bool:
    """Whether a value has a place on an axis."""
    # Differences of larger numbers may be infinite.
    return value is not None and math.isfinite(value) and abs(value) < 1e300


def _span(series: Series, now: float) -> _Span | None:
    buckets = sorted(series.buckets, key=lambda bucket: bucket.start)
    if not buckets:
        return None
    seconds = series.seconds
    start, end = buckets[0].start, buckets[-1].start + seconds
    if end < now < start + _LONGEST * seconds:
        end = now
    return _Span(min(start, end - _FEWEST * seconds), end, seconds, buckets, now)


def _bar(span: _Span, bucket: Bucket, axis: Axis) -> Markup:
    height = _HEIGHT * axis.place(bucket.decided)
    return element(
        "rect",
        x=share(span.place(bucket.start) + 0.1 * span.width),
        y=_HEIGHT - height,
        width=share(0.8 * span.width),
        height=height,
        class_="bar unfinished" if span.is_unfinished(bucket) else "bar",
    )


def _line(span: _Span, known: list[tuple[Bucket, float]], axis: Axis) -> Iterator[Markup]:
    """Segments between neighbors, and dots."""
    points = [
        (bucket.start, span.place(bucket.start) + span.width / 2, _height(axis, mean))
        for bucket, mean in known
    ]
    joined = [b[0] - a[0] < 1.5 * span.seconds for a, b in pairwise(points)]
    for (_, x1, y1), (_, x2, y2) in (
        pair for pair, is_joined in zip(pairwise(points), joined, strict=True) if is_joined
    ):
        yield element("line", x1=share(x1), y1=y1, x2=share(x2), y2=y2, class_="line")
    for (_, x, y), before, after in zip(points, [False, *joined], [*joined, False], strict=True):
        if len(points) <= _MOST_DOTS or not (before or after):
            yield element("circle", cx=share(x), cy=y, r=2.5, class_="dot")


def _height(axis: Axis, value: float) -> float:
    return _HEIGHT * (1 - axis.place(value))


def _chart(
    name: str,
    title: str,
    description: str,
    span: _Span,
    axis: Axis,
    marks: Iterator[Markup] | list[Markup],
    titles: Iterator[str],
) -> Markup:
    """Marks between axes, and a title for the mouse over every interval."""
    return described(
        name,
        title,
        description,
        *_value_lines(axis),
        *_time_labels(span),
        *marks,
        *(
            element(
                "rect",
                element("title", f"{span.when(bucket)}: {text}"),
                x=share(span.place(bucket.start)),
                y=0,
                width=share(span.width),
                height=_HEIGHT,
                class_="hit",
            )
            for bucket, text in zip(span.buckets, titles, strict=True)
        ),
        class_="chart",
        height=_HEIGHT + 30,
    )


def _value_lines(axis: Axis) -> Iterator[Markup]:
    for value, label in axis.ticks:
        y = _height(axis, value)
        kind = "axis" if value == axis.low else "grid"
        yield element("line", x1=0, y1=y, x2="100%", y2=y, class_=kind)
        yield element("text", label, x=-8, y=y + 4, text_anchor="end", class_="tick")


def _time_labels(span: _Span) -> Iterator[Markup]:
    ticks = time_ticks(span.start, span.end)
    for k, (time, label) in enumerate(ticks):
        x = share(span.place(time))
        # A narrow page has room for every second label.
        kind = "minor" if k % 2 and len(ticks) > 3 else None
        yield element("line", x1=x, y1=_HEIGHT, x2=x, y2=_HEIGHT + 5, class_="axis")
        yield element(
            "text",
            label,
            x=x,
            y=_HEIGHT + 20,
            text_anchor="middle",
            class_=f"tick {kind}" if kind else "tick",
        )
