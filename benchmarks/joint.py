"""A round of MAUB with all exchanges against one, and against OMM, in the long run."""

from collections.abc import Callable
from typing import Literal

import numpy as np

import matroid_bandits as mb
from benchmarks.instances import connected_graph
from benchmarks.long_run import BLOCKS, compiled, player
from benchmarks.tables import Table, in_turn, seconds

WARM_UP = 100_000  # rounds
BLOCK = 10_000  # rounds
COUNTED = 2_000  # rounds whose exchanges are counted
FITTING = 0.2  # the noise of the rewards
NOISES = (FITTING, 1.0)
EXCHANGES: tuple[Literal["one", "all"], ...] = ("one", "all")

MATROIDS: dict[str, Callable[[], mb.Matroid]] = {
    "K20": lambda: mb.GraphicMatroid.complete(20),
    "U(15,30)": lambda: mb.UniformMatroid(15, 30),
    "partition, 2 of 20, 10 times": lambda: mb.PartitionMatroid([e % 10 for e in range(200)], 2),
    "graph, 300 vertices, 1,200 edges": lambda: connected_graph(300, 1_200),
}


def measure(*, quick: bool = False) -> Table:
    """Blocks of rounds of the three policies, each after a long run of its own."""
    warm_up, block = (WARM_UP // 10, BLOCK // 10) if quick else (WARM_UP, BLOCK)
    return Table(
        name="joint",
        question="What does a round with several exchanges cost?",
        method=(
            'MAUB with `exchanges="one"` and `"all"`, and OMM, on the same rewards: means uniform '
            f"in [0.5, 1], Gaussian noise {FITTING}, which all are told, or assume to be 1 as in "
            f"the paper. After {warm_up:,} rounds of each, {BLOCKS} blocks of {block:,} are taken "
            "in turn; times are per round, ratios those of the minima."
        ),
        columns=[
            *("matroid", "noise", "one, min", "median", "all, min", "median", "OMM, min", "median"),
            *("all / one", "all / OMM", "exchanges a round, one", "all"),
        ],
        rows=[_row(name, noise, warm_up, block) for name in MATROIDS for noise in NOISES],
        remarks=[
            f"Exchanges a round: mean over the {COUNTED:,} rounds after those that are timed.",
        ],
    )


def _row(name: str, noise: float, warm_up: int, block: int) -> list[str]:
    matroid = MATROIDS[name]()
    environment = mb.GaussianEnvironment(mb.random_means(matroid.size, 0), FITTING)
    maubs = [mb.MAUB(matroid, exchanges=some, noise=noise) for some in EXCHANGES]
    policies = [*maubs, mb.OMM(matroid, noise=noise)]
    plays = [player(compiled(policy), environment, 0) for policy in policies]
    for play in plays:
        play(warm_up)
    timings = in_turn(BLOCKS, *(lambda play=play: play(block) for play in plays))
    one, every, omm = (timing.least for timing in timings)
    tried = [_exchanges(policy, environment) for policy in maubs]
    return [
        *(name, f"{noise:g}"),
        *(seconds(t / block) for timing in timings for t in (timing.least, timing.median)),
        *(f"{every / one:.2f}", f"{every / omm:.2f}", *(f"{number:.2f}" for number in tried)),
    ]


def _exchanges(policy: mb.MAUB[np.ndarray], environment: mb.Environment) -> float:
    """How many elements are exchanged in a round, on average."""
    rng = np.random.default_rng(0)
    total = 0
    for _ in range(COUNTED):
        played = policy.select()
        if (leader := policy.leader) is not None:
            total += len(np.setdiff1d(played, leader))
        policy.update(played, rng.normal(environment.means[played], FITTING))
    return total / COUNTED
