"""The figure of a study of identification: how many runs have an answer after how many rounds."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from matroid_bandits._plots import with_unit
from matroid_bandits._types import FloatArray
from matroid_bandits.experiments.analysis.stopping_times import stopping_times
from matroid_bandits.experiments.reporting.plots import (
    BOUND,
    Look,
    Panels,
    panel_figure,
)
from matroid_bandits.experiments.storing.results import Results

__all__ = ["stopping_time_figure", "stopping_time_panels"]

# Room beside the first and the last step, as a factor.
_ROOM = 1.4

# An axis that spans less than this factor would have one power of ten at most in the middle.
_NARROW = 60


def stopping_time_figure(results: Results) -> Figure:
    """The figure of `stopping_time_panels`."""
    return panel_figure(results, stopping_time_panels(results))


def stopping_time_panels(results: Results) -> Panels:
    """Empirical distribution functions of the rounds, one panel per instance.

    A run that has reached the limit is in no step: the line stays below 1. The lower bounds of the
    runs are drawn in the same way, in gray; if all runs have the same means, they are one step.
    """
    bounds = {
        str(name): _finite_bounds(runs)
        for name, runs in results.runs.groupby("instance", sort=False)
    }

    def draw(axes: Axes, runs: pd.DataFrame, look: Look) -> None:
        _draw_steps(axes, stopping_times(runs), look.line)

    def draw_bound(axes: Axes, name: str, _horizon: int) -> None:
        if len(bounds[name]):
            _draw_steps(axes, bounds[name], BOUND)

    def finish(axes: Axes, horizon: int) -> None:
        axes.set_xscale("log")
        places = np.concatenate([np.asarray(line.get_xdata(), float) for line in axes.lines])
        places = places[(places > 0) & np.isfinite(places)]
        # Nothing is known about rounds after the limit.
        right = min(_ROOM * places.max(initial=1.0), float(horizon))
        left = min(places.min(initial=right), right) / _ROOM
        axes.set_xlim(left, max(right, _ROOM * left))
        for line in axes.lines:
            x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
            last = y[-1] if len(y) else 0.0
            line.set_data(np.r_[left, x, max(right, *x, left)], np.r_[0.0, y, last])
        axes.set_ylim(-0.02, 1.02)
        axes.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f} %"))
        is_narrow = right / left < _NARROW
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if is_narrow else (1,), numticks=5))
        axes.xaxis.set_minor_locator(NullLocator())
        if is_narrow:
            axes.xaxis.set_major_formatter(FuncFormatter(with_unit))

    labels = ("rounds", "runs with an answer")
    has_bounds = any(len(found) for found in bounds.values())
    return Panels(results.runs, labels, draw, draw_bound, finish, has_bounds)


def _finite_bounds(runs: pd.DataFrame) -> FloatArray:
    """The lower bounds of the runs of an instance, each seed once; empty if one has none.

    Of rules that observe a basis in a round and rules that observe an element, the lower one.
    """
    bounds = runs.groupby("seed")["lower_bound"].min().to_numpy(np.float64)
    return bounds if (bounds > 0).all() else np.zeros(0)


def _draw_steps(axes: Axes, values: FloatArray, line: dict[str, Any]) -> None:
    """The share of the values that are at most so large; infinite ones are never reached."""
    finite = np.sort(values[np.isfinite(values)])
    shares = np.arange(1, len(finite) + 1) / len(values)
    axes.plot(finite, shares, drawstyle="steps-post", **line)
