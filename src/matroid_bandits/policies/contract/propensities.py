"""Propensities: how likely each element of a decision was, estimated by repeating the rule.

The rule of the round is drawn `n` times more, on a copy that draws from a stream of its own, and
the set that is played counts as one draw. So with k hits of an element the estimate is
``(k + 1) / (n + 1)``, and never 0.

This makes inverse propensities all but unbiased. If an element is played with probability p, the
expectation of (played / estimate) is ``1 - (1 - p)**(n + 1)``, not merely about 1: for k hits among
n draws, ``E[(n + 1) / (k + 1)] = (1 - (1 - p)**(n + 1)) / p``.
"""

from __future__ import annotations

from typing import Any

from matroid_bandits._core.indices.base import PythonIndexKernel

__all__ = ["MOST_DRAWS", "refuse_unknown_draws"]

#: More draws say nothing more, and take minutes.
MOST_DRAWS = 10**6


def refuse_unknown_draws(policy: Any) -> None:
    """Refuse a policy whose random numbers nobody but itself knows."""
    cls = type(policy).__name__
    if policy._rule is not None:
        raise ValueError(
            f"{cls} decides by a _select of its own, which may draw random numbers that cannot be "
            "drawn again: propensities are for built-in rules; leave propensities= out and log "
            "probabilities of your own"
        )
    index = policy._kernel.index
    if isinstance(index, PythonIndexKernel):
        raise ValueError(
            f"{cls} uses the index {index.name}, written in Python, which may draw random numbers "
            "that cannot be drawn again: propensities are for built-in indices; leave "
            "propensities= out"
        )
