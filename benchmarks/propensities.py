"""Decisions with propensities against the rounds that they repeat."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import matroid_bandits as mb
from benchmarks.tables import Table, goal, in_turn, seconds

DRAWS = {"K20": 1_000, "partition": 100}  # of a decision


def measure(*, quick: bool = False) -> Table:
    """Two instances, all kinds of random policies."""
    repeats = 3 if quick else 25
    return Table(
        name="propensities",
        question="What do the propensities of a decision cost?",
        method=(
            "One decide(propensities=n) against n plain decisions, with feedback after each. K20: "
            "190 edges, 4,000 rounds learned. Partition: 5,000 elements in 10 groups of which one "
            f"each is played, 20 observations of each. The kinds are taken in turn, {repeats} "
            "times; times are the minima for one decision."
        ),
        columns=["instance", "policy", "n", "plain", "with propensities", "ratio", "goal"],
        rows=[row for name, make in _instances().items() for row in _rows(name, make, repeats)],
        remarks=[
            "Ratio: the time with propensities, against that of n plain decisions.",
            "A draw decides and does not learn. The policy is copied once.",
        ],
    )


def _instances() -> dict[str, Callable[[Callable[[Any], mb.Policy]], mb.Policy]]:
    graph = mb.GraphicMatroid.complete(20)
    partition = mb.PartitionMatroid([e % 10 for e in range(5_000)], 1)
    rng = np.random.default_rng(0)
    few, many = rng.random(graph.size), rng.random(partition.size)

    def on_graph(make: Callable[[Any], mb.Policy]) -> mb.Policy:
        policy = make(graph)
        mb.simulate(policy, mb.BernoulliEnvironment(few), 4_000)
        return policy

    def on_partition(make: Callable[[Any], mb.Policy]) -> mb.Policy:
        policy = make(partition)
        policy.observe({e: (float(round(20 * m) / 20), 20) for e, m in enumerate(many)})
        return policy

    return {"K20": on_graph, "partition": on_partition}


_POLICIES: dict[str, Callable[[Any], mb.Policy]] = {
    "CTS": mb.CTS,
    "MAUB(index='beta')": lambda matroid: mb.MAUB(matroid, index="beta"),
    "EpsilonGreedy": mb.EpsilonGreedy,
    "RandomBasis": mb.RandomBasis,
}


def _rows(
    instance: str, prepared: Callable[[Callable[[Any], mb.Policy]], mb.Policy], repeats: int
) -> list[list[str]]:
    rows = []
    n = DRAWS[instance]
    for name, make in _POLICIES.items():
        policy = prepared(make)

        def decide(times: int, draws: int | None, policy: mb.Policy = policy) -> None:
            for _ in range(times):
                decision = policy.decide(propensities=draws)
                policy.learn(decision, np.zeros(len(decision.elements)))

        plain, with_draws = in_turn(repeats, partial(decide, n, None), partial(decide, 1, n))
        ratio = with_draws.least / plain.least
        rows.append(
            [
                *(instance, name, f"{n:,}", seconds(plain.least / n), seconds(with_draws.least)),
                *(f"{ratio:.2f}", goal(ratio, "<=", 1.1)),
            ]
        )
    return rows
