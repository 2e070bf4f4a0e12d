"""What a round costs where means change: against the stationary policy, and against the size."""

from typing import Any

import numpy as np

import matroid_bandits as mb
from benchmarks.long_run import FAMILIES, compiled, player
from benchmarks.tables import Table, Timing, goal, in_turn

SIZES = (1_000, 10_000)
BLOCKS = 5
SHORTEST_BLOCK = 0.1  # seconds
# Rounds that are remembered, for each element.
ROUNDS_PER_ELEMENT = 10

INDICES: dict[str, dict[str, Any]] = {
    "ucb": {"noise": 0.5},
    "kl": {"index": "kl"},
    "ucbv": {"index": "ucbv"},
}
MEMORIES = ("none", "window", "discount", "restart")


def measure(*, quick: bool = False) -> Table:
    """Rounds in the long run, with each kind of memory and several indices."""
    sizes = (100, 1_000) if quick else SIZES
    return Table(
        name="change",
        question="What does it cost to forget?",
        method=(
            "MAUB on U(10,n) and on ten groups of n/10 elements, one to be taken of each. "
            "Bernoulli rewards, of mean 0.9 in the best basis and 0.1 outside. A window of "
            f"{ROUNDS_PER_ELEMENT} n rounds, a discount of 1 - 1 / ({ROUNDS_PER_ELEMENT} n), a "
            f"restart by GLR. After {ROUNDS_PER_ELEMENT + 1} n rounds, {BLOCKS} blocks of "
            f"{SHORTEST_BLOCK} s or more are timed, those of both sizes and of all memories in "
            "turn. Ratios are those of minima."
        ),
        columns=[
            *("matroid", "index", "memory"),
            *(f"ns a round, n = {n:,}" for n in sizes),
            *("growth", "goal", *(f"by none, n = {n:,}" for n in sizes)),
        ],
        rows=[
            row
            for family in ("U(10,n)", "partition")
            for index in INDICES
            for row in _rows(family, index, sizes)
        ],
        remarks=[
            "Thompson sampling with a discount is left out: it draws for every element.",
            "Policies with a window or a discount go on exploring; the stationary one has ended.",
            "With UCB-V and n = 10,000, it has not.",
        ],
    )


class Playing:
    """A policy in the long run, and blocks of its rounds."""

    def __init__(self, matroid: mb.Matroid, index: str, memory: str) -> None:
        length = ROUNDS_PER_ELEMENT * matroid.size
        arguments: dict[str, dict[str, Any]] = {
            "none": {},
            "window": {"window": length},
            "discount": {"discount": 1 - 1 / length},
            "restart": {"restart": "glr"},
        }
        policy = mb.MAUB(matroid, **INDICES[index], **arguments[memory])
        means = np.full(matroid.size, 0.1)
        means[matroid.max_weight_basis(np.random.default_rng(0).random(matroid.size))] = 0.9
        self.play = player(compiled(policy), mb.BernoulliEnvironment(means), 0)
        self.play(length + matroid.size)
        self.rounds = 1
        while min(self.play(self.rounds) for _ in range(3)) < SHORTEST_BLOCK:
            self.rounds *= 2

    def block(self) -> None:
        """Play a block."""
        self.play(self.rounds)


def _rows(family: str, index: str, sizes: tuple[int, int]) -> list[list[str]]:
    matroids = [FAMILIES[family](n) for n in sizes]
    runs = {
        (memory, n): Playing(matroid, index, memory)
        for memory in MEMORIES
        for n, matroid in zip(sizes, matroids, strict=True)
    }
    timings = in_turn(BLOCKS, *(run.block for run in runs.values()))
    least = {
        key: Timing(t.least / run.rounds, t.median / run.rounds).least
        for (key, run), t in zip(runs.items(), timings, strict=True)
    }
    found = []
    for memory in MEMORIES:
        small, large = (least[memory, n] for n in sizes)
        growth = large / small
        found.append(
            [
                *(family, index, memory),
                *(f"{1e9 * t:,.0f}" for t in (small, large)),
                f"{growth:.2f}",
                goal(growth, "<=", 3),
                *(f"{least[memory, n] / least['none', n]:.2f}" for n in sizes),
            ]
        )
    return found
