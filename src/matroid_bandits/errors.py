"""Errors of our own; everything else is a plain ``ValueError`` or ``TypeError``."""

__all__ = ["MatroidAxiomError"]


class MatroidAxiomError(ValueError):
    """An independence test gave answers that no matroid gives.

    Raised when it is noticed: a maximal independent set smaller than the rank, or an element that
    is not a loop and yet cannot be exchanged with any element of a basis. The message names the
    sets, so that they can be tried by hand.
    """
