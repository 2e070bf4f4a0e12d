"""May I stop? Whether the best basis of a bandit is settled, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from matroid_bandits.policies.contract.confidence import Confident
from matroid_bandits.policies.contract.explanation import is_quick
from matroid_bandits.service.dashboard.formatting import short
from matroid_bandits.service.labels import shown_text

if TYPE_CHECKING:
    from matroid_bandits.policies import Policy
    from matroid_bandits.policies.contract.confidence import Confidence

__all__ = ["may_stop"]


def may_stop(policy: Policy[Any], delta: float) -> tuple[Confidence | None, str]:
    """Whether the best basis is settled, and sentences that say so.

    Parameters
    ----------
    policy : Policy
    delta : float
        The probability of a wrong answer.

    Returns
    -------
    Confidence or None
        None if it cannot be said; the sentences tell why, and what to do.
    str
    """
    kernel = policy._kernel
    if not is_quick(policy.problem.matroid, kernel.means_copy(), kernel.counts_copy()):
        return None, (
            "It is not said here whether the best basis is settled: so many elements can be "
            "exchanged that decisions would have to wait. Pass means and counts to observe() of a "
            "policy of the library, and call its confidence()."
        )
    try:
        found = Confident.confidence(policy, delta)
    except ValueError as error:
        if getattr(policy, "discount", None) is not None:
            return None, f"It cannot be said whether the best basis is settled: {error}."
        name = type(policy).__name__
        noise = "no noise" if getattr(policy, "noise", None) == 0 else "nothing about the noise"
        return None, (
            f"It cannot be said whether the best basis is settled: {name} assumes {noise} of the "
            "rewards. Create a bandit with a policy that does, such as MAUB(noise=0.5) or "
            "MAUB(index=kl), both for rewards between 0 and 1."
        )
    if found.pair is None:
        return found, str(found)
    # A label can have a million characters.
    own, other = (short(shown_text(label)) for label in found.pair)
    return found, str(replace(found, pair=(own, other)))
