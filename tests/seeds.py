"""How much a test tries: a little by default, everything with ``SEEDS=all``."""

import os

from matroid_bandits import catalog

_ALL = os.environ.get("SEEDS") == "all"

# One family for every kind of kernel: direct, with a search, in Python, with parts.
_KINDS = ("dual", "graphic", "linear", "oracle", "partition", "transversal", "union")

#: Families of matroids for tests that are about policies. Contracts are for every family.
FAMILIES = tuple(catalog.MATROIDS) if _ALL else _KINDS


def seeds(count: int) -> range:
    """`count` seeds, ten times as many with ``SEEDS=all``."""
    return range(count * (10 if _ALL else 1))
