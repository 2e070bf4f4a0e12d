"""Whether two studies are the same: short checksums of what results depend on."""

import hashlib
import inspect
import random
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from matroid_bandits.matroids import Matroid

__all__ = ["of_array", "of_code", "of_matroid"]


def of_array(values: npt.NDArray[Any]) -> str:
    """A checksum of numbers."""
    return _digest(np.ascontiguousarray(values, dtype="<f8").tobytes())


def of_code(cls: type) -> str:
    """A checksum of the text of a class's module; empty where there is none to be read.

    What is written in a notebook or a script counts class by class.
    """
    try:
        whole = cls.__module__ != "__main__" and sys.modules.get(cls.__module__)
        return _digest(inspect.getsource(whole or cls).encode())
    except (OSError, TypeError):
        return ""


def of_matroid(matroid: Matroid) -> str:
    """A checksum of what a matroid answers, however it is represented: some greedy bases.

    Two matroids of one checksum are the same for all practical purposes: they have the same bases
    under 32 random orders of the elements (fewer for more than 10,000 elements).
    """
    # Python's own generator promises the same numbers in every version.
    rng = random.Random(20251)  # noqa: S311
    digest = hashlib.sha256(str(matroid.size).encode())
    for _ in range(max(2, min(32, 320_000 // (matroid.size + 1)))):
        weights = np.array([rng.random() for _ in range(matroid.size)])
        digest.update(matroid.max_weight_basis(weights).astype("<i8").tobytes())
    return digest.hexdigest()[:16]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
