"""Check that a policy keeps the contract of decide, learn and expire."""

from collections.abc import Callable
from typing import Any

import numpy as np

from matroid_bandits.checks.state import assert_same, check_statistics, draw_rewards, state_of
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies.contract.propensities import refuse_unknown_draws


def check_decisions(
    factory: Callable[[Any], Any], matroid: Matroid, rounds: int, rng: "np.random.Generator"
) -> None:
    """With feedback at once it plays as usual; late, partial, repeated feedback is kept right."""
    _check_one_by_one(factory, matroid, rounds, rng)
    _check_late_feedback(factory, matroid, rounds, rng)
    _check_propensities(factory, matroid, rounds, rng)


def _check_one_by_one(
    factory: Callable[[Any], Any], matroid: Matroid, rounds: int, rng: "np.random.Generator"
) -> None:
    policy, usual = factory(matroid), factory(matroid)
    for t in range(rounds):
        decision, selected = policy.decide(), usual.select()
        if not np.array_equal(decision.elements, selected):
            raise AssertionError(
                f"decide() returned {decision.elements}, select() {selected} after the same "
                f"feedback, on {matroid!r} in round {t + 1}"
            )
        rewards = draw_rewards(policy, len(selected), t, rng)
        policy.learn(decision, rewards)
        usual.update(selected, rewards)


def _check_propensities(
    factory: Callable[[Any], Any], matroid: Matroid, rounds: int, rng: "np.random.Generator"
) -> None:
    """Propensities are from 0 to 1, and the plays are the same without them."""
    policy, usual = factory(matroid), factory(matroid)
    try:
        refuse_unknown_draws(policy)
    except ValueError:
        # Nobody else knows its random numbers.
        return
    for t in range(rounds):
        decision, same = policy.decide(propensities=2), usual.decide()
        where = f"on {matroid!r} in round {t + 1}"
        if not np.array_equal(decision.elements, same.elements):
            raise AssertionError(
                f"decide(propensities=2) returned {decision.elements}, decide() {same.elements} "
                f"after the same feedback, {where}"
            )
        propensities = decision.propensities
        if (
            len(propensities) != len(same.elements)
            or not ((propensities > 0) & (propensities <= 1)).all()
        ):
            raise AssertionError(
                f"{decision.elements} have the propensities {propensities}, {where}"
            )
        rewards = draw_rewards(policy, len(same.elements), t, rng)
        policy.learn(decision, rewards)
        usual.learn(same, rewards)


def _check_late_feedback(
    factory: Callable[[Any], Any], matroid: Matroid, rounds: int, rng: "np.random.Generator"
) -> None:
    policy = factory(matroid)
    seen: list[list[float]] = [[] for _ in range(matroid.size)]
    # By id: the decision, and the feedback that it has got.
    known: dict[Any, tuple[Any, dict[int, float]]] = {}
    for t in range(rounds):
        where = f"on {matroid!r} in round {t + 1}"
        decision = policy.decide()
        elements = np.asarray(decision.elements).tolist()
        if not (len(elements) == matroid.rank and matroid.is_independent(elements)):
            raise AssertionError(f"decide() returned {elements}, not a basis, {where}")
        if not decision.round == policy.rounds == t + 1:
            raise AssertionError(
                f"the decision has round {decision.round}, the policy {policy.rounds} rounds, "
                f"{where}"
            )
        known[decision.id] = decision, {}
        # Feedback for part of an earlier decision, with what it has got already.
        earlier, feedback = known[list(known)[rng.integers(len(known))]]
        new = {
            e: reward
            for e, reward in zip(
                earlier.elements, draw_rewards(policy, len(elements), t, rng), strict=True
            )
            if e not in feedback and rng.random() < 0.5
        }
        policy.learn(earlier.id, feedback | new)
        feedback |= new
        for e, reward in new.items():
            seen[e].append(reward)
        _check_repetition(policy, earlier, feedback, where)
        check_statistics(policy, seen, where)
        _check_pending(policy, known, where)
    policy.expire(policy.open_decisions)
    check_statistics(policy, seen, f"on {matroid!r} after expire()")
    if policy.n_pending.any() or policy.open_decisions:
        raise AssertionError(f"something is pending on {matroid!r} after everything has expired")


def _check_repetition(policy: Any, decision: Any, feedback: dict[int, float], where: str) -> None:
    """The same feedback again changes nothing; other feedback is refused and changes nothing."""
    before = state_of(policy)
    policy.learn(decision, feedback)
    assert_same(before, state_of(policy), f"feedback given twice changed %s, {where}")
    low, high = policy.reward_range
    for e, reward in feedback.items():
        other = (low if reward == high else high) if np.isfinite([low, high]).all() else reward + 1
        try:
            policy.learn(decision, {e: other})
        except ValueError:
            pass
        else:
            raise AssertionError(
                f"the reward {other} for element {e} was not refused after {reward}, {where}"
            )
    assert_same(before, state_of(policy), f"refused feedback changed %s, {where}")


def _check_pending(policy: Any, known: dict[Any, tuple[Any, dict[int, float]]], where: str) -> None:
    pending = np.zeros_like(policy.n_pending)
    for decision, feedback in known.values():
        pending[[e for e in decision.elements if e not in feedback]] += 1
    if not np.array_equal(policy.n_pending, pending):
        raise AssertionError(f"n_pending is {policy.n_pending}, not {pending}, {where}")
    expected = [key for key, (one, feedback) in known.items() if len(feedback) < len(one.elements)]
    if list(policy.open_decisions) != expected:
        raise AssertionError(
            f"open_decisions has {list(policy.open_decisions)}, not {expected}, {where}"
        )
