"""Figures of a study, drawn to be printed and to be read by the colour-blind."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from matroid_bandits.experiments.results import Results
from matroid_bandits.experiments.summary import band

__all__ = ["FORMATS", "oracle_calls_figure", "regret_figure", "saved"]

#: Formats every figure is saved in.
FORMATS = ("png", "svg", "pdf")

# Okabe and Ito's colours, which the colour-blind can tell apart, each with dashes of its own, so
# that a print in black and white can be read too.
_COLORS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)))

_STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,  # text that can be selected and edited
    "svg.hashsalt": "matroid-bandits",  # the same file every time
}


def regret_figure(results: Results) -> Figure:
    """Mean regret against rounds with a 95 % confidence band, one panel per instance.

    Laid out as Figure 1 of [DG25].
    """

    def draw(axes: Axes, curves: pd.DataFrame, look: dict[str, Any]) -> None:
        table = band(curves, "regret")
        rounds = np.r_[0, table["round"]]
        mean, half = np.r_[0, table["mean"]], np.r_[0, table["ci"].fillna(0)]
        axes.plot(rounds, mean, **look)
        axes.fill_between(
            rounds, mean - half, mean + half, color=look["color"], alpha=0.2, linewidth=0
        )

    def finish(axes: Axes, horizon: int) -> None:
        axes.set_xlim(0, horizon)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(_in_words))
        axes.yaxis.set_major_formatter(FuncFormatter(_in_words))

    return _panels(results, "cumulative regret", draw, finish)


def oracle_calls_figure(results: Results) -> Figure:
    """Mean number of oracle calls against rounds, both axes logarithmic.

    The band holds the middle 80 % of the runs.
    """

    def draw(axes: Axes, curves: pd.DataFrame, look: dict[str, Any]) -> None:
        counted = curves.dropna(subset=["oracle_calls"])
        if counted.empty:
            return
        calls = counted.astype({"oracle_calls": float}).groupby("round")["oracle_calls"]
        mean = calls.mean()
        axes.plot(mean.index, mean, **look)
        # Not an interval of the mean: counts are skewed, and the axis is logarithmic.
        low, high = calls.quantile(0.1), calls.quantile(0.9)
        axes.fill_between(mean.index, low, high, color=look["color"], alpha=0.2, linewidth=0)

    def finish(axes: Axes, horizon: int) -> None:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(1, max(horizon, 2))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(numticks=4))
            axis.set_minor_locator(NullLocator())

    return _panels(results, "oracle calls", draw, finish)


@contextmanager
def house_style() -> Iterator[None]:
    """Matplotlib's settings for our figures, whatever the user's own are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def saved(figure: Figure, kind: str) -> bytes:
    """The figure as a file of one of the `FORMATS`."""
    buffer = io.BytesIO()
    # No date: the same results give the same file.
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with house_style():
        figure.savefig(buffer, format=kind, metadata=dates.get(kind))
    return buffer.getvalue()


def _panels(
    results: Results,
    quantity: str,
    draw: Callable[[Axes, pd.DataFrame, dict[str, Any]], None],
    finish: Callable[[Axes, int], None],
) -> Figure:
    identity = results.study["identity"]
    names = [n for n in identity["instances"] if (results.curves["instance"] == n).any()]
    columns = min(len(names), 5 if len(names) > 6 or len(names) == 5 else 3)
    rows = ceil(len(names) / columns)
    with house_style():
        size = (max(4.2, 2.0 * columns), 1.8 * rows + 0.6)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        handles: dict[str, Line2D] = {}
        for i, name in enumerate(names):
            axes: Axes = grid[i // columns, i % columns]
            horizon = identity["instances"][name]["horizon"]
            here = results.curves[results.curves["instance"] == name]
            for k, policy in enumerate(identity["policies"]):
                curves = here[here["policy"] == policy]
                if len(curves):
                    look = {
                        "color": _COLORS[k % len(_COLORS)],
                        "linestyle": _DASHES[k % len(_DASHES)],
                        # A single point would make no line.
                        "marker": "o" if horizon == 1 else None,
                    }
                    draw(axes, curves, look)
                    handles.setdefault(policy, Line2D([], [], **look))
            finish(axes, horizon)
            title = f"({_letter(i)}) {_shortened(name)}" if len(names) > 1 else name
            axes.set_title(title, parse_math=False)
            if i % columns == 0:
                axes.set_ylabel(quantity)
            if i + columns >= len(names):
                axes.set_xlabel("round")
        for i in range(len(names), rows * columns):
            grid[i // columns, i % columns].set_axis_off()
        legend = figure.legend(
            handles.values(),
            [_shortened(policy) for policy in handles],
            loc="outside upper center",
            ncols=min(len(handles), columns + 1),
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
        # Once for all formats.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def _shortened(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:22]}\N{HORIZONTAL ELLIPSIS}"


def _letter(i: int) -> str:
    return chr(ord("a") + i) if i < 26 else str(i + 1)


def _in_words(value: float, _position: int) -> str:
    """50000 as 50k, 1000000 as 1M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
