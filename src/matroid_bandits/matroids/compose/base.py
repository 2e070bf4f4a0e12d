"""What compositions of matroids share."""

from matroid_bandits._arguments import abbreviated, integer
from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits.matroids.base import CompiledMatroid, Matroid, check_size

__all__ = [
    "NaryComposition",
    "UnaryComposition",
    "checked_matroid",
    "kernel_of_part",
    "rank_of_part",
    "two_kernels",
]

# Deeper compositions would exceed Python's recursion limit.
_MAX_DEPTH = 100
# From so many kernels on a part has one kernel instead of two. Otherwise their number would double
# with every level.
_MAX_KERNELS = 8


class UnaryComposition(CompiledMatroid):
    """A matroid derived from one other matroid."""

    def __init__(self, matroid: Matroid, size: int) -> None:
        self._matroid = matroid
        self._depth = _depth_around((matroid,))
        super().__init__(size)

    @property
    def matroid(self) -> Matroid:
        """The matroid that this one is derived from."""
        return self._matroid

    def _components(self) -> tuple[Matroid, ...]:
        return (self._matroid,)

    @property
    def _correction(self) -> str:
        return self._matroid._correction


class NaryComposition(CompiledMatroid):
    """A matroid composed of several; parts of the same class are replaced by their own parts."""

    def __init__(self, matroids: tuple[Matroid, ...]) -> None:
        self._parts: tuple[Matroid, ...] = tuple(
            part
            for matroid in matroids
            for part in (
                matroid._parts
                if isinstance(matroid, NaryComposition) and type(matroid) is type(self)
                else (checked_matroid(matroid),)
            )
        )
        if not self._parts:
            raise ValueError(f"{type(self).__name__} needs at least one matroid, got none")
        self._depth = _depth_around(self._parts)
        self._sizes = [part.size for part in self._parts]
        super().__init__(self._total_size())

    def _ranks(self) -> list[int]:
        return [rank_of_part(*part) for part in zip(self._parts, self._sizes, strict=True)]

    def _total_size(self) -> int:
        """The number of elements, if the parts fit together."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Matroid, ...]:
        """The matroids, in the order given."""
        return self._parts

    def _components(self) -> tuple[Matroid, ...]:
        return self._parts

    @property
    def _correction(self) -> str:
        return "; ".join(dict.fromkeys(part._correction for part in self._parts))


def checked_matroid(matroid: Matroid) -> Matroid:
    """A part of a composition."""
    if not isinstance(matroid, Matroid):
        raise ValueError(
            f"a matroid is needed, got {abbreviated(matroid)} ({type(matroid).__name__})"
        )
    return matroid


def _depth_around(parts: tuple[Matroid, ...]) -> int:
    """The depth of a composition of `parts`."""
    depth = 1 + max(part._depth for part in parts)
    if depth > _MAX_DEPTH:
        raise ValueError(
            f"compositions may be nested {_MAX_DEPTH} levels deep, this is level {depth}; write a "
            "class of your own, with an independence test that is not recursive, instead"
        )
    return depth


def rank_of_part(part: Matroid, size: int) -> int:
    """The rank of a part with `size` elements; a class written in Python may override it."""
    return integer(part.rank, f"the rank of {type(part).__name__}", minimum=0, maximum=size)


def kernel_of_part(part: Matroid, size: int) -> MatroidKernel:
    """A kernel of a part that had `size` elements when the composition was made."""
    kernel = part._new_kernel()
    check_size(part, size, kernel.size)
    return kernel


def two_kernels(part: Matroid, size: int) -> tuple[MatroidKernel, MatroidKernel]:
    """Two kernels of a part, for a growing set and for exchanges; a large one serves as both.

    They are independent of each other, so that neither has to be prepared anew after the other was
    used.
    """
    kernel = kernel_of_part(part, size)
    return kernel, kernel if kernel.n_kernels >= _MAX_KERNELS else kernel_of_part(part, size)
