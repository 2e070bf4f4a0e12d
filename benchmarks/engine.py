"""How fast is the engine? Ratios measured in one run; seconds are this machine's only.

Each line compares a time with a yardstick taken in turn with it, both the best of many repeats,
so that a machine busy with other things slows both alike. Run with ``make bench``.
"""

import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np

import matroid_bandits as mb

# What is compared, its seconds, those of the yardstick, and the largest ratio allowed.
Line = tuple[str, float, float, float]

HORIZON = 100_000
K20 = mb.GraphicMatroid.complete(20)


def best_of(repeats: int, *functions: Callable[[], object]) -> list[float]:
    """The shortest time of each function, all of them run in turn `repeats` times."""
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = perf_counter()
            function()
            best[i] = min(best[i], perf_counter() - start)
    return best


def whole_runs() -> list[Line]:
    """MAUB and OMM on K20 against drawing the same number of normals with NumPy."""
    means = np.random.default_rng([0, 10**6]).uniform(0.5, 1, K20.size)
    environment = mb.GaussianEnvironment(means, 0.2)
    rng = np.random.default_rng(0)
    draws, maub, omm = best_of(
        15,
        lambda: rng.standard_normal(K20.rank * HORIZON),
        lambda: mb.simulate(mb.MAUB(K20), environment, HORIZON),
        lambda: mb.simulate(mb.OMM(K20), environment, HORIZON),
    )
    yardstick = "NumPy's draw of the same 19 x 100,000 normals"
    return [
        (f"MAUB, K20, T = {HORIZON:,} / {yardstick}", maub, draws, 4),
        (f"OMM, K20, T = {HORIZON:,} / {yardstick}", omm, draws, 20),
    ]


def single_rounds() -> list[Line]:
    """One select and update from Python on K20 against one argsort of 190 floats."""
    rng = np.random.default_rng(0)
    values = rng.random(K20.size)
    rewards = list(rng.normal(0.75, 0.2, (1000, K20.rank)))

    def argsort() -> None:
        for _ in rewards:
            np.argsort(values)

    def rounds(policy: mb.Policy) -> Callable[[], None]:
        def play() -> None:
            for drawn in rewards:
                policy.update(policy.select(), drawn)

        play()  # past the first rounds
        return play

    maub, omm, yardstick = best_of(30, rounds(mb.MAUB(K20)), rounds(mb.OMM(K20)), argsort)
    return [
        (
            f"{name}, K20, one select + update / one numpy.argsort of 190 floats",
            seconds / len(rewards),
            yardstick / len(rewards),
            8,
        )
        for name, seconds in (("MAUB", maub), ("OMM", omm))
    ]


def imports() -> list[Line]:
    """Importing the package against importing NumPy, in fresh processes."""

    def process(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    nothing, numpy, package = best_of(
        10, process("pass"), process("import numpy"), process("import matroid_bandits")
    )
    return [("import matroid_bandits / import numpy", package - nothing, numpy - nothing, 2)]


def main() -> None:
    """Print one table."""
    width = 76
    print(f"{'what / yardstick':<{width}}{'seconds':>12}{'yardstick':>12}{'ratio':>8}{'goal':>7}")
    for measure in (whole_runs, single_rounds, imports):
        for name, seconds, yardstick, goal in measure():
            print(
                f"{name:<{width}}{seconds:>12.3g}{yardstick:>12.3g}"
                f"{seconds / yardstick:>8.2f}{f'<= {goal:g}':>7}"
            )


if __name__ == "__main__":
    main()
