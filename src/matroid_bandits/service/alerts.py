"""Warnings about a bandit, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits.service.labels import shown_text

if TYPE_CHECKING:
    from matroid_bandits.service.bandit import Bandit

__all__ = ["warnings_of"]

# Fewer decisions tell nothing.
_FEW = 20
# Seconds without feedback, while decisions are made.
_LONG = 600.0
# The probability of a false alarm about changed means; pages are looked at again and again.
_DRIFT_DELTA = 0.001


def warnings_of(bandit: Bandit, now: float) -> list[str]:
    """What somebody should know about a bandit; nothing, if all is well."""
    found = []
    totals, settings = bandit.totals, bandit.settings
    if settings.status == "paused":
        found.append("Paused: the caller shows sets of its own, and the bandit only watches.")
    if settings.status == "archived":
        found.append("Archived: it is only read.")
    if totals["decided"] >= _FEW:
        found += _feedback_warnings(bandit, now)
        found += _drift_warnings(bandit)
    if bandit.n_open > 0.8 * settings.max_open_decisions:
        found.append(
            f"{bandit.n_open:,} decisions wait for feedback; at {settings.max_open_decisions:,}, "
            "new ones are refused."
        )
    elif settings.expire_after is None and bandit.n_open >= 10_000:
        found.append(
            f"{bandit.n_open:,} decisions wait for feedback, and they never expire: set "
            "expire_after."
        )
    if bandit.n_differences:
        found.append(
            f"This version of the library would have made {bandit.n_differences:,} decisions of "
            "the log differently. The recorded ones were used; all that was learned is right."
        )
    return found


def _feedback_warnings(bandit: Bandit, now: float) -> list[str]:
    found = []
    totals = bandit.totals
    if bandit.last_learned is None:
        found.append(f"{totals['decided']:,} decisions were made, and nothing was ever learned.")
    elif bandit.last_time - bandit.last_learned > _LONG:
        minutes = (now - bandit.last_learned) / 60
        found.append(f"Decisions are made, but nothing was learned for {minutes:,.0f} minutes.")
    # With a reward for what is missing, expiring is how decisions end.
    is_lost = bandit.settings.missing_reward is None
    if is_lost and 2 * totals["expired"] > totals["decided"]:
        share = totals["expired"] / totals["decided"]
        found.append(f"{share:.0%} of all decisions expired before all their feedback had come.")
    # Played often, and never a word about it: its tracker may be broken.
    silent = np.flatnonzero((bandit.policy.counts == 0) & (bandit.plays >= _FEW))
    if len(silent) and bandit.last_learned is not None:
        labels = bandit.problem.labels or ()
        names = _named([labels[e] for e in silent[:3].tolist()], len(silent))
        found.append(f"No feedback ever came for {names}, though often shown.")
    return found


def _drift_warnings(bandit: Bandit) -> list[str]:
    """Means that seem to have changed, for those who did not ask for a policy that forgets."""
    policy = bandit.policy
    if policy._kernel.memory is not None:
        return []
    try:
        drift = policy.drift(_DRIFT_DELTA)
    except ValueError:
        # Nothing is known about the noise.
        return []
    n = len(drift)
    if not n:
        return []
    names = _named([change.element for change in drift.changes[:3]], n)
    who = "The mean of 1 element seems" if n == 1 else f"Means of {n:,} elements seem"
    advice = "Old and new feedback count alike; window, discount or restart change that."
    return [f"{who} to have changed: {names}. {advice}"]


def _named(labels: list[Any], n: int) -> str:
    """Some labels of n, in words."""
    names = ", ".join(shown_text(label) for label in labels)
    return f"{names} and {n - len(labels):,} more" if n > len(labels) else names
