"""The cost of compositions: MAUB on compiled ones, and on the same as a Python oracle."""

from functools import partial

import numpy as np

import matroid_bandits as mb
from benchmarks.tables import Table, in_turn, seconds

HORIZON = 5_000


def _compositions() -> dict[str, mb.Matroid]:
    """Compositions by their expression; all are made of graphs, so that they can be compared."""
    network = mb.GraphicMatroid.complete(12)
    nested = mb.LaminarMatroid(
        [
            range(66),
            *(range(11 * g, 11 * g + 11) for g in range(6)),
            *(range(11 * g, 11 * g + 5) for g in range(6)),
        ],
        [11, *[3] * 6, *[1] * 6],
        size=66,
    )
    tasks = mb.TransversalMatroid.random(np.random.default_rng(0), 66)
    return {
        "K12": network,
        "K12.dual()": network.dual(),
        "K12.truncate(6)": network.truncate(6),
        "K12.contract(range(3))": network.contract(range(3)),
        "K12.dual().truncate(6)": network.dual().truncate(6),
        "K8 + K8 + U(4,10)": mb.GraphicMatroid.complete(8)
        + mb.GraphicMatroid.complete(8)
        + mb.UniformMatroid(4, 10),
        "K12 | U(3,66)": network | mb.UniformMatroid(3, 66),
        "K12 | K12": network | network,
        "laminar, 13 sets": nested,
        "laminar.contract(range(2))": nested.contract(range(2)),
        "transversal": tasks,
        "transversal.dual()": tasks.dual(),
        "transversal.contract(range(2))": tasks.contract(range(2)),
    }


def measure(*, quick: bool = False) -> Table:
    """Runs of MAUB on every composition, and on the same as a Python oracle."""
    repeats = 1 if quick else 5
    compositions = _compositions()
    oracles = {
        text: mb.OracleMatroid(matroid.size, matroid.is_independent)
        for text, matroid in compositions.items()
    }
    both = (*compositions.values(), *oracles.values())
    timings = in_turn(repeats, *(partial(_run, matroid) for matroid in both))
    compiled, in_python = timings[: len(compositions)], timings[len(compositions) :]
    rows = []
    for text, mine, other in zip(compositions, compiled, in_python, strict=True):
        matroid = compositions[text]
        (result, _), (twin, policy) = _run(matroid), _run(oracles[text])
        if result.regret.tolist() != twin.regret.tolist():
            raise RuntimeError(f"{text}: other plays than the same matroid as a function")
        rows.append(
            [
                text,
                f"{matroid.size}, {matroid.rank}",
                seconds(mine.least / HORIZON),
                f"{mine.least / compiled[0].least:.1f}",
                f"{other.least / mine.least:.0f}",
                f"{policy.oracle_calls:,}",
            ]
        )
    return Table(
        name="compositions",
        question="What do compositions cost?",
        method=(
            f"MAUB(noise=0.2) for {HORIZON:,} rounds, Gaussian rewards of noise 0.2, minimum of "
            f"{repeats} alternate repeats. Beside it the same matroid as a Python oracle "
            "(`OracleMatroid`), with the same plays; its calls are those after caching. The "
            "compiled compositions have none after the first leader: they read circuits from "
            "their parts."
        ),
        columns=["matroid", "n, D", "a round", "/ K12", "oracle / compiled", "oracle calls"],
        rows=rows,
        remarks=[
            (
                "Truncations, unions and transversal matroids get ready anew for every new order "
                "of the leader; the others read exchanges at once."
            ),
        ],
    )


def _run(matroid: mb.Matroid) -> tuple[mb.Simulation, mb.MAUB]:
    environment = mb.GaussianEnvironment(mb.random_means(matroid.size, seed=0), std=0.2)
    policy = mb.MAUB(matroid, noise=0.2)
    return mb.simulate(policy, environment, HORIZON), policy
