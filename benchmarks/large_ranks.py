"""MAUB and FasterCUCB against OMM where thousands of elements are played in a round."""

from collections.abc import Callable
from dataclasses import dataclass

import matroid_bandits as mb
from benchmarks.instances import connected_graph
from benchmarks.tables import Table, goal, in_turn, seconds

NOISE = 0.2

POLICIES: dict[str, Callable[[mb.Matroid], mb.Policy]] = {
    "OMM": lambda matroid: mb.OMM(matroid, noise=NOISE),
    "MAUB, one": lambda matroid: mb.MAUB(matroid, exchanges="one", noise=NOISE),
    "MAUB, all": lambda matroid: mb.MAUB(matroid, exchanges="all", noise=NOISE),
    "FasterCUCB": mb.FasterCUCB,
}
GOALS = {"MAUB, one": 1.0, "MAUB, all": 1.0, "FasterCUCB": 10.0}


@dataclass(frozen=True)
class Case:
    """A large matroid, and how many rounds are played there."""

    name: str
    matroid: Callable[[], mb.Matroid]
    rounds: int
    with_faster_cucb: bool = False


def measure(*, quick: bool = False) -> Table:
    """Whole runs of all policies on the same rewards."""
    part, repeats = (10, 2) if quick else (1, 3)
    return Table(
        name="large_ranks",
        question="What does a run cost when the rank is in the thousands?",
        method=(
            "Connected graphs with edges drawn uniformly, 100 groups of equal size, a tenth of "
            "each to be taken, and a uniform matroid. Means uniform in [0, 1], Gaussian noise "
            f"{NOISE}, which OMM and MAUB are told. Whole runs, initial rounds included, on the "
            f"same rewards, taken in turn, {repeats} repeats. / OMM is the ratio of the minima."
        ),
        columns=["instance", "policy", "min", "median", "/ OMM", "goal", "regret"],
        rows=[row for case in _cases(part) for row in _rows(case, repeats)],
        remarks=[
            "One and all: how many exchanges MAUB tries in a round.",
            "FasterCUCB has no noise level; eps = 1/ln(100,000) = 0.087.",
        ],
    )


def _cases(part: int) -> list[Case]:
    """Matroids whose size and rank are the full ones divided by `part`."""
    small, large = (5_000 // part, 20_000 // part), (25_000 // part, 100_000 // part)
    n, rank = 100_000 // part, 10_000 // part
    graphs = [f"graph, {v:,} vertices, {e:,} edges" for v, e in (small, large)]
    return [
        Case(graphs[0], lambda: connected_graph(*small), 500, with_faster_cucb=True),
        Case(graphs[0], lambda: connected_graph(*small), 5_000),
        Case(graphs[1], lambda: connected_graph(*large), 200),
        Case(
            f"100 groups, {rank // 100:,} of {n // 100:,}",
            lambda: mb.PartitionMatroid([e % 100 for e in range(n)], rank // 100),
            200,
        ),
        Case(f"U({rank},{n})", lambda: mb.UniformMatroid(rank, n), 200, with_faster_cucb=True),
    ]


def _rows(case: Case, repeats: int) -> list[list[str]]:
    matroid = case.matroid()
    environment = mb.GaussianEnvironment(mb.random_means(matroid.size, 0, low=0.0), NOISE)
    names = [name for name in POLICIES if name != "FasterCUCB" or case.with_faster_cucb]
    regrets = {}

    def run(name: str) -> None:
        simulation = mb.simulate(POLICIES[name](matroid), environment, case.rounds)
        regrets[name] = simulation.regret[-1]

    timings = in_turn(repeats, *(lambda name=name: run(name) for name in names))
    omm = timings[0].least
    return [
        [
            *(f"{case.name}, {case.rounds:,} rounds", name),
            *(seconds(timing.least), seconds(timing.median), f"{timing.least / omm:.2f}"),
            goal(timing.least / omm, "<=", GOALS[name]) if name in GOALS else "-",
            f"{regrets[name]:,.0f}",
        ]
        for name, timing in zip(names, timings, strict=True)
    ]
