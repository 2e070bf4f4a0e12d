"""The cost of an index: MAUB and OMM with each of them, and kl-UCB against a Python loop."""

from collections.abc import Callable
from math import log

import numpy as np

import matroid_bandits as mb
from benchmarks.tables import Table, goal, in_turn, seconds

HORIZON = 20_000

INDICES: list[mb.Index] = [
    mb.UCB(),
    mb.KLUCB(),
    mb.UCBV(),
    mb.NormalUCB(),
    mb.BetaThompson(),
    mb.GaussianThompson(),
]


def measure(*, quick: bool = False) -> Table:
    """Runs with every index, and single values of kl-UCB."""
    repeats = 2 if quick else 7
    matroid = mb.GraphicMatroid.complete(15)
    environment = mb.BernoulliEnvironment(mb.random_means(matroid.size, seed=0))
    timings = in_turn(
        repeats,
        *(_run(mb.MAUB, matroid, environment, index) for index in INDICES),
        *(_run(mb.OMM, matroid, environment, index) for index in INDICES),
    )
    maub, omm = timings[: len(INDICES)], timings[len(INDICES) :]
    rows = [
        [
            repr(index),
            seconds(mine.least / HORIZON),
            f"{mine.least / maub[0].least:.1f}",
            seconds(other.least / HORIZON),
            f"{other.least / omm[0].least:.1f}",
            f"{other.least / mine.least:.1f}",
        ]
        for index, mine, other in zip(INDICES, maub, omm, strict=True)
    ]
    fast, slow, ratio = _kl_values(repeats)
    return Table(
        name="indices",
        question="What does an index cost?",
        method=(
            f"K15 (105 elements, rank 14) with Bernoulli rewards, runs of {HORIZON:,} rounds, "
            f"taken in turn, least of {repeats} repeats, per round. OMM computes all 105 values "
            "every round; MAUB all 105 too, but for UCB (none that a bound rules out) and KLUCB "
            "(those of the leader, and of elements that two logarithms do not rule out)."
        ),
        columns=["index", "MAUB", "/ UCB", "OMM", "/ UCB", "OMM / MAUB"],
        rows=rows,
        remarks=[
            (
                f"One value of kl-UCB: {seconds(fast)} compiled, {seconds(slow)} in Python, by "
                f"bisection: {ratio:.0f} times as long ({goal(ratio, '>=', 100)})."
            ),
        ],
    )


def _run(
    policy: Callable[..., mb.Policy],
    matroid: mb.Matroid,
    environment: mb.Environment,
    index: mb.Index,
) -> Callable[[], object]:
    return lambda: mb.simulate(policy(matroid, index=index), environment, HORIZON)


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
