"""How much a test tries: a little by default, everything with ``SEEDS=all``, or ``SEEDS=few``."""

import os

from matroid_bandits import catalog

_ALL = os.environ.get("SEEDS") == "all"
# For kernels with line tracing, which are many times slower: `make coverage`.
_FEW = os.environ.get("SEEDS") == "few"

# One family for every kind of kernel: direct, with a search, in Python, with parts.
_KINDS = ("dual", "graphic", "linear", "oracle", "partition", "transversal", "union")

#: Families of matroids for tests that are about policies. Contracts are for every family.
FAMILIES = tuple(catalog.MATROIDS) if _ALL else _KINDS


def seeds(count: int) -> range:
    """`count` seeds, ten times as many with ``SEEDS=all``, a tenth with ``SEEDS=few``."""
    return range(-(-count // 10) if _FEW else count * (10 if _ALL else 1))
