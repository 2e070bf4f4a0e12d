"""A test for a change of mean: the generalized likelihood ratio, over all splits or a few of them.

[BK19] is Besson and Kaufmann, *The Generalized Likelihood Ratio Test meets klUCB* (arXiv
1902.01575). Rewards are split into an older and a newer part. The statistic says how much better
two means explain them than one does. It is large for some split if the mean has changed.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

# As many blocks of one size are too many.
_TOO_MANY = 4


@lru_cache(maxsize=4096)
def block_sizes(count: int) -> tuple[int, ...]:
    """The sizes of the blocks that ``count`` rewards are kept in, oldest first.

    A reward is a block of its own. Of four blocks of one size the two oldest become one.
    """
    if count == 0:
        return ()
    sizes = [*block_sizes(count - 1), 1]
    size = 1
    while sizes.count(size) == _TOO_MANY:
        # Blocks of one size are neighbors, and larger ones are older.
        first = sizes.index(size)
        sizes[first : first + 2] = [2 * size]
        size *= 2
    return tuple(sizes)


def grid(count: int) -> list[int]:
    """How many rewards are in the older part, for every split between two neighboring blocks."""
    return list(accumulate(block_sizes(count)))[:-1]


def statistic(rewards: Sequence[float], noise: float | None, splits: Iterable[int]) -> float:
    """The largest likelihood ratio over some splits.

    ``noise`` is the standard deviation of normal rewards, and None for rewards in [0, 1].
    """
    sums = [0.0, *accumulate(rewards)]
    n = len(rewards)
    total = sums[n] / n
    largest = 0.0
    for older in splits:
        newer = n - older
        one, two = sums[older] / older, (sums[n] - sums[older]) / newer
        if noise is None:
            ratio = older * kl(one, total) + newer * kl(two, total)
        else:
            ratio = older * newer / n * (one - two) ** 2 / (2 * noise**2)
        largest = max(largest, ratio)
    return largest


def kl(p: float, q: float) -> float:
    """The divergence of Bernoulli distributions, for means that may be outside by rounding."""
    p, q = (min(max(mean, 0.0), 1.0) for mean in (p, q))
    found = 0.0
    for chance, other in ((p, q), (1 - p, 1 - q)):
        if chance > 0:
            # Only rounding makes a total mean 0 or 1 while a part of it is not.
            found += chance * math.log(chance / other) if other > 0 else 0.0
    return found


def threshold(count: int, n_elements: int, delta: float) -> float:
    """[BK19] ln(3 N sqrt(N) / delta), with ``delta`` divided among the elements."""
    return math.log(3) + 1.5 * math.log(count) + math.log(max(1, n_elements)) - math.log(delta)


def has_changed(
    rewards: Sequence[float], noise: float | None, n_elements: int, delta: float
) -> bool:
    """Whether the statistic over the grid is above the threshold."""
    n = len(rewards)
    return n >= 2 and statistic(rewards, noise, grid(n)) > threshold(n, n_elements, delta)
