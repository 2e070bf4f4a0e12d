"""Live use: decisions and late feedback against the simple loop, logs against updates, files."""

import pickle
from collections import deque
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

import matroid_bandits as mb
from benchmarks.tables import Table, in_turn, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 2_000


def measure(*, quick: bool = False) -> Table:
    """Decisions, logs and files, each against something that does the same in another way."""
    repeats = 3 if quick else 15
    n_decisions = 20_000 if quick else 200_000
    return Table(
        name="live",
        question="What do decisions, logs and files cost?",
        method=(
            "MAUB with kl-UCB, rewards of 0 and 1. Rounds: a call of select and update, against a "
            f"decision and its feedback, which comes at once or {ROUNDS:,} rounds later. Logs: "
            f"{n_decisions:,} decisions of five of 300 labels, {5 * n_decisions:,} rows, against "
            "update for each decision. Files: 100,000 elements, 10,000 open decisions of ten, "
            "against pickle in memory. Both sides of a row are taken in turn, "
            f"{repeats} times (logs: 3); times are the minima."
        ),
        columns=["what", "how", "time", "compared with", "time ", "ratio"],
        rows=[*_rounds(repeats), *_logs(n_decisions), *_files(repeats)],
        remarks=[
            "A round is one decision with its feedback; a file is written to disk and synced."
        ],
    )


def _rounds(repeats: int) -> list[list[str]]:
    rows = []
    for name in ("U(3,10)", "K20"):
        matroid = mb.catalog.matroid(name)
        rewards = (np.random.default_rng(0).random((ROUNDS, matroid.rank)) < 0.5).astype(float)
        kinds: dict[str, Callable[[], object]] = {
            "select and update": partial(_simple, mb.MAUB(matroid, index="kl"), rewards),
            "decide and learn": partial(_at_once, mb.MAUB(matroid, index="kl"), rewards),
            f"learn {ROUNDS:,} rounds later": partial(
                _late, mb.MAUB(matroid, index="kl"), rewards, deque()
            ),
        }
        base, *timings = in_turn(repeats, *kinds.values())
        for how, timing in zip(list(kinds)[1:], timings, strict=True):
            rows.append(
                [
                    *(f"a round on {name}", how, seconds(timing.least / ROUNDS)),
                    *("select and update", seconds(base.least / ROUNDS)),
                    f"{timing.least / base.least:.2f}",
                ]
            )
    return rows


def _simple(policy: mb.Policy, rewards: Any) -> None:
    for row in rewards:
        policy.update(policy.select(), row)


def _at_once(policy: mb.Policy, rewards: Any) -> None:
    for row in rewards:
        policy.learn(policy.decide(), row)


def _late(policy: mb.Policy, rewards: Any, waiting: deque[Any]) -> None:
    for row in rewards:
        waiting.append((policy.decide(), row))
        if len(waiting) > ROUNDS:
            policy.learn(*waiting.popleft())


def _logs(n_decisions: int) -> list[list[str]]:
    labels = [f"article {k}" for k in range(300)]
    problem = mb.Problem(mb.PartitionMatroid([k % 5 for k in range(300)], 1), labels)
    rng = np.random.default_rng(1)
    shown = 5 * rng.integers(0, 60, (n_decisions, 5)) + np.arange(5)
    columns: dict[str, Any] = {
        "decision": np.repeat(np.arange(10**7, 10**7 + n_decisions), 5),
        "element": [labels[e] for e in shown.ravel().tolist()],
        "reward": (rng.random(shown.size) < 0.5).astype(float),
    }
    rewards = columns["reward"].reshape(-1, 5)

    def one_by_one() -> None:
        policy = mb.MAUB(problem, index="kl")
        for elements, row in zip(shown.tolist(), rewards, strict=True):
            policy.update([labels[e] for e in elements], row)

    frames = {"mapping": columns, "pandas": pd.DataFrame(columns), "polars": pl.DataFrame(columns)}
    base, *timings = in_turn(
        3,
        one_by_one,
        *(
            lambda frame=frame: mb.MAUB(problem, index="kl").learn_log(frame)
            for frame in frames.values()
        ),
    )
    return [
        [
            *(f"a log of {5 * n_decisions:,} rows", how, seconds(timing.least)),
            *("update in a loop", seconds(base.least), f"{timing.least / base.least:.2f}"),
        ]
        for how, timing in zip(frames, timings, strict=True)
    ]


def _files(repeats: int) -> list[list[str]]:
    size = 100_000
    policy = mb.MAUB(mb.PartitionMatroid([e % 10 for e in range(size)], 1), index="kl")
    policy.update(np.arange(size), np.random.default_rng(2).random(size))
    for _ in range(10_000):
        policy.decide()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "policy.mb"
        data = pickle.dumps(policy)
        policy.save(path)
        pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "save": (partial(policy.save, path), partial(pickle.dumps, policy)),
            "load": (partial(mb.load, path), partial(pickle.loads, data)),
        }
        rows = []
        for how, (ours, theirs) in pairs.items():
            mine, other = in_turn(repeats, ours, theirs)
            rows.append(
                [
                    *("a file", how, seconds(mine.least), "pickle", seconds(other.least)),
                    f"{mine.least / other.least:.2f}",
                ]
            )
    return rows
