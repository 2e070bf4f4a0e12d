"""OSUB [CP14], Section 4: Combes & Proutiere, Unimodal Bandits: Regret Lower Bounds and Optimal
Algorithms (ICML 2014).

Assumes rewards in [0, 1] and a mean that is unimodal on the graph of arms: every arm but the best
has a better neighbor. The analysis is for Bernoulli rewards. As in the paper there are no initial
rounds: an arm that was never played has mean 0. Departures: ln ln l is 0 where it is negative.
Not in the paper: ties between means go to the lowest arm, ties between indices to the leader, then
to the lowest arm; an arm that was never played comes before those that were. Bases of a matroid as
arms, and other indices, are not in the paper either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated, as_list, integer
from matroid_bandits._core.matroids.bases import bases_of
from matroid_bandits._core.policies.osub.rule import Arms, OSUBKernel
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.indices.by_name import chosen_index
from matroid_bandits.policies.contract.moving import copy_rows
from matroid_bandits.policies.indexed import IndexPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matroid_bandits.indices import Index
    from matroid_bandits.matroids import Matroid
    from matroid_bandits.policies.contract.checked_state import State
    from matroid_bandits.problem import Problem

__all__ = ["OSUB"]


class OSUB(IndexPolicy[Selection]):
    """Plays the best arm so far or one of its neighbors, on a graph of arms; rewards from 0 to 1.

    The *leader* is the arm with the largest mean. It is played in every (``gamma + 1``)-th round
    that it leads, where gamma is the largest number of neighbors. In its other rounds the arm with
    the largest index is played, of the leader and its neighbors. An arm is a set of elements, and
    its reward is the mean of theirs: the policy learns about whole arms, not about elements.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    graph : iterable of pairs of int, optional
        For single arms: the edges between the elements of a matroid of rank 1, such as
        ``[(0, 1), (1, 2)]`` on ``UniformMatroid(1, 3)``. It must connect all elements that are not
        loops; direction and repeated edges make no difference. Without a graph, the arms are the
        bases of the matroid, 200,000 at most, and two are neighbors if they differ in one exchange.
    index : Index, str or dict, default "kl"
        How optimistic it is: an index such as ``UCB()``, or its name. The time of the index is the
        number of rounds that the leader has led. The paper has ``KLUCB(c=3)``.
    noise : float, optional
        The noise level, for an index that has one.
    seed : int, default 0
        Seed of an index that draws at random.
    pending : {"ignore", "count"}, default "ignore"
        With `decide`: "count" counts plays whose feedback has not come as observations of the
        present mean, so that visitors at the same time explore different arms.

    Notes
    -----
    All bases and their neighbors are listed at the start, in memory. On a matroid written in Python
    this takes ``rank`` oracle calls for every basis and element outside it (one, if the class
    defines its circuits); these are its `oracle_calls`. There are none later. :class:`MAUB` lists
    nothing.

    References
    ----------
    .. [CP14] R. Combes and A. Proutiere, Unimodal Bandits: Regret Lower Bounds and Optimal
       Algorithms, ICML 2014.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> line = [(0, 1), (1, 2), (2, 3), (3, 4)]
    >>> policy = mb.OSUB(mb.UniformMatroid(1, 5), graph=line)
    >>> environment = mb.BernoulliEnvironment([0.1, 0.3, 0.5, 0.7, 0.6])
    >>> result = mb.simulate(policy, environment, horizon=5000)
    >>> policy.leader
    array([3])

    The bases of a matroid:

    >>> policy = mb.OSUB(mb.GraphicMatroid.complete(4))
    >>> policy.arms.shape, policy.largest_degree
    ((16, 3), 7)
    """

    name = "OSUB"
    _check_exemptions: ClassVar = {
        "relabeling": "bases that were never played tie, and ties go to the lowest"
    }
    _index_is_of_elements = False
    _kernel: OSUBKernel

    def __init__(
        self,
        matroid: MatroidLike[Selection],
        graph: Iterable[tuple[Any, Any]] | None = None,
        *,
        index: Index | str | Mapping[str, Any] = "kl",
        noise: float | None = None,
        seed: int = 0,
        pending: Literal["ignore", "count"] = "ignore",
    ) -> None:
        self._graph = (
            None if graph is None else tuple(_edge(edge) for edge in as_list(graph, "graph"))
        )
        super().__init__(matroid, index=chosen_index(index, noise), seed=seed, pending=pending)

    def _new_kernel(self, matroid: Matroid) -> OSUBKernel:
        index = self._index._new_kernel(self._seed)
        if self._graph is not None:
            arms = _single_arms(self._problem, self._graph)
            return OSUBKernel(matroid, index, arms, self._pending == "count")
        bases, questions = bases_of(
            matroid, "OSUB", "use MAUB, which lists none", with_neighbors=True
        )
        kernel = OSUBKernel(matroid, index, Arms(matroid.size, bases), self._pending == "count")
        kernel.count_calls(oracle_calls=questions, greedy_calls=1)
        return kernel

    def _moved_state(self, new: OSUB[Any], old_numbers: npt.NDArray[np.intp]) -> dict[str, Any]:  # type: ignore[override]
        """Statistics of arms whose elements all stay."""
        moved, state = super()._moved_state(new, old_numbers), self._kernel.state()
        arms = {tuple(arm): k for k, arm in enumerate(self.arms.tolist())}
        old_arms = np.array(
            [arms.get(tuple(sorted(old_numbers[arm].tolist())), -1) for arm in new.arms],
            dtype=np.intp,
        )
        for name in ("arm_counts", "arm_means", "leader_rounds"):
            copy_rows(state[name], moved[name], old_arms)
        for name, rows in moved["index"].items():
            copy_rows(state["index"][name], rows, old_arms)
        return moved

    @property
    def graph(self) -> tuple[tuple[Any, Any], ...] | None:
        """The edges as given; None if the arms are the bases."""
        return self._graph

    @property
    def arms(self) -> npt.NDArray[np.intp]:
        """The elements of each arm, a row each (a copy); arms are in lexicographic order."""
        return self._kernel.arms.members_copy()

    @property
    def largest_degree(self) -> int:
        """The largest number of neighbors that an arm has: gamma."""
        return self._kernel.arms.largest_degree

    @property
    def arm_counts(self) -> npt.NDArray[np.int64]:
        """How often each arm was played (a copy)."""
        return self._kernel.arm_counts_copy()

    @property
    def arm_means(self) -> npt.NDArray[np.float64]:
        """Mean reward, or cost, of each arm so far, NaN where it was never played (a copy)."""
        return self._in_user_units(self._kernel.arm_means_copy())

    @property
    def leader(self) -> Selection:
        """The elements of the arm with the largest mean so far: names, or ascending numbers where
        there are none.
        """
        return self._names(self._kernel.leader_copy())

    def neighbors(self, arm: int) -> npt.NDArray[np.intp]:
        """The arms next to `arm`, ascending: rows of `arms`.

        Parameters
        ----------
        arm : int
            The number of an arm: its row in `arms`.
        """
        last = self._kernel.arms.count - 1
        checked = integer(arm, "arm", minimum=0, maximum=last)
        return self._kernel.arms.neighbors_copy(checked).astype(np.intp)

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        fresh = self._kernel.state()
        for key in ("arm_counts", "leader_rounds"):
            state.array(key, fresh[key].dtype, fresh[key].shape, 0)
        state.array("arm_means", np.float64, fresh["arm_means"].shape)
        self._check_leader(state, "decided_leader")

    def _check_outcome(self, outcome: State) -> None:
        super()._check_outcome(outcome)
        self._check_leader(outcome, "leader")

    def _check_leader(self, state: State, key: str) -> None:
        """The number of an arm, or of none."""
        state.integer(key, -1, max(0, self._kernel.arms.count - 1))


def _edge(edge: Any) -> tuple[Any, Any]:
    """Two different elements."""
    ends = as_list(edge, "an edge of graph")
    if len(ends) != 2:
        raise ValueError(f"an edge of graph must be a pair of elements, got {abbreviated(edge)}")
    if ends[0] == ends[1]:
        raise ValueError(f"an edge of graph must join two different elements, got {tuple(ends)}")
    return ends[0], ends[1]


def _single_arms(problem: Problem, edges: Iterable[tuple[Any, Any]]) -> Arms:
    """Elements as arms, on a graph."""
    matroid = problem.matroid
    if matroid.rank != 1:
        raise ValueError(
            f"a graph is for single arms, on a matroid of rank 1; {matroid!r} has rank "
            f"{matroid.rank}, and without a graph its bases are the arms"
        )
    loops = set(matroid.loops.tolist())
    near: dict[int, set[int]] = {e: set() for e in range(matroid.size) if e not in loops}
    for edge in edges:
        try:
            one, other = problem.elements(edge).tolist()
        except ValueError as error:
            raise ValueError(f"the edge {edge} of graph: {error}") from None
        for end, name in zip((one, other), edge, strict=True):
            if end in loops:
                raise ValueError(
                    f"the edge {edge} of graph: {name!r} is a loop of {matroid!r}"
                    " and can never be played"
                )
        near[one].add(other)
        near[other].add(one)
    _refuse_if_apart(near, problem)
    number = {e: k for k, e in enumerate(near)}
    neighbors = [number[other] for e in near for other in sorted(near[e])]
    return Arms(
        matroid.size,
        np.array(list(near), dtype=np.intp).reshape(-1, 1),
        np.cumsum([0, *(len(others) for others in near.values())], dtype=np.int64),
        np.array(neighbors, dtype=np.int32),
    )


def _refuse_if_apart(near: Mapping[int, set[int]], problem: Problem) -> None:
    """Refuse a graph in which some arm cannot be reached from the first."""
    first = next(iter(near))
    reached = {first}
    waiting = [first]
    while waiting:
        new = near[waiting.pop()] - reached
        reached |= new
        waiting += new
    for e in near:
        if e not in reached:
            raise ValueError(
                "graph must be connected, but no path of its edges leads from arm "
                f"{problem.name(first)} to {problem.name(e)}"
            )
