"""A settled round with each index against the size of the matroid."""

import numpy as np

import matroid_bandits as mb
from benchmarks.growth import MATROIDS
from benchmarks.indices import INDICES
from benchmarks.long_run import BLOCKS, FAMILIES, compiled, player
from benchmarks.tables import Table, Timing, goal, in_turn

SIZES = (1_000, 1_000_000)
# Observations of an element outside the best basis, and of one inside.
OUTSIDE = (1_000, 1_100)
INSIDE = 2_000_000
SHORTEST_BLOCK = 0.1  # seconds

GOALS = {
    **dict.fromkeys(("kl", "ucbv", "normal", "moss", "imed", "shared-gaussian"), 2),
    **dict.fromkeys(("beta", "gaussian"), 3),
}


def measure(*, quick: bool = False) -> Table:
    """Rounds in which nothing but the best basis is played any more."""
    sizes = (SIZES[0], SIZES[0] * 10) if quick else SIZES
    return Table(
        name="index_growth",
        question="Does a round with another index cost more when the matroid is larger?",
        method=(
            f"{MATROIDS} Bernoulli rewards, of means from 0.85 to 0.95 in the best basis and 0.1 "
            "outside. Rewards between 0 and 1 cannot be so far apart that one observation "
            f"decides, as in growth.md: a policy starts with the statistics of {OUTSIDE[0]:,} to "
            f"{OUTSIDE[1]:,} rewards of each element, {INSIDE:,} in the best basis, drawn at "
            f"random. After a warm-up, {BLOCKS} blocks of {SHORTEST_BLOCK} s or more are timed, "
            "those of both sizes in turn. Growth is the ratio of minima."
        ),
        columns=[
            *("matroid", "index"),
            *(cell for n in sizes for cell in (f"ns a round, n = {n:,}, min", "median")),
            *("growth", "goal"),
        ],
        rows=[row for family in FAMILIES for row in _rows(family, sizes)],
        remarks=["A policy that tries anything outside the best basis while timed is an error."],
    )


class Settled:
    """A policy that knows its best basis, and plays blocks of rounds."""

    def __init__(self, matroid: mb.Matroid, index: mb.Index) -> None:
        rng = np.random.default_rng(0)
        best = matroid.max_weight_basis(rng.random(matroid.size))
        means = np.full(matroid.size, 0.1)
        means[best] = np.linspace(0.85, 0.95, matroid.rank)
        self.is_outside = np.ones(matroid.size, dtype=bool)
        self.is_outside[best] = False
        self.counts = np.where(self.is_outside, rng.integers(*OUTSIDE, matroid.size), INSIDE)
        observed = rng.binomial(self.counts, means) / self.counts
        squares = self.counts * observed * (1 - observed)  # of the deviations from the mean
        self.policy = mb.MAUB(matroid, index=index)
        kernel = compiled(self.policy)
        elements = np.arange(matroid.size)
        kernel.merge(elements, observed, self.counts, INSIDE, {"squares": squares})
        self.play = player(kernel, mb.BernoulliEnvironment(means), 0)
        self.play(10)  # finds the leader
        self.rounds = 1
        # The least of three: a single one may recompute bounds of all elements.
        while min(self.play(self.rounds) for _ in range(3)) < SHORTEST_BLOCK:
            self.rounds *= 2

    def block(self) -> None:
        """Play a block."""
        self.play(self.rounds)

    def check(self) -> None:
        """Nothing outside the best basis was played."""
        if (self.policy.counts != self.counts)[self.is_outside].any():
            raise RuntimeError(f"{self.policy!r} is not settled")


def _rows(family: str, sizes: tuple[int, int]) -> list[list[str]]:
    matroids = [FAMILIES[family](n) for n in sizes]
    found = []
    for index in INDICES:
        runs = [Settled(matroid, index) for matroid in matroids]
        timings = in_turn(BLOCKS, *(run.block for run in runs))
        small, large = (
            Timing(timing.least / run.rounds, timing.median / run.rounds)
            for timing, run in zip(timings, runs, strict=True)
        )
        for run in runs:
            run.check()
        times = (small.least, small.median, large.least, large.median)
        growth = large.least / small.least
        limit = GOALS.get(index.name)
        verdict = goal(growth, "<=", limit) if limit else "-"
        found.append(
            [family, repr(index), *(f"{1e9 * t:,.0f}" for t in times), f"{growth:.2f}", verdict]
        )
    return found
