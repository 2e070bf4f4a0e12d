"""Policies at random moments, saved and loaded; run as a program, it loads and continues them.

``python continuing.py FOLDER`` continues every file in FOLDER and prints what they did. It imports
nothing but the package, so that it also is another process in every other respect.
"""

import json
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import matroid_bandits as mb

STEPS = 25


# ---- classes of one's own ----


class Forests(mb.Matroid):
    """Forests of the complete graph on five vertices, in Python."""

    def __init__(self) -> None:
        super().__init__(10)
        self._edges = list(combinations(range(5), 2))

    def _is_independent(self, elements: frozenset[int]) -> bool:
        tree = list(range(5))
        for e in elements:
            one, other = (tree[vertex] for vertex in self._edges[e])
            if one == other:
                return False
            tree = [one if name == other else name for name in tree]
        return True


class Hopeful(mb.Index):
    """An index in Python."""

    def __init__(self, boldness: float = 1.0) -> None:
        self.boldness = boldness

    def values(self, means: Any, counts: Any, time: int) -> Any:
        return means + self.boldness * np.sqrt(np.log(time + 1) / counts)


class Window(mb.Policy):
    """The means of the last rewards, with a little noise: a policy with a state of its own."""

    def __init__(self, matroid: Any, *, length: int = 30, seed: int = 0) -> None:
        super().__init__(matroid)
        self._length = length
        self._seen: list[tuple[int, float]] = []
        self._rng = np.random.default_rng(seed)

    def _observe(self, elements: Any, rewards: Any) -> None:
        self._seen += zip(elements.tolist(), rewards.tolist(), strict=True)
        self._seen = self._seen[-self._length :]

    def _select(self) -> Any:
        values = self._rng.uniform(0, 0.1, self.matroid.size)
        for element, reward in self._seen:
            values[element] += reward / self._length
        return self.greedy_basis(values)

    def _get_state(self) -> Any:
        return {"seen": self._seen, "generator": self._rng.bit_generator.state}

    def _set_state(self, state: Any) -> None:
        self._seen = state["seen"]
        self._rng.bit_generator.state = state["generator"]

    def _reseed(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)


CLASSES = (Hopeful, Window)

# ---- what is played, and by whom ----


def _edges() -> list[tuple[str, int]]:
    return [(name, number) for name in "abcde" for number in (1, 2)]


PROBLEMS: dict[str, Callable[[], Any]] = {
    "uniform": lambda: mb.UniformMatroid(3, 8),
    "graph with labels": lambda: mb.Problem(mb.GraphicMatroid.complete(5), labels=_edges()),
    "costs": lambda: mb.Problem(mb.PartitionMatroid(list("aaabbbccd"), 1), sense="min"),
    "vectors": lambda: mb.LinearMatroid(np.random.default_rng(3).integers(-1, 2, (9, 3))),
    "composition": lambda: (
        mb.GraphicMatroid.complete(4).dual() + mb.TransversalMatroid([[0], [0, 1], [1], []])
    ),
    "Python": Forests,
}
INDICES = (
    *("ucb", "kl", "normal", "ucbv", "beta", "gaussian", "mean", "moss", "shared-gaussian"),
    {"type": "kl", "c": 0.5},
    {"type": "moss", "horizon": 200, "noise": 0.3},
)
# For MAUB only.
WITH_PARTNERS = ("imed", {"type": "imed", "noise": 0.3})
POLICIES: dict[str, Callable[[Any, int], Any]] = {
    "CUCB": lambda p, _: mb.CUCB(p),
    "KLOSM": lambda p, _: mb.KLOSM(p),
    "CTS": lambda p, s: mb.CTS(p, seed=s),
    "CTS gaussian": lambda p, s: mb.CTS(p, prior="gaussian", noise=0.3, seed=s),
    "ESCB exchange": lambda p, _: mb.ESCB(p),
    "ESCB sweep": lambda p, _: mb.ESCB(p, method="sweep"),
    "ESCB exact": lambda p, _: mb.ESCB(p, method="exact"),
    "FasterCUCB": lambda p, _: mb.FasterCUCB(p),
    "FasterCUCB coarse": lambda p, _: mb.FasterCUCB(p, eps=0.7),
    "EpsilonGreedy": lambda p, s: mb.EpsilonGreedy(p, epsilon=0.3, seed=s),
    "RandomBasis": lambda p, s: mb.RandomBasis(p, seed=s),
    "FollowTheLeader": lambda p, _: mb.FollowTheLeader(p),
    "MAUB paper": lambda p, _: mb.MAUB(p, neighborhood="paper", index="kl"),
    "MAUB all": lambda p, _: mb.MAUB(p, noise=0.3, exchanges="all"),
    "MAUB all kl": lambda p, _: mb.MAUB(p, index="kl", exchanges="all"),
    "MAUB one beta": lambda p, s: mb.MAUB(p, index="beta", exchanges="one", seed=s),
    "MAUB own index": lambda p, _: mb.MAUB(p, index=Hopeful(0.5)),
    "OMM own index": lambda p, _: mb.OMM(p, index=Hopeful()),
    "own": lambda p, s: Window(p, seed=s),
    "ESCB pending": lambda p, _: mb.ESCB(p, pending="count"),
    "FasterCUCB pending": lambda p, _: mb.FasterCUCB(p, pending="count"),
    "CTS pending": lambda p, s: mb.CTS(p, seed=s, pending="count"),
    "MAUB pending": lambda p, _: mb.MAUB(p, index="kl", pending="count"),
    "OMM pending": lambda p, _: mb.OMM(p, index="ucbv", pending="count"),
    "OSUB pending": lambda p, _: mb.OSUB(p, pending="count"),
    # Means that change.
    "MAUB window": lambda p, _: mb.MAUB(p, noise=0.3, window=20),
    "MAUB paper window": lambda p, _: mb.MAUB(p, neighborhood="paper", window=9),
    "MAUB kl window": lambda p, _: mb.MAUB(p, index="kl", window=15, pending="count"),
    "MAUB all window": lambda p, _: mb.MAUB(p, noise=0.3, exchanges="all", window=12),
    "MAUB beta window": lambda p, s: mb.MAUB(p, index="beta", seed=s, window=30),
    "MAUB discount": lambda p, _: mb.MAUB(p, noise=0.3, discount=0.9),
    "MAUB fast discount": lambda p, _: mb.MAUB(p, discount=0.2),
    "MAUB kl discount": lambda p, _: mb.MAUB(p, index="kl", discount=0.95),
    "MAUB ucbv discount": lambda p, _: mb.MAUB(p, index="ucbv", exchanges="all", discount=0.9),
    "MAUB beta discount": lambda p, s: mb.MAUB(p, index="beta", seed=s, discount=0.8),
    "MAUB own discount": lambda p, _: mb.MAUB(p, index=Hopeful(0.5), discount=0.9),
    "MAUB restart": lambda p, _: mb.MAUB(p, noise=0.05, restart="glr"),
    "MAUB kl restart": lambda p, _: mb.MAUB(
        p, index="kl", restart=mb.GLR(delta=0.9, scope="element", period=7)
    ),
    "MAUB gaussian restart": lambda p, s: mb.MAUB(
        p, index="gaussian", noise=0.05, seed=s, restart=mb.GLR(scope="element")
    ),
    "MAUB imed window": lambda p, _: mb.MAUB(p, index="imed", window=18),
    "MAUB shared window": lambda p, s: mb.MAUB(p, index="shared-gaussian", seed=s, window=25),
    "MAUB moss restart": lambda p, _: mb.MAUB(p, index="moss", noise=0.05, restart="glr"),
    "OMM window": lambda p, _: mb.OMM(p, index="normal", window=25),
    "OMM discount": lambda p, _: mb.OMM(p, index="ucbv", discount=0.9),
    "OMM own discount": lambda p, _: mb.OMM(p, index=Hopeful(), discount=0.7),
    "CUCB window": lambda p, _: mb.CUCB(p, window=1),
    "KLOSM restart": lambda p, _: mb.KLOSM(p, restart=mb.GLR(delta=0.9, period=3)),
    "CTS window": lambda p, s: mb.CTS(p, seed=s, window=10, pending="count"),
    "CTS discount": lambda p, s: mb.CTS(p, prior="gaussian", seed=s, discount=0.9),
    "CTS restart": lambda p, s: mb.CTS(p, seed=s, restart=mb.GLR(delta=0.9, scope="element")),
    "MAUB imed pending": lambda p, _: mb.MAUB(p, index="imed", pending="count"),
    "MAUB all shared": lambda p, s: mb.MAUB(
        p, index="shared-gaussian", exchanges="all", seed=s, pending="count"
    ),
}
for _index in (*INDICES, *WITH_PARTNERS):
    for _cls in (mb.MAUB,) if _index in WITH_PARTNERS else (mb.MAUB, mb.OMM, mb.OSUB):
        POLICIES[f"{_cls.name} {_index}"] = lambda p, s, cls=_cls, index=_index: cls(
            p, index=index, seed=s
        )


# Every policy and every index of the package is among them.
_names = {name.partition(" ")[0] for name in POLICIES}
assert _names >= {cls.name for cls in mb.catalog.POLICIES.values()} | {"own"}, _names
assert {i for i in (*INDICES, *WITH_PARTNERS) if isinstance(i, str)} >= set(mb.catalog.INDICES)


def matroid_for(problem: str) -> mb.Matroid | None:
    """What has to be passed to `load`."""
    return Forests() if problem == "Python" else None


# ---- what is done ----


def decide(policy: mb.Policy, offered: Any, *, draws: bool) -> mb.Decision:
    """A decision, with propensities if they are wanted and can be estimated."""
    if draws:
        try:
            return policy.decide(offered, allow_smaller=plays_less(policy), propensities=4)
        except mb.NoBasisError:
            raise
        except ValueError:
            # A rule or an index in Python; nothing has changed.
            pass
    return policy.decide(offered, allow_smaller=plays_less(policy))


def act(policy: Any, rng: np.random.Generator) -> Any:
    """One random call, and what it returned."""
    kind = rng.integers(9)
    problem = policy.problem
    try:
        if kind < 3:
            # Not every selection is followed by an update.
            played = policy.select(available(problem, rng), allow_smaller=plays_less(policy))
            if kind < 2:
                policy.update(played, rewards(rng, len(played)))
            return numbers(problem, played)
        if kind < 6:
            decision = decide(policy, available(problem, rng), draws=rng.random() < 0.3)
            if rng.random() < 0.5:
                policy.learn(decision, rewards(rng, len(decision.elements)))
            chances = decision.propensities
            known = None if chances is None else chances.tolist()
            return [decision.id, numbers(problem, decision.elements), known]
    except mb.NoBasisError:
        return "too few"
    waiting = list(policy.open_decisions.values())
    if not waiting:
        return "nothing to learn"
    decision = waiting[int(rng.integers(len(waiting)))]
    if kind == 8:
        policy.expire(decision.id, reward=[None, 0.0, 0.5][int(rng.integers(3))])
        return decision.id
    learn_part(policy, decision, rng)
    return decision.id


def available(problem: Any, rng: np.random.Generator) -> Any:
    """All elements, or most of them."""
    chosen = np.flatnonzero(rng.random(problem.size) < 0.8)
    return None if rng.random() < 0.4 else problem.names(chosen)


def plays_less(policy: Any) -> bool:
    """Whether it can play a set that is smaller than a basis."""
    return not isinstance(policy, mb.OSUB)


def learn_part(policy: Any, decision: Any, rng: np.random.Generator) -> None:
    """Feedback for one element, which may have been learned already: then it is refused."""
    if not len(decision.elements):
        return
    element = list(decision.elements)[int(rng.integers(len(decision.elements)))]
    try:
        policy.learn(decision.id, {element: rewards(rng, 1)[0]}, final=bool(rng.random() < 0.2))
    except mb.DecisionError:
        return


def rewards(rng: np.random.Generator, count: int) -> list[float]:
    """Between 0 and 1, and often one of them."""
    drawn = rng.uniform(0, 1, count)
    return np.where(rng.random(count) < 0.4, drawn.round(), drawn).tolist()


def numbers(problem: Any, names: Any) -> list[int]:
    return problem.elements(names).tolist()


def continued(policy: Any, seed: int) -> list[Any]:
    """What a policy does in some more calls, and its statistics in the end, exactly."""
    rng = np.random.default_rng(seed)
    done = [act(policy, rng) for _ in range(STEPS)]
    return json.loads(json.dumps([done, statistics(policy)]))


def statistics(policy: Any) -> list[Any]:
    """All that can be read of a policy."""
    return [
        policy.counts.tolist(),
        policy.means.tobytes().hex(),
        policy.n_pending.tolist(),
        policy.rounds,
        policy.oracle_calls,
        policy.greedy_calls,
        policy.neighborhood_updates,
        [[d.id, d.round, numbers(policy.problem, d.elements)] for d in open_in(policy)],
    ]


def open_in(policy: Any) -> list[Any]:
    return list(policy.open_decisions.values())


def main() -> None:
    """Load every file, and print what each did, by name."""
    results = {}
    for path in sorted(Path(sys.argv[1]).iterdir()):
        _, problem, seed = path.stem.split("--")
        policy = mb.load(path, matroid_for(problem), classes=CLASSES)
        results[path.name] = continued(policy, int(seed))
    print(json.dumps(results))  # noqa: T201


if __name__ == "__main__":
    main()
