"""One long run on a large matroid: its initial rounds, and rounds when most is known.

Run as a script, with family, size and ``settled`` or not, it tells the peak memory instead.
Imports no more than a user would, so that only the package is measured.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from time import perf_counter

import numpy as np

import matroid_bandits as mb
from matroid_bandits._core.loop import run
from matroid_bandits._core.policies.base import PolicyKernel

WARM_UP = 2  # rounds per element before anything is timed, while exploring
SETTLED_AFTER = 2_000_000  # rounds before anything is timed, settled
BLOCKS = 7  # timed one after the other
LONGEST_BLOCK = 100_000  # rounds

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
    """Seconds of the initial rounds, and of a round in each block; new leaders per round."""

    first: float
    blocks: list[float]
    new_leaders: float


def environment(matroid: mb.Matroid, seed: int, *, settled: bool) -> mb.Environment:
    """Means as in the paper, or one basis so far above the others that no other is tried."""
    means = mb.random_means(matroid.size, seed)
    if settled:
        # Confidence widths stay below 10 in any run of practical length.
        means[matroid.max_weight_basis(means)] = 10 + np.linspace(0.5, 1, matroid.rank)
    return mb.GaussianEnvironment(means, 0.2)


def long_run(matroid: mb.Matroid, seed: int, *, settled: bool) -> Run:
    """Play the initial rounds, warm up, and time some blocks of rounds."""
    answers = environment(matroid, seed, settled=settled)
    start = perf_counter()
    policy = mb.MAUB(matroid)
    kernel = compiled(policy)
    play = player(kernel, answers, seed)
    while kernel.n_undersampled:
        play(-(-kernel.n_undersampled // kernel.rank))  # at least so many rounds are needed
    first = perf_counter() - start
    play((SETTLED_AFTER if settled else WARM_UP * matroid.size) - policy.rounds)
    block = LONGEST_BLOCK if settled else min(matroid.size, LONGEST_BLOCK)
    leaders = _leaders(kernel)
    blocks = [play(block) / block for _ in range(BLOCKS)]
    return Run(first, blocks, (_leaders(kernel) - leaders) / (block * BLOCKS))


def compiled(policy: mb.Policy) -> PolicyKernel:
    """The kernel of a policy, whose rounds are played without Python."""
    kernel = policy._deciding_kernel()
    if kernel is None:
        raise TypeError(f"{policy!r} does not run compiled")
    return kernel


def player(kernel: PolicyKernel, environment: mb.Environment, seed: int) -> Callable[[int], float]:
    """A function that plays so many more rounds, and returns the seconds that they took."""
    rewards = environment.rewards(seed)

    def play(rounds: int) -> float:
        began = perf_counter()
        run(kernel, rewards, environment.means, 0.0, np.array([rounds]))
        return perf_counter() - began

    return play


def _leaders(kernel: PolicyKernel) -> int:
    """The number of leaders so far."""
    return len(kernel.state()["former_times"]) + 1


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
    long_run(FAMILIES[family](int(size)), 0, settled=means == "settled")
    print(_peak() - imported)
