"""The engine compared with NumPy."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np

import matroid_bandits as mb
from benchmarks.instances import paper_instances
from benchmarks.tables import Table, Timing, goal, in_turn, seconds

HORIZON = 100_000
ROUNDS = 1_000  # of select and update, timed at once

# What is timed, what it is compared with, both times, and the goal for their ratio.
Line = tuple[str, str, Timing, Timing, float]


def measure(*, quick: bool = False) -> Table:
    """Whole runs, single rounds and the import, each compared with NumPy."""
    repeats = 3 if quick else 15
    lines = [*_whole_runs(repeats), *_single_rounds(2 * repeats), _import(repeats)]
    return Table(
        name="draws",
        question="How does the engine compare with NumPy's own work?",
        method=(
            f"Each line is timed in turn with its yardstick, {repeats} times (single rounds "
            f"{2 * repeats} times). A run is `simulate`, from a new policy to the result; its "
            "yardstick is one call of NumPy that draws as many normals as the run has rewards. "
            "The ratio is that of the two minima, then that of the two medians."
        ),
        columns=[
            *("what", "yardstick", "min", "median", "yardstick min", "yardstick median"),
            *("ratio", "of medians", "goal"),
        ],
        rows=[_row(*line) for line in lines],
        remarks=[
            "The draw is a yardstick, not a lower bound: the engine's own normals cost less.",
            f"One round from Python: the mean of {ROUNDS:,}, with rewards drawn beforehand.",
            "Imports: a fresh process, less one that imports nothing.",
        ],
    )


def _row(what: str, yardstick: str, own: Timing, other: Timing, limit: float) -> list[str]:
    ratio = own.least / other.least
    times = [seconds(t) for t in (own.least, own.median, other.least, other.median)]
    ratios = [f"{ratio:.2f}", f"{own.median / other.median:.2f}"]
    return [what, yardstick, *times, *ratios, goal(ratio, "<=", limit)]


def _whole_runs(repeats: int) -> list[Line]:
    (k20,) = paper_instances("K20")
    environment = k20.environment_for(0)
    rng = np.random.default_rng(0)
    draws, maub, omm = in_turn(
        repeats,
        lambda: rng.standard_normal(k20.matroid.rank * HORIZON),
        lambda: mb.simulate(mb.MAUB(k20.matroid), environment, HORIZON),
        lambda: mb.simulate(mb.OMM(k20.matroid), environment, HORIZON),
    )
    yardstick = f"draw of {k20.matroid.rank} x {HORIZON:,} normals"
    return [
        (f"MAUB, K20, T = {HORIZON:,}", yardstick, maub, draws, 2),
        (f"OMM, K20, T = {HORIZON:,}", yardstick, omm, draws, 20),
    ]


def _single_rounds(repeats: int) -> list[Line]:
    matroid = mb.GraphicMatroid.complete(20)
    rng = np.random.default_rng(0)
    values = rng.random(matroid.size)
    rewards = list(rng.normal(0.75, 0.2, (ROUNDS, matroid.rank)))

    def argsort() -> None:
        for _ in rewards:
            np.argsort(values)

    def rounds(policy: mb.Policy) -> Callable[[], None]:
        def play() -> None:
            for drawn in rewards:
                policy.update(policy.select(), drawn)

        play()  # past the initial rounds
        return play

    timings = in_turn(repeats, rounds(mb.MAUB(matroid)), rounds(mb.OMM(matroid)), argsort)
    maub, omm, yardstick = (Timing(t.least / ROUNDS, t.median / ROUNDS) for t in timings)
    return [
        (f"{name}, K20, one select + update", f"numpy.argsort of {matroid.size}", own, yardstick, 8)
        for name, own in (("MAUB", maub), ("OMM", omm))
    ]


def _import(repeats: int) -> Line:
    def process(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    nothing, numpy, package = in_turn(
        repeats, process("pass"), process("import numpy"), process("import matroid_bandits")
    )

    def beyond(timing: Timing) -> Timing:
        return Timing(timing.least - nothing.least, timing.median - nothing.median)

    return ("import matroid_bandits", "import numpy", beyond(package), beyond(numpy), 2)
