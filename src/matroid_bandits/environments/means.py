"""Random means of the elements."""

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import integer
from matroid_bandits._streams import RANDOM_MEANS, stream

__all__ = ["random_means"]


def random_means(
    size: int, seed: int, *, low: float = 0.5, high: float = 1.0, pieces: int | None = None
) -> npt.NDArray[np.float64]:
    """Random means: uniform, by default as in the experiments of [DG25].

    Parameters
    ----------
    size : int
        Number of elements.
    seed : int
        Seed. The rewards of ``simulate(..., seed=seed)`` are independent of these means.
    low, high : float
        Bounds of the means.
    pieces : int, optional
        Number of rows, for :class:`~matroid_bandits.PiecewiseEnvironment`; the first row has the
        means without `pieces`. By default the means are not in rows.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.random_means(3, seed=0).shape
    (3,)
    """
    size = integer(size, "size", minimum=0)
    if not -np.inf < low <= high < np.inf:
        raise ValueError(f"means must be from low to high, got {low} to {high}")
    rng = stream(RANDOM_MEANS, integer(seed, "seed", minimum=0))
    if pieces is None:
        return rng.uniform(low, high, size)
    return rng.uniform(low, high, (integer(pieces, "pieces", minimum=1), size))
