"""MAUB on partition matroids with NumPy, for ground sets that `ReferenceMAUB` is too slow for.

The steps are those of docs/explanation/maub.md. In a partition matroid an element can replace
whatever the leader has of its group, so all elements of a group have one partner: the leader's
lowest there. Every round looks at every element. Floating-point operations are ordered as in
`ReferenceMAUB`.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .policies import Exchanges

_Elements = npt.NDArray[np.intp]
_Values = npt.NDArray[np.float64]


class LargePartitionMAUB:
    """[DG25] MAUB on the partition matroid with at most ``capacities[g]`` elements of group g.

    Several exchanges at once are not in [DG25].
    """

    def __init__(
        self,
        groups: Sequence[int],
        capacities: Sequence[int],
        noise: float = 1.0,
        exchanges: Exchanges = "one",
    ) -> None:
        self._group = np.array(groups, dtype=np.intp)
        self._members = [np.flatnonzero(self._group == g) for g in range(len(capacities))]
        self._taken = [
            min(capacity, len(members))
            for capacity, members in zip(capacities, self._members, strict=True)
        ]
        self._is_nonloop = np.array(capacities)[self._group] > 0
        self._period = int(self._is_nonloop.sum()) - sum(self._taken) + 1
        self._noise = noise
        self._exchanges = exchanges

        self.counts = np.zeros(len(groups), dtype=np.int64)
        self.means = np.zeros(len(groups))
        self.leader: _Elements | None = None
        self.neighborhood_updates = 0
        # By group: sigma(e) of all its elements, as last computed.
        self._partner = np.zeros(len(capacities), dtype=np.intp)
        # The order of the leader's elements for which partners were computed.
        self._order: _Elements = np.zeros(0, dtype=np.intp)
        # l: the number of rounds each basis has been leader.
        self._leader_rounds: dict[bytes, int] = {}

    def select(self) -> _Elements:
        """The basis to play, ascending. Every call decides anew: one call per round."""
        # [DG25] step 1: unobserved elements first.
        if (self.counts[self._is_nonloop] == 0).any():
            return self._greedy((self.counts > 0).astype(float))
        self._settle_leader()
        assert self.leader is not None
        # [DG25] step 3: a basis that comes back as leader continues its count.
        key = self.leader.tobytes()
        self._leader_rounds[key] = self._leader_rounds.get(key, 0) + 1
        return self._play_near(self.leader, self._leader_rounds[key])

    def update(self, elements: _Elements, rewards: _Values) -> None:
        """[DG25] step 5."""
        counts = self.counts[elements]
        self.means[elements] = (counts * self.means[elements] + rewards) / (counts + 1)
        self.counts[elements] = counts + 1

    def _greedy(self, costs: _Values) -> _Elements:
        """The basis of least cost; ties: lowest element first."""
        taken = [
            members[np.argsort(costs[members], kind="stable")[:count]]
            for members, count in zip(self._members, self._taken, strict=True)
        ]
        return np.sort(np.concatenate(taken))

    def _settle_leader(self) -> None:
        """[DG25] step 2. The leader test uses the partners as last computed."""
        if self.leader is None or self._some_exchange_improves(self.leader):
            self.leader = self._greedy(-self.means)
            self._compute_partners(self.leader)
        elif not np.array_equal(self._ascending(self.leader), self._order):
            self._compute_partners(self.leader)
            self.neighborhood_updates += 1

    def _some_exchange_improves(self, leader: _Elements) -> bool:
        improves = self.means > self.means[self._partner[self._group]]
        improves[leader] = False
        return bool(improves[self._is_nonloop].any())

    def _ascending(self, leader: _Elements) -> _Elements:
        """Lowest mean first; ties: lowest element first, as the leader is ascending."""
        return leader[np.argsort(self.means[leader], kind="stable")]

    def _compute_partners(self, leader: _Elements) -> None:
        self._order = self._ascending(leader)
        # Backwards, so that the lowest of each group is written last.
        self._partner[self._group[self._order[::-1]]] = self._order[::-1]

    def _play_near(self, leader: _Elements, leader_rounds: int) -> _Elements:
        """[DG25] step 4: the leader, or the exchange that looks best under optimism."""
        if (leader_rounds - 1) % self._period == 0:
            return leader
        width = self._noise * math.sqrt(2 * math.log(leader_rounds))
        partner = self._partner[self._group]
        roots = 1 / np.sqrt(np.maximum(self.counts, 1))
        values = (self.means - self.means[partner]) + width * (roots - roots[partner])
        values[leader] = -math.inf
        values[~self._is_nonloop] = -math.inf
        if self._exchanges != "one":
            return self._exchange_jointly(leader, values, self.means + width * roots)
        # The first of the largest is the lowest element.
        best = int(values.argmax())
        if values[best] <= 0:
            return leader
        return np.sort(np.append(leader[leader != partner[best]], best))

    def _exchange_jointly(self, leader: _Elements, values: _Values, indices: _Values) -> _Elements:
        """Not in [DG25]: the basis of largest index among the leader and the candidates."""
        candidates = np.flatnonzero(values > 0)
        if self._exchanges != "all":
            # A stable sort: among equals the lowest element first.
            largest_first = np.argsort(-values[candidates], kind="stable")
            candidates = candidates[largest_first[: self._exchanges]]
        # Without candidates this is the leader. Nothing else is taken: the leader alone is enough.
        costs = np.full(len(indices), math.inf)
        for among in (leader, candidates):
            costs[among] = -indices[among]
        return self._greedy(costs)
