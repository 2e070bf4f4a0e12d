"""What matroids made of matroids share."""

from matroid_bandits._arguments import abbreviated
from matroid_bandits.matroids.base import CompiledMatroid, Matroid

__all__ = ["MadeOfOne", "MadeOfSeveral", "checked_matroid"]


class MadeOfOne(CompiledMatroid):
    """Another matroid, seen in another way."""

    def __init__(self, matroid: Matroid, size: int) -> None:
        self._matroid = matroid
        super().__init__(size)

    @property
    def matroid(self) -> Matroid:
        """The matroid that this one is made of."""
        return self._matroid

    def _components(self) -> tuple[Matroid, ...]:
        return (self._matroid,)

    @property
    def _advice(self) -> str:
        return self._matroid._advice


class MadeOfSeveral(CompiledMatroid):
    """Several matroids; one of the same class among them stands for its own parts."""

    def __init__(self, matroids: tuple[Matroid, ...]) -> None:
        self._parts: tuple[Matroid, ...] = tuple(
            part
            for matroid in matroids
            for part in (
                matroid._parts
                if isinstance(matroid, MadeOfSeveral) and type(matroid) is type(self)
                else (checked_matroid(matroid),)
            )
        )
        if not self._parts:
            raise ValueError(f"{type(self).__name__} needs at least one matroid, got none")
        super().__init__(self._size_of_all())

    def _size_of_all(self) -> int:
        """The number of elements, if the parts fit together."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Matroid, ...]:
        """The matroids, in the order given."""
        return self._parts

    def _components(self) -> tuple[Matroid, ...]:
        return self._parts

    @property
    def _advice(self) -> str:
        return "; ".join(dict.fromkeys(part._advice for part in self._parts))


def checked_matroid(matroid: Matroid) -> Matroid:
    """A part of a composition."""
    if not isinstance(matroid, Matroid):
        raise ValueError(
            f"a matroid is needed, got {abbreviated(matroid)} ({type(matroid).__name__})"
        )
    return matroid
