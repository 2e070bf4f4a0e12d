"""Random features, and means that are linear in features, but for some elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from matroid_bandits._arguments import choice, integer, real, real_array
from matroid_bandits._streams import RANDOM_FEATURES, stream

if TYPE_CHECKING:
    import numpy.typing as npt

    from matroid_bandits._types import FloatArray

__all__ = ["linear_means", "random_features"]

KINDS = ("topics", "sphere")
# What a stream is for: the first word after the domain, before the seed.
FEATURES, COEFFICIENTS, OFF_THE_LINE = 0, 1, 2
# With this parameter of the Dirichlet distribution, most items have one or two topics.
_CONCENTRATION = 0.1


def random_features(
    size: int, n_features: int, seed: int, *, kind: Literal["topics", "sphere"] = "topics"
) -> FloatArray:
    """Random features, a row for each element.

    Parameters
    ----------
    size : int
        Number of elements.
    n_features : int
        Number of features.
    seed : int
        Seed. Independent of the rewards of ``simulate(..., seed=seed)``.
    kind : {"topics", "sphere"}, default "topics"
        "topics": shares of topics, not negative, with the sum 1, few of them large. "sphere": a
        random direction, of length 1.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> phi = mb.random_features(5, 3, seed=0)
    >>> phi.shape, phi.sum(axis=1).round(9).tolist()
    ((5, 3), [1.0, 1.0, 1.0, 1.0, 1.0])
    """
    n = integer(size, "size", minimum=0)
    d = integer(n_features, "n_features", minimum=1)
    rng = stream(RANDOM_FEATURES, FEATURES, integer(seed, "seed", minimum=0))
    if choice(kind, "kind", KINDS) == "topics":
        return rng.dirichlet(np.full(d, _CONCENTRATION), n).reshape(n, d)
    directions: FloatArray = rng.standard_normal((n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions


def linear_means(
    phi: npt.ArrayLike,
    theta: npt.ArrayLike,
    *,
    off: float = 0.0,
    off_by: float = 0.2,
    seed: int = 0,
) -> FloatArray:
    """Means that are linear in features, for an environment; some elements may be misspecified.

    Parameters
    ----------
    phi : array_like
        Features, a row for each element.
    theta : array_like of float
        The coefficient of each feature.
    off : float, default 0.0
        Share of the elements whose mean is not what the features say, from 0 to 1.
    off_by : float, default 0.2
        How far they are off: standard deviation of the difference.
    seed : int, default 0
        Seed of which elements are off, and how far.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.linear_means([[1, 0], [0, 1], [1, 1]], [0.3, 0.4])
    array([0.3, 0.4, 0.7])
    >>> environment = mb.GaussianEnvironment(mb.linear_means([[1, 0], [0, 1]], [0.3, 0.4]))
    """
    coefficients = real_array(theta, "theta")
    rows = np.asarray(phi, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(coefficients):
        raise ValueError(
            f"phi must have a column for each of the {len(coefficients)} coefficients, got an "
            f"array of shape {rows.shape}"
        )
    share = real(off, "off", minimum=0.0, maximum=1.0)
    distance = real(off_by, "off_by", minimum=0.0, maximum=1e50)
    means: FloatArray = rows @ coefficients
    rng = stream(RANDOM_FEATURES, OFF_THE_LINE, integer(seed, "seed", minimum=0))
    moved = rng.permutation(len(means))[: round(share * len(means))]
    means[moved] += distance * rng.standard_normal(len(moved))
    return means
