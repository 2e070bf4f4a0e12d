"""MAUB against OMM, on the paper's ten instances."""

from collections.abc import Callable

import numpy as np

import matroid_bandits as mb
from benchmarks.instances import movies_remark, paper_instances
from benchmarks.tables import Table, Timing, goal, in_turn, seconds
from matroid_bandits.experiments import Instance

HORIZON = 100_000
BLOCK = 1_000  # rounds whose rewards are drawn in one call

GOALS = {"K15": 6.0, "K20": 6.0, "linear": 6.0}


def measure(*, quick: bool = False) -> Table:
    """Both policies on the paper's ten instances."""
    seeds, repeats = (range(1), 2) if quick else (range(5), 5)
    return Table(
        name="omm",
        question="How much faster is MAUB than OMM?",
        method=(
            f"Whole runs of {HORIZON:,} rounds on the paper's instances (transversal too, where "
            f"the paper has ten times as many), seeds 0 to {seeds[-1]}, {repeats} repeats. All "
            "runs of an instance are taken in turn; a time is that of one run, the mean over the "
            "seeds of the minimum, or median, over the repeats. Both policies spend part of it on "
            "drawing the same number of rewards; the last ratio is without that part."
        ),
        columns=[
            *("instance", "MAUB min", "median", "OMM min", "median", "drawing"),
            *("OMM / MAUB", "of medians", "goal", "without drawing"),
        ],
        rows=[_row(i, seeds, repeats) for i in paper_instances()],
        remarks=[
            "OMM / MAUB is the ratio of the minima, and so is the one without drawing.",
            f"Drawing: {HORIZON:,} rewards of each element of a basis, from the runs' own streams.",
            movies_remark(),
        ],
    )


def _row(instance: Instance, seeds: range, repeats: int) -> list[str]:
    drawing, checking = _drawing(instance)
    timings = in_turn(
        repeats,
        *(_run(mb.MAUB, instance, seed) for seed in seeds),
        *(_run(mb.OMM, instance, seed) for seed in seeds),
        drawing,
        checking,
    )
    maub, omm = _mean(timings[: len(seeds)]), _mean(timings[len(seeds) : -2])
    drawn = timings[-2].least - timings[-1].least
    ratio = omm.least / maub.least
    limit = GOALS.get(instance.name)
    return [
        instance.name,
        *(seconds(t) for t in (maub.least, maub.median, omm.least, omm.median, drawn)),
        f"{ratio:.2f}",
        f"{omm.median / maub.median:.2f}",
        goal(ratio, ">=", limit) if limit else goal(ratio, ">", 1),
        f"{(omm.least - drawn) / (maub.least - drawn):.2f}",
    ]


def _run(
    policy: Callable[[mb.Matroid], mb.Policy], instance: Instance, seed: int
) -> Callable[[], object]:
    environment = instance.environment_for(seed)
    return lambda: mb.simulate(policy(instance.matroid), environment, HORIZON, seed=seed)


def _drawing(instance: Instance) -> tuple[Callable[[], None], Callable[[], None]]:
    """The draws of a run alone, with the checks of a call from Python."""
    environment = instance.environment_for(0)
    elements = np.tile(instance.matroid.max_weight_basis(environment.means), BLOCK)
    rewards = environment.rewards(seed=0)

    def draw() -> None:
        for _ in range(HORIZON // BLOCK):
            rewards.draw(elements)

    def check() -> None:
        for _ in range(HORIZON // BLOCK):
            rewards.checked(elements)

    return draw, check


def _mean(timings: list[Timing]) -> Timing:
    return Timing(
        sum(t.least for t in timings) / len(timings), sum(t.median for t in timings) / len(timings)
    )
