"""Random matroids to compose others from, for tests and experiments."""

import numpy as np

from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.graphic import GraphicMatroid
from matroid_bandits.matroids.linear import LinearMatroid
from matroid_bandits.matroids.oracle import OracleMatroid
from matroid_bandits.matroids.partition import PartitionMatroid
from matroid_bandits.matroids.transversal import TransversalMatroid
from matroid_bandits.matroids.uniform import UniformMatroid

__all__ = ["random_part", "random_sizes"]

# OracleMatroid is one of them, for the matroids that users write in Python.
_CLASSES: tuple[type[Matroid], ...] = (
    GraphicMatroid,
    LinearMatroid,
    OracleMatroid,
    PartitionMatroid,
    TransversalMatroid,
    UniformMatroid,
)


def random_part(rng: "np.random.Generator", size: int) -> Matroid:
    """A random matroid of a random class."""
    return _CLASSES[int(rng.integers(len(_CLASSES)))].random(rng, size)


def random_sizes(rng: "np.random.Generator", size: int) -> list[int]:
    """The sizes of two or three parts with `size` elements together."""
    cuts = np.sort(rng.integers(0, size + 1, int(rng.integers(1, 3))))
    return [int(length) for length in np.diff(cuts, prepend=0, append=size)]
