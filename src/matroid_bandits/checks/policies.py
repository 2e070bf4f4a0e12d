"""Check that a policy keeps the contract of select and update."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from matroid_bandits.errors import NoBasisError
from matroid_bandits.matroids import (
    GraphicMatroid,
    LinearMatroid,
    Matroid,
    OracleMatroid,
    PartitionMatroid,
    TransversalMatroid,
    UniformMatroid,
)
from matroid_bandits.policies import Policy
from matroid_bandits.problem import Problem
from matroid_bandits.simulation import SupportsSelectUpdate

__all__ = ["check_policy"]

# What a policy may show of its state; compared where it is there.
_STATE = (
    "rounds",
    "counts",
    "means",
    "leader",
    "oracle_calls",
    "greedy_calls",
    "neighborhood_updates",
)


def check_policy(
    factory: Callable[[Any], SupportsSelectUpdate], *, rounds: int = 60, seed: int = 0
) -> None:
    """Check that a policy keeps the contract, on small matroids of every kind.

    It must select a basis, the same until the next update; take feedback that is partial, foreign
    or empty; decide alike after the same history; go on alike from a deep copy; and, where it
    shows `counts` and `means`, keep them right and refuse bad input with a ``ValueError`` that
    leaves it as it was. Rewards are from its `reward_range`, if it has one, else from everywhere.

    A subclass of :class:`~matroid_bandits.Policy` must also speak the language of a problem, names
    and costs, and choose among what is on offer.

    Parameters
    ----------
    factory : callable
        Makes a fresh policy for a matroid, or a problem: the class itself, or a function that fixes
        its other parameters and its seed.
    rounds : int, default 60
        Rounds played on each matroid.
    seed : int, default 0
        Seed of rewards and matroids.

    Raises
    ------
    AssertionError
        With what went wrong, on which matroid and in which round.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.check_policy(mb.MAUB)
    """
    if not callable(factory):
        raise TypeError(
            f"check_policy needs a class or a function that makes a policy, got {factory!r}"
        )
    rng = np.random.default_rng(seed)
    for matroid in _matroids(rng):
        _check_on(factory, matroid, rounds, rng)
        if isinstance(factory(matroid), Policy):
            _check_names_and_costs(factory, matroid, rounds // 3, rng)
            _check_offers(factory, matroid, rounds // 3, rng)


def _matroids(rng: "np.random.Generator") -> list[Matroid]:
    plain = [
        cls.random(rng, 7)
        for cls in (UniformMatroid, PartitionMatroid, GraphicMatroid, LinearMatroid)
    ]
    return [
        *plain,
        TransversalMatroid.random(rng, 7),
        OracleMatroid.random(rng, 7),
        GraphicMatroid.complete(4),
        UniformMatroid(0, 0),
        UniformMatroid(0, 3),
        UniformMatroid(3, 3),
        GraphicMatroid([(0, 0), (0, 1), (0, 1), (1, 2), (3, 3)]),
    ]


def _check_on(
    factory: Callable[[Any], SupportsSelectUpdate],
    matroid: Matroid,
    rounds: int,
    rng: "np.random.Generator",
) -> None:
    policy: Any = factory(matroid)
    twin: Any = factory(matroid)
    has_statistics = hasattr(policy, "counts") and hasattr(policy, "means")
    seen: list[list[float]] = [[] for _ in range(matroid.size)]
    for t in range(rounds):
        where = f"on {matroid!r} in round {t + 1}"
        selected = policy.select()
        basis = np.asarray(selected).tolist()
        if basis != sorted(set(basis)):
            raise AssertionError(f"select() returned {selected}, not ascending, {where}")
        if not (len(basis) == matroid.rank and matroid.is_independent(basis)):
            raise AssertionError(f"select() returned {basis}, not a basis, {where}")
        before = _state(policy)
        if not (np.asarray(policy.select()).tolist() == basis):
            raise AssertionError(f"select() changed its mind without an update, {where}")
        _assert_same(before, _state(policy), f"a second select() changed %s, {where}")
        if not (np.asarray(twin.select()).tolist() == basis):
            raise AssertionError(f"two policies with the same history decide differently, {where}")
        if has_statistics:
            _check_bad_input(policy, matroid, where)
        if t == rounds // 2:
            twin = copy.deepcopy(policy)
        elements = _observed(basis, matroid, t, rng)
        rewards = _rewards(policy, len(elements), t, rng)
        for one in (policy, twin):
            one.update(elements, rewards)
        for e, reward in zip(elements.tolist(), rewards.tolist(), strict=True):
            seen[e].append(reward)
        if has_statistics:
            _check_statistics(policy, seen, where)


def _check_names_and_costs(
    factory: Callable[[Any], SupportsSelectUpdate],
    matroid: Matroid,
    rounds: int,
    rng: "np.random.Generator",
) -> None:
    """Names and costs against numbers and rewards: the same plays."""
    policy: Any = factory(matroid)
    names = [f"e{e}" for e in range(matroid.size)]
    # With one bound only, costs cannot be turned into rewards.
    low, high = policy.reward_range
    has_costs = np.isfinite(low) == np.isfinite(high)
    other: Any = factory(Problem(matroid, names, sense="min" if has_costs else "max"))
    for t in range(rounds):
        basis = policy.select()
        expected = [names[e] for e in basis]
        if other.select() != expected:
            raise AssertionError(
                f"with names and costs select() returned {other.select()}, with numbers and "
                f"rewards {expected}, on {matroid!r} in round {t + 1}; in _select use "
                "mean_rewards, for which larger is better, and return numbers"
            )
        costs = _rewards(policy, len(basis), t, rng)
        other.update(dict(zip(expected, costs.tolist(), strict=True)))
        policy.update(basis, other._turned(costs))
    if not np.allclose(other.means, other._turned(policy.means), equal_nan=True):
        raise AssertionError(f"means are not in the user's units, on {matroid!r}")


def _check_offers(
    factory: Callable[[Any], SupportsSelectUpdate],
    matroid: Matroid,
    rounds: int,
    rng: "np.random.Generator",
) -> None:
    """Of what is on offer, a basis is selected; what is not is left alone."""
    policy: Any = factory(matroid)
    for t in range(rounds):
        where = f"on {matroid!r} in round {t + 1}"
        offer = np.flatnonzero(rng.random(matroid.size) < 0.8)
        outside = np.setdiff1d(np.arange(matroid.size), offer)
        full = matroid.max_weight_basis(np.isin(np.arange(matroid.size), offer).astype(float))
        if np.isin(full, outside).any():
            before = _state(policy)
            try:
                selected = policy.select(available=offer)
            except NoBasisError:
                _assert_same(before, _state(policy), f"a refused offer changed %s, {where}")
                offer = np.union1d(offer, full)
            else:
                raise AssertionError(
                    f"select() returned {selected}, {offer.tolist()} has no full basis, {where}"
                )
        selected = policy.select(available=offer)
        if not (
            np.isin(selected, offer).all()
            and len(selected) == matroid.rank
            and matroid.is_independent(selected)
        ):
            raise AssertionError(
                f"select() returned {selected}, not a basis of {offer.tolist()}, {where}"
            )
        if not np.array_equal(policy.select(available=offer), selected):
            raise AssertionError(f"select() changed its mind without an update, {where}")
        policy.update(selected, _rewards(policy, len(selected), t, rng))


def _observed(
    basis: list[int], matroid: Matroid, t: int, rng: "np.random.Generator"
) -> np.ndarray[Any, np.dtype[np.intp]]:
    """What is observed: mostly the basis, now and then a part of it, another set, or nothing."""
    played = np.array(basis, dtype=np.intp)
    if t % 10 == 7:
        return rng.permutation(played)[: len(played) // 2]
    if t % 10 == 8:
        return rng.permutation(matroid.size)[: rng.integers(0, matroid.size + 1)]
    return played[: 0 if t % 10 == 9 else None]


def _rewards(
    policy: Any, n: int, t: int, rng: "np.random.Generator"
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Rewards that the policy accepts; every other round of few values, so that there are ties."""
    low, high = getattr(policy, "reward_range", (-np.inf, np.inf))
    drawn = rng.normal(size=n)
    if low > -np.inf and high < np.inf:
        drawn = low + (high - low) * rng.random(n)
    return np.clip(np.round(drawn, 2 if t % 2 else 1), low, high)


def _state(policy: Any) -> dict[str, Any]:
    return {name: getattr(policy, name) for name in _STATE if hasattr(policy, name)}


def _assert_same(before: dict[str, Any], after: dict[str, Any], message: str) -> None:
    for name, value in before.items():
        other = after[name]
        if value is None or other is None:
            same = value is other
        else:
            same = np.array_equal(np.asarray(value, float), np.asarray(other, float), True)
        if not (same):
            raise AssertionError(message % name)


def _check_bad_input(policy: Any, matroid: Matroid, where: str) -> None:
    basis = np.asarray(policy.select())
    mistakes: list[tuple[Any, Any]] = [
        ([matroid.size], [0.5]),
        ([-1], [0.5]),
        ([0.5], [0.5]),
        (basis, np.ones(len(basis) + 1)),
    ]
    if matroid.size:
        mistakes += [([0], [np.nan]), ([0], [-np.inf]), ([0, 0], [0.5, 0.5]), ([0], ["x"])]
        low, high = getattr(policy, "reward_range", (-np.inf, np.inf))
        mistakes += [
            ([0], [bound + out])
            for bound, out in ((low, -1e-9), (high, 1e-9))
            if np.isfinite(bound)
        ]
    before = _state(policy)
    for elements, rewards in mistakes:
        try:
            policy.update(elements, rewards)
        except ValueError:
            pass
        else:
            raise AssertionError(f"update({elements}, {rewards}) was not refused, {where}")
        _assert_same(before, _state(policy), f"a refused update changed %s, {where}")
        if not (np.array_equal(policy.select(), basis)):
            raise AssertionError(f"a refused update changed the selection, {where}")


def _check_statistics(policy: Any, seen: list[list[float]], where: str) -> None:
    for e, rewards in enumerate(seen):
        count, mean = policy.counts[e], policy.means[e]
        if count != len(rewards):
            raise AssertionError(
                f"element {e} was observed {len(rewards)} times, counts has {count}, {where}"
            )
        if rewards and not np.isclose(mean, np.mean(rewards), rtol=1e-9, atol=1e-12):
            raise AssertionError(
                f"the mean of element {e} is {np.mean(rewards)}, means has {mean}, {where}"
            )
