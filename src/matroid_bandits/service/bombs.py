"""Short requests that would take very long, or very much memory: refused before they are tried.

A decision is made while all other requests wait. So what takes longer than about a second is not
for a server. How long something takes is estimated roughly, from its size alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from matroid_bandits._arguments import abbreviated
from matroid_bandits.matroids import (
    GammoidMatroid,
    Matroid,
    TransversalMatroid,
    TruncatedMatroid,
    UnionMatroid,
)
from matroid_bandits.matroids.by_name import MATROIDS
from matroid_bandits.policies import MAUB, FasterCUCB
from matroid_bandits.service.errors import ServiceError, invalid
from matroid_bandits.specs.matroids import OF_ONE, OF_SEVERAL

if TYPE_CHECKING:
    from matroid_bandits.policies import Policy
    from matroid_bandits.problem import Problem
    from matroid_bandits.service.settings import Limits

__all__ = [
    "MOST_WORK",
    "decision_work",
    "label_work",
    "refuse_bombs",
    "refuse_slow",
    "refuse_slow_draws",
    "refuse_slow_policy",
    "too_much_work",
]

# Of a random instance by name, whose making is not meant to be quick.
_LARGEST_RANDOM = 300
_RANDOM = re.compile(r"(?<![a-z])([a-z]+)\(?(\d+)(?![\d,])")
# Estimated steps of a decision: about a second.
_MOST_STEPS = 10**9
# Of bases that OSUB would list, each with all its neighbors.
_MOST_ENTRIES = 10**7
# Rank times elements, where MAUB finds its first leader one exchange at a time: about a second.
_MOST_EXCHANGED = 2 * 10**8
# Of elements that are looked at, in one transaction: some tenths of a second.
MOST_WORK = 5 * 10**5
# Labels that are neither texts nor integers take so many times as long.
_LABEL = 10
# These compute the index of few elements in a round.
_SPARING = (MAUB, FasterCUCB)
# Of draws for propensities times elements, in one transaction: about a second.
_MOST_DRAWN = 5 * 10**6
# Where a specification has matroids.
_ONE = ("matroid", *OF_ONE)
_SEVERAL = ("matroids", *OF_SEVERAL)


def refuse_bombs(spec: Any, limits: Limits, place: str) -> None:
    """Refuse a specification of a matroid by its numbers, before anything is made."""
    if isinstance(spec, str):
        _check_name(spec, place)
    if not isinstance(spec, dict):
        return
    kind = spec["type"].lower() if isinstance(spec.get("type"), str) else None
    if kind in {"python", "oracle"}:
        raise invalid(
            "matroids written in Python cannot be served; describe it by another type",
            f"{place}.type",
        )
    for key in ("size", "rank"):
        value = spec.get(key)
        if isinstance(value, (int, float)) and value > limits.elements:
            raise invalid(
                f"{abbreviated(value)} is too large: this server takes at most "
                f"{limits.elements:,} elements",
                f"{place}.{key}",
            )
    if kind == "linear":
        _check_steps(_steps_of_vectors(spec), "vectors", place)
    for key in _ONE:
        refuse_bombs(spec.get(key), limits, f"{place}.{key}")
    for key in _SEVERAL:
        parts = spec.get(key)
        for i, part in enumerate(parts if isinstance(parts, list) else ()):
            refuse_bombs(part, limits, f"{place}.{key}[{i}]")


def _check_name(name: str, place: str) -> None:
    for word, number in _RANDOM.findall("".join(name.lower().split())):
        is_large = len(number) > 9 or int(number) > _LARGEST_RANDOM
        if word in MATROIDS and is_large:
            raise invalid(
                f"{word}({number[:20]}) is a random matroid; those of a server have at most "
                f"{_LARGEST_RANDOM:,} elements",
                place,
            )


def _steps_of_vectors(spec: dict[str, Any]) -> int:
    """Of an elimination; exact numbers get longer with every row."""
    given = spec.get("vectors")
    rows = [row for row in given if isinstance(row, list)] if isinstance(given, list) else []
    n, width = len(rows), max(map(len, rows), default=0)
    rank = min(n, width)
    words = 1
    if spec.get("field") is None and not any(isinstance(x, float) for row in rows for x in row):
        whole = (abs(x).bit_length() for row in rows for x in row if isinstance(x, int))
        words += 10 * rank * max(whole, default=0) // 64
    return n * width * rank * words


def refuse_slow(matroid: Matroid, place: str) -> None:
    """Refuse a matroid in which something is searched for, if that would take long."""
    for part in matroid._components():
        refuse_slow(part, place)
    _check_steps(_steps(matroid), type(matroid).__name__.removesuffix("Matroid").lower(), place)


def _steps(matroid: Matroid) -> int:
    """Of finding a basis."""
    if isinstance(matroid, TransversalMatroid):
        return len(matroid._right) * min(matroid.size, len(matroid._vertices)) // 10
    if isinstance(matroid, GammoidMatroid):
        return 100 * len(matroid._arcs) * len(matroid._targets)
    if isinstance(matroid, UnionMatroid):
        rank = min(matroid.size, sum(part.rank for part in matroid.parts))
        return int(20 * len(matroid.parts) * rank**2)
    return 0


def _check_steps(steps: int, what: str, place: str) -> None:
    if steps > _MOST_STEPS:
        raise invalid(
            f"{what} of this size would take too long for each decision; describe it by a simpler "
            "type, or by fewer and smaller numbers",
            place,
        )


def refuse_slow_policy(spec: str | dict[str, Any], problem: Problem[Any, Any]) -> None:
    """Refuse a policy that lists too much, or whose first leader would take long."""
    given = spec.partition("(")[0] if isinstance(spec, str) else spec.get("type")
    name = given.strip().lower() if isinstance(given, str) else ""
    work = problem.rank * problem.size
    if name == "osub" and work > _MOST_ENTRIES:
        raise invalid("OSUB lists all bases, and there are too many; use MAUB", "policy")
    if name == "maub" and work > _MOST_EXCHANGED and _has_truncation(problem.matroid):
        raise invalid(
            "MAUB would take too long on a truncated matroid of this size; use OMM", "policy"
        )


def _has_truncation(matroid: Matroid) -> bool:
    return isinstance(matroid, TruncatedMatroid) or any(map(_has_truncation, matroid._components()))


def decision_work(policy: Policy[Any], *, is_restricted: bool) -> int:
    """How many elements are looked at for a decision, roughly."""
    problem = policy.problem
    is_sparing = isinstance(policy, _SPARING) and not is_restricted
    return problem.rank if is_sparing else problem.size


def label_work(labels: list[Any] | None) -> int:
    """The same for labels in a request."""
    if labels is None or len(labels) > MOST_WORK:
        return len(labels or ())
    return sum(1 if type(label) in {str, int} else _LABEL for label in labels)


def too_much_work() -> ServiceError:
    """The error for an item of a batch for which one transaction has no time."""
    return ServiceError(
        413,
        "too_large",
        "the items of this batch would take too long together; put this one in another batch",
    )


def refuse_slow_draws(draws: int, size: int, drawn: int) -> None:
    """Refuse draws for propensities that would take long.

    Parameters
    ----------
    draws, size : int
        Draws for a decision, and elements of the problem.
    drawn : int
        Draws times elements, also of earlier decisions of the same batch.
    """
    if draws * size > _MOST_DRAWN:
        raise invalid(
            f"{draws:,} draws with {size:,} elements would take too long; at most "
            f"{_MOST_DRAWN // size:,} are possible",
            "propensities",
        )
    if drawn > _MOST_DRAWN:
        raise invalid(
            "the decisions of this batch ask for so many draws that they would take too long; put "
            "this one in another batch, or ask for fewer draws",
            "propensities",
        )
