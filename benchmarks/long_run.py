"""One long run on a large matroid: its first rounds, and rounds when most is known.

Run as a script, with family, size and ``settled`` or not, it tells the peak memory instead.
Imports no more than a user would, so that only the package is measured.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from time import perf_counter

import numpy as np

import matroid_bandits as mb
from matroid_bandits._core.loop import run

START, END = 5, 10  # the block timed, in rounds per element
WATCHED = 0.1  # rounds per element after it, in which changes of the leader are counted
PATIENCE = 60.0  # seconds; then a run is given up

VERTICES = 50


def _graph(size: int) -> mb.Matroid:
    pairs = list(combinations(range(VERTICES), 2))
    drawn = np.random.default_rng(0).integers(0, len(pairs), size)
    matroid = mb.GraphicMatroid(pairs[i] for i in drawn)
    if matroid.rank < VERTICES - 1:
        raise ValueError(f"{size} edges do not connect {VERTICES} vertices")
    return matroid


FAMILIES: dict[str, Callable[[int], mb.Matroid]] = {
    "U(10,n)": lambda n: mb.UniformMatroid(10, n),
    "partition": lambda n: mb.PartitionMatroid([e % 10 for e in range(n)], 1),
    "graph": _graph,
}


@dataclass(frozen=True)
class Run:
    """Seconds of the first rounds and of the block, and new leaders per round after it."""

    first: float
    block: float
    new_leaders: float


def environment(matroid: mb.Matroid, seed: int, *, settled: bool) -> mb.Environment:
    """Means as in the paper, or with one basis so clearly best that it soon leads for good."""
    means = mb.random_means(matroid.size, seed)
    if settled:
        best = matroid.max_weight_basis(means)
        means = 0.8 * (means - 0.5)  # 0 to 0.4
        means[best] = np.linspace(0.6, 1, matroid.rank)
    return mb.GaussianEnvironment(means, 0.2)


def long_run(matroid: mb.Matroid, seed: int, *, settled: bool) -> Run:
    """Play `END` rounds per element, and `WATCHED` more; TimeoutError if it takes too long."""
    answers = environment(matroid, seed, settled=settled)
    start = perf_counter()
    policy, rewards = mb.MAUB(matroid), answers.rewards(seed)
    kernel = policy._deciding_kernel()
    if kernel is None:
        raise TypeError("MAUB does not run compiled")

    def play(rounds: int) -> float:
        """The seconds it took."""
        began = perf_counter()
        for done in range(0, rounds, 5_000):  # few enough to give up in time
            step = min(5_000, rounds - done)
            run(kernel, rewards, answers.means, 0.0, np.array([step]))
            if perf_counter() - start > PATIENCE:
                raise TimeoutError
        return perf_counter() - began

    while kernel.unobserved:
        play(-(-kernel.unobserved // kernel.rank))  # so many are needed at least
    first = perf_counter() - start
    play(START * matroid.size - policy.rounds)
    block = play((END - START) * matroid.size)
    leaders = []
    watched = int(WATCHED * matroid.size)
    for _ in range(watched):
        play(1)
        leaders.append(np.asarray(policy.leader).tobytes())
    return Run(first, block, sum(a != b for a, b in pairwise(leaders)) / watched)


def _peak() -> int:
    """The most memory this process has had so far, in bytes.

    Not getrusage's ru_maxrss: on Linux that starts from the peak of the process that started us.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    _ = np.random.default_rng(0).standard_normal()  # NumPy imports its generators when needed
    imported = _peak()
    family, size, means = sys.argv[1:]
    try:
        long_run(FAMILIES[family](int(size)), 0, settled=means == "settled")
        end = "finished"
    except TimeoutError:
        end = "given-up"
    print(_peak() - imported, end)
