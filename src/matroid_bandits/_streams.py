"""Random streams: which random numbers are used for what (docs/reference/random-numbers.md).

Each use has a *domain*, a constant of 128 bits. A stream is what NumPy gives for the words
``[domain, seed]``, or ``[domain, seed, element]`` for the rewards or the random walk of one
element, or ``[domain, seed, round]`` for the propensities of one decision. These streams share
nothing with each other, and nothing with what a user draws from ``default_rng(seed)``,
``default_rng([seed, k])`` or ``SeedSequence(seed).spawn(k)``:

- `numpy.random.SeedSequence` cuts its integers into words of 32 bits and hashes the words in
  their order. It fills up to four words with zeros, so ``[seed]`` and ``[seed, 0]`` are the same.
- A domain is exactly four words, none of them zero. The words of a stream therefore begin with
  its domain, are at least five, and are never filled up.
- Two streams of one domain differ in the words that follow. The element, or the round, is always
  the last word and the seed is all words between, so no two pairs (seed, element) have the same
  words.
- A user gets the same words only by writing out a domain, an integer above 2**126.
"""

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator

__all__ = [
    "DELAYS",
    "POLICIES",
    "PROPENSITIES",
    "RANDOM_FEATURES",
    "RANDOM_MATROIDS",
    "RANDOM_MEANS",
    "REWARDS",
    "WALKS",
    "stream",
]

# The ASCII codes of 16 characters each.
REWARDS: Final = int.from_bytes(b"bandits--rewards", "little")
POLICIES: Final = int.from_bytes(b"bandits-policies", "little")
PROPENSITIES: Final = int.from_bytes(b"bandits-included", "little")
DELAYS: Final = int.from_bytes(b"bandits---delays", "little")
RANDOM_MEANS: Final = int.from_bytes(b"bandits----means", "little")
RANDOM_FEATURES: Final = int.from_bytes(b"bandits-features", "little")
WALKS: Final = int.from_bytes(b"bandits----walks", "little")
RANDOM_MATROIDS: Final = int.from_bytes(b"bandits-matroids", "little")


def stream(domain: int, *words: int) -> "Generator":
    """The random numbers of one domain, one seed and, for rewards and walks, one element."""
    return np.random.default_rng([domain, *words])
