"""`fit`, `partial_fit` and `predict` around a policy, as programs written for MABWiser call them.

The names and their meaning are those of ``mabwiser.mab.MAB``; MABWiser itself is not needed.
docs/howto/adapters.md has a table of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matroid_bandits._arguments import abbreviated, as_list
from matroid_bandits.matroids import UniformMatroid
from matroid_bandits.policies import Policy
from matroid_bandits.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    import numpy.typing as npt

__all__ = ["FitPredict"]


class FitPredict:
    """A policy with `fit`, `partial_fit` and `predict`.

    A row of `decisions` and `rewards` is an element that was played, and its reward. `predict`
    returns a slate, the basis to play.

    Parameters
    ----------
    policy : Policy
        Any policy. It is the one that learns, until `fit` begins anew.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> ads = mb.Problem(mb.UniformMatroid(2, 4), labels=["car", "tea", "book", "bike"])
    >>> mab = mb.FitPredict(mb.OMM(ads, noise=0.1))
    >>> mab.fit(["car", "tea", "book", "bike"], [0.1, 0.9, 0.2, 0.8]).predict()
    ['tea', 'bike']
    >>> mab.partial_fit(["tea", "bike"], [1.0, 0.7]).predict_expectations()["tea"]
    0.95
    """

    def __init__(self, policy: Policy[Any]) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(
                f"FitPredict needs a Policy, got {abbreviated(policy)}; for instance "
                "FitPredict(MAUB(problem))"
            )
        self._policy = policy

    @property
    def policy(self) -> Policy[Any]:
        """The policy that learns."""
        return self._policy

    @property
    def arms(self) -> list[Any]:
        """The labels; numbers, where there are none."""
        problem = self._policy.problem
        return [problem.name(e) for e in range(problem.size)]

    def fit(self, decisions: Iterable[Any], rewards: npt.ArrayLike, *, rounds: Any = None) -> Self:
        """Forget everything, then learn: `partial_fit` of a fresh policy with the same parameters.

        Parameters
        ----------
        decisions, rewards, rounds
            As in `partial_fit`.
        """
        fresh = self._policy.clone()
        _learn(fresh, decisions, rewards, rounds)
        self._policy = fresh
        return self

    def partial_fit(
        self, decisions: Iterable[Any], rewards: npt.ArrayLike, *, rounds: Any = None
    ) -> Self:
        """Learn rewards, besides what is known.

        Parameters
        ----------
        decisions : iterable
            What was played: a label in every row.
        rewards : array_like of float
            The reward of each, or its cost; as many as decisions.
        rounds : iterable, optional
            The round of every row, a text or an integer: rows of a slate have the same. By default,
            a round ends when it has as many rows as a slate, or before an element that it has
            already.

        Raises
        ------
        ValueError
            If anything is wrong. Nothing has been learned then.
        """
        _learn(self._policy, decisions, rewards, rounds)
        return self

    def predict(self, available: Iterable[Any] | None = None) -> list[Any]:
        """The slate to play: a list of labels. It stays the same until something is learned.

        Parameters
        ----------
        available : iterable, optional
            The elements that can be played now, by default all.
        """
        return _listed(self._policy.select(available), "a slate")

    def predict_expectations(self) -> dict[Any, float]:
        """The mean reward, or cost, of each element so far; NaN before the first."""
        return dict(zip(self.arms, self._policy.means.tolist(), strict=True))

    def add_arm(self, arm: Any, problem: Problem[Any, Any] | None = None) -> None:
        """Add an element.

        Parameters
        ----------
        arm : hashable
            Its label.
        problem : Problem, optional
            The problem with the new element: only you know what it can be played with. By default,
            for a uniform matroid, slates of the same size.
        """
        known = self._policy.problem
        if problem is None:
            matroid = known.matroid
            if not isinstance(matroid, UniformMatroid):
                raise ValueError(
                    f"what can be played together with {abbreviated(arm)} is not known: pass the "
                    "problem that has it, add_arm(arm, problem)"
                )
            problem = Problem(
                UniformMatroid(matroid.rank, matroid.size + 1),
                [*self.arms, arm],
                sense=known.sense,
            )
        elif set(problem.labels or ()) != {*self.arms, arm} or arm in self.arms:
            raise ValueError(
                f"the problem must have the {known.size} elements known and {abbreviated(arm)}"
            )
        self._policy = self._policy.moved_to(problem)

    def remove_arm(self, arm: Any) -> None:
        """Remove an element; the others may be played together as before."""
        self._policy = self._policy.moved_to(self._policy.problem.delete([arm]))

    def __repr__(self) -> str:
        return f"FitPredict({self._policy!r})"


def _learn(policy: Policy[Any], decisions: Any, rewards: Any, rounds: Any) -> None:
    """Learn rows: all, or nothing if one is wrong."""
    names, values = _listed(decisions, "decisions"), _listed(rewards, "rewards")
    if len(names) != len(values):
        raise ValueError(f"{len(names)} decisions, but {len(values)} rewards")
    if rounds is None:
        given = _rounds_of(names, policy.problem.rank)
    else:
        given = _listed(rounds, "rounds")
        if len(given) != len(names):
            raise ValueError(f"{len(names)} decisions, but {len(given)} rounds")
    # A round of this call is none of the policy's own decisions.
    ids = [f"\0{number!r}" for number in given]
    policy.learn_log({"decision": ids, "element": names, "reward": values})


def _listed(values: Any, what: str) -> list[Any]:
    """Values as a list; arrays and series give plain ones."""
    return as_list(values.tolist() if hasattr(values, "tolist") else values, what)


def _rounds_of(names: list[Any], rank: int) -> list[int]:
    """Rows cut into rounds: at most as many as a slate has, and each element once."""
    rounds: list[int] = []
    number = 0
    seen: set[Any] = set()
    for name in names:
        if name in seen or len(seen) == max(1, rank):
            number, seen = number + 1, set()
        seen.add(name)
        rounds.append(number)
    return rounds
