"""Random histories of decisions, played by a policy and by the slow reference side by side.

Feedback comes late, in parts, out of order, twice, or not at all. Availability changes. Some calls
are mistakes. Now and then the policy is replaced by a copy of it. After every call the two must
agree on all that can be seen.
"""

import copy
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.policies.contract.propensities import refuse_unknown_draws

from ..recipes import Recipe, random_recipe
from ..reference.decisions import Decision, ReferenceDecisions, RefusedError
from ..reference.osub import ReferenceOSUB

#: The reasons of a DecisionError. What is refused for another reason ends with a ValueError.
REASONS = ("unknown", "closed", "expired", "conflict", "taken", "outside")


@dataclass(frozen=True)
class Pair:
    """A policy of ours and the reference for it."""

    #: From a matroid or problem and a seed.
    make: Callable[[Any, int], mb.Policy]
    #: From a size, an independence test and a seed.
    make_reference: Callable[[int, Any, int], Any]
    pending: str = "ignore"
    #: What to allow where the two play different sets; by default nothing.
    is_level: Callable[["History", tuple[int, ...], Decision], bool] | None = None
    #: Whether costs can be tested.
    takes_costs: bool = True
    #: The class, if it is not one of the package: it is needed to load a file.
    own_class: type[mb.Policy] | None = None
    #: Whether it can be moved to other elements.
    can_move: bool = True


class History:
    """One policy, its reference, and what happens to them."""

    def __init__(self, pair: Pair, rng: np.random.Generator, recipe: Recipe | None = None) -> None:
        self.pair = pair
        self.rng = rng
        self.recipe = recipe = recipe or _some_recipe(rng)
        self.size = recipe.size
        self.seed = seed = int(rng.integers(0, 1000))
        matroid = recipe.build()
        self.labels: list[Any] | None = None
        # Labels of elements that were dropped: those of -1, -2, ...
        self.former: list[Any] = []
        self.has_moved = False
        self.sense = "max"
        target: Any = matroid
        if rng.random() < 0.4:
            self.labels = [f"e{e}" if e % 2 else ("e", e) for e in range(self.size)]
            if pair.takes_costs and rng.random() < 0.5:
                self.sense = "min"
            target = mb.Problem(matroid, self.labels, sense=self.sense)
        self.policy = pair.make(target, seed)
        self.low, self.high = self.policy.reward_range
        self.twin = ReferenceDecisions(
            pair.make_reference(self.size, recipe.is_independent, seed),
            pending=pair.pending,
            reward_range=(self.low, self.high),
        )
        # Of every decision made: ours, and that of the reference.
        self.made: list[tuple[mb.Decision, Decision]] = []
        self.calls: list[str] = []

    # --- words of the user ---

    def label(self, element: int) -> Any:
        if self.labels is None:
            return element
        return self.labels[element] if element >= 0 else self.former[-1 - element]

    def numbers(self, elements: Any) -> tuple[int, ...]:
        if self.labels is None:
            return tuple(int(e) for e in elements)
        assert isinstance(elements, list)
        return tuple(
            self.labels.index(label) if label in self.labels else -1 - self.former.index(label)
            for label in elements
        )

    def in_units(self, reward: float) -> float:
        """A reward as the user says it: it may be a cost."""
        if self.sense == "max":
            return reward
        return 1 - reward if self.high < np.inf else -reward

    def reward(self) -> float:
        # Few values, so that there are ties.
        return int(self.rng.integers(0, 5)) / 4

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def available(self) -> tuple[int, ...] | None:
        if self.chance(0.4):
            return None
        share = self.rng.choice([0.5, 0.7, 0.9, 1.0])
        return tuple(np.flatnonzero(self.rng.random(self.size) < share).tolist())

    def said(self, offer: tuple[int, ...] | None) -> Any:
        """Available elements in one of the ways in which they can be given."""
        if offer is None:
            return None
        if self.chance(0.4):
            return np.isin(np.arange(self.size), offer)
        order = self.rng.permutation(np.array(offer, dtype=np.intp))
        labels = [self.label(e) for e in order.tolist()]
        return iter(labels) if self.chance(0.2) else labels

    # --- calls ---

    def decide(self) -> None:
        offer, smaller = self.available(), self.chance(0.8)
        options: dict[str, Any] = {}
        if self.chance(0.15):
            options["id"] = f"visitor {len(self.made)}"
        elif self.chance(0.1):
            options["id"] = self.twin.rounds + int(self.rng.integers(0, 5))
        key = options.get("id")
        shown = self.shown() if self.chance(0.1) else None
        if shown is not None:
            options["shown"] = [self.label(e) for e in self.rng.permutation(shown).tolist()]
        elif self.chance(0.2) and draws_are_known(self.policy):
            # The reference knows nothing of them: they must not change anything.
            options["propensities"] = 2
        ours = self._both(
            lambda: self.twin.decide(offer, allow_smaller=smaller, key=key, shown=shown),
            lambda: self.policy.decide(self.said(offer), allow_smaller=smaller, **options),
        )
        if ours is None:
            return
        mine, expected = ours
        if shown is None:
            self._compare_play(self.numbers(mine.elements), expected)
        else:
            assert self.numbers(mine.elements) == expected.elements
            # Where sets of equal value may be told apart by rounding, only plays are compared.
            is_same = self.numbers(mine.proposed) == expected.proposed
            assert is_same or self.pair.is_level is not None
        if "propensities" in options:
            assert len(mine.propensities) == len(mine.elements)
            assert all(1 / 3 <= chance <= 1 for chance in mine.propensities)
        assert (mine.id, mine.round) == (expected.id, expected.round)
        assert mine.round == self.policy.rounds
        if expected.available is None:
            assert mine.available is None
        else:
            assert self.numbers(mine.available) == expected.available
        self.made.append((mine, expected))

    def shown(self) -> list[int]:
        """Some elements, whether they may be played together or not."""
        problem = self.policy.problem
        n = self.rng.integers(0, problem.rank + 1)
        return self.rng.choice(problem.size, size=n, replace=False).tolist()

    def learn(self) -> None:
        """Feedback for a decision, mostly one that is open and mostly good."""
        chosen = self._some_decision(p_open=0.85)
        if chosen is None:
            return
        mine, decision = chosen
        known = decision.rewards
        rewards = {e: known.get(e, self.reward()) for e in decision.elements}
        if self.chance(0.5):
            rewards = {e: r for e, r in rewards.items() if self.chance(0.5)}
        # Without names only in the order of the elements, which a move may have changed.
        whole = len(rewards) == len(decision.elements) and not self.has_moved
        if self.chance(0.05) and self.size:
            rewards[int(self.rng.integers(0, self.size))] = self.reward()
            whole = False
        if self.chance(0.03) and rewards:
            bad = [np.nan, np.inf, -np.inf, *([self.high + 0.25] if self.high < np.inf else [])]
            e = int(self.rng.choice(list(rewards)))
            rewards[e] = float(self.rng.choice(bad))
        final = self.chance(0.15)
        said = {e: self.in_units(r) for e, r in rewards.items()}
        feedback: Any = {self.label(e): said[e] for e in self.rng.permutation(list(said)).tolist()}
        if whole and self.chance(0.4):
            feedback = [said[e] for e in decision.elements]
            if self.chance(0.5):
                feedback = np.array(feedback, dtype=float)
        self._both(
            lambda: self.twin.learn(decision.id, rewards, final=final),
            lambda: self.policy.learn(mine if self.chance(0.5) else mine.id, feedback, final=final),
        )

    def learn_all(self) -> None:
        """All that is missing, of several decisions in any order."""
        decisions = list(self.twin.open.values())
        for k in self.rng.permutation(len(decisions))[:6]:
            decision = decisions[k]
            rewards = {e: self.reward() for e in decision.pending}
            self.twin.learn(decision.id, rewards)
            said = {self.label(e): self.in_units(r) for e, r in rewards.items()}
            self.policy.learn(decision.id, said)

    def expire(self) -> None:
        some = [self._some_decision(p_open=0.8) for _ in range(int(self.rng.integers(1, 4)))]
        chosen = [one for one in some if one is not None]
        if not chosen:
            return
        keys = [decision.id for _, decision in chosen]
        ids: Any = [mine if self.chance(0.3) else mine.id for mine, _ in chosen]
        if self.chance(0.1):
            keys.append("nobody")
            ids.append("nobody")
        elif len(ids) == 1 and self.chance(0.5):
            ids = ids[0]
        elif self.chance(0.2):
            ids = iter(ids)
        reward = self.reward() if self.chance(0.5) else None
        options = {} if reward is None else {"reward": self.in_units(reward)}
        self._both(
            lambda: self.twin.expire(keys, reward),
            lambda: self.policy.expire(ids, **options),
        )

    def select(self) -> None:
        selection = self.twin._selection
        offer, smaller = self.available(), self.chance(0.8)
        if selection is not None and (
            self.chance(0.5)
            or (
                selection.decision is None
                and (None in selection.answers or selection.before.counts != self.twin.counts)
            )
        ):
            offer, smaller = selection.last, True
        both = self._both(
            lambda: self.twin.select(offer, allow_smaller=smaller),
            lambda: self.policy.select(available=self.said(offer), allow_smaller=smaller),
        )
        if both is not None:
            mine, _ = both
            self._compare_play(self.numbers(mine), self.twin._selection)

    def update(self) -> None:
        """Feedback as today: for what was selected, a part of it, or other elements."""
        selection = self.twin._selection
        if selection is not None and self.chance(0.7):
            elements = self.rng.permutation(np.array(selection.elements, dtype=np.intp)).tolist()
            if self.chance(0.3):
                elements = elements[: len(elements) // 2]
        else:
            elements = self.rng.permutation(self.size)[: self.rng.integers(0, 4)].tolist()
        rewards = [self.reward() for _ in elements]
        if self.chance(0.05):
            rewards.append(0.5)
        said = [self.in_units(r) for r in rewards]
        self._both(
            lambda: self.twin.update(elements, rewards),
            lambda: self.policy.update([self.label(e) for e in elements], said),
        )

    def observe_everything(self) -> None:
        """Feedback for all elements, so that the initial rounds are soon over."""
        for _ in range(int(self.rng.integers(1, 4))):
            rewards = [self.reward() for _ in range(self.size)]
            self.twin.update(range(self.size), rewards)
            labels = [self.label(e) for e in range(self.size)]
            self.policy.update(labels, [self.in_units(r) for r in rewards])

    def mistake(self) -> None:
        """A call that names what does not exist."""
        key = self.rng.choice(["nobody", "", "0"]) if self.chance(0.5) else 10**6
        call = self.rng.integers(3)
        if call == 0:
            self._refused(lambda: self.policy.learn(key, {}), "unknown")
        elif call == 1:
            self._refused(lambda: self.policy.expire(key), "unknown")
        elif self.made:
            mine = self.made[int(self.rng.integers(len(self.made)))][0]
            for wrong in (
                {"no such element": 0.5},
                [0.5] * (len(mine.elements) + 1),
                {self.label(e): "x" for e in self.numbers(mine.elements)} or {-1: 0.5},
            ):
                self._refused(lambda w=wrong: self.policy.learn(mine, w), None)
            self._refused(lambda: self.policy.decide(id=mine.id), "taken")

    def look(self) -> None:
        """What is only looked at does not change."""
        repr(self.policy)
        self.policy.open_decisions.get("nobody")
        if self.made:
            self.made[-1][0].to_dict()
        before = self._snapshot()
        self.policy.explain()
        # The rule of a policy written in Python is asked then, which counts.
        if self.pair.own_class is None:
            assert self._snapshot() == before

    def copy(self) -> None:
        """Continue with a copy."""
        kind = self.rng.integers(4)
        if kind == 0:
            self.policy = copy.deepcopy(self.policy)
        elif kind == 1:
            self.policy = pickle.loads(pickle.dumps(self.policy))
        elif kind == 2:
            with tempfile.TemporaryDirectory() as folder:
                self.policy.save(f"{folder}/policy")
                own = [] if self.pair.own_class is None else [self.pair.own_class]
                matroid = self._matroid_to_load()
                self.policy = mb.load(f"{folder}/policy", matroid, classes=own)
        else:
            before, self.policy = self.policy, self.policy.fork(5)
            self.compare()
            # Random numbers are others.
            if any(hasattr(part, "_rng") for part in (self.twin.policy, self.twin.policy._index)):
                self.policy = before

    def move(self) -> None:
        """Continue on another matroid, with some of the elements and some new ones."""
        if self.labels is None or not self.pair.can_move:
            return
        self.has_moved = True
        recipe = _some_recipe(self.rng)
        old = self.labels
        stay = self.rng.permutation(self.size)[: self.rng.integers(0, recipe.size + 1)].tolist()
        fresh = [f"new {len(self.calls)} {k}" for k in range(recipe.size - len(stay))]
        mixed = [*(old[e] for e in stay), *fresh]
        self.labels = [mixed[k] for k in self.rng.permutation(recipe.size).tolist()]
        new_number = {-1 - k: -1 - k for k in range(len(self.former))}
        for e, label in enumerate(old):
            if label in self.labels:
                new_number[e] = self.labels.index(label)
            else:
                self.former.append(label)
                new_number[e] = -len(self.former)
        problem = mb.Problem(recipe.build(), self.labels, sense=self.sense)
        self.policy = self.policy.moved_to(problem)
        policy = self.pair.make_reference(recipe.size, recipe.is_independent, self.seed)
        self.twin.move(policy, new_number)
        self.recipe, self.size = recipe, recipe.size

    def _matroid_to_load(self) -> mb.Matroid | None:
        """The matroid that a file cannot hold, because it is Python code."""
        is_code = self.policy.problem.to_spec()["matroid"]["type"] == "python"
        return self.policy.matroid if is_code else None

    CALLS: tuple[tuple[str, float], ...] = (
        ("decide", 0.36),
        ("learn", 0.32),
        ("learn_all", 0.05),
        ("expire", 0.06),
        ("select", 0.08),
        ("update", 0.07),
        ("mistake", 0.03),
        ("copy", 0.03),
        ("look", 0.02),
        ("move", 0.03),
    )

    def play(self, calls: int) -> None:
        """Random calls; an error says what was called."""
        names = [name for name, _ in self.CALLS]
        weights = np.cumsum([weight for _, weight in self.CALLS])
        try:
            if self.chance(0.5):
                self.observe_everything()
            for _ in range(calls):
                name = names[int(np.searchsorted(weights, self.rng.random() * weights[-1]))]
                self.calls.append(name)
                getattr(self, name)()
                self.compare()
        except BaseException as error:
            error.add_note(f"{self.policy!r} on {self.recipe!r}: {' '.join(self.calls)}")
            raise

    def _some_decision(self, p_open: float) -> tuple[mb.Decision, Decision] | None:
        """A decision made before, mostly one that is open."""
        if not self.made:
            return None
        is_open = [one for one in self.made if one[1].id in self.twin.open]
        pool = is_open if is_open and self.chance(p_open) else self.made
        return pool[int(self.rng.integers(len(pool)))]

    # --- comparing ---

    def compare(self) -> None:
        policy, twin = self.policy, self.twin
        assert policy.counts.tolist() == twin.counts
        seen = policy.counts > 0
        assert policy.mean_rewards[seen].tolist() == np.array(twin.means)[seen].tolist()
        assert policy.n_pending.tolist() == twin.n_pending
        assert policy.rounds == twin.rounds
        assert list(policy.open_decisions) == list(twin.open)
        for mine, expected in zip(policy.open_decisions.values(), twin.open.values(), strict=True):
            assert tuple(sorted(self.numbers(mine.elements))) == expected.elements
            assert (mine.id, mine.round) == (expected.id, expected.round)
        if isinstance(twin.policy, ReferenceOSUB):
            assert policy.arm_counts.tolist() == twin.policy.plays
            played = policy.arm_counts > 0
            means = np.array(twin.policy.arm_means)
            assert policy.arm_means[played].tolist() == self._turned(means[played]).tolist()

    def _turned(self, means: np.ndarray) -> np.ndarray:
        return np.array([self.in_units(mean) for mean in means.tolist()])

    def _compare_play(self, played: tuple[int, ...], expected: Any) -> None:
        if played == expected.elements:
            return
        assert self.pair.is_level is not None, (played, expected.elements)
        assert self.pair.is_level(self, played, expected), (played, expected.elements)
        # From here on the reference has played what the policy has.
        if isinstance(expected, Decision):
            expected.elements = played
        else:
            expected.answers[expected.last] = (played, expected.answers[expected.last][1])

    def _both(self, theirs: Callable[[], Any], ours: Callable[[], Any]) -> tuple[Any, Any] | None:
        """Call both; None if the call must be refused."""
        try:
            expected = theirs()
        except RefusedError as error:
            self._refused(ours, error.reason)
            return None
        return ours(), expected

    def _refused(self, call: Callable[[], Any], reason: str | None) -> None:
        before = self._snapshot()
        with pytest.raises(ValueError) as error:  # noqa: PT011 (the reason is compared)
            call()
        if reason in REASONS:
            assert isinstance(error.value, mb.DecisionError)
            # Feedback with two mistakes may be refused for either: an element that is not in the
            # decision, or has another value, and another one that comes too late.
            either = {"closed", "expired", "outside", "conflict"}
            allowed = either if reason in either else {reason}
            assert error.value.reason in allowed
        assert self._snapshot() == before

    def _snapshot(self) -> tuple[Any, ...]:
        policy = self.policy
        return (
            policy.rounds,
            policy.counts.tolist(),
            policy.mean_rewards.tobytes(),
            policy.n_pending.tolist(),
            [(key, one.round, str(one.elements)) for key, one in policy.open_decisions.items()],
            str(getattr(policy, "leader", None)),
            policy.oracle_calls,
            policy.greedy_calls,
        )


def draws_are_known(policy: mb.Policy) -> bool:
    """Whether propensities can be estimated."""
    try:
        refuse_unknown_draws(policy)
    except ValueError:
        return False
    return True


def _some_recipe(rng: np.random.Generator) -> Recipe:
    """A recipe, mostly one of a matroid that leaves a choice."""
    for _ in range(4):
        recipe = random_recipe(rng, int(rng.integers(0, 8)), int(rng.integers(0, 3)))
        if 0 < recipe.rank < recipe.size:
            break
    return recipe
