"""Decisions against the slow reference: thousands of random histories of every policy."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb

from ..reference import indices as slow
from ..reference.decisions import Decision
from ..reference.escb import ReferenceESCB
from ..reference.matroids import Independence
from ..reference.osub import ReferenceOSUB
from ..reference.policies import ReferenceGreedy, ReferenceMAUB, _ReferencePolicy
from ..seeds import seeds
from .histories import History, Pair
from .test_indices import INDICES, WITH_PARTNERS
from .test_indices import PAIRS as OTHERS

Elements = tuple[int, ...]

SLACK = 1e-9


class InPython(mb.Policy):
    """Greedy on the means, unobserved elements first, with a record of what was observed."""

    def __init__(self, matroid: Any) -> None:
        super().__init__(matroid)
        self.sums = np.zeros(self.matroid.size)

    def _select(self) -> Any:
        return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))

    def _observe(self, elements: Any, rewards: Any) -> None:
        self.sums[elements] += rewards

    def _get_state(self) -> Any:
        return self.sums

    def _set_state(self, state: Any) -> None:
        self.sums = state


class ReferenceInPython(_ReferencePolicy):
    """The same rule."""

    def __init__(self, size: int, is_independent: Independence, _: int) -> None:
        super().__init__(size, is_independent, slow.Mean())
        self._min_count = 0

    def _decide_from_statistics(self) -> frozenset[int]:
        values = {e: self.means[e] if self.counts[e] else np.inf for e in self._nonloops}
        return self._greedy_by_value(values)


# --- sets that are level but for rounding --------------------------------------------------------


def _level_sums(history: History, played: Elements, decision: Decision) -> bool:
    """The sums of the values are equal, but for the last bits of kl-UCB."""
    values = history.twin.policy.compared
    assert len(played) == len(decision.elements)
    if not values:
        return False
    difference = sum(values[e] for e in played) - sum(values[e] for e in decision.elements)
    return abs(difference) < 1e-14 * len(played)


def _level_arms(history: History, played: Elements, decision: Decision) -> bool:
    """The values of two arms are equal, but for the last bits of kl-UCB."""
    osub = history.twin.policy
    time = osub.leader_rounds[osub.leader]
    one, two = (osub._value(osub._arms.index(arm), time) for arm in (played, decision.elements))
    return abs(one - two) <= 1e-15


def _near_the_best(history: History, played: Elements, decision: Decision) -> bool:
    """FasterCUCB guarantees the best sum up to a factor of 1 + eps."""
    values = history.twin.policy.compared
    assert len(played) == len(decision.elements)
    if not values or not history.recipe.is_independent(frozenset(played)):
        return False
    one, best = (sum(values[e] for e in elements) for elements in (played, decision.elements))
    return one * (1 + history.policy.eps) >= best - SLACK


def _no_exchange_helps(history: History, played: Elements, decision: Decision) -> bool:
    """The guarantee of ESCB; the exact method finds the best value."""
    values = history.twin.policy.compared
    if played not in values:
        return False
    near = [basis for basis in values if len(set(basis) - set(played)) <= 1]
    if history.policy.method == "exact":
        near = list(values)
    return max(values[basis] for basis in near) <= values[played] + SLACK


# --- the pairs -----------------------------------------------------------------------------------


def _with_index(structure: Any, reference: Any, index: str, level: Any) -> tuple[Any, Any, Any]:
    fast, exact = (INDICES | WITH_PARTNERS)[index]
    return (
        lambda problem, seed, **options: structure(problem, index=fast(), seed=seed, **options),
        lambda size, ask, seed: reference(size, ask, index=exact(seed)),
        level if index.startswith("kl") else None,
    )


def _osub(index: Callable[[], slow.Index], size: int, ask: Independence, _: int) -> ReferenceOSUB:
    independent = [
        [s for s in combinations(range(size), k) if ask(frozenset(s))] for k in range(size + 1)
    ]
    arms = [sets for sets in independent if sets][-1]
    near = [[j for j, b in enumerate(arms) if len(set(a) - set(b)) == 1] for a in arms]
    return ReferenceOSUB(arms, near, index(), size=size)


# Ours, with options; the reference; and what to allow where they differ.
POLICIES: dict[str, tuple[Any, Any, Any]] = {
    **{f"OMM {i}": _with_index(mb.OMM, ReferenceGreedy, i, _level_sums) for i in INDICES},
    **{
        f"MAUB {exchanges} {i}": _with_index(
            partial(mb.MAUB, exchanges=exchanges),
            partial(ReferenceMAUB, exchanges=exchanges),
            i,
            _level_sums,
        )
        for i in INDICES
        for exchanges in ("one", "all")
    },
    **{f"MAUB {i}": _with_index(mb.MAUB, ReferenceMAUB, i, None) for i in WITH_PARTNERS},
    "MAUB paper": (
        lambda problem, _, **options: mb.MAUB(problem, neighborhood="paper", **options),
        lambda size, ask, _: ReferenceMAUB(size, ask),
        None,
    ),
    "CUCB": (
        lambda problem, _, **options: mb.CUCB(problem, **options),
        OTHERS["CUCB"][1],
        None,
    ),
    "KLOSM": (
        lambda problem, _, **options: mb.KLOSM(problem, **options),
        OTHERS["KLOSM"][1],
        _level_sums,
    ),
    "CTS": (
        lambda problem, seed, **options: mb.CTS(problem, seed=seed, **options),
        OTHERS["CTS"][1],
        None,
    ),
    "CTS gaussian": (
        lambda problem, seed, **options: mb.CTS(
            problem, prior="gaussian", noise=0.2, seed=seed, **options
        ),
        OTHERS["CTS gaussian"][1],
        None,
    ),
    **{
        f"ESCB {method}": (
            lambda problem, _, method=method, **options: mb.ESCB(problem, method=method, **options),
            lambda size, ask, _: ReferenceESCB(size, ask),
            _no_exchange_helps,
        )
        for method in ("exchange", "sweep", "exact")
    },
    "FasterCUCB": (
        lambda problem, _, **options: mb.FasterCUCB(problem, **options),
        lambda size, ask, _: ReferenceGreedy(size, ask, slow.UCB(1.0, 1.5)),
        _near_the_best,
    ),
    **{
        f"OSUB {index}": (
            lambda problem, _, index=index, **options: mb.OSUB(problem, index=index, **options),
            partial(_osub, exact),
            _level_arms if index == "kl" else None,
        )
        for index, exact in (("kl", slow.KLUCB), ("ucb", slow.UCB), ("normal", slow.NormalUCB))
    },
}
PAIRS: dict[str, Pair] = {
    **{
        name: Pair(
            make,
            reference,
            "ignore",
            level,
            takes_costs=name != "FasterCUCB",
        )
        for name, (make, reference, level) in POLICIES.items()
    },
    **{
        f"{name}, count": Pair(
            partial(make, pending="count"),
            reference,
            "count",
            level,
            takes_costs=name != "FasterCUCB",
        )
        for name, (make, reference, level) in POLICIES.items()
        if not name.endswith(" mean")
    },
    **{name: Pair(*OTHERS[name]) for name in ("FollowTheLeader", "RandomBasis", "EpsilonGreedy")},
    "in Python": Pair(
        lambda problem, _: InPython(problem),
        ReferenceInPython,
        own_class=InPython,
        # It would have to say how its sums move.
        can_move=False,
    ),
}
every_pair = pytest.mark.parametrize("name", PAIRS)


# --- the tests -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain_draws")
@every_pair
def test_random_histories(name: str) -> None:
    for seed in seeds(40):
        History(PAIRS[name], np.random.default_rng([seed, 50])).play(40)


@pytest.mark.usefixtures("plain_draws")
@every_pair
def test_longer_histories(name: str) -> None:
    for seed in seeds(1):
        History(PAIRS[name], np.random.default_rng([seed, 51])).play(300)


@every_pair
def test_one_after_the_other_is_select_and_update(name: str) -> None:
    """To the last bit, the engine against itself."""
    for seed in seeds(3):
        rng = np.random.default_rng([seed, 52])
        history = History(PAIRS[name], rng)
        matroid = history.recipe.build()
        one, two = (PAIRS[name].make(matroid, seed) for _ in range(2))
        for _ in range(60):
            offer = history.available()
            rank = matroid.rank if offer is None else matroid.rank_of(offer)
            if rank < matroid.rank and isinstance(one, mb.OSUB):
                offer = None
            selected = one.select(available=offer, allow_smaller=True).tolist()
            decision = two.decide(offer, allow_smaller=True)
            assert decision.elements.tolist() == selected
            rewards = [history.reward() for _ in selected]
            one.update(selected, rewards)
            two.learn(decision, rewards)
            assert two.rounds == one.rounds
            assert two.counts.tolist() == one.counts.tolist()
            assert np.array_equal(two.means, one.means, equal_nan=True)
            for counter in ("oracle_calls", "greedy_calls"):
                assert getattr(two, counter) == getattr(one, counter)


def test_the_hook_of_a_policy_in_python_hears_everything_once() -> None:
    for seed in seeds(60):
        history = History(PAIRS["in Python"], np.random.default_rng([seed, 53]))
        history.play(60)
        policy: Any = history.policy
        expected = np.where(policy.counts > 0, policy.counts * policy.mean_rewards, 0.0)
        assert np.allclose(policy.sums, expected, atol=1e-9)
