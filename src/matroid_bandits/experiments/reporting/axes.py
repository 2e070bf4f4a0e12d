"""The figures of a report on axes of the user's, or in a figure that notebooks show."""

from functools import partial
from typing import Any

from matplotlib.axes import Axes

from matroid_bandits._arguments import choice, suggestion
from matroid_bandits._plots import checked_axes, pyplot
from matroid_bandits.experiments.reporting.plots import (
    Panels,
    counter_panels,
    draw_panel,
    drawn_instances,
    drawn_panels,
    legend_entries,
    regret_panels,
)
from matroid_bandits.experiments.reporting.stopping_time_plots import stopping_time_panels
from matroid_bandits.experiments.storing.results import Results
from matroid_bandits.experiments.study import StudyError
from matroid_bandits.simulation import COUNTERS

__all__ = ["plot_results"]

_COUNTERS = {name: partial(counter_panels, counter=name) for name in COUNTERS}
# What can be drawn of each kind of study, the usual one first.
_MEASURES: dict[str, dict[str, Any]] = {
    "regret": {"regret": regret_panels, **_COUNTERS},
    "identification": {"rounds": stopping_time_panels},
}


def plot_results(
    results: Results, instance: str | None, measure: str | None, ax: Any
) -> Axes | list[Axes]:
    """What :meth:`Results.plot` returns."""
    measures = _MEASURES[results.kind]
    chosen = choice(next(iter(measures)) if measure is None else measure, "measure", (*measures,))
    panels: Panels = measures[chosen](results)
    names = drawn_instances(results, panels)
    if not names:
        raise StudyError(f"{results.folder} has no finished run yet")
    if instance is None and ax is None:
        return drawn_panels(results, panels, pyplot().figure)[1]
    if instance is None and len(names) > 1:
        raise ValueError(
            f"ax has room for one instance, but there are {len(names)}: name one of "
            f"{', '.join(names)}"
        )
    if instance is not None and instance not in names:
        raise ValueError(f"unknown instance {instance!r}; {suggestion(str(instance), names)}")
    name = names[0] if instance is None else instance
    axes = checked_axes(ax)
    handles = draw_panel(results, panels, name, axes)
    entries = legend_entries(results, panels, handles)
    legend = axes.legend([line for _, line in entries], [policy for policy, _ in entries])
    for text in legend.get_texts():
        text.set_parse_math(False)
    axes.set_title(name, parse_math=False)
    axes.set_xlabel(panels.labels[0])
    axes.set_ylabel(panels.labels[1])
    return axes
