"""Draw the figures of the documentation: `make figures` writes them to docs/images as SVG.

Every figure is a function that returns a Figure; its name with hyphens is the name of the file.
Numbers are those of runs of the package. The background is white, so that figures can be read on
light and dark pages. Text stays text: files are small, and readers can search and select it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle

import matroid_bandits as mb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

IMAGES = Path(__file__).parents[1] / "images"
CREATOR = "docs/figures/make_figures.py"

# Colors that people with color blindness tell apart (Okabe and Ito).
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#007A5A", "#9B4F86"
GRAY, PALE, YELLOW, INK = "#8A8A8A", "#E8EEF4", "#F6E27F", "#222222"

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 11,
    "svg.fonttype": "none",
    "svg.hashsalt": "matroid-bandits",
    "text.color": INK,
    "axes.edgecolor": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}

Point = tuple[float, float]
Edge = tuple[str, str]


class Look(NamedTuple):
    """How an edge is drawn."""

    color: str = GRAY
    width: float = 1.5
    dashes: str = "--"


OUTSIDE = Look()
CHOSEN = Look(BLUE, 4.5, "-")
ENTERS = Look(GREEN, 4.5, "-")
LEAVES = Look(ORANGE, 3.0, ":")


# ---- Parts that several figures have ----


def _panels(
    columns: int, rows: int, panel: Point, *, titles: Sequence[str] = ()
) -> tuple[Figure, list[Axes]]:
    """A figure with empty panels, `panel` inches each."""
    figure = Figure(figsize=(columns * panel[0], rows * panel[1]), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(rows, columns)).flat)
    for place, ax in enumerate(axes):
        ax.set_axis_off()
        ax.set_aspect("equal")
        if place < len(titles):
            ax.set_title(titles[place], fontsize=11, fontweight="bold")
    return figure, axes


def _graph(
    ax: Axes,
    places: Mapping[str, Point],
    edges: Mapping[Edge, Look],
    *,
    labels: Mapping[Edge, str] | None = None,
    label_at: Mapping[Edge, float] | None = None,
    circuit: Iterable[Edge] = (),
    margin: Point = (0.3, 0.22),
) -> None:
    """A graph; the edges of `circuit` lie on a broad yellow line."""
    for a, b in circuit:
        (x, y), (u, v) = places[a], places[b]
        ax.plot([x, u], [y, v], color=YELLOW, linewidth=14, solid_capstyle="round", zorder=0)
    for (a, b), look in edges.items():
        (x, y), (u, v) = places[a], places[b]
        ax.plot([x, u], [y, v], look.dashes, color=look.color, linewidth=look.width, zorder=1)
        if labels and (a, b) in labels:
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.92}
            share = (label_at or {}).get((a, b), 0.5)
            place = (x + share * (u - x), y + share * (v - y))
            ax.text(*place, labels[a, b], ha="center", va="center", bbox=box, zorder=2)
    for name, place in places.items():
        box = {"boxstyle": "round,pad=0.3", "facecolor": PALE, "edgecolor": INK, "linewidth": 1}
        ax.text(*place, name, ha="center", va="center", bbox=box, zorder=3)
    xs, ys = zip(*places.values(), strict=True)
    ax.set_xlim(min(xs) - margin[0], max(xs) + margin[0])
    ax.set_ylim(min(ys) - margin[1], max(ys) + margin[1])


def _note(ax: Axes, text: str) -> None:
    """A few words below a panel."""
    ax.text(0.5, -0.02, text, transform=ax.transAxes, ha="center", va="top", fontsize=10)


def _box(
    ax: Axes,
    place: Point,
    size: Point,
    text: str,
    *,
    fill: str = PALE,
    edge: str = INK,
    bold: bool = False,
    fontsize: float = 11,
) -> None:
    """A rounded box with text in the middle; `place` is its lower left corner."""
    style = "round,pad=0,rounding_size=0.08"
    patch = FancyBboxPatch(place, *size, boxstyle=style, facecolor=fill, edgecolor=edge, zorder=2)
    ax.add_patch(patch)
    middle = (place[0] + size[0] / 2, place[1] + size[1] / 2)
    weight = "bold" if bold else "normal"
    ax.text(*middle, text, ha="center", va="center", weight=weight, fontsize=fontsize, zorder=3)


def _arrow(
    ax: Axes, start: Point, end: Point, *, color: str = INK, bend: float = 0.0, dashes: str = "-"
) -> None:
    ax.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=15,
            linewidth=1.8,
            linestyle=dashes,
            color=color,
            connectionstyle=f"arc3,rad={bend}",
            shrinkA=2,
            shrinkB=2,
            zorder=4,
        )
    )


def _canvas(width: float, height: float, limits: Point) -> tuple[Figure, Axes]:
    """One panel for boxes and arrows, from (0, 0) to `limits`."""
    figure, (ax,) = _panels(1, 1, (width, height))
    ax.set_xlim(0, limits[0])
    ax.set_ylim(0, limits[1])
    return figure, ax


def _dots(ax: Axes, dots: Mapping[str, Point], chosen: Iterable[str]) -> None:
    """Elements as circles with names; those of `chosen` are filled."""
    taken = set(chosen)
    for name, place in dots.items():
        fill, ink = (BLUE, "white") if name in taken else ("white", INK)
        ax.add_patch(Circle(place, 0.3, facecolor=fill, edgecolor=INK, zorder=3))
        ax.text(*place, name, ha="center", va="center", color=ink, zorder=4)


# ---- The small network of the pages on matroids and MAUB ----

CITIES: dict[str, Point] = {
    "Oslo": (0.0, 0.5),
    "Cork": (1.0, 1.0),
    "Rome": (1.0, 0.0),
    "Wien": (2.0, 0.5),
}
LINKS: list[Edge] = [
    ("Oslo", "Cork"),
    ("Oslo", "Rome"),
    ("Cork", "Rome"),
    ("Cork", "Wien"),
    ("Rome", "Wien"),
]
QUALITY = [0.9, 0.6, 0.8, 0.5, 0.7]


def _looks(chosen: Iterable[Edge], **special: Look) -> dict[Edge, Look]:
    """All links, those of `chosen` as chosen; `Oslo_Rome=LEAVES` says how single ones look."""
    taken = set(chosen)
    looks = {link: CHOSEN if link in taken else OUTSIDE for link in LINKS}
    for name, look in special.items():
        a, b = name.split("_")
        looks[a, b] = look
    return looks


BEST: list[Edge] = [("Oslo", "Cork"), ("Cork", "Rome"), ("Rome", "Wien")]


def matroid_words() -> Figure:
    """Independent set, basis, circuit and exchange, on one graph."""
    titles = ["independent set", "basis", "circuit", "exchange"]
    figure, axes = _panels(2, 2, (3.6, 2.5), titles=titles)
    _graph(axes[0], CITIES, _looks(BEST[:2]))
    _note(axes[0], "no cycle; a link can still be added")
    _graph(axes[1], CITIES, _looks(BEST))
    _note(axes[1], "no cycle; every further link closes one")
    triangle = [("Oslo", "Cork"), ("Oslo", "Rome"), ("Cork", "Rome")]
    _graph(axes[2], CITIES, _looks(triangle), circuit=triangle)
    _note(axes[2], "a cycle; without any one link, it is none")
    wien = [("Cork", "Wien"), ("Cork", "Rome"), ("Rome", "Wien")]
    _graph(axes[3], CITIES, _looks(BEST, Cork_Wien=ENTERS, Rome_Wien=LEAVES), circuit=wien)
    _note(axes[3], "green comes in, a link of its circuit leaves")
    return figure


def matroid_greedy() -> Figure:
    """Greedy, link by link, from the largest weight down."""
    weights = [0.9, 0.8, 0.7, 0.5, 0.6]
    matroid = mb.GraphicMatroid(LINKS)
    order = np.argsort(weights)[::-1]
    figure, axes = _panels(2, 2, (3.6, 2.4))
    taken: list[int] = []
    labels = {link: f"{weight:.1f}" for link, weight in zip(LINKS, weights, strict=True)}
    for step, ax in enumerate(axes):
        e = int(order[step])
        fits = matroid.is_independent([*taken, e])
        looks = _looks([LINKS[t] for t in taken])
        looks[LINKS[e]] = ENTERS if fits else LEAVES
        circuit: list[Edge] = []
        if not fits:
            closed = [c for c in matroid.circuits() if set(c) <= {*taken, e}]
            circuit = [LINKS[c] for c in closed[0]]
        _graph(ax, CITIES, looks, labels=labels, circuit=circuit)
        verdict = "taken" if fits else "refused: it closes a cycle"
        ax.set_title(f"{step + 1}. {labels[LINKS[e]]} is {verdict}", fontsize=11, weight="bold")
        taken += [e] if fits else []
    return figure


# ---- Kinds of matroids ----


def matroid_uniform() -> Figure:
    """Any two of five."""
    figure, ax = _canvas(3.4, 1.3, (5.2, 1.6))
    dots = {name: (0.6 + k, 0.8) for k, name in enumerate("abcde")}
    _dots(ax, dots, "bd")
    return figure


def matroid_partition() -> Figure:
    """One of each group."""
    figure, ax = _canvas(5.0, 1.7, (8.6, 2.3))
    groups = {"world": "ab", "sport": "cde", "arts": "fg"}
    left, dots = 0.2, {}
    for title, names in groups.items():
        _box(ax, (left, 0.3), (len(names) + 0.2, 1.1), "", fill=PALE)
        ax.text(left + (len(names) + 0.2) / 2, 1.55, f"{title}: 1", ha="center", va="bottom")
        dots.update({name: (left + 0.6 + k, 0.85) for k, name in enumerate(names)})
        left += len(names) + 0.4
    _dots(ax, dots, "adg")
    return figure


def matroid_laminar() -> Figure:
    """Limits within limits."""
    figure, ax = _canvas(4.6, 2.2, (8.0, 3.6))
    _box(ax, (0.1, 0.1), (7.8, 3.0), "", fill="white")
    ax.text(4.0, 3.15, "all films: 3", ha="center", va="bottom")
    for left, width, title in ((0.3, 4.1, "comedy: 2"), (4.6, 3.1, "drama: 2")):
        _box(ax, (left, 0.25), (width, 2.1), "", fill=PALE)
        ax.text(left + width / 2, 2.4, title, ha="center", va="bottom")
    _box(ax, (0.45, 0.4), (2.1, 1.0), "", fill="#D3E0EC")
    ax.text(1.5, 1.45, "Pixar: 1", ha="center", va="bottom")
    dots = {"a": (1.0, 0.9), "b": (2.0, 0.9), "c": (2.95, 0.9), "d": (3.9, 0.9)}
    dots |= {"e": (5.1, 0.9), "f": (6.1, 0.9), "g": (7.1, 0.9)}
    _dots(ax, dots, "ace")
    return figure


def matroid_graphic() -> Figure:
    """A spanning tree."""
    figure, (ax,) = _panels(1, 1, (3.8, 2.2))
    _graph(ax, CITIES, _looks(BEST))
    return figure


def matroid_linear() -> Figure:
    """Vectors in the plane: two that do not lie on one line."""
    figure, (ax,) = _panels(1, 1, (3.4, 2.3))
    vectors = {"a": (2.0, 0.0), "b": (1.0, 1.0), "c": (2.0, 2.0), "d": (-1.0, 1.6)}
    names = {"a": (2.25, -0.1), "b": (0.75, 1.15), "c": (2.2, 2.05), "d": (-1.15, 1.65)}
    for name, (x, y) in vectors.items():
        color = BLUE if name in "ad" else GRAY
        # Of b and c, on one line, the shorter lies a little beside the longer.
        shift = 0.07 if name == "b" else 0.0
        _arrow(ax, (-shift, shift), (x - shift, y + shift), color=color)
        ax.text(*names[name], name, ha="center", va="bottom", color=color, size=13)
    ax.plot([0], [0], "o", color=INK, markersize=5)
    ax.set_xlim(-1.6, 2.7)
    ax.set_ylim(-0.3, 2.7)
    return figure


def matroid_transversal() -> Figure:
    """Workers who can be matched with tasks."""
    figure, ax = _canvas(4.2, 2.4, (6.0, 3.4))
    workers = {"Ana": 2.9, "Ben": 2.1, "Cho": 1.3, "Dev": 0.5}
    tasks = {"phone": 2.6, "mail": 1.7, "chat": 0.8}
    can = [("Ana", "phone"), ("Ben", "phone"), ("Ben", "mail"), ("Cho", "mail")]
    can += [("Dev", "mail"), ("Dev", "chat"), ("Cho", "chat")]
    matched = {("Ana", "phone"), ("Ben", "mail"), ("Dev", "chat")}
    for worker, task in can:
        look = CHOSEN if (worker, task) in matched else OUTSIDE
        ends = [workers[worker], tasks[task]]
        ax.plot([1.6, 4.3], ends, look.dashes, color=look.color, linewidth=look.width, zorder=1)
    for name, y in workers.items():
        chosen = any(name == worker for worker, _ in matched)
        fill = "#BFD9EA" if chosen else "white"
        _box(ax, (0.5, y - 0.27), (1.2, 0.54), name, fill=fill)
    for name, y in tasks.items():
        _box(ax, (4.2, y - 0.27), (1.4, 0.54), name, fill="white")
    return figure


def not_matroids() -> Figure:
    """Paths, matchings and a knapsack: greedy goes wrong."""
    titles = ["path from s to t", "assignment", "knapsack of 10 kg"]
    figure, axes = _panels(3, 1, (2.75, 3.0), titles=titles)
    places = {"s": (0.0, 0.5), "a": (0.8, 1.1), "b": (0.8, -0.1), "t": (1.6, 0.5)}
    means = {("s", "a"): "9", ("a", "t"): "1", ("s", "b"): "8", ("b", "t"): "8"}
    looks = dict.fromkeys(means, CHOSEN) | {("s", "a"): LEAVES, ("a", "t"): LEAVES}
    _graph(axes[0], places, looks, labels=means, margin=(0.3, 0.2))
    _note(axes[0], "greedy begins with 9\nand ends with 9 + 1 = 10;\n8 + 8 = 16 is best")
    places = {"Ana": (0.0, 1.0), "Ben": (0.0, 0.0), "day": (1.4, 1.0), "night": (1.4, 0.0)}
    means = {("Ana", "day"): "9", ("Ben", "night"): "1"}
    looks = dict.fromkeys(means, LEAVES)
    looks |= {("Ana", "night"): CHOSEN, ("Ben", "day"): CHOSEN}
    _graph(axes[1], places, looks, labels=means, margin=(0.4, 0.3))
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    axes[1].text(0.42, 0.7, "8", ha="center", va="center", bbox=box)
    axes[1].text(0.42, 0.3, "8", ha="center", va="center", bbox=box)
    _note(axes[1], "greedy begins with 9\nand ends with 9 + 1 = 10;\n8 + 8 = 16 is best")
    ax = axes[2]
    for left, width, text, look in (
        (0.0, 0.6, "6 kg\nworth 9", LEAVES),
        (0.8, 0.5, "5 kg\nworth 8", CHOSEN),
        (1.5, 0.5, "5 kg\nworth 8", CHOSEN),
    ):
        fill = "#F9E2D2" if look is LEAVES else "#BFD9EA"
        height = 1.4 * width / 0.6
        ax.add_patch(Rectangle((left, 0), width, height, facecolor=fill, edgecolor=INK))
        ax.text(left + width / 2, height / 2, text, ha="center", va="center", fontsize=9)
    ax.set_xlim(-0.1, 2.1)
    ax.set_ylim(-0.1, 1.5)
    _note(ax, "greedy takes 9, and\nnothing else fits;\n8 + 8 = 16 is best")
    return figure


# ---- MAUB ----


class Round(NamedTuple):
    """What MAUB knew and did in a round of the run that the pages tell."""

    number: int
    played: list[str]
    leader: list[str]
    counts: dict[str, int]
    means: dict[str, float]


def maub_rounds(n_rounds: int = 6, seed: int = 30) -> list[Round]:
    """The run of docs/explanation/maub.md."""
    names = ["-".join(link) for link in LINKS]
    policy = mb.MAUB(mb.Problem(mb.GraphicMatroid(LINKS), labels=names), noise=0.2)
    quality = dict(zip(names, QUALITY, strict=True))
    rng = np.random.default_rng(seed)
    told = []
    for number in range(1, n_rounds + 1):
        played = policy.select()
        counts = dict(zip(names, policy.counts.tolist(), strict=True))
        means = dict(zip(names, policy.mean_rewards.tolist(), strict=True))
        told.append(Round(number, list(played), list(policy.leader or []), counts, means))
        policy.update({name: round(rng.normal(quality[name], 0.2), 2) for name in played})
    return told


def maub_steps() -> Figure:
    """Six rounds of a run: initial rounds, leader, exchange, new leader."""
    figure, axes = _panels(2, 3, (3.7, 2.3))
    for ax, told in zip(axes, maub_rounds(), strict=True):
        leader = [name.split("-") for name in told.leader]
        played = [name.split("-") for name in told.played]
        looks, labels = {}, {}
        for link in LINKS:
            in_leader, in_play = list(link) in leader, list(link) in played
            if not told.leader:
                looks[link] = ENTERS if in_play else OUTSIDE
            elif in_leader:
                looks[link] = CHOSEN if in_play else LEAVES
            else:
                looks[link] = ENTERS if in_play else OUTSIDE
            name = "-".join(link)
            n = told.counts[name]
            labels[link] = f"{told.means[name]:.2f} ({n})" if n else "?"
        _graph(ax, CITIES, looks, labels=labels)
        if not told.leader:
            title = "initial round"
        elif set(told.played) == set(told.leader):
            title = "plays the leader"
        else:
            title = "plays an exchange"
        ax.set_title(f"round {told.number}: {title}", fontsize=11, weight="bold")
    return figure


def maub_exchange() -> Figure:
    """Round 5 of the run: leader, circuits and partners of the outside links."""
    told = maub_rounds()[4]
    titles = ["Cork-Rome can replace the yellow", "Cork-Wien can replace the yellow"]
    figure, axes = _panels(2, 1, (3.7, 2.9), titles=titles)
    names = ["-".join(link) for link in LINKS]
    matroid = mb.GraphicMatroid(LINKS)
    basis = [names.index(name) for name in told.leader]
    labels = {link: f"{told.means[name]:.2f}" for link, name in zip(LINKS, names, strict=True)}
    width = 0.2 * np.sqrt(2 * np.log(3))
    for ax, outside in zip(axes, (2, 3), strict=True):
        inside = [e for e in matroid.fundamental_circuit(basis, outside) if e != outside]
        partner = min(inside, key=lambda e: (told.means[names[e]], e))
        looks = {link: CHOSEN if e in basis else OUTSIDE for e, link in enumerate(LINKS)}
        looks[LINKS[outside]] = ENTERS
        looks[LINKS[partner]] = LEAVES
        _graph(ax, CITIES, looks, labels=labels, circuit=[LINKS[e] for e in inside])
        m, n = told.means, told.counts
        e, x = names[outside], names[partner]
        value = (m[e] - m[x]) + width * (1 / np.sqrt(n[e]) - 1 / np.sqrt(n[x]))
        sign = "positive: played" if value > 0 else "negative"
        _note(ax, f"partner: {x}, the lowest of them\nindex difference {value:+.2f}, {sign}")
    return figure


def exchange_circuits() -> Figure:
    """What an exchange does to the circuits of other elements."""
    places = {"1": (0.0, 1.0), "2": (1.0, 1.0), "3": (2.0, 1.0)}
    places |= {"4": (0.0, 0.0), "5": (1.0, 0.0), "6": (2.0, 0.0)}
    before = [("1", "2"), ("2", "3"), ("1", "4"), ("2", "5"), ("3", "6")]
    x, y, d, e = ("2", "3"), ("5", "6"), ("4", "5"), ("1", "6")
    edges = [*before, y, d, e]
    matroid = mb.GraphicMatroid(edges)
    after = [edge for edge in before if edge != x] + [y]
    figure, axes = _panels(3, 2, (2.75, 2.0))
    tale = [
        (before, y, "circuit of y: has x"),
        (before, d, "circuit of d: no x"),
        (before, e, "circuit of e: has x"),
        (after, x, "of x: the same set"),
        (after, d, "of d: unchanged"),
        (after, e, "of e: y instead of x"),
    ]
    labels = {d: "d", e: "e", y: "y", x: "x"}
    for ax, (basis, outside, title) in zip(axes, tale, strict=True):
        inside = [edges.index(edge) for edge in basis]
        circuit = matroid.fundamental_circuit(inside, edges.index(outside))
        looks = {edge: CHOSEN if edge in basis else OUTSIDE for edge in edges}
        lines = [edges[k] for k in circuit]
        _graph(ax, places, looks, labels=labels, label_at={e: 0.25}, circuit=lines)
        ax.set_title(title, fontsize=11, weight="bold")
    for ax, text in ((axes[0], "before"), (axes[3], "after")):
        ax.text(-0.42, 0.5, text, rotation=90, ha="center", va="center", weight="bold")
    return figure


def rounds_chord() -> Figure:
    """The largest index of a group is convex in the width; a chord is above it."""
    figure = Figure(figsize=(7.0, 3.8), layout="constrained")
    ax = figure.subplots()
    elements = {"a": (0.72, 100), "b": (0.66, 25), "c": (0.40, 6)}
    low, high = 0.6, 1.6
    widths = np.linspace(0, 2.0, 201)
    lines = {name: mean + widths / np.sqrt(count) for name, (mean, count) in elements.items()}
    for name, values in lines.items():
        mean, count = elements[name]
        ax.plot(widths, values, "--", color=GRAY, linewidth=1.2)
        text = f"{name}: mean {mean:.2f}, seen {count} times"
        ax.annotate(text, (2.02, values[-1]), va="center", fontsize=10, annotation_clip=False)
    best = np.max(list(lines.values()), axis=0)
    ax.plot(widths, best, color=BLUE, linewidth=3, label="f(w): largest index of the group")
    ends = np.interp([low, high], widths, best)
    ax.plot([low, high], ends, color=ORANGE, linewidth=2.5, marker="o", label="chord: the bound")
    ax.set_xlim(0, 3.3)
    ax.spines.bottom.set_bounds(0, 2)
    ax.set_xticks([0, low, high], ["0", "w₀\nnow", "w₁\nlocal time doubled"])
    ax.set_xlabel("width w", x=0.3)
    ax.set_ylabel("index")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    return figure


# ---- Lower bounds ----


def lower_bound() -> Figure:
    """Regret of four policies against the asymptotic bound."""
    figure = Figure(figsize=(6.6, 4.0), layout="constrained")
    ax = figure.subplots()
    matroid = mb.catalog.matroid("K7")
    means = np.random.default_rng([0, 10**6]).uniform(0.5, 1, matroid.size)
    environment = mb.GaussianEnvironment(means, std=0.2)
    horizon = 100_000
    gaussian = {"index": "gaussian", "noise": 0.2}
    for name, color, kind, options in (
        ("OMM", PURPLE, mb.OMM, {}),
        ("MAUB", ORANGE, mb.MAUB, {}),
        ("MAUB(noise=0.2)", BLUE, mb.MAUB, {"noise": 0.2}),
        ('MAUB(index="gaussian", noise=0.2)', GREEN, mb.MAUB, gaussian),
    ):
        policies = [kind(matroid, seed=seed, **options) for seed in range(20)]
        runs = [mb.simulate(p, environment, horizon, seed=k) for k, p in enumerate(policies)]
        curve = np.mean([run.regret for run in runs], axis=0)
        ax.plot(runs[0].rounds, curve, color=color, linewidth=2.2, label=name)
    rounds = np.unique(np.geomspace(1, horizon, 100).astype(int))
    bound = mb.regret_lower_bound(matroid, environment, rounds)
    ax.plot(rounds, bound, "--", color=INK, linewidth=2.2, label="lower bound")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(10, horizon)
    ax.set_ylim(3, None)
    ax.set_xlabel("rounds")
    ax.set_ylabel("regret, mean of 20 runs")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    return figure


# ---- Software ----


def architecture() -> Figure:
    """The layers of ARCHITECTURE.md, without the helpers at the bottom."""
    layers = [
        ("cli", "commands", PALE),
        ("experiments, service", "studies; bandits over HTTP", PALE),
        ("client", "the client of the service", PALE),
        ("checks", "contracts as functions", PALE),
        ("specs", "from plain data and files", PALE),
        (
            "catalog, simulation, lower_bound,\nidentification, evaluation, adapters, datasets",
            "names; runs; bounds;\nother libraries; data",
            PALE,
        ),
        ("policies", "what to play", "#CFE3F1"),
        ("features, problem, restarts", "labels and costs; features", PALE),
        ("matroids, environments, indices,\ndelays, stopping", "the other nouns", "#CFE3F1"),
        ("_core", "compiled kernels, private", "#F9E2D2"),
    ]
    heights = [0.95 if "\n" in names else 0.62 for names, _, _ in layers]
    total = sum(heights) + 0.16 * len(layers)
    figure, ax = _canvas(7.4, 0.72 * total, (10.4, total + 0.1))
    top = total
    for (names, what, fill), height in zip(layers, heights, strict=True):
        top -= height
        _box(ax, (0.7, top), (6.0, height), names, fill=fill, bold=True, fontsize=10.5)
        ax.text(6.95, top + height / 2, what, ha="left", va="center", fontsize=10.5)
        top -= 0.16
    _arrow(ax, (0.35, total - 0.1), (0.35, 0.2))
    ax.text(0.12, total / 2, "imports", rotation=90, ha="center", va="center", fontsize=10.5)
    return figure


def event_log() -> Figure:
    """Requests become events; memory and snapshots are made of them again."""
    figure, ax = _canvas(7.6, 4.4, (10.6, 6.1))
    for row, text in enumerate(("decide", "learn", "decide")):
        _box(ax, (0.1, 4.95 - 0.72 * row), (1.3, 0.56), text, fill="white")
        _arrow(ax, (1.45, 5.23 - 0.72 * row), (2.35, 4.55))
    ax.text(0.75, 5.62, "requests", ha="center", va="bottom", weight="bold")
    _box(ax, (2.4, 3.9), (1.6, 1.3), "queue of\nthe bandit", bold=True)
    _arrow(ax, (4.05, 4.55), (5.0, 4.55))
    _box(ax, (5.05, 3.9), (2.1, 1.3), "bandit\nin memory", bold=True)
    ax.text(4.52, 4.65, "batch", ha="center", va="bottom", fontsize=10)
    _arrow(ax, (6.1, 3.85), (6.1, 2.75))
    ax.text(6.2, 3.32, "append, commit", ha="left", va="center", fontsize=10)
    events = ["1 created", "2 decided", "3 decided", "4 rewarded", "5 expired"]
    for place, text in enumerate(events):
        _box(ax, (0.5 + 1.9 * place, 1.95), (1.85, 0.72), text, fill="#CFE3F1", fontsize=10.5)
    ax.text(0.5, 2.75, "event log: the truth", ha="left", va="bottom", weight="bold")
    _box(ax, (8.05, 3.9), (2.3, 1.3), "answers,\nafter the commit", fill="white")
    _arrow(ax, (7.2, 4.55), (8.0, 4.55))
    _box(ax, (0.5, 0.1), (4.0, 0.95), "snapshot: a cache\nof events 1 to 3")
    ax.plot([0.6, 6.05], [1.75, 1.75], color=INK, linewidth=1.8)
    _arrow(ax, (2.5, 1.75), (2.5, 1.08))
    _box(ax, (5.6, 0.1), (4.4, 0.95), "after a crash: the snapshot,\nthen the later events")
    ax.plot([6.3, 9.9], [1.75, 1.75], color=ORANGE, linewidth=1.8)
    _arrow(ax, (8.1, 1.75), (8.1, 1.08), color=ORANGE)
    _arrow(ax, (4.55, 0.57), (5.55, 0.57), color=ORANGE)
    return figure


def decision_life() -> Figure:
    """A decision from decide to closed, with late and missing feedback."""
    figure, ax = _canvas(7.6, 3.9, (10.6, 5.4))
    _box(ax, (0.1, 3.2), (2.1, 1.0), "decide()", fill="#CFE3F1", bold=True)
    _box(ax, (3.9, 3.2), (2.7, 1.0), "open decision", bold=True)
    _box(ax, (8.3, 3.2), (2.1, 1.0), "closed", bold=True)
    _arrow(ax, (2.25, 3.7), (3.85, 3.7))
    ax.text(3.05, 3.8, "one round", ha="center", va="bottom", fontsize=10)
    _arrow(ax, (6.65, 3.7), (8.25, 3.7))
    ax.text(7.45, 3.8, "all known,\nor final=True", ha="center", va="bottom", fontsize=10)
    _arrow(ax, (4.6, 4.25), (5.9, 4.25), bend=-1.1)
    ax.text(5.25, 5.02, "learn(): a part, late, twice", ha="center", va="bottom", fontsize=10)
    _box(ax, (3.9, 1.35), (2.7, 0.9), "expire()", fill="#F9E2D2", bold=True)
    _arrow(ax, (5.25, 3.15), (5.25, 2.3), color=ORANGE)
    ax.text(5.4, 2.72, "nothing more is expected", ha="left", va="center", fontsize=10)
    _arrow(ax, (6.65, 1.8), (9.35, 3.15), color=ORANGE, bend=0.25)
    _box(ax, (0.1, 0.1), (10.3, 0.75), "statistics: counts and means", fill=PALE)
    _arrow(ax, (4.15, 3.15), (2.6, 0.9), color=BLUE, bend=0.2)
    ax.text(2.55, 2.0, "each reward,\nonce", ha="right", va="center", fontsize=10)
    _arrow(ax, (5.25, 1.3), (5.25, 0.9), color=BLUE)
    ax.text(5.4, 1.1, "reward=0.0, where silence means no", ha="left", va="center", fontsize=10)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    make.__name__.replace("_", "-"): make
    for make in (
        architecture,
        decision_life,
        event_log,
        exchange_circuits,
        lower_bound,
        matroid_graphic,
        matroid_greedy,
        matroid_laminar,
        matroid_linear,
        matroid_partition,
        matroid_transversal,
        matroid_uniform,
        matroid_words,
        maub_exchange,
        maub_steps,
        not_matroids,
        rounds_chord,
    )
}


def main(folder: Path = IMAGES, names: Iterable[str] = ()) -> list[Path]:
    """Draw all figures, or those with the given names, and return their files."""
    written = []
    for name in names or FIGURES:
        with mpl.rc_context(STYLE):
            path = folder / f"{name}.svg"
            # Without a date the same figure is the same file.
            FIGURES[name]().savefig(path, metadata={"Creator": CREATOR, "Date": None})
        # Matplotlib leaves blanks at the ends of lines.
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    main(names=sys.argv[1:])
