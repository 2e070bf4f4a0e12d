"""Primes for exact computations by modular arithmetic."""

from collections.abc import Iterator
from math import isqrt

__all__ = ["is_prime", "large_primes"]

_BELOW = 2**28


def is_prime(p: int) -> bool:
    """Whether p is a prime, by trial division."""
    return p > 1 and all(p % d for d in range(2, isqrt(p) + 1))


def large_primes() -> Iterator[int]:
    """The primes that keep sums of 256 products within 64 bits, largest first."""
    return filter(is_prime, range(_BELOW - 1, 2, -2))
