"""Learning from a log: all of it is checked before anything is learned."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated
from matroid_bandits.policies.contract.decision import names_of
from matroid_bandits.policies.contract.log import read_log, refused

if TYPE_CHECKING:
    from matroid_bandits.policies.base import Policy
    from matroid_bandits.policies.contract.log import Log

__all__ = ["learn_log"]

# Sums of rewards stay this far from overflow.
_LARGEST_SUM = 1e307


def learn_log(policy: Policy[Any], frame: Any) -> None:
    """Learn from a log: all of it is checked first."""
    kernel, translation, hook = policy._kernel, policy._translation, policy._hook
    problem = policy._problem
    log = read_log(
        frame,
        problem,
        bounds=policy.reward_range,
        pivot=translation.pivot,
        dropped=kernel.feedback.former_number,
    )
    # From the check on, nobody else may change the policy.
    with kernel.guard.hold():
        is_known = [kernel.decisions.has(identifier) for identifier in log.ids]
        _check_known(log, is_known, policy)
        _check_sums(log, policy)
        policy._check_log(log, is_known)
        parts = list(pairwise(log.starts.tolist()))
        kernel.feedback.hold_warnings()
        try:
            with kernel.guard.lend_to_loop():
                for identifier, known, (start, end) in zip(log.ids, is_known, parts, strict=True):
                    feedback = log.elements[start:end], log.rewards[start:end]
                    if known:
                        kernel.learn_decision(identifier, *feedback, False, hook)
                    else:
                        kernel.update(*feedback, hook)
        finally:
            warning = kernel.feedback.held_warning()
    if warning is not None:
        warnings.warn(warning, stacklevel=3)


def _check_known(log: Log, is_known: list[bool], policy: Policy[Any]) -> None:
    """Refuse rows about decisions of this policy that `learn` would refuse."""
    problem, translation = policy._problem, policy._translation
    table = policy._kernel.decisions
    _refuse_dropped(log, is_known, policy)
    for k in np.flatnonzero(is_known).tolist():
        identifier = log.ids[k]
        _, elements = table.decision(identifier)
        known = dict(zip(elements.tolist(), table.received(identifier), strict=True))
        for i in range(log.starts[k], log.starts[k + 1]):
            e, reward, row = int(log.elements[i]), float(log.rewards[i]), int(log.rows[i])
            if e not in known:
                name = names_of(problem, np.array([e]), policy._kernel)[0]
                raise refused(row, "element", name, f"is not in the decision {identifier!r}")
            if np.isnan(known[e]) and not table.is_open(identifier):
                raise refused(
                    row,
                    "decision",
                    identifier,
                    "was closed: missing feedback is no longer accepted; leave the row out",
                )
            if not np.isnan(known[e]) and known[e] != reward:
                before, now = translation.in_user_units(np.array([known[e], reward])).tolist()
                raise refused(
                    row,
                    "reward",
                    now,
                    f"contradicts the decision {identifier!r}, in which "
                    f"{abbreviated(names_of(problem, np.array([e]), policy._kernel)[0])} had "
                    f"{before:.6g}",
                )


def _refuse_dropped(log: Log, is_known: list[bool], policy: Policy[Any]) -> None:
    """Refuse elements that the problem does not have, except in decisions that have them."""
    rounds = np.repeat(np.arange(len(log.ids)), np.diff(log.starts))
    for i in np.flatnonzero((log.elements < 0) & ~np.array(is_known, dtype=bool)[rounds])[:1]:
        row = int(log.rows[i])
        name = policy._kernel.feedback.former[-1 - int(log.elements[i])]
        reason = "was dropped by moved_to, and the decision is not one of this policy"
        raise refused(row, "element", name, reason)


def _check_sums(log: Log, policy: Policy[Any]) -> None:
    """Refuse rewards so large that means overflow."""
    kernel = policy._kernel
    sizes = np.abs(log.rewards)
    if not sizes.size:
        return
    for place in np.flatnonzero(sizes > kernel.feedback.largest)[:1].tolist():
        reason = f"is too large for this policy: at most {kernel.feedback.largest:g} in size"
        raise refused(int(log.rows[place]), "reward", _given(log, place, policy), reason)
    counts = kernel.counts_copy()
    with np.errstate(over="ignore", invalid="ignore"):
        before = counts * np.where(counts > 0, np.abs(kernel.means_copy()), 0.0)
        is_there = log.elements >= 0
        sums = before + np.bincount(log.elements[is_there], sizes[is_there], kernel.size)
    for e in np.flatnonzero(~(sums <= _LARGEST_SUM / max(1, kernel.rank)))[:1].tolist():
        mine = np.flatnonzero(log.elements == e)
        if not mine.size:
            continue
        place = mine[np.argmax(sizes[mine])]
        reason = f"is too large: the mean of {abbreviated(policy._problem.name(e))} may overflow"
        raise refused(int(log.rows[place]), "reward", _given(log, place, policy), reason)


def _given(log: Log, place: int, policy: Policy[Any]) -> float:
    """A reward as it was given."""
    return float(policy._translation.in_user_units(log.rewards[place : place + 1])[0])
