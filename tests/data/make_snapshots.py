"""Writes the files in ``snapshots/``, once for each version of the format: they are never replaced.

``python tests/data/make_snapshots.py FOLDER``
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matroid_bandits as mb

# Plays that are compared after loading.
ROUNDS = 40


class Latest(mb.Policy):
    """The last reward of every element: a policy with a state of its own."""

    def __init__(self, matroid: Any, *, start: float = 1.0) -> None:
        super().__init__(matroid)
        self._last = [start] * self.problem.size

    def _observe(self, elements: Any, rewards: Any) -> None:
        for element, reward in zip(elements.tolist(), rewards.tolist(), strict=True):
            self._last[element] = reward

    def _select(self) -> Any:
        return self.greedy_basis(self._last)

    def _get_state(self) -> Any:
        return self._last

    def _set_state(self, state: Any) -> None:
        self._last = list(state)


class Pairs(mb.Matroid):
    """Any two of seven, in Python."""

    def __init__(self) -> None:
        super().__init__(7)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2


def links() -> Any:
    edges = [("Oslo", 1), ("Rome", 2), ("Cork", 3), ("Wien", 4)]
    pairs = [(u, v) for i, u in enumerate(edges) for v in edges[:i]]
    return mb.Problem(mb.GraphicMatroid(pairs), labels=pairs, sense="min")


def groups() -> Any:
    return mb.PartitionMatroid(list("aaabbbcccd"), {"a": 1, "b": 2, "c": 1, "d": 1})


def composition() -> Any:
    return mb.GraphicMatroid.complete(4).dual() + mb.LinearMatroid([[1.5, 0], [0, 1], [1, 1]])


def features() -> Any:
    return mb.LinearFeatures([[e % 3 / 2, e % 4 / 3, 1.0] for e in range(10)], noise=0.5)


POLICIES: dict[str, Callable[[], Any]] = {
    "maub": lambda: mb.MAUB(links(), index="kl"),
    "maub-beta-pending": lambda: mb.MAUB(groups(), index="beta", seed=3, pending="count"),
    "maub-python": lambda: mb.MAUB(Pairs(), noise=0.5),
    "maub-all": lambda: mb.MAUB(links(), exchanges="all", noise=0.5),
    "maub-window": lambda: mb.MAUB(links(), noise=0.5, window=15),
    "maub-discount": lambda: mb.MAUB(groups(), index="ucbv", discount=0.9),
    "maub-restart": lambda: mb.MAUB(groups(), index="kl", restart=mb.GLR(delta=0.9, period=7)),
    "maub-imed": lambda: mb.MAUB(groups(), index="imed"),
    "maub-moss": lambda: mb.MAUB(groups(), index="moss"),
    "omm": lambda: mb.OMM(composition(), noise=0.5),
    "omm-ucbv": lambda: mb.OMM(groups(), index="ucbv"),
    "cts": lambda: mb.CTS(links(), seed=2**70),
    "cts-window": lambda: mb.CTS(groups(), seed=4, window=20),
    "comb-lin-ucb": lambda: mb.CombLinUCB(groups(), features=features()),
    "comb-lin-ts": lambda: mb.CombLinTS(groups(), features=features(), seed=5),
    "cucb": lambda: mb.CUCB(groups()),
    "klosm": lambda: mb.KLOSM(groups(), c=0.5),
    "escb": lambda: mb.ESCB(links(), method="sweep"),
    "faster-cucb": lambda: mb.FasterCUCB(groups(), eps=0.2),
    "osub": lambda: mb.OSUB(groups()),
    "epsilon-greedy": lambda: mb.EpsilonGreedy(links(), epsilon=0.3, seed=5),
    "random-basis": lambda: mb.RandomBasis(groups(), seed=6),
    "follow-the-leader": lambda: mb.FollowTheLeader(composition()),
    "own": lambda: Latest(links(), start=0.5),
}


def reward(element: int, number: int) -> float:
    """A reward from 0 to 1 that looks random, by integers alone."""
    return (element * 7919 + number * 104729 + element * number * 31) % 101 / 100


def play(policy: Any, rounds: int) -> list[list[int]]:
    """Decisions whose feedback comes two rounds later, in part; and selections among them."""
    played = []
    for _ in range(rounds):
        number = policy.rounds
        if number % 3:
            names = policy.decide().elements
        else:
            names = policy.select()
            elements = policy.problem.elements(names).tolist()
            policy.update(names, [reward(e, number) for e in elements])
        played.append(policy.problem.elements(names).tolist())
        waiting = list(policy.open_decisions.values())
        if len(waiting) > 2:
            names = list(waiting[0].elements)[: 1 + number % 2]
            elements = policy.problem.elements(names).tolist()
            feedback = [reward(e, number) for e in elements]
            policy.learn(waiting[0].id, dict(zip(names, feedback, strict=True)), final=True)
    return played


def main() -> None:
    """Save every policy in the middle of what it does, and write down what it does next."""
    folder = Path(sys.argv[1])
    plays = {}
    for name, make in POLICIES.items():
        policy = make()
        play(policy, 60)
        policy.save(folder / f"{name}.snapshot")
        plays[name] = {"plays": play(policy, ROUNDS), "means": policy.means.tolist()}
    (folder / "plays.json").write_text(json.dumps(plays, indent=1) + "\n")


if __name__ == "__main__":
    main()
