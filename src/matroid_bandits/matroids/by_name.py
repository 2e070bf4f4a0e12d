"""Matroid classes by name, as study files, specifications and the command line give them."""

from matroid_bandits import matroids
from matroid_bandits._arguments import choice
from matroid_bandits.matroids import Matroid

__all__ = ["MATROIDS", "matroid_class", "name_of_class"]

#: Matroid classes by name.
MATROIDS: dict[str, type[Matroid]] = {
    name.removesuffix("Matroid").lower(): getattr(matroids, name)
    for name in matroids.__all__
    if name != "Matroid"
}
_NAMES = {cls: name for name, cls in MATROIDS.items()}


def matroid_class(name: str) -> type[Matroid]:
    """The matroid class called `name`, in any case."""
    return MATROIDS[choice(name, "matroid", MATROIDS, ignore_case=True)]


def name_of_class(cls: type[Matroid]) -> str | None:
    """The name of a class of the package; None for a class of the user."""
    return _NAMES.get(cls)
