"""What is evaluated: a set, inclusion probabilities, or a policy that is replayed along the log."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated, as_list, real
from matroid_bandits.policies import Policy
from matroid_bandits.policies.contract.log import label_of
from matroid_bandits.policies.linear import LinearPolicy

if TYPE_CHECKING:
    from matroid_bandits._types import FloatArray
    from matroid_bandits.evaluation.reading import RandomLog

__all__ = ["Plays", "plays_of"]


@dataclass(frozen=True, eq=False)
class Plays:
    """How likely what is evaluated would have played each entry of a log.

    Attributes
    ----------
    probabilities : numpy.ndarray
        Of every entry of the log.
    wanted : numpy.ndarray
        Of every label of the log: the sum of these probabilities over all decisions, also those
        in which the element was not shown.
    n_wanted : numpy.ndarray
        Of every label: the number of decisions in which this probability is above 0.
    """

    probabilities: FloatArray
    wanted: FloatArray
    n_wanted: FloatArray


def plays_of(
    policy: Any, log: RandomLog, available: Mapping[Any, Any] | None, *, learn: bool
) -> Plays:
    """What `policy` would have played in the decisions of a log."""
    if isinstance(policy, Policy):
        return _replayed(policy, log, available or {}, learn=learn)
    if available is not None:
        raise ValueError(
            "available= is for a policy that is replayed; of a fixed set, what was not available "
            "in a decision counts as not played"
        )
    if isinstance(policy, Mapping):
        probabilities = {label_of(name): _probability(name, policy[name]) for name in policy}
    else:
        if isinstance(policy, type) or hasattr(policy, "select"):
            raise TypeError(
                f"evaluate_log needs a Policy, a set of elements or their probabilities, got "
                f"{abbreviated(policy)}"
            )
        names = [label_of(name) for name in as_list(policy, "the set to evaluate")]
        probabilities = dict.fromkeys(names, 1.0)
        if len(probabilities) < len(names):
            doubled = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{abbreviated(doubled)} is given twice")
    probabilities = {name: p for name, p in probabilities.items() if p > 0}
    if not probabilities:
        raise ValueError("nothing would be played: give at least one element a probability above 0")
    _refuse_unsupported(list(probabilities), log, "leave them out of the set")
    by_label = np.array([probabilities.get(name, 0.0) for name in log.labels])
    n = len(log.ids)
    return Plays(by_label[log.elements], by_label * n, np.where(by_label > 0, float(n), 0.0))


def _probability(name: Any, value: Any) -> float:
    try:
        return real(value, "a probability", minimum=0.0, maximum=1.0)
    except ValueError:
        raise ValueError(
            f"the probability of {abbreviated(name)} must be from 0 to 1, got {abbreviated(value)}"
        ) from None


def _refuse_unsupported(names: list[Any], log: RandomLog, advice: str) -> None:
    """Refuse elements that the log never shows."""
    shown = set(log.labels)
    never = [name for name in names if name not in shown]
    if never:
        some = ", ".join(abbreviated(name) for name in never[:5])
        more = f" and {len(never) - 5} more" if len(never) > 5 else ""
        raise ValueError(
            f"the log never shows {some}{more}: nothing is known about their rewards; {advice}"
        )


def _replayed(
    policy: Policy[Any], log: RandomLog, available: Mapping[Any, Any], *, learn: bool
) -> Plays:
    """Let a copy of the policy decide in every decision of the log, by what it has learned.

    It learns the rewards of what it would have played and the log has shown.
    """
    if isinstance(policy, LinearPolicy) and policy.features.phi is None:
        raise ValueError(
            f"a {type(policy).__name__} whose features come with the round cannot be evaluated: "
            "the log does not have them; take fixed features, LinearFeatures(phi)"
        )
    problem = policy.problem
    playable = np.setdiff1d(np.arange(problem.size), problem.matroid.loops)
    names = [problem.name(int(e)) for e in playable]
    _refuse_unsupported(
        names, log, "evaluate a policy on problem.restrict(elements that were shown)"
    )
    # Labels that are not in the problem are refused by their name.
    places = np.full(problem.size, -1, dtype=np.intp)
    places[problem.elements(log.labels)] = np.arange(len(log.labels))
    unknown = set(available) - set(log.ids)
    if unknown:
        raise ValueError(f"available has {abbreviated(unknown.pop())}, which the log does not have")
    learner = copy.deepcopy(policy)
    probabilities = np.zeros(len(log.elements))
    wanted = np.zeros(len(log.labels))
    starts = np.searchsorted(log.decisions, np.arange(len(log.ids) + 1))
    for k, identifier in enumerate(log.ids):
        # Ids of the log may be those of decisions of the policy.
        decision = learner.decide(available.get(identifier), allow_smaller=identifier in available)
        mine = places[problem.elements(decision.elements)]
        wanted[mine] += 1
        entries = np.arange(starts[k], starts[k + 1])
        matched = entries[np.isin(log.elements[entries], mine)]
        probabilities[matched] = 1.0
        if not len(decision.elements):
            continue
        if learn:
            rewards = {log.labels[log.elements[i]]: float(log.rewards[i]) for i in matched}
            learner.learn(decision, rewards, final=True)
        else:
            learner.expire(decision)
    return Plays(probabilities, wanted, wanted)
