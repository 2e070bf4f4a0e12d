"""Feedback for tests: rewards of several kinds, for whole bases, parts of them or other sets."""

import numpy as np


def rewards(kind: str, rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    """One reward for each mean; Gaussian, unless the kind is one of those below."""
    if kind == "bernoulli":
        return (rng.random(len(means)) < means).astype(float)
    if kind == "rare":
        # Nearly all means are exactly 0: many ties, and no scale for a rounding margin.
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
    draw = rng.random()
    if draw < part:
        return rng.permutation(basis)[: len(basis) // 2]
    if draw < part + foreign:
        return rng.permutation(size)[: rng.integers(0, size + 1)]
    return basis
