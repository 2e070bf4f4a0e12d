"""Policies for means that change, each beside its slow reference, and how the two are compared."""

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

import matroid_bandits as mb

from ..reference import indices as slow
from ..reference.change import ChangingDecisions, ChangingGreedy, ChangingMAUB, Restart
from .histories import History, Pair

Options = dict[str, Any]

#: What two ways of computing a discounted sum may differ by, relative to it.
SLACK = 1e-9


class Hopeful(mb.Index):
    """An index in Python."""

    def values(self, means: Any, counts: Any, time: Any) -> Any:
        return means + 0.5 * np.sqrt(np.log(time + 1) / counts)


class SlowHopeful(slow.Index):
    """The same."""

    def value(self, element: int, count: int, mean: float, time: int) -> float:
        return mean + 0.5 * math.sqrt(math.log(time + 1) / count)


# --- what forgets --------------------------------------------------------------------------------


def _glr(**options: Any) -> tuple[Options, Options]:
    return {"restart": mb.GLR(**options)}, {"restart": Restart(**options)}


def _same(**options: Any) -> tuple[Options, Options]:
    return options, options


#: Options of ours, and of the reference.
CHANGES: dict[str, Callable[[], tuple[Options, Options]]] = {
    **{f"window {tau}": partial(_same, window=tau) for tau in (1, 2, 5, 17, 100, 10**6)},
    **{f"discount {g}": partial(_same, discount=g) for g in (0.5, 0.9, 0.99, 0.999, 1.0)},
    "restart": lambda: ({"restart": "glr"}, {"restart": Restart()}),
    "restart by dict": lambda: (
        {"restart": {"type": "glr", "delta": 0.2, "period": 7}},
        {"restart": Restart(0.2, "all", 7)},
    ),
    "restart of elements": partial(_glr, delta=0.3, scope="element"),
    "restart of elements, 50": partial(_glr, delta=0.01, scope="element", period=50),
    "restart, never forced": partial(_glr, delta=0.9, period=10**9),
}

# --- the policies --------------------------------------------------------------------------------

INDICES: dict[str, tuple[Callable[[], mb.Index], Callable[[int], slow.Index]]] = {
    "ucb": (lambda: mb.UCB(0.2), lambda _: slow.UCB(0.2)),
    "kl": (mb.KLUCB, lambda _: slow.KLUCB()),
    "ucbv": (mb.UCBV, lambda _: slow.UCBV()),
    "normal": (mb.NormalUCB, lambda _: slow.NormalUCB()),
    "beta": (mb.BetaThompson, slow.BetaThompson),
    "gaussian": (lambda: mb.GaussianThompson(0.2), lambda s: slow.GaussianThompson(0.2, s)),
    "mean": (mb.Mean, lambda _: slow.Mean()),
    "python": (Hopeful, lambda _: SlowHopeful()),
}


def _with_index(structure: Any, reference: Any, index: str) -> tuple[Any, Any]:
    fast, exact = INDICES[index]
    return (
        lambda matroid, seed, **change: structure(matroid, index=fast(), seed=seed, **change),
        lambda size, ask, seed, **change: reference(size, ask, exact(seed), **change),
    )


def _greedy(index: slow.Index, size: int, ask: Any, **change: Any) -> ChangingGreedy:
    return ChangingGreedy(size, ask, index, **change)


#: Ours, from a matroid, a seed and options; and the reference, from a size, an oracle and these.
POLICIES: dict[str, tuple[Any, Any]] = {
    **{f"OMM {i}": _with_index(mb.OMM, ChangingGreedy, i) for i in INDICES},
    **{
        f"MAUB one {i}": _with_index(partial(mb.MAUB, exchanges="one"), ChangingMAUB, i)
        for i in INDICES
    },
    **{
        f"MAUB {k} {i}": _with_index(
            partial(mb.MAUB, exchanges=k), partial(ChangingMAUB, exchanges=k), i
        )
        for k, i in (
            ("all", "ucb"),
            ("all", "kl"),
            ("all", "beta"),
            ("all", "gaussian"),
            (2, "ucb"),
            (2, "normal"),
        )
    },
    "MAUB paper": (
        lambda matroid, _, **change: mb.MAUB(matroid, neighborhood="paper", noise=0.2, **change),
        lambda size, ask, _, **change: ChangingMAUB(size, ask, slow.UCB(0.2), **change),
    ),
    "MAUB": (
        lambda matroid, _, **change: mb.MAUB(matroid, **change),
        lambda size, ask, _, **change: ChangingMAUB(size, ask, **change),
    ),
    "CUCB": (
        lambda matroid, _, **change: mb.CUCB(matroid, **change),
        lambda size, ask, _, **change: _greedy(slow.UCB(1.0, 1.5), size, ask, **change),
    ),
    "KLOSM": (
        lambda matroid, _, **change: mb.KLOSM(matroid, **change),
        lambda size, ask, _, **change: _greedy(slow.KLUCB(), size, ask, **change),
    ),
    "CTS": (
        lambda matroid, seed, **change: mb.CTS(matroid, seed=seed, **change),
        lambda size, ask, seed, **change: _greedy(slow.BetaThompson(seed), size, ask, **change),
    ),
    "CTS gaussian": (
        lambda matroid, seed, **change: mb.CTS(
            matroid, prior="gaussian", noise=0.2, seed=seed, **change
        ),
        lambda size, ask, seed, **change: _greedy(
            slow.GaussianThompson(0.2, seed), size, ask, **change
        ),
    ),
}


def is_refused(policy: str, change: str) -> bool:
    """An index that makes no sense with this way of forgetting."""
    index = policy.rpartition(" ")[2]
    if change.startswith("restart"):
        return index in ("normal", "mean", "python")
    # The variance of the normal index needs three rewards at once.
    return index == "normal" and (change.startswith("discount") or change in _SHORT)


_SHORT = ("window 1", "window 2")

CASES = [(p, c) for p in POLICIES for c in CHANGES if not is_refused(p, c)]


def is_exact(policy: str, change: str) -> bool:
    """Whether engine and reference must not differ in any bit that decides."""
    index = policy.rpartition(" ")[2]
    return not _is_discounted(change) and index in ("ucb", "mean", "MAUB", "paper", "CUCB")


def _is_discounted(change: str) -> bool:
    return change.startswith("discount") and change != "discount 1.0"


def is_bounded(policy: str) -> bool:
    """Whether rewards are in [0, 1]."""
    return POLICIES[policy][0](mb.UniformMatroid(1, 1), 0).reward_range == (0, 1)


# --- comparing -----------------------------------------------------------------------------------


def assert_same_means(policy: mb.Policy, reference: Any, change: str) -> None:
    """Equal bit for bit; for discounts up to rounding."""
    seen = policy.counts > 0
    mine, expected = policy.mean_rewards[seen], np.array(reference.means)[seen]
    if _is_discounted(change):
        assert np.allclose(mine, expected, rtol=SLACK, atol=SLACK * 1e-3)
    else:
        assert mine.tolist() == expected.tolist()


def is_level(reference: Any, played: Iterable[int], expected: Iterable[int]) -> bool:
    """Whether two sets are level but for rounding, by what the reference compared."""
    one, two = set(played), set(expected)
    values = reference.compared
    if values:
        scale = max(1.0, *(abs(value) for value in values.values()))
        difference = sum(values[e] for e in one) - sum(values[e] for e in two)
        return len(one) == len(two) and abs(difference) <= SLACK * scale
    if not isinstance(reference, ChangingMAUB) or reference.leader is None:
        return False

    def gain(elements: set[int]) -> float:
        came = elements - set(reference.leader)
        return reference.compared_gains[came.pop()] if len(came) == 1 else 0.0

    scale = max([1.0, *(abs(gain) for gain in reference.compared_gains.values())])
    return abs(gain(one) - gain(two)) <= SLACK * scale


def has_tiny_tally(reference: Any) -> bool:
    """Whether successes or failures, discounted, are about as small as the rounding of 1."""
    tallies = getattr(reference._index, "successes", {}), getattr(reference._index, "failures", {})
    return any(0 < tally < 1e-14 for part in tallies for tally in part.values())


class ChangingHistory(History):
    """A random history, with rewards that rarely tie where rounding may break ties."""

    change: str

    def reward(self) -> float:
        return float(self.rng.random()) if _is_discounted(self.change) else super().reward()

    def compare(self) -> None:
        policy, twin = self.policy, self.twin
        assert policy.counts.tolist() == twin.counts
        assert_same_means(policy, twin.policy, self.change)
        assert policy.n_pending.tolist() == twin.n_pending
        assert policy.rounds == twin.rounds
        assert list(policy.open_decisions) == list(twin.open)


def history(policy: str, change: str, pending: str, rng: np.random.Generator) -> ChangingHistory:
    """A random history of a policy."""
    make, make_reference = POLICIES[policy]
    ours, slow_options = CHANGES[change]()
    if pending == "count":
        ours = {**ours, "pending": pending}
    pair = Pair(
        partial(_call, make, ours),
        partial(_call_reference, make_reference, slow_options),
        pending,
        None if is_exact(policy, change) else _level_play,
        own_class=Hopeful if policy.endswith("python") else None,
        can_move=False,
        decisions=ChangingDecisions,
    )
    made = ChangingHistory(pair, rng)
    made.change = change
    return made


def _call(make: Any, options: Options, matroid: Any, seed: int) -> mb.Policy:
    return make(matroid, seed, **options)


def _call_reference(make: Any, options: Options, size: int, ask: Any, seed: int) -> Any:
    return make(size, ask, seed, **options)


def _level_play(history: History, played: tuple[int, ...], expected: Any) -> bool:
    reference = history.twin.policy
    return is_level(reference, played, expected.elements) or has_tiny_tally(reference)
