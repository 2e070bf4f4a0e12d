"""MAUB [DG25], Algorithm 1: Delage & Gaudel, Efficient Matroid Bandit Linear Optimization
Leveraging Unimodality (2025).

Assumes rewards whose noise is about that of a unit Gaussian or less. Departures: none. Where the
paper is silent: ties between elements go to the lowest index, everywhere; local times of the 10,000
bases that led most recently are kept. Other indices and noise levels, and several exchanges a
round, are not in the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated, choice, integer
from matroid_bandits._core.policies.maub.rule import ALL, ONE, MAUBKernel
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.indices import UCB, BetaThompson, GaussianThompson
from matroid_bandits.indices.by_name import chosen_index
from matroid_bandits.policies.contract.checked_state import State, check_partners
from matroid_bandits.policies.indexed import IndexPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits.indices import Index
    from matroid_bandits.matroids import Matroid
    from matroid_bandits.policies.contract.moving import Moving
    from matroid_bandits.restarts import GLR

__all__ = ["MAUB"]

NEIGHBORHOODS = ("lean", "paper")
_EXCHANGES = {"one": ONE, "all": ALL}
# By default there is one exchange at once for so many elements of a basis.
RANK_PER_EXCHANGE = 30
# Elements that an explanation names.
MOST_NAMED = 5


class MAUB(IndexPolicy[Selection]):
    """Plays near a leader and calls the oracle O(log log T) times, not in every round.

    It plays near a *leader*, the basis that looks best, and explores by exchanges: element e comes
    in for its *partner*, the weakest leader element it can replace. The oracle is called only when
    the leader, or the order of its elements by mean, changes.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    neighborhood : {"lean", "paper"}, default "lean"
        How leaders and partners are found. Both play the same basis in every round. "paper" is
        [DG25] as written: greedy from scratch and Algorithm 2 whenever something has changed.
        "lean" makes no oracle call twice and infers what it can: there are no calls for built-in
        matroids after the first leader, and a small fraction of the calls for others.
    exchanges : {"one", "all"} or int, optional
        How many exchanges it tries in a round. "one" is [DG25]. "all" plays the basis of largest
        index among the leader and every element whose index is above that of its partner: a large
        wrong leader improves much faster. With a number k, at most the k exchanges with the
        largest differences are tried at once. If it is not given: "one" for ``MAUB(matroid)``, as
        published, and with IMED, which refuses others; "all" with a Thompson index; and with a
        noise level or another index one for 30 elements of a basis, which is "one" up to rank 44.
    index : Index, str or dict, default "ucb"
        How optimistic it is about exchanges: an index such as ``KLUCB()``, or its name. The time of
        the index is the leader's local time.
    noise : float, optional
        Standard deviation of the rewards, for an index given by name that has such a level. If it
        is not given, 1 with "ucb", as in the paper; others have a default of their own. Half the
        noise is about a quarter of the regret.
    seed : int, default 0
        For an index that draws at random.
    pending : {"ignore", "count"}, default "ignore"
        With `decide`: "count" counts plays whose feedback has not come as observations of the
        present mean, so that visitors at the same time explore different elements.
    window : int, optional
        For means that change: only observations of the last so many rounds count.
    discount : float, optional
        For means that change: the weight of an observation shrinks by this factor with every round.
    restart : "glr", GLR or dict, optional
        For means that change: a test finds that a mean has changed, and everything is learned anew.
        At most one of the three is given; docs/howto/change.md compares them.

    Notes
    -----
    A round costs O(rank), however large the ground set, except when the leader or its order
    changes, and with an index written in Python, which costs one value per element. Loops are never
    played. With several exchanges at once and a Thompson index, the leader is valued by its means.

    With "lean", answers of a matroid written in Python are cached: two bits per element and element
    of the basis for the present leader, and up to 64 MB for former ones.

    A basis that comes back as leader continues its local time. The times of the 10,000 bases that
    led most recently are kept; above rank 200 fewer, so that they have at most 2 million elements.
    A basis that comes back after so many others have led, as may happen where availability changes
    in every round, starts its local time again.

    References
    ----------
    .. [DG25] A. Delage and R. Gaudel, Efficient Matroid Bandit Linear Optimization Leveraging
       Unimodality, 2025, arXiv 2512.00605.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> policy = mb.MAUB(mb.GraphicMatroid.complete(4))
    >>> rng = np.random.default_rng(0)
    >>> latency = np.array([1.0, 5.0, 2.0, 4.0, 3.0, 6.0])
    >>> for _ in range(2000):
    ...     tree = policy.select()
    ...     policy.update(tree, -rng.normal(latency[tree], 0.1))
    >>> policy.leader
    array([0, 2, 3])
    """

    name = "MAUB"
    _has_partners = True
    _kernel: MAUBKernel

    def __init__(
        self,
        matroid: MatroidLike[Selection],
        *,
        neighborhood: Literal["lean", "paper"] = "lean",
        exchanges: Literal["one", "all"] | int | None = None,
        index: Index | str | Mapping[str, Any] = "ucb",
        noise: float | None = None,
        seed: int = 0,
        pending: Literal["ignore", "count"] = "ignore",
        window: int | None = None,
        discount: float | None = None,
        restart: GLR | str | Mapping[str, Any] | None = None,
    ) -> None:
        self._neighborhood = choice(neighborhood, "neighborhood", NEIGHBORHOODS)
        self._exchanges = None if exchanges is None else _checked_exchanges(exchanges)
        chosen = chosen_index(index, noise)
        if chosen._needs_partners and self._exchanges not in (None, "one"):
            raise ValueError(
                f"{type(chosen).__name__} makes one exchange in a round: exchanges must be 'one', "
                f"got {exchanges!r}"
            )
        self._is_published = noise is None and chosen == UCB()
        super().__init__(
            matroid,
            index=chosen,
            seed=seed,
            pending=pending,
            window=window,
            discount=discount,
            restart=restart,
        )

    def _new_kernel(self, matroid: Matroid) -> MAUBKernel:
        return MAUBKernel(
            matroid,
            self._index._new_kernel(self._seed),
            self._neighborhood == "lean",
            self._pending == "count",
            # No more than there are elements: a larger number may be too large for the kernel.
            min(_number_of(self.exchanges), max(1, matroid.size)),
            self._new_memory(matroid.size, self._index),
        )

    def _moved_state(self, new: Moving, old_numbers: npt.NDArray[np.intp]) -> dict[str, Any]:
        """Local times of bases whose elements all stay; the leader is found anew."""
        moved, state = super()._moved_state(new, old_numbers), self._kernel.state()
        new_number = np.full(self._problem.size, -1)
        new_number[old_numbers[old_numbers >= 0]] = np.flatnonzero(old_numbers >= 0)
        ranks = state["former_ranks"]
        bases = np.split(state["former_leaders"], np.cumsum(ranks))[: len(ranks)]
        times = state["former_times"].tolist()
        if state["has_leader"]:
            bases.append(state["leader"])
            times.append(state["local_time"])
        kept = [
            (np.sort(new_number[basis]), time)
            for basis, time in zip(bases, times, strict=True)
            if (new_number[basis] >= 0).all() and len(basis) <= new._problem.rank
        ]
        leaders = [basis for basis, _ in kept]
        return moved | {
            "former_leaders": np.concatenate([np.zeros(0, np.intp), *leaders]).astype(np.intp),
            "former_ranks": np.array([len(basis) for basis in leaders], dtype=np.int64),
            "former_times": np.array([time for _, time in kept], dtype=np.int64),
        }

    @property
    def neighborhood(self) -> str:
        """How leaders and partners are found: "lean" or "paper"."""
        return self._neighborhood

    @property
    def exchanges(self) -> Literal["one", "all"] | int:
        """How many exchanges are tried in a round: "one", "all", or at most so many at once."""
        if self._exchanges is not None:
            return self._exchanges
        if isinstance(self._index, BetaThompson | GaussianThompson):
            return "all"
        if self._index._needs_partners:
            return "one"
        # docs/explanation/many-exchanges.md has the study that this is from.
        several = 1 if self._is_published else round(self._problem.rank / RANK_PER_EXCHANGE)
        return several if several > 1 else "one"

    @property
    def leader(self) -> Selection | None:
        """The leader, the basis that looks best: labels, or ascending numbers if there are none.
        None as long as elements were not observed often enough.
        """
        leader = self._kernel.leader_copy()
        return None if leader is None else self._names(leader)

    def _why(self, kernel: Any, selected: npt.NDArray[np.intp]) -> str:
        leader = kernel.round_leader()
        if leader is None:
            return super()._why(kernel, selected)
        came, went = np.setdiff1d(selected, leader), np.setdiff1d(leader, selected)
        if not came.size:
            return "The leader: the set that looks best so far."
        name = self._problem.name
        if came.size == 1:
            new, old = name(came[0]), name(went[0])
            return f"The leader with {new} in place of {old}, to learn about it."
        shown = [[str(name(e)) for e in some[:MOST_NAMED]] for some in (came, went)]
        more = f" and {came.size - MOST_NAMED} more" if came.size > MOST_NAMED else ""
        new, old = (", ".join(some) + more for some in shown)
        return f"The leader with {new} in place of {old}, to learn about them."

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        matroid = self._kernel.matroid
        times = _former_times(state, matroid)
        has_leader, local_time = state.flag("has_leader"), state.integer("local_time")
        if has_leader:
            leader = state.basis("leader", matroid, is_sorted=False)
            check_partners(state, matroid, leader, self._kernel.symmetry_classes())
            times[np.sort(leader).tobytes()] = local_time
        else:
            state.array("leader", np.intp, [matroid.rank])
            state.value("partner")
        if state.has("decided_key"):
            state.independent_key("decided_key", matroid)
        state.optional_flag("begins_again")
        if state.is_given("thinned"):
            _check_thresholds(state, self._kernel)
        # The round that was decided last can be undone.
        key = state.value("decided_key")
        if state.flag("is_decided") and times.get(key, 0 if key else 1) < 1:
            raise state.refuse("decided_key", "a leader with a local time of at least 1")
        is_timed = state.flag("is_decided") and not state.flag("is_initial") and key is None
        if is_timed and has_leader and local_time < 1:
            raise state.refuse("local_time", "at least 1")

    def _check_outcome(self, outcome: State) -> None:
        super()._check_outcome(outcome)
        if outcome.has("leader"):
            outcome.independent_key("leader", self._kernel.matroid)


def _number_of(exchanges: str | int) -> int:
    """What the kernel is told."""
    return _EXCHANGES[exchanges] if isinstance(exchanges, str) else exchanges


def _checked_exchanges(value: Any) -> Literal["one", "all"] | int:
    """What `exchanges` may be: "one", "all", or a positive number."""
    if isinstance(value, str):
        if value not in _EXCHANGES:
            raise ValueError(
                f"exchanges must be 'one', 'all' or a number, got {abbreviated(value)}"
            )
        return "one" if value == "one" else "all"
    return integer(value, "exchanges", minimum=1)


def _check_thresholds(state: State, kernel: MAUBKernel) -> None:
    """Floors and thresholds of a Thompson index."""
    if kernel.thinned is None or not state.flag("has_leader"):
        raise state.refuse("thinned", "None")
    table = state.table("thinned")
    n_classes = len(state.value("partner"))
    for key, length in (("floors", kernel.rank), ("thresholds", n_classes)):
        if np.isnan(table.floats(key, length)).any():
            raise table.refuse(key, "an array without NaN")
    table.finish()


def _former_times(state: State, matroid: Matroid) -> dict[bytes, int]:
    """The checked local times of former leaders, by their bytes."""
    ranks = state.array("former_ranks", np.int64, [None], 0, matroid.rank)
    elements = state.array("former_leaders", np.intp, [int(ranks.sum())], 0, matroid.size - 1)
    times = state.array("former_times", np.int64, [len(ranks)], 0)
    ends = np.cumsum(ranks)
    is_last = np.zeros(len(elements) + 1, dtype=bool)
    is_last[ends] = True
    keys = [basis.tobytes() for basis in np.split(elements, ends)[: len(ranks)]]
    if (np.diff(elements) <= 0)[~is_last[1:-1]].any() or len(set(keys)) < len(keys):
        raise state.refuse("former_leaders", "different sets, each ascending")
    return dict(zip(keys, times.tolist(), strict=True))
