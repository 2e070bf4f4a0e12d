"""A plain loop that plays a policy whose feedback comes late, or never.

The feedback for an element played in round t with a delay of d rounds is learned before the
decision of round t + 1 + d, so that a delay of 0 is the usual loop. Every element of every decision
has a delay of its own. What is due before the same round is learned decision by decision, the
oldest first. Lost feedback is never learned; nobody waits for it from the time at which it would
have come.
"""

from collections import defaultdict
from collections.abc import Callable

from .decisions import ReferenceDecisions
from .streams import BestValue, Means, Rewards, next_reward, regret_of_round

#: The delay of an element played in a round, and whether its feedback is lost.
Delay = Callable[[int, int], tuple[int, bool]]


def delayed_run(
    policy: ReferenceDecisions,
    rewards: Rewards,
    means: Means,
    best_value: BestValue,
    horizon: int,
    delay: Delay,
) -> list[float]:
    """Play ``horizon`` rounds; return the cumulative pseudo-regret after each of them.

    The k-th time element e is played (k = 0, 1, ...), it pays ``rewards[e][k]``, whenever that is
    learned. ``delay(t, e)`` is called once for every element played, in ascending order. ``means``
    are the true means and ``best_value`` is the `basis_value` of the best basis. Where means
    change, these three are functions, and a reward is that of the round of the play. Feedback that
    is due after the last round is not learned.
    """
    pulls: dict[int, int] = {}
    # By round: what is learned before it, as (round played, element, reward or None if it is lost).
    due: defaultdict[int, list[tuple[int, int, float | None]]] = defaultdict(list)
    ids = {}
    total = 0.0
    regret: list[float] = []
    for t in range(1, horizon + 1):
        decision = policy.decide()
        ids[t] = decision.id
        for e in decision.elements:
            reward = next_reward(rewards, pulls, e, t)
            rounds, is_lost = delay(t, e)
            due[t + 1 + rounds].append((t, e, None if is_lost else reward))
        total += regret_of_round(decision.elements, means, best_value, t)
        regret.append(total)
        arrived = due.pop(t + 1, [])
        for played in sorted({s for s, _, _ in arrived}):
            news = {e: reward for s, e, reward in sorted(arrived) if s == played}
            policy.learn(ids[played], {e: r for e, r in news.items() if r is not None})
            for e, reward_or_none in news.items():
                if reward_or_none is None:
                    policy.lose(ids[played], e)
    return regret
