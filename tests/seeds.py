"""How much a test tries: a little by default, everything with ``SEEDS=all``, or ``SEEDS=few``.

By default the release build takes the first half of the seeds, and that with bounds checks the
second one.
"""

import os

from matroid_bandits import catalog

_ALL = os.environ.get("SEEDS") == "all"
# For kernels with line tracing, which are many times slower: `make coverage`.
_FEW = os.environ.get("SEEDS") == "few"
_IS_CHECKED = os.environ.get("MATROID_BANDITS_CHECKED", "") not in {"", "0"}

# One family for every kind of kernel: direct, with a search, in Python, with parts.
_KINDS = ("dual", "graphic", "linear", "oracle", "partition", "transversal", "union")

#: Families of matroids for tests that are about policies. Contracts are for every family.
FAMILIES = tuple(catalog.MATROIDS) if _ALL else _KINDS


def seeds(count: int) -> range:
    """`count` seeds for both builds together, or for each of them ten times as many with
    ``SEEDS=all``, and a tenth with ``SEEDS=few``.
    """
    if _FEW:
        return range(-(-count // 10))
    if _ALL:
        return range(10 * count)
    half = -(-count // 2)
    return range(half, count) if _IS_CHECKED and count > 1 else range(half)
