"""What the checks of policies share: rewards, the state of a policy, and its statistics."""

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
    return {name: getattr(policy, name) for name in _STATE if hasattr(policy, name)}


def assert_same(before: dict[str, Any], after: dict[str, Any], message: str) -> None:
    """Compare two states; `message` has a place for the name of what differs."""
    for name, value in before.items():
        other = after[name]
        if value is None or other is None:
            same = value is other
        else:
            same = np.array_equal(np.asarray(value, float), np.asarray(other, float), True)
        if not same:
            raise AssertionError(message % name)


def check_statistics(policy: Any, seen: list[list[float]], where: str) -> None:
    """Compare counts and means with the rewards observed of every element."""
    if getattr(getattr(policy, "_kernel", None), "memory", None) is not None:
        # It forgets some of them, on purpose.
        return
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
