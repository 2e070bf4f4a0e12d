"""A limit for matroids by name: a short name may mean a huge matroid."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["at_most", "check_size"]

# Enough for the complete graph on 2,000 vertices.
_MOST = 2_000_000
# What all matroids together may still have, and what they might have at first.
_left: ContextVar[tuple[int, int] | None] = ContextVar("left", default=None)


@contextmanager
def at_most(number: int) -> Iterator[None]:
    """Allow matroids by name with so many elements in all, while this lasts."""
    token = _left.set((number, number))
    try:
        yield
    finally:
        _left.reset(token)


def check_size(name: str, number: int, *, what: str = "elements") -> None:
    """Refuse a matroid that is too large, before anything of it is made."""
    left, most = _left.get() or (_MOST, _MOST)
    if number > min(left, _MOST):
        are_several = "" if left == most else " together with those before it"
        raise ValueError(
            f"{name} has more than {min(most, _MOST):,} {what}{are_several}, too many for a "
            "matroid by name; choose smaller numbers"
        )
    if _left.get() is not None:
        _left.set((left - number, most))
