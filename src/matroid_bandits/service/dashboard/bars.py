"""Small pictures beside numbers: intervals on a shared scale, and what became of decisions."""

from dataclasses import dataclass

from markupsafe import Markup

from matroid_bandits.service.dashboard.charts import is_drawable
from matroid_bandits.service.dashboard.formatting import count
from matroid_bandits.service.dashboard.svg import described, element, share
from matroid_bandits.service.dashboard.views import BanditView, ElementView

__all__ = ["IntervalScale", "outcome_bar", "outcomes"]

_HEIGHT = 16.0
_MIDDLE = _HEIGHT / 2


@dataclass(frozen=True)
class IntervalScale:
    """The scale that all intervals of a table share, from `low` to `high`."""

    low: float
    high: float

    @classmethod
    def of(cls, elements: list[ElementView]) -> "IntervalScale | None":
        """The scale on which all finite ends and means fit; None if there are none."""
        values = [x for e in elements for x in (e.low, e.mean, e.high) if x is not None]
        finite = [x for x in values if is_drawable(x)]
        return cls(min(finite), max(finite)) if finite else None

    @property
    def size(self) -> float:
        """The larger of the two ends, without its sign."""
        return max(abs(self.low), abs(self.high))

    def picture(self, element_view: ElementView) -> Markup:
        """The interval as a line, the mean as a dot.

        The numbers stand beside it, so that screen readers leave it out. An end that is infinite or
        unknown is drawn to the end of the scale.
        """
        e = element_view
        marks = [element("line", x1=0, y1=_MIDDLE, x2="100%", y2=_MIDDLE, class_="track")]
        if e.low is not None or e.high is not None:
            low = self._place(e.low) if is_drawable(e.low) else 0.0
            high = self._place(e.high) if is_drawable(e.high) else 1.0
            marks += [
                element("line", x1=share(x1), y1=y1, x2=share(x2), y2=y2, class_="reach")
                for x1, y1, x2, y2 in (
                    (low, _MIDDLE, high, _MIDDLE),
                    (low, 4.0, low, _HEIGHT - 4),
                    (high, 4.0, high, _HEIGHT - 4),
                )
            ]
        if is_drawable(e.mean):
            marks.append(
                element("circle", cx=share(self._place(e.mean)), cy=_MIDDLE, r=3.5, class_="mean")
            )
        kind = "interval leading" if e.is_in_leader else "interval"
        return element("svg", *marks, class_=kind, height=_HEIGHT, aria_hidden="true")

    def _place(self, value: float | None) -> float:
        if value is None or self.high == self.low:
            return 0.5
        return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)


def outcomes(view: BanditView) -> list[tuple[str, str, int]]:
    """What became of the decisions: a class of CSS, words, and a number for each."""
    complete = "rewarded" if view.sense == "max" else "costs known"
    # With a reward for what is missing, nothing is lost when a decision expires.
    lost = "expired" if view.missing_reward is None else "settled"
    parts = [
        ("rewarded", complete, view.rewarded),
        ("pending", "pending", view.pending),
        (lost, "expired", view.expired),
    ]
    rest = view.decided - sum(number for _, _, number in parts)
    return [*parts, ("closed", "closed early", rest)] if rest > 0 else parts


def outcome_bar(view: BanditView) -> Markup:
    """One bar for all decisions, divided by what became of them."""
    parts = outcomes(view)
    total = max(1, sum(number for _, _, number in parts))
    marks = [element("rect", x=0, y=0, width="100%", height="100%", class_="track")]
    done = 0
    for kind, words, number in parts:
        if number:
            marks.append(
                element(
                    "rect",
                    element("title", f"{count(number)} {words}"),
                    x=share(done / total),
                    y=0,
                    width=share(number / total),
                    height="100%",
                    class_=kind,
                )
            )
        done += number
    description = ", ".join(f"{count(number)} {words}" for _, words, number in parts)
    return described(
        "outcome-bar",
        "What became of the decisions",
        f"{count(view.decided)} decided: {description}.",
        *marks,
        class_="outcomes",
        height=14,
    )
