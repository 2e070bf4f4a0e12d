"""Matroids, policies and environments for random calls, well-behaved ones and others.

The others break every promise that Python allows them to break: independence tests that are not a
matroid's, that answer at random, that raise, that call the policy they serve; sizes and ranks that
change; indices and environments that return nonsense. Calls on them may raise errors, but must not
touch memory that is not theirs.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

import matroid_bandits as mb
from matroid_bandits import catalog

from .. import recipes

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_SIZE = 9
#: Policies with a parameter `pending`.
COUNTING = ("MAUB", "OMM", "CUCB", "KLOSM", "CTS", "OSUB", "ESCB", "FasterCUCB")


class World:
    """A policy on a matroid, with all that its matroid and its environment may call."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.policy: Any = None
        # Some of those it has made.
        self.decisions: list[Any] = []
        self.depth = 0
        self.matroid = self._matroid()
        self.policy = self._policy()
        self.environment = self._environment()

    # --- matroids ---

    def _matroid(self) -> mb.Matroid:
        size = int(self.rng.integers(0, MAX_SIZE + 1))
        kinds: list[Callable[[int], mb.Matroid]] = [
            self._of_a_family,
            self._of_a_recipe,
            self._odd,
            self._composed_of_odd,
        ]
        return kinds[self.rng.integers(len(kinds))](size)

    def _of_a_family(self, size: int) -> mb.Matroid:
        family = str(self.rng.choice(sorted(catalog.MATROIDS)))
        return catalog.MATROIDS[family].random(self.rng, size)

    def _of_a_recipe(self, size: int) -> mb.Matroid:
        return recipes.random_recipe(self.rng, min(size, 6), depth=3).build()

    def _odd(self, size: int) -> mb.Matroid:
        """A matroid written in Python, or what only pretends to be one."""
        sets = self.rng.random((6, size)) < 0.6
        wholes = [frozenset(np.flatnonzero(row).tolist()) for row in sets]
        tests: list[Callable[[frozenset[int]], bool]] = [
            # Closed under subsets, seldom a matroid.
            lambda s: any(s <= whole for whole in wholes),
            # Any family of sets.
            lambda s: not s or hash(frozenset(s)) % 3 > 0,
            # Another answer every time.
            lambda s: not s or self.rng.random() < 0.7,
            self._raising,
            self._meddling,
        ]
        kind = self.rng.integers(len(tests) + 2)
        if kind < len(tests):
            return mb.OracleMatroid(size, tests[kind])
        return Restless(self, size) if kind == len(tests) else Nonsense(self, size)

    def _composed_of_odd(self, size: int) -> mb.Matroid:
        part = self._odd(size)
        operation = self.rng.integers(6)
        if operation == 0:
            return part.dual()
        if operation == 1:
            return part.truncate(int(self.rng.integers(0, size + 1)))
        if operation == 2:
            return part | self._of_a_family(size)
        if operation == 3:
            return part + self._of_a_family(3)
        keep = self.rng.permutation(size)[: self.rng.integers(0, size + 1)]
        return part.restrict(keep) if operation == 4 else part.contract(keep[:2])

    def _raising(self, elements: frozenset[int]) -> bool:
        if self.rng.random() < 0.02:
            raise OracleFailedError
        return len(elements) <= 3

    def _meddling(self, elements: frozenset[int]) -> bool:
        """Answer as a uniform matroid does, after a call that should be refused."""
        if self.policy is not None and self.depth < 3 and self.rng.random() < 0.1:
            self.depth += 1
            try:
                self.meddle()
            finally:
                self.depth -= 1
        return len(elements) <= 3

    def meddle(self) -> None:
        """Call the policy from inside one of its own calls."""
        policy = self.policy
        size = self.matroid.size
        calls: list[Callable[[], object]] = [
            policy.select,
            lambda: policy.select(available=np.flatnonzero(self.rng.random(size) < 0.7)),
            lambda: policy.update([0], [0.5]),
            policy.decide,
            lambda: policy.decide(self.rng.random(size) < 0.7, allow_smaller=True),
            lambda: policy.learn(self.decisions[-1] if self.decisions else 1, {}, final=True),
            lambda: policy.expire(policy.open_decisions, reward=0.5),
            lambda: policy.greedy_basis(self.rng.random(size)),
            policy.explain,
            lambda: getattr(policy, "leader", None),
        ]
        calls[self.rng.integers(len(calls))]()

    # --- policies ---

    def _policy(self) -> Any:
        name = str(self.rng.choice(sorted(catalog.POLICIES)))
        cls = catalog.POLICIES[name]
        options: dict[str, Any] = {}
        if name in ("MAUB", "OMM", "OSUB") and self.rng.random() < 0.6:
            options["index"] = self._index(name)
        if name == "ESCB":
            options["method"] = str(self.rng.choice(["exchange", "sweep", "exact"]))
        if name in COUNTING and self.rng.random() < 0.4:
            options["pending"] = "count"
        if name == "MAUB" and self.rng.random() < 0.3:
            options["neighborhood"] = "paper"
        if self.rng.random() < 0.1:
            return Greedy(self.matroid)
        target: mb.Matroid | mb.Problem = self.matroid
        if self.rng.random() < 0.3:
            target = mb.Problem(self.matroid, sense=str(self.rng.choice(["min", "max"])))  # type: ignore[arg-type]
        if catalog.takes_features(cls):
            options["features"] = self._features()
        return cls(target, **options)

    def _features(self) -> mb.LinearFeatures:
        size = self.matroid.size
        if self.rng.random() < 0.2:
            return mb.LinearFeatures(n_features=2)
        return mb.LinearFeatures(self.rng.integers(-1, 2, (size, 3)), noise=0.3)

    def _index(self, policy: str) -> Any:
        names = ["ucb", "kl", "ucbv", "normal", "beta", "gaussian", "moss", "shared-gaussian"]
        if policy == "MAUB":
            names.append("imed")
        kind = self.rng.integers(len(names) + 2)
        return names[kind] if kind < len(names) else OddIndex(self)

    # --- environments ---

    def _environment(self) -> mb.Environment:
        means = self.rng.random(self.matroid.size)
        size = len(means)
        kinds: list[Callable[[], mb.Environment]] = [
            lambda: mb.GaussianEnvironment(means, 0.3),
            lambda: mb.BernoulliEnvironment(means),
            lambda: OddEnvironment(self, means),
            lambda: mb.PiecewiseEnvironment([means, means[::-1]], [20], kind="bernoulli"),
            lambda: mb.DriftingEnvironment(means, step=0.3),
            lambda: mb.SeasonalEnvironment(means, amplitude=0.2, period=7),
            lambda: mb.FunctionEnvironment(self._means_of_round, size),
        ]
        return kinds[self.rng.integers(len(kinds))]()

    def _means_of_round(self, round_: int, elements: Any) -> Any:
        """Means that are nonsense now and then, and a function that calls the policy."""
        kind = self.rng.integers(12)
        if kind == 0:
            return np.full(len(elements), np.nan)
        if kind == 1:
            return np.zeros(len(elements) + 1)
        if kind == 2:
            self.policy.select()
        return elements * round_ % 5


class OracleFailedError(ValueError):
    """What a raising oracle raises."""


class Restless(mb.Matroid):
    """Its size, its rank and its answers change."""

    def __init__(self, world: World, size: int) -> None:
        super().__init__(size)
        self.world = world
        self.initial = size

    @property
    def size(self) -> int:
        rng = self.world.rng
        return self.initial + int(rng.integers(-2, 40)) if rng.random() < 0.05 else self.initial

    @property
    def rank(self) -> int:
        rng = self.world.rng
        return int(rng.integers(0, 30)) if rng.random() < 0.05 else min(3, self.initial)

    def _is_independent(self, elements: Any) -> bool:
        return len(elements) <= 3


class Nonsense(mb.Matroid):
    """Its greedy bases and its circuits are any sets, with elements that do not exist."""

    def __init__(self, world: World, size: int) -> None:
        super().__init__(size)
        self.world = world

    def _any(self) -> list[int]:
        rng = self.world.rng
        if rng.random() < 0.8:
            return rng.permutation(self.size)[:3].tolist()
        return rng.integers(-3, self.size + 3, rng.integers(0, 12)).tolist()

    def _is_independent(self, elements: Any) -> bool:
        return len(elements) <= 3

    def _greedy(self, order: Any, limit: int) -> Any:
        return self._any()

    def _fundamental_circuit(self, basis: Any, element: int) -> Any:
        return self._any()


class Greedy(mb.Policy):
    """A policy written in Python."""

    name = "greedy in Python"

    def __init__(self, matroid: Any) -> None:
        super().__init__(matroid)
        self.rng = np.random.default_rng(0)

    def _select(self) -> Any:
        return self.greedy_basis(np.nan_to_num(self.mean_rewards, nan=1.0))

    def _observe(self, elements: Any, rewards: Any) -> None:
        if self.rng.random() < 0.05:
            raise OracleFailedError


class OddIndex(mb.Index):
    """Values of a wrong length, infinite or not numbers, and calls of the policy."""

    name = "odd"

    def __init__(self, world: World) -> None:
        self.world = world

    def values(self, means: Any, counts: Any, time: int) -> Any:
        rng = self.world.rng
        draw = rng.random()
        if draw < 0.03:
            return rng.random(len(means) + 1)
        if draw < 0.06:
            return np.full(len(means), rng.choice([np.nan, np.inf, -np.inf]))
        if draw < 0.09 and self.world.policy is not None and self.world.depth < 3:
            self.world.depth += 1
            try:
                self.world.meddle()
            finally:
                self.world.depth -= 1
        return means + 1 / np.sqrt(counts)


class OddEnvironment(mb.Environment):
    """Rewards of a wrong number, infinite ones, and calls of the policy."""

    def __init__(self, world: World, means: Any) -> None:
        super().__init__(means)
        self.world = world

    def _sample(self, rng: np.random.Generator, element: int, count: int) -> Any:
        draw = self.world.rng.random()
        if draw < 0.05:
            return rng.random(count + 1)
        if draw < 0.1:
            return np.full(count, np.nan)
        if draw < 0.2 and self.world.depth < 3:
            self.world.depth += 1
            try:
                self.world.meddle()
            finally:
                self.world.depth -= 1
        return rng.random(count)
