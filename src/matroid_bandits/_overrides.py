"""Which methods a class overrides."""

from collections.abc import Iterable

__all__ = ["outdated", "overridden"]


def overridden(cls: type, base: type, methods: Iterable[str]) -> frozenset[str]:
    """Those of `methods` that `cls` does not inherit from `base` as they are."""
    return frozenset(name for name in methods if getattr(cls, name) is not getattr(base, name))


def outdated(cls: type, methods: Iterable[str], answers: Iterable[str]) -> frozenset[str]:
    """Those of `methods` that no longer fit, because a subclass has overridden one of `answers`.

    A method fits the answers of its own class and of the classes above it.
    """
    answers = tuple(answers)
    place = {
        name: next(i for i, base in enumerate(cls.__mro__) if name in vars(base))
        for name in (*methods, *answers)
    }
    return frozenset(m for m in methods if any(place[a] < place[m] for a in answers))
