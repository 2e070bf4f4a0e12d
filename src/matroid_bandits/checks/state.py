"""What the checks of policies share: rewards, the state of a policy, and its statistics."""

import math
from typing import Any

import numpy as np

# Attributes that show the state of a policy; compared where it has them.
_STATE = (
    "rounds",
    "counts",
    "means",
    "n_pending",
    "leader",
    "oracle_calls",
    "greedy_calls",
    "neighborhood_updates",
)
_MISSING = object()


def draw_rewards(
    policy: Any, n: int, t: int, rng: "np.random.Generator"
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Rewards that the policy accepts; every other round of few values, so that there are ties."""
    low, high = getattr(policy, "reward_range", (-np.inf, np.inf))
    drawn = rng.normal(size=n)
    if low > -np.inf and high < np.inf:
        drawn = low + (high - low) * rng.random(n)
    return np.clip(np.round(drawn, 2 if t % 2 else 1), low, high)


def state_of(policy: Any) -> dict[str, Any]:
    """What can be seen of a policy."""
    state = {name: getattr(policy, name, _MISSING) for name in _STATE}
    return {name: value for name, value in state.items() if value is not _MISSING}


def _is_same(value: Any, other: Any) -> bool:
    """Whether two values of a state are equal; a NaN equals a NaN."""
    if value is None or other is None:
        return value is other
    if type(value) is int and type(other) is int:
        return value == other
    if isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
        # Most are the same bytes, which is much faster to see than element by element.
        alike = value.dtype == other.dtype != object and value.shape == other.shape
        if alike and value.tobytes() == other.tobytes():
            return True
    return np.array_equal(np.asarray(value, float), np.asarray(other, float), True)


def assert_same(before: dict[str, Any], after: dict[str, Any], message: str) -> None:
    """Compare two states; `message` has a place for the name of what differs."""
    for name, value in before.items():
        if not _is_same(value, after[name]):
            raise AssertionError(message % name)


def check_statistics(policy: Any, seen: list[list[float]], where: str) -> None:
    """Compare counts and means with the rewards observed of every element."""
    if getattr(getattr(policy, "_kernel", None), "memory", None) is not None:
        # It forgets some of them, on purpose.
        return
    counts, means = policy.counts, policy.means
    for e, rewards in enumerate(seen):
        count, mean = counts[e], means[e]
        if count != len(rewards):
            raise AssertionError(
                f"element {e} was observed {len(rewards)} times, counts has {count}, {where}"
            )
        if rewards:
            expected = math.fsum(rewards) / len(rewards)
            # The test is negated so that a NaN fails it.
            if not abs(mean - expected) <= 1e-12 + 1e-9 * abs(expected):
                raise AssertionError(
                    f"the mean of element {e} is {expected}, means has {mean}, {where}"
                )
