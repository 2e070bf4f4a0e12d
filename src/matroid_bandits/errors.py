"""Errors of our own; everything else is a plain ``ValueError`` or ``TypeError``."""

from collections.abc import Iterable
from typing import Protocol

__all__ = ["MatroidAxiomError", "NoBasisError"]


class MatroidAxiomError(ValueError):
    """An independence test gave answers that no matroid gives.

    Raised when it is noticed: a maximal independent set smaller than the rank, or an element that
    is not a loop and yet cannot be exchanged with any element of a basis. The message names the
    sets, so that they can be tried by hand.
    """


class NoBasisError(ValueError):
    """What is on offer in a round holds no full basis.

    Raised by ``policy.select(available=...)`` before anything changes. The message names elements
    that would complete a basis.
    """


class Advised(Protocol):
    """A matroid, as far as messages go."""

    @property
    def _advice(self) -> str: ...


def too_small(matroid: Advised, found: list[int], rank: int) -> MatroidAxiomError:
    """The error for a maximal independent set smaller than the rank."""
    return MatroidAxiomError(
        f"not a matroid: {sorted(found)} is independent and no element can be added to it, yet "
        f"{matroid!r} has independent sets of {rank} elements; {matroid._advice}"
    )


def not_a_basis(elements: Iterable[int], rank: int) -> MatroidAxiomError:
    """The error for a set that cannot be a basis because of its size."""
    members = sorted(map(int, elements))
    return MatroidAxiomError(
        f"a set of {len(members)} elements was passed as a basis of a matroid of rank {rank}: "
        f"{members}; a matroid must not change, and its `rank` must be the size of every basis"
    )


def no_partner(matroid: Advised, element: int, basis: list[int]) -> MatroidAxiomError:
    """The error for an element that can replace nothing, and is no loop."""
    return MatroidAxiomError(
        f"not a matroid: element {element} is no loop of {matroid!r}, yet it can replace none of "
        f"the basis {sorted(basis)}; {matroid._advice}"
    )


def not_reached(matroid: Advised, basis: list[int]) -> MatroidAxiomError:
    """The error for a basis that exchanges from the other bases do not lead to."""
    return MatroidAxiomError(
        f"not a matroid: {sorted(basis)} is a basis of {matroid!r}, yet no exchanges of single "
        f"elements lead to it from the other bases; {matroid._advice}"
    )


def no_end(matroid: Advised, basis: list[int]) -> MatroidAxiomError:
    """The error for exchanges, each for the better, that go on where none can be left."""
    return MatroidAxiomError(
        f"not a matroid: from the basis {sorted(basis)} of {matroid!r} more exchanges lead to "
        f"better sets than the basis has elements; {matroid._advice}"
    )


def out_of_range(index: str, element: int, reward: float, low: float, high: float) -> ValueError:
    """The error for a reward that an index is not made for."""
    return ValueError(
        f"the reward of element {element} is {reward:.6g}, but {index} is for rewards from {low:g} "
        f"to {high:g}; rescale them, or take an index for rewards without bounds, such as "
        "UCB(noise=...)"
    )
