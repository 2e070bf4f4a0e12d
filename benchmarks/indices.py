"""The cost of an index: MAUB and OMM with each of them, and kl-UCB against a Python loop."""

from collections.abc import Callable
from math import log

import numpy as np

import matroid_bandits as mb
from benchmarks.tables import Table, Timing, goal, in_turn, seconds

HORIZON = 20_000
LONG = 100_000  # rounds on K20
# The time of MAUB on K20, relative to that with UCB.
GOALS = {"kl": 3, "beta": 4, "gaussian": 4}

INDICES: list[mb.Index] = [
    mb.UCB(),
    mb.KLUCB(),
    mb.UCBV(),
    mb.NormalUCB(),
    mb.BetaThompson(),
    mb.GaussianThompson(0.5),
    mb.GaussianThompson(),
    mb.MOSS(LONG),
    mb.MOSS(),
    mb.SharedGaussian(0.5),
    # Last, because OMM does not take it.
    mb.IMED(),
]


def measure(*, quick: bool = False) -> Table:
    """Runs with every index, and single values of kl-UCB."""
    repeats = 2 if quick else 7
    matroid = mb.GraphicMatroid.complete(15)
    environment = mb.BernoulliEnvironment(mb.random_means(matroid.size, seed=0))
    timings = in_turn(
        repeats,
        *(_run(mb.MAUB, matroid, environment, index, HORIZON) for index in INDICES),
        *(_run(mb.OMM, matroid, environment, index, HORIZON) for index in INDICES[:-1]),
    )
    maub, omm = timings[: len(INDICES)], [*timings[len(INDICES) :], None]
    long = LONG // 10 if quick else LONG
    rows = [
        [
            repr(index),
            seconds(mine.least / HORIZON),
            f"{mine.least / maub[0].least:.1f}",
            *_beside(other, timings[len(INDICES)], mine),
            *cells,
        ]
        for index, mine, other, cells in zip(
            INDICES, maub, omm, _on_k20(repeats, long), strict=True
        )
    ]
    fast, slow, ratio = _kl_values(repeats)
    return Table(
        name="indices",
        question="What does an index cost?",
        method=(
            f"MAUB and OMM on K15 (105 elements, rank 14), {HORIZON:,} rounds, and MAUB on K20 "
            f"(190, 19), {long:,} rounds; Bernoulli rewards. Whole runs, taken in turn, "
            f"{repeats} repeats; times are per round, ratios those of the minima. OMM computes all "
            "values in every round. MAUB computes only those that a bound does not rule out, and "
            "with Thompson sampling draws only for elements that can win. With IMED and one shared "
            "Gaussian it compares the elements within reach. OMM does not take IMED."
        ),
        columns=[
            *("index", "MAUB, K15", "/ UCB", "OMM, K15", "/ UCB", "OMM / MAUB"),
            *("MAUB, K20, min", "median", "/ UCB", "goal"),
        ],
        rows=rows,
        remarks=[
            "A noise of 0.5 fits 0/1 rewards; 1 is twice too wide, and explores far more.",
            "The number of exchanges is the default: all with Thompson sampling, one otherwise.",
            (
                f"One value of kl-UCB: {seconds(fast)} compiled, {seconds(slow)} in Python, by "
                f"bisection: {ratio:.0f} times as long ({goal(ratio, '>=', 100)})."
            ),
        ],
    )


def _beside(omm: Timing | None, first: Timing, maub: Timing) -> list[str]:
    """Time, ratio to UCB and ratio to MAUB of OMM, if it takes the index."""
    if omm is None:
        return ["-", "-", "-"]
    ratios = (omm.least / first.least, omm.least / maub.least)
    return [seconds(omm.least / HORIZON), *(f"{ratio:.1f}" for ratio in ratios)]


def _run(
    policy: Callable[..., mb.Policy],
    matroid: mb.Matroid,
    environment: mb.Environment,
    index: mb.Index,
    horizon: int,
) -> Callable[[], object]:
    return lambda: mb.simulate(policy(matroid, index=index), environment, horizon)


def _on_k20(repeats: int, horizon: int) -> list[list[str]]:
    """Minimum, median, ratio to UCB and goal of MAUB on K20 with each index."""
    matroid = mb.GraphicMatroid.complete(20)
    environment = mb.BernoulliEnvironment(mb.random_means(matroid.size, seed=0))
    timings = in_turn(
        repeats, *(_run(mb.MAUB, matroid, environment, index, horizon) for index in INDICES)
    )
    ratios = [timing.least / timings[0].least for timing in timings]
    return [
        [
            *(seconds(timing.least / horizon), seconds(timing.median / horizon), f"{ratio:.1f}"),
            goal(ratio, "<=", GOALS[index.name]) if index.name in GOALS else "-",
        ]
        for index, timing, ratio in zip(INDICES, timings, ratios, strict=True)
    ]


def _kl_values(repeats: int) -> tuple[float, float, float]:
    """Seconds for one value of kl-UCB, compiled and in Python, and their ratio."""
    rng = np.random.default_rng(0)
    many = 100_000
    means, counts = rng.random(many), rng.integers(1, 1000, many)
    few = 300
    index = mb.KLUCB()
    budget = log(1000) + 3 * log(log(1000))

    def in_python() -> None:
        for mean, count in zip(means[:few].tolist(), counts[:few].tolist(), strict=True):
            _by_bisection(mean, budget / count)

    compiled, python = in_turn(repeats, lambda: index.values(means, counts, 1000), in_python)
    fast, slow = compiled.least / many, python.least / few
    return fast, slow, slow / fast


def _by_bisection(mean: float, level: float) -> float:
    """The largest q with kl(mean, q) <= level, to 1e-10, in plain Python."""
    low, high = mean, 1.0
    while high - low > 1e-10:
        q = (low + high) / 2
        divergence = mean * log(mean / q) + (1 - mean) * log((1 - mean) / (1 - q))
        if divergence > level:
            high = q
        else:
            low = q
    return low
