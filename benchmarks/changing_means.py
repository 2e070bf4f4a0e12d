"""Runs with means that change against runs with fixed means."""

from collections.abc import Callable

import numpy as np

import matroid_bandits as mb
from benchmarks.tables import Table, Timing, goal, in_turn, seconds

HORIZON = 20_000

# In sorts of all means a round. Only for means that no Python function returns.
LIMITS = {"piecewise, 10 changes": 0.2, "drifting": 3.0, "seasonal": 3.0}


def measure(*, quick: bool = False) -> Table:
    """Random bases on K15, with the best basis of every round."""
    repeats = 3 if quick else 15
    matroid = mb.GraphicMatroid.complete(15)
    means = mb.random_means(matroid.size, 0)

    def sort() -> None:
        for _ in range(HORIZON):
            np.argsort(means)

    rows = []
    for name, environment in _environments(means).items():
        fixed, changing, sorts = in_turn(
            repeats,
            _run(matroid, mb.GaussianEnvironment(means)),
            _run(matroid, environment),
            sort,
        )
        rows.append(_row(name, fixed, changing, sorts))
    return Table(
        name="changing_means",
        question="What does it cost that means change?",
        method=(
            f"`simulate` of RandomBasis, {HORIZON:,} rounds on K15 (105 elements, rank 14), "
            f"{repeats} times in turn with fixed means and with `numpy.argsort` of as many means a "
            "round. The policy plays the same sets whatever the rewards are. Where means change, "
            "there are new means and the best basis of the round to be found."
        ),
        columns=["means", "min", "fixed means", "more a round", "argsort", "ratio", "goal"],
        rows=rows,
        remarks=[
            "More a round: the difference of the two minima; ratio: that over the time of argsort.",
            "A function is called in Python once a round, with all elements, and checked.",
        ],
    )


def _environments(means: np.ndarray) -> dict[str, mb.Environment]:
    size = len(means)
    slopes = np.linspace(-1, 1, size) / HORIZON
    changes = np.arange(1, 11) * HORIZON // 11 + 1
    return {
        "piecewise, 10 changes": mb.PiecewiseEnvironment(
            mb.random_means(size, 0, pieces=11), changes
        ),
        "drifting": mb.DriftingEnvironment(means, step=0.001),
        "seasonal": mb.SeasonalEnvironment(means, amplitude=0.1, period=HORIZON / 2),
        "function": mb.FunctionEnvironment(lambda t, e: means[e] + slopes[e] * t, size),
    }


def _run(matroid: mb.Matroid, environment: mb.Environment) -> Callable[[], object]:
    return lambda: mb.simulate(mb.RandomBasis(matroid), environment, HORIZON)


def _row(name: str, fixed: Timing, changing: Timing, sorts: Timing) -> list[str]:
    more = (changing.least - fixed.least) / HORIZON
    yardstick = sorts.least / HORIZON
    ratio = more / yardstick
    limit = LIMITS.get(name)
    return [
        name,
        *(seconds(t) for t in (changing.least, fixed.least, max(more, 0.0), yardstick)),
        f"{ratio:.2f}",
        "" if limit is None else goal(ratio, "<=", limit),
    ]
