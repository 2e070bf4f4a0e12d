"""FasterCUCB and OMM against the size of the matroid, from the same statistics."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean
from time import perf_counter

import numpy as np

import matroid_bandits as mb
from benchmarks import long_run
from benchmarks.tables import Table, Timing, goal, seconds
from matroid_bandits._core.loop import run
from matroid_bandits._core.policies.base import PolicyKernel

SIZES = (1_000, 10_000, 100_000, 1_000_000)
RANK = 20
WARM_UP = 5  # observations of an element, on average, before anything is timed
BLOCKS = 7
LONGEST_BLOCK = 10_000  # rounds
OMM_STEPS = 2_000_000  # rounds of OMM times elements, in a block

WHAT_GROWS = (
    "What grows is the price of memory: a round touches some dozens of elements at random places "
    "among n; and, for graphs, the number of pairs of vertices that have an edge, up to 1,225."
)

FAMILIES: dict[str, Callable[[int], mb.Matroid]] = {
    f"U({RANK},n)": lambda n: mb.UniformMatroid(RANK, n),
    "partition": lambda n: mb.PartitionMatroid([e % RANK for e in range(n)], 1),
    "graph": long_run.FAMILIES["graph"],
}


@dataclass(frozen=True)
class Run:
    """Seconds of a round in each block of either policy, of the initial rounds, of the first basis;
    and how many different rounded features there are.
    """

    faster: list[float]
    omm: list[float]
    first: float
    basis: float
    features: int


def measure(*, quick: bool = False) -> Table:
    """Rounds while the policies explore."""
    sizes = SIZES[:2] if quick else SIZES
    return Table(
        name="faster_cucb",
        question="Does a round of FasterCUCB cost more when the matroid is larger?",
        method=(
            f"U({RANK},n), {RANK} groups of n/{RANK} elements, one to be taken of each, and graphs "
            f"of {long_run.VERTICES} vertices with n edges drawn uniformly among all pairs. Means "
            "uniform in [0.5, 1], noise 0.2, eps = 1/ln(100,000) = 0.087. After the initial rounds "
            f"FasterCUCB plays {WARM_UP}n/rank more; then {BLOCKS} blocks of n/rank rounds, "
            f"{LONGEST_BLOCK:,} at most, are timed one after the other. OMM goes on from the same "
            "statistics, in shorter blocks where it is slow. Growth is the ratio of minima to that "
            "of the smallest n."
        ),
        columns=[
            *("matroid", "n", "a round, min", "median", "growth", "goal"),
            *("OMM, min", "growth of OMM", "OMM / FasterCUCB"),
            *("initial rounds", "first basis", "features"),
        ],
        rows=[row for family in FAMILIES for row in _rows(family, sizes)],
        remarks=[
            "Initial rounds: from a new policy until every element has been observed.",
            "First basis: the one round after these, which rounds and sorts everything.",
            "Features: different rounded features after the warm-up; in a partition, by group.",
            WHAT_GROWS,
        ],
    )


def _rows(family: str, sizes: tuple[int, ...]) -> list[list[str]]:
    found = []
    base, base_of_omm = 0.0, 0.0
    for n in sizes:
        # Small matroids take several runs.
        runs = [_run(FAMILIES[family](n), seed) for seed in range(max(1, 20_000 // n))]
        faster = Timing.of([mean(t) for t in zip(*(r.faster for r in runs), strict=True)])
        omm = Timing.of([mean(t) for t in zip(*(r.omm for r in runs), strict=True)])
        base, base_of_omm = base or faster.least, base_of_omm or omm.least
        growth = faster.least / base
        found.append(
            [
                *(family, f"{n:,}", seconds(faster.least), seconds(faster.median)),
                *(f"{growth:.2f}", goal(growth, "<=", 3) if n > sizes[0] else "-"),
                *(seconds(omm.least), f"{omm.least / base_of_omm:,.1f}"),
                f"{omm.least / faster.least:,.0f}",
                *(seconds(mean(r.first for r in runs)), seconds(mean(r.basis for r in runs))),
                f"{max(r.features for r in runs):,}",
            ]
        )
    return found


def _run(matroid: mb.Matroid, seed: int) -> Run:
    environment = mb.GaussianEnvironment(mb.random_means(matroid.size, seed), 0.2)
    start = perf_counter()
    kernel = _kernel(mb.FasterCUCB(matroid))
    rewards = environment.rewards(seed)

    def play(policy: PolicyKernel, rounds: int) -> float:
        """The seconds that a round took."""
        began = perf_counter()
        run(policy, rewards, environment.means, 0.0, np.array([rounds]))
        return (perf_counter() - began) / rounds

    while kernel.n_undersampled:
        play(kernel, -(-kernel.n_undersampled // kernel.rank))  # at least so many rounds are needed
    first = perf_counter() - start
    basis = play(kernel, 1)
    play(kernel, WARM_UP * matroid.size // kernel.rank)
    state = kernel.state()
    block = min(matroid.size // kernel.rank, LONGEST_BLOCK)
    faster = [play(kernel, block) for _ in range(BLOCKS)]
    other = _kernel(mb.OMM(matroid))
    other.restore(state)
    play(other, 2)  # sorts all elements for the first time
    block = max(5, min(block, OMM_STEPS // matroid.size))
    omm = [play(other, block) for _ in range(BLOCKS)]
    return Run(faster, omm, first, basis, len(state["heap"]))


def _kernel(policy: mb.FasterCUCB | mb.OMM) -> PolicyKernel:
    kernel = policy._deciding_kernel()
    if kernel is None:
        raise TypeError(f"{policy!r} does not run compiled")
    return kernel
