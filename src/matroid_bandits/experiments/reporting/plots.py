"""Figures of a study, drawn to be printed at their size and read by people who are color-blind."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from matroid_bandits._plots import with_unit
from matroid_bandits._types import FloatArray
from matroid_bandits.experiments.analysis.losses import changes_of, changing_instances
from matroid_bandits.experiments.analysis.summary import band, instances_with_costs, median_bound
from matroid_bandits.experiments.storing.results import Results
from matroid_bandits.simulation import default_checkpoints

__all__ = [
    "BOUND",
    "FORMATS",
    "Look",
    "Panels",
    "counter_panels",
    "draw_panel",
    "drawn_instances",
    "drawn_panels",
    "is_logarithmic",
    "legend_entries",
    "oracle_calls_figure",
    "panel_figure",
    "regret_figure",
    "regret_panels",
    "saved",
    "spread_of_regrets",
]

#: Formats every figure is saved in.
FORMATS = ("png", "svg", "pdf")

# From this factor between the regrets of two policies on, the axes of regrets are logarithmic.
_LOGARITHMIC_FROM = 20

# The colors of Okabe and Ito, which color-blind people can distinguish, then more of the same kind
# by Paul Tol. Each comes with dashes, so that a print in black and white can be read too: with 24
# colors and 5 dashes, no combination comes twice among 120 policies.
_COLORS = (
    *("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255"),
    *("#332288", "#999933", "#44AA99", "#EE3377", "#117733", "#AA4499", "#661100", "#6699CC"),
    *("#CC3311", "#004488", "#225522", "#DDCC77", "#997700", "#BB5566", "#33BBEE", "#6F4C9B"),
)
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)))
#: How a lower bound is drawn.
BOUND: dict[str, Any] = {
    "color": "#777777",
    "linestyle": (0, (3, 2)),
    "linewidth": 0.9,
    "zorder": 2.5,
    "gid": "lower bound",
}

# How a round in which means change is drawn.
_CHANGE: dict[str, Any] = {"color": "#888888", "linewidth": 0.7, "zorder": 1.8, "gid": "change"}

# More policies than this need bands that do not hide the lines.
_FEW = 6

# Figures are no wider than the text of a paper, so that they are printed without being reduced and
# their letters stay legible. All in inches.
_WIDTH = 7.0
_WIDTHS = {1: 4.2, 2: 5.6}

# Inches that a legend needs for one entry and for one letter, at the font below, and for one line.
_ENTRY, _LETTER, _LINE = 0.55, 0.062, 0.165

_STYLE: Any = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "legend.fontsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "legend.frameon": False,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # text that can be selected and edited
    "svg.hashsalt": "matroid-bandits",  # the same file every time
}


class Look(NamedTuple):
    """How a policy is drawn."""

    line: dict[str, Any]
    band: dict[str, Any]


def regret_figure(results: Results) -> Figure:
    """The figure of `regret_panels`."""
    return panel_figure(results, regret_panels(results))


def regret_panels(results: Results) -> "Panels":
    """Mean regret against rounds with a 95 % confidence band, one panel per instance.

    The lower bound is a thin gray line; rounds in which means change have a vertical one. Where
    regrets differ so much that the small ones could not be distinguished, both axes of all panels
    are logarithmic, and begin where the curves of the later rounds do.
    """
    logarithmic = is_logarithmic(results)

    def draw(axes: Axes, curves: pd.DataFrame, look: Look) -> None:
        table = band(curves, "regret")
        rounds = np.r_[0, table["round"]]
        mean, half = np.r_[0, table["mean"]], np.r_[0, table["ci"].fillna(0)]
        axes.plot(rounds, mean, **look.line)
        axes.fill_between(rounds, mean - half, mean + half, **look.band)

    def finish(axes: Axes, horizon: int) -> None:
        if logarithmic:
            _to_logarithmic(axes, horizon)
            bottom = _lowest(axes, horizon)
            if bottom is not None:
                axes.set_ylim(bottom=bottom)
                axes.set_xlim(left=_first_round(axes, bottom))
            return
        axes.set_xlim(0, horizon)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(with_unit))
        axes.yaxis.set_major_formatter(FuncFormatter(with_unit))

    only_costs = len(instances_with_costs(results)) == len(results.study["identity"]["instances"])
    is_dynamic = len(changing_instances(results)) == len(results.study["identity"]["instances"])
    regret = "cumulative dynamic regret" if is_dynamic else "cumulative regret"
    quantity = "cost above the best" if only_costs else regret
    return _panels(results, quantity, draw, finish, bounds=_bounds(results))


def is_logarithmic(results: Results) -> bool:
    """Whether the axes of the regret figure are logarithmic."""
    return spread_of_regrets(results) > _LOGARITHMIC_FROM


def spread_of_regrets(results: Results) -> float:
    """The largest factor between the mean regrets of two policies on one instance."""
    means = results.runs.groupby(["instance", "policy"])["regret"].mean()
    means = means[means > 0]
    if means.empty:
        return 1.0
    by_instance = means.groupby(level="instance")
    return float((by_instance.max() / by_instance.min()).max())


def _bounds(results: Results) -> dict[str, float]:
    """The lower bound at the horizon of every instance that has one, median of its runs."""
    found = {
        str(name): median_bound(runs) for name, runs in results.runs.groupby("instance", sort=False)
    }
    return {name: bound for name, bound in found.items() if bound > 0}


def _lowest(axes: Axes, horizon: int) -> float | None:
    """Where a logarithmic axis begins: low enough for the later rounds of every policy."""
    later = [values[rounds >= np.sqrt(horizon)] for rounds, values in _policy_lines(axes)]
    # Of all lines, the lower bound too, at least the end is shown.
    later += [np.asarray(line.get_ydata(), np.float64)[-1:] for line in axes.lines]
    positive = [float(values[values > 0].min()) for values in later if (values > 0).any()]
    return min(positive) / 1.5 if positive else None


def _first_round(axes: Axes, bottom: float) -> float:
    """The last round before a policy's curve rises above `bottom`."""
    first = []
    for rounds, values in _policy_lines(axes):
        above = np.flatnonzero((values >= bottom) & (rounds > 0))
        if above.size:
            first.append(max(1.0, float(rounds[max(above[0] - 1, 0)])))
    return min(first, default=1.0)


def _policy_lines(axes: Axes) -> list[tuple[FloatArray, FloatArray]]:
    """Rounds and values of the lines of policies, without the lower bound."""
    return [
        (np.asarray(line.get_xdata(), np.float64), np.asarray(line.get_ydata(), np.float64))
        for line in axes.lines
        if line.get_gid() != BOUND["gid"]
    ]


def oracle_calls_figure(results: Results) -> Figure:
    """The figure of `counter_panels` for oracle calls."""
    return panel_figure(results, counter_panels(results, "oracle_calls"))


def counter_panels(results: Results, counter: str) -> "Panels":
    """The mean of a counter against rounds, both axes logarithmic.

    The band holds the middle 80 % of the runs.
    """

    def draw(axes: Axes, curves: pd.DataFrame, look: Look) -> None:
        counted = curves.dropna(subset=[counter])
        # Zero is on no logarithmic axis.
        if not (counted[counter] > 0).any():
            return
        calls = counted.astype({counter: float}).groupby("round")[counter]
        mean = calls.mean()
        axes.plot(mean.index, mean, **look.line)
        # Not an interval of the mean: counts are skewed, and the axis is logarithmic.
        low, high = calls.quantile(0.1), calls.quantile(0.9)
        axes.fill_between(mean.index, low, high, **look.band)

    return _panels(results, counter.replace("_", " "), draw, _to_logarithmic)


def _to_logarithmic(axes: Axes, horizon: int) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, max(horizon, 2))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(numticks=4))
        axis.set_minor_locator(NullLocator())


@contextmanager
def _style() -> Iterator[None]:
    """Matplotlib's settings for these figures, whatever the user's own are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def saved(figure: Figure, kind: str) -> bytes:
    """The figure as a file of one of the `FORMATS`."""
    buffer = io.BytesIO()
    # No date: the same results give the same file.
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with _style():
        # Tight, as titles may be wider than their panels.
        figure.savefig(
            buffer, format=kind, metadata=dates.get(kind), bbox_inches="tight", pad_inches=0.04
        )
    return buffer.getvalue()


def _panels(
    results: Results,
    quantity: str,
    draw: Callable[[Axes, pd.DataFrame, Look], None],
    finish: Callable[[Axes, int], None],
    bounds: Mapping[str, float] | None = None,
) -> "Panels":
    """One panel per instance with curves against rounds, and one legend for all of them."""
    instances = results.study["identity"]["instances"]

    def draw_bound(axes: Axes, name: str, horizon: int) -> None:
        _draw_bound(axes, horizon, (bounds or {}).get(name))
        changes = changes_of(instances[name])
        if changes:
            # Not lines of the axes, which are taken for curves.
            axes.vlines(changes, 0, 1, transform=axes.get_xaxis_transform(), **_CHANGE)

    labels = ("round", quantity)
    return Panels(results.curves, labels, draw, draw_bound, finish, bool(bounds))


class Panels(NamedTuple):
    """What a figure with one panel per instance, and one legend for all of them, is made of.

    Attributes
    ----------
    lines : pandas.DataFrame
        What is drawn: runs, or curves.
    labels : (str, str)
        Of the two axes.
    draw : callable
        Draws the lines of one policy on one instance.
    draw_bound : callable
        Draws the lower bound of an instance, given its name and its horizon.
    finish : callable
        Sets the axes of a panel, given the horizon.
    has_bounds : bool
        Whether the legend has the lower bound.
    """

    lines: pd.DataFrame
    labels: tuple[str, str]
    draw: Callable[[Axes, pd.DataFrame, Look], None]
    draw_bound: Callable[[Axes, str, int], None]
    finish: Callable[[Axes, int], None]
    has_bounds: bool


def panel_figure(results: Results, panels: Panels) -> Figure:
    """A figure of all instances that have lines, ready to be saved."""
    figure, _ = drawn_panels(results, panels, Figure)
    with _style():
        # Once for all formats.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def drawn_instances(results: Results, panels: Panels) -> list[str]:
    """The instances that have lines."""
    there = set(panels.lines["instance"])
    return [name for name in results.study["identity"]["instances"] if name in there]


def drawn_panels(
    results: Results, panels: Panels, make: Callable[..., Figure]
) -> tuple[Figure, list[Axes]]:
    """A figure of all instances that have lines, and the axes of each; `make` makes it."""
    names = drawn_instances(results, panels)
    columns = _n_columns(len(names))
    rows = ceil(len(names) / columns)
    with _style():
        width = _WIDTHS.get(columns, _WIDTH)
        figure = make(figsize=(width, 0.8 * width / columns * rows + 0.5), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        handles: dict[str, Line2D] = {}
        for i, name in enumerate(names):
            axes: Axes = grid[i // columns, i % columns]
            for policy, handle in draw_panel(results, panels, name, axes).items():
                handles.setdefault(policy, handle)
            title = f"({_letter(i)}) {_shortened(name)}" if len(names) > 1 else name
            axes.set_title(title, parse_math=False)
            if i % columns == 0:
                axes.set_ylabel(panels.labels[1])
            if i + columns >= len(names):
                axes.set_xlabel(panels.labels[0])
        for i in range(len(names), rows * columns):
            grid[i // columns, i % columns].set_axis_off()
        _add_legend(figure, legend_entries(results, panels, handles))
    return figure, [grid[i // columns, i % columns] for i in range(len(names))]


def draw_panel(results: Results, panels: Panels, name: str, axes: Axes) -> dict[str, Line2D]:
    """Draw the instance called `name`; return a line for the legend of each policy drawn."""
    identity = results.study["identity"]
    horizon = identity["instances"][name]["horizon"]
    here = panels.lines[panels.lines["instance"] == name]
    handles: dict[str, Line2D] = {}
    for k, policy in enumerate(identity["policies"]):
        curves = here[here["policy"] == policy]
        if len(curves):
            look = _look(k, horizon, len(identity["policies"]))
            before = len(axes.lines)
            panels.draw(axes, curves, look)
            if len(axes.lines) > before:
                handles[policy] = Line2D([], [], **look.line)
    panels.draw_bound(axes, name, horizon)
    panels.finish(axes, horizon)
    return handles


def legend_entries(
    results: Results, panels: Panels, handles: Mapping[str, Line2D]
) -> list[tuple[str, Line2D]]:
    """The policies as the study lists them, wherever they were drawn first, and the bound."""
    entries = [(p, handles[p]) for p in results.study["identity"]["policies"] if p in handles]
    if panels.has_bounds:
        entries.append(("lower bound", Line2D([], [], **BOUND)))
    return entries


def _n_columns(panels: int) -> int:
    """Two rows of two rather than three and one; ten panels and more in rows of four."""
    if panels == 4:
        return 2
    return min(panels, 3 if panels < 10 else 4)


def _look(k: int, horizon: int, policies: int) -> Look:
    """How policy number `k` of so many is drawn."""
    color = _COLORS[k % len(_COLORS)]
    return Look(
        line={
            "color": color,
            "linestyle": _DASHES[k % len(_DASHES)],
            # A single point would make no line.
            "marker": "o" if horizon == 1 else None,
        },
        band={"color": color, "alpha": 0.2 if policies <= _FEW else 0.1, "linewidth": 0},
    )


def _draw_bound(axes: Axes, horizon: int, bound: float | None) -> None:
    """The lower bound grows like the logarithm of the round."""
    if bound is not None and horizon > 1:
        rounds = default_checkpoints(horizon)
        rounds = rounds[rounds > 1]  # before, it is nothing, which no logarithmic axis has
        axes.plot(rounds, bound * np.log(rounds) / np.log(horizon), **BOUND)


def _add_legend(figure: Figure, entries: Sequence[tuple[str, Line2D]]) -> None:
    """One legend above all panels, with as many columns as there is room for."""
    names = [_shortened(name, 40) for name, _ in entries]
    width, height = figure.get_size_inches()
    entry = _ENTRY + _LETTER * max(map(len, names), default=0)
    columns = max(1, min(len(names), int(width / entry)))
    figure.set_size_inches(width, height + _LINE * (ceil(len(names) / columns) - 1))
    legend = figure.legend(
        [handle for _, handle in entries], names, loc="outside upper center", ncols=columns
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _shortened(name: str, length: int = 24) -> str:
    return name if len(name) <= length else f"{name[: length - 2]}\N{HORIZONTAL ELLIPSIS}"


def _letter(i: int) -> str:
    return chr(ord("a") + i) if i < 26 else str(i + 1)
