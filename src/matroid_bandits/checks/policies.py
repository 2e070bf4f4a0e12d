"""Check that a policy keeps the contract of select and update."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from matroid_bandits._arguments import choice, integer
from matroid_bandits.checks.decisions import check_decisions
from matroid_bandits.checks.saving import check_saving
from matroid_bandits.checks.state import assert_same, check_statistics, draw_rewards, state_of
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


def check_policy(
    factory: Callable[[Any], SupportsSelectUpdate], *, rounds: int = 60, seed: int = 0
) -> None:
    """Check that a policy keeps the contract, on small matroids of every kind.

    - "selection": it selects a basis, the same until the next update; learns from feedback that is
      partial, about other elements, or empty; decides alike after the same history; goes on alike
      from a deep copy; and, where it has `counts` and `means`, keeps them right and refuses bad
      input with a ``ValueError`` that leaves it as it was. Rewards are from its `reward_range`, if
      it has one, else any.

    A subclass of :class:`~matroid_bandits.Policy` must also pass these:

    - "labels_and_costs": with the labels and costs of a problem it plays the same.
    - "availability": it selects among available elements, once for each set of them in a round.
    - "decisions": late, partial and repeated feedback leaves counts and means right, and
      contradictions are refused; with feedback right after every decision, `decide` and `learn`
      play what `select` and `update` play. The plays are the same with `propensities`.
    - "parameters": a clone has the same parameters and has learned nothing.
    - "saving": saved and loaded, it goes on as if it had never stopped. If it refuses to be saved,
      the reason is printed.
    - "relabeling": when elements are numbered differently it plays the same elements, as long as
      there are no ties.

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

    Notes
    -----
    A class to which a check does not apply declares so, with the reason; the reason is printed:
    ``_check_exemptions = {"relabeling": "ties are broken by index"}``. Subclasses inherit that; one
    to which the check applies says so by None in place of the reason.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.check_policy(mb.MAUB)
    >>> mb.check_policy(mb.RandomBasis)
    RandomBasis is exempt from "relabeling": random numbers are drawn in the order of the elements
    """
    if not callable(factory):
        raise TypeError(
            f"check_policy needs a class or a function that makes a policy, got {factory!r}"
        )
    make: Callable[[Any], SupportsSelectUpdate] = factory
    if isinstance(factory, type) and issubclass(factory, Policy):
        # With features, where the class needs them.
        make = factory._example
    rounds = integer(rounds, "rounds", minimum=1)
    rng = np.random.default_rng(integer(seed, "seed", minimum=0))
    made = make(UniformMatroid(1, 2))
    for method in ("select", "update"):
        if not callable(getattr(made, method, None)):
            raise TypeError(f"the factory made {made!r}, which has no method {method}")
    checks = _CHECKS_OF_POLICIES if isinstance(made, Policy) else _CHECKS
    exempt = exemptions_of(type(made)) | exemptions_of(type(getattr(made, "index", None)))
    for name, reason in exempt.items():
        print(f'{type(made).__name__} is exempt from "{name}": {reason}')  # noqa: T201
    refusals: set[str] = set()
    for matroid in _matroids(rng):
        for name, check in checks.items():
            if name in exempt:
                continue
            refusal = check(make, matroid, rounds if name == "selection" else rounds // 3, rng)
            if refusal is not None and refusal not in refusals:
                refusals.add(refusal)
                print(f'not checked, "{name}": {refusal}')  # noqa: T201


def exemptions_of(cls: type) -> dict[str, str]:
    """The checks that do not apply to policies of a class, or with an index of a class, and why."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        for name, reason in vars(base).get("_check_exemptions", {}).items():
            known = choice(
                name, f"check in {base.__name__}._check_exemptions:", _CHECKS_OF_POLICIES
            )
            if reason is None:
                found.pop(known, None)
                continue
            if not isinstance(reason, str) or not reason:
                raise ValueError(
                    f"{base.__name__}._check_exemptions must give a reason for {name!r}, "
                    f"got {reason!r}"
                )
            found[known] = reason
    return found


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


def _check_selection(
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
        before = state_of(policy)
        if not (np.asarray(policy.select()).tolist() == basis):
            raise AssertionError(f"select() changed its mind without an update, {where}")
        assert_same(before, state_of(policy), f"a second select() changed %s, {where}")
        if not (np.asarray(twin.select()).tolist() == basis):
            raise AssertionError(f"two policies with the same history decide differently, {where}")
        if has_statistics:
            _check_bad_input(policy, matroid, where)
        if t == rounds // 2:
            twin = copy.deepcopy(policy)
        elements = _observed(basis, matroid, t, rng)
        rewards = draw_rewards(policy, len(elements), t, rng)
        for one in (policy, twin):
            one.update(elements, rewards)
        for e, reward in zip(elements.tolist(), rewards.tolist(), strict=True):
            seen[e].append(reward)
        if has_statistics:
            check_statistics(policy, seen, where)


def _check_labels_and_costs(
    factory: Callable[[Any], SupportsSelectUpdate],
    matroid: Matroid,
    rounds: int,
    rng: "np.random.Generator",
) -> None:
    """Labels and costs against numbers and rewards: the same plays."""
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
                f"with labels and costs select() returned {other.select()}, with numbers and "
                f"rewards {expected}, on {matroid!r} in round {t + 1}; in _select use "
                "mean_rewards, for which larger is better, and return numbers"
            )
        costs = draw_rewards(policy, len(basis), t, rng)
        other.update(dict(zip(expected, costs.tolist(), strict=True)))
        policy.update(basis, other._in_user_units(costs))
    if not np.allclose(other.means, other._in_user_units(policy.means), equal_nan=True):
        raise AssertionError(f"means are not in the user's units, on {matroid!r}")


def _check_availability(
    factory: Callable[[Any], SupportsSelectUpdate],
    matroid: Matroid,
    rounds: int,
    rng: "np.random.Generator",
) -> None:
    """A basis of the available elements is selected, one for each set of them in a round."""
    policy: Any = factory(matroid)
    for t in range(rounds):
        where = f"on {matroid!r} in round {t + 1}"
        available = np.flatnonzero(rng.random(matroid.size) < 0.8)
        outside = np.setdiff1d(np.arange(matroid.size), available)
        full = matroid.max_weight_basis(np.isin(np.arange(matroid.size), available).astype(float))
        if np.isin(full, outside).any():
            before = state_of(policy)
            try:
                selected = policy.select(available=available)
            except NoBasisError:
                assert_same(before, state_of(policy), f"a refused selection changed %s, {where}")
                available = np.union1d(available, full)
            else:
                raise AssertionError(
                    f"select() returned {selected}, {available.tolist()} has no full basis, {where}"
                )
        selected = policy.select(available=available)
        if not (
            np.isin(selected, available).all()
            and len(selected) == matroid.rank
            and matroid.is_independent(selected)
        ):
            raise AssertionError(
                f"select() returned {selected}, not a basis of {available.tolist()}, {where}"
            )
        # Other sets in between make no difference.
        for other in (None, np.union1d(available, rng.permutation(matroid.size)[:1])):
            policy.select(available=other)
        if not np.array_equal(policy.select(available=available), selected):
            raise AssertionError(f"select() changed its mind without an update, {where}")
        policy.update(selected, draw_rewards(policy, len(selected), t, rng))


def _check_parameters(
    factory: Callable[[Any], SupportsSelectUpdate],
    matroid: Matroid,
    rounds: int,  # noqa: ARG001
    rng: "np.random.Generator",
) -> None:
    """A clone has the same parameters and has learned nothing."""
    policy: Any = factory(matroid)
    fresh = policy.select()
    policy.update(fresh, draw_rewards(policy, len(fresh), 0, rng))
    twin = policy.clone()
    if (type(twin), repr(twin), set(twin.get_params())) != (
        type(policy),
        repr(policy),
        set(policy.get_params()),
    ):
        raise AssertionError(f"the clone of {policy!r} is {twin!r}")
    if twin.rounds or twin.counts.any():
        raise AssertionError(f"the clone of {policy!r} has learned {twin.rounds} rounds already")
    if not np.array_equal(twin.select(), fresh):
        raise AssertionError(
            f"the clone of {policy!r} selects {twin.select()} in round 1, the policy {fresh}"
        )
    for name in policy.get_params():
        if not hasattr(policy, name):
            raise AssertionError(f"{policy!r} has no attribute {name}")


def _check_relabeling(
    factory: Callable[[Any], SupportsSelectUpdate],
    matroid: Matroid,
    rounds: int,
    rng: "np.random.Generator",
) -> None:
    """With other numbers, the same elements are played, where there are no ties."""
    # Graphs are enough: they are easily numbered differently.
    if not isinstance(matroid, GraphicMatroid):
        return
    new_number = rng.permutation(matroid.size)  # element e becomes new_number[e]
    old_number = np.argsort(new_number)
    renumbered = GraphicMatroid([matroid.edges[e] for e in old_number])
    policy: Any = factory(matroid)
    other: Any = factory(renumbered)
    low, high = policy.reward_range
    low, high = max(low, -1.0), min(high, 1.0)
    # Once every element has an index, nothing depends on the numbers.
    min_count = getattr(getattr(policy, "index", None), "min_count", 1)
    elements = np.arange(matroid.size)
    for t in range(rounds):
        rewards = low + (high - low) * rng.random(len(elements))
        policy.update(elements, rewards)
        other.update(new_number[elements], rewards)
        if t + 1 < min_count:
            continue
        elements = policy.select()
        expected = np.sort(new_number[elements]).tolist()
        if other.select().tolist() != expected:
            raise AssertionError(
                f"with other numbers for the elements, {type(policy).__name__} selects "
                f"{other.select()}, not {expected}, on {matroid!r} in round {t + 2}; if ties or "
                "random draws depend on the numbers, declare "
                '_check_exemptions = {"relabeling": "the reason"} in the class'
            )


# A check returns why it cannot be made, or None.
_CHECKS: dict[str, Callable[..., str | None]] = {"selection": _check_selection}
_CHECKS_OF_POLICIES: dict[str, Callable[..., str | None]] = _CHECKS | {
    "labels_and_costs": _check_labels_and_costs,
    "availability": _check_availability,
    "decisions": check_decisions,
    "parameters": _check_parameters,
    "saving": check_saving,
    "relabeling": _check_relabeling,
}


def _observed(
    basis: list[int], matroid: Matroid, t: int, rng: "np.random.Generator"
) -> np.ndarray[Any, np.dtype[np.intp]]:
    """What is observed: the basis, in some rounds part of it, another set, or nothing."""
    played = np.array(basis, dtype=np.intp)
    if t % 10 == 7:
        return rng.permutation(played)[: len(played) // 2]
    if t % 10 == 8:
        return rng.permutation(matroid.size)[: rng.integers(0, matroid.size + 1)]
    return played[: 0 if t % 10 == 9 else None]


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
    before = state_of(policy)
    for elements, rewards in mistakes:
        try:
            policy.update(elements, rewards)
        except ValueError:
            pass
        else:
            raise AssertionError(f"update({elements}, {rewards}) was not refused, {where}")
        assert_same(before, state_of(policy), f"a refused update changed %s, {where}")
        if not (np.array_equal(policy.select(), basis)):
            raise AssertionError(f"a refused update changed the selection, {where}")
