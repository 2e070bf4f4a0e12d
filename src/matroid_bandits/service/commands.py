"""What is asked of a bandit: requests after their form was checked, and their answers.

Elements are labels, or as JSON has them, where labels are not checked yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matroid_bandits.problem import Problem

__all__ = ["Answer", "Command", "Configure", "Decide", "Expire", "Learn", "Move"]


class Decide(NamedTuple):
    """Make a decision.

    An id that the caller has not given was never used before (`is_own_id` is false).
    """

    id: str
    is_own_id: bool = True
    available: list[Any] | None = None
    allow_smaller: bool = False
    client: str | None = None
    shown: list[Any] | None = None
    propensities: int | None = None


class Learn(NamedTuple):
    """Learn rewards of elements of a decision: pairs of an element and a number."""

    id: str
    rewards: list[tuple[Any, float]]
    final: bool = False


class Expire(NamedTuple):
    """Close a decision; what is missing is learned as `reward`, if there is one."""

    id: str
    reward: float | None = None


class Move(NamedTuple):
    """Go on with another problem; `prior` has an element, a mean and a count in each row."""

    spec: dict[str, Any]
    problem: Problem[Any, Any]
    prior: list[tuple[Any, float, int]]


class Configure(NamedTuple):
    """Change settings."""

    changes: dict[str, Any]


Command = Decide | Learn | Expire | Move | Configure


class Answer(NamedTuple):
    """What a command is answered with: a status of HTTP and a text of JSON."""

    status: int
    text: str
