"""What tests let policies observe, and the rewards: of every kind that has ever been trouble."""

import numpy as np


def rewards(kind: str, rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    """One reward for each mean; Gaussian, unless the kind is one of those below."""
    if kind == "bernoulli":
        return (rng.random(len(means)) < means).astype(float)
    if kind == "rare":
        # Nearly all means are exactly 0: ties everywhere, and no scale for rounding to go by.
        return (rng.random(len(means)) < 0.02).astype(float)
    if kind == "few values":
        return rng.integers(0, 3, len(means)) / 2
    if kind == "uniform":
        return rng.random(len(means)) * means
    return rng.normal(means, 0.3)


def observed(
    rng: np.random.Generator, basis: np.ndarray, size: int, *, part: float, foreign: float
) -> np.ndarray:
    """Mostly the basis; with these probabilities half of it, or any other set."""
    chance = rng.random()
    if chance < part:
        return rng.permutation(basis)[: len(basis) // 2]
    if chance < part + foreign:
        return rng.permutation(size)[: rng.integers(0, size + 1)]
    return basis
