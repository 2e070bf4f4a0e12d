"""A policy as notebooks show it."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._html import (
    MOST_ROWS,
    Html,
    facts,
    joined,
    never_raises,
    number,
    panel,
    table,
)

if TYPE_CHECKING:
    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits._types import CountArray, FloatArray, IntArray
    from matroid_bandits.policies.contract.translation import Translation
    from matroid_bandits.problem import Problem

__all__ = ["Notebook"]

# Up to so many elements are sorted; of more, only the best ones.
_MOST_SORTED = 10_000


class Notebook:
    """What a notebook shows of a policy: what it reads changes nothing and calls no oracle."""

    _kernel: PolicyKernel
    _problem: Problem[Any, Any]
    _translation: Translation

    @never_raises
    def _repr_html_(self) -> Html:
        kernel, problem = self._kernel, self._problem
        rewards, counts = kernel.means_copy(), kernel.counts_copy()
        leader = _leader_of(kernel)
        members = frozenset(() if leader is None else leader.tolist())

        def mean(e: int) -> str:
            # One at a time, as there may be a million elements, and few are shown.
            return number(float(self._translation.in_user_units(rewards[e : e + 1])[0]))

        def title(e: int) -> str:
            return f"{problem.name(e)}: mean {mean(e)}, count {number(counts[e])}"

        best = _best_first(rewards)
        rows = [(problem.name(e), mean(e), number(counts[e])) for e in best]
        marked = [k for k, e in enumerate(best) if e in members]
        word = "mean reward" if problem.sense == "max" else "mean cost"
        pieces = [
            facts(_facts_of(self, kernel, counts, leader)),
            table(("element", word, "count"), rows, total=problem.size, marked=marked),
            *problem.matroid._shown_picture(title, members),
        ]
        return panel(type(self).__name__, *pieces, note=_note(problem))


def _note(problem: Problem[Any, Any]) -> str:
    matroid = problem.matroid
    return f"{type(matroid).__name__}, {matroid.size:,} elements, {problem._better()}"


def _facts_of(
    policy: Any, kernel: PolicyKernel, counts: CountArray, leader: IntArray | None
) -> list[tuple[str, Any]]:
    changed = policy._changed_parameters()
    parameters = ", ".join(f"{name}={reprlib.repr(value)}" for name, value in changed)
    n_open = kernel.decisions.n_open
    problem = policy._problem
    return [
        ("parameters", parameters or "defaults"),
        ("rounds", number(kernel.rounds)),
        ("observations", number(int(counts.sum()))),
        ("oracle calls", number(kernel.oracle_calls)),
        *([("open decisions", number(n_open))] if n_open else []),
        *(
            []
            if leader is None
            else [("leader (bold)", joined((problem.name(e) for e in leader), len(leader)))]
        ),
    ]


def _leader_of(kernel: PolicyKernel) -> IntArray | None:
    """The leader, of a policy that has one."""
    copy = getattr(kernel, "leader_copy", None)
    found: IntArray | None = None if copy is None else copy()
    return found


def _best_first(rewards: FloatArray) -> list[int]:
    """The elements of largest mean reward, unobserved ones last."""
    keys = np.where(np.isnan(rewards), np.inf, -rewards)
    near = (
        np.argpartition(keys, MOST_ROWS)[:MOST_ROWS]
        if len(keys) > _MOST_SORTED
        else np.arange(len(keys))
    )
    order: list[int] = near[np.argsort(keys[near], kind="stable")][:MOST_ROWS].tolist()
    return order
