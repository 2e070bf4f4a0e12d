"""MAUB: local times of former leaders."""

import tracemalloc

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits._core.policies.maub import rule

from ..reference.large_partitions import LargePartitionMAUB


class _BoundedMAUB(LargePartitionMAUB):
    """Keeps the local times of the `limit` bases that led most recently."""

    def __init__(self, groups: list[int], capacities: list[int], limit: int) -> None:
        super().__init__(groups, capacities)
        self._limit = limit
        self._former: list[bytes] = []

    def _settle_leader(self) -> None:
        before = self.leader
        super()._settle_leader()
        if before is None or np.array_equal(before, self.leader):
            return
        key = before.tobytes()
        self._former = [*(other for other in self._former if other != key), key]
        if len(self._former) > self._limit:
            dropped = self._former.pop(0)
            if dropped != self.leader.tobytes():
                del self._leader_rounds[dropped]


def test_local_times_of_the_most_recent_leaders_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "MAX_FORMER_LEADERS", 5)
    rng = np.random.default_rng(0)
    groups, capacities = [0] * 12, [3]
    policy = mb.MAUB(mb.UniformMatroid(3, 12))
    bounded = _BoundedMAUB(groups, capacities, 5)
    unbounded = LargePartitionMAUB(groups, capacities)
    differences = 0
    for _ in range(600):
        basis = policy.select()
        assert basis.tolist() == bounded.select().tolist()
        differences += basis.tolist() != unbounded.select().tolist()
        # Equal means: the leader changes often, and comes back.
        rewards = rng.normal(0, 1, 3)
        for other in (policy, bounded, unbounded):
            other.update(basis, rewards)
        assert len(policy._kernel.state()["former_times"]) <= 5
    # The limit matters here, so the test can fail.
    assert differences > 0


def test_former_leaders_are_bounded_when_availability_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rule, "MAX_FORMER_LEADERS", 20)
    rng = np.random.default_rng(1)
    policy = mb.MAUB(mb.UniformMatroid(4, 16))
    n_leaders = set()
    for t in range(300):
        available = None if t % 7 == 0 else np.sort(rng.permutation(16)[:10])
        basis = policy.select(available=available)
        n_leaders.add(tuple(basis))
        policy.update(basis, rng.normal(0, 1, 4))
        assert len(policy._kernel.state()["former_times"]) <= 20
    assert len(n_leaders) > 100


def _peak_of_a_restricted_round(policy: mb.MAUB, available: np.ndarray) -> int:
    """Bytes allocated at most while one round is decided among `available`."""
    tracemalloc.start()
    try:
        policy.select(available=available)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_restricted_round_copies_no_former_leaders() -> None:
    rng = np.random.default_rng(2)
    policy = mb.MAUB(mb.UniformMatroid(10, 60))
    peaks = []
    for t in range(3000):
        available = np.sort(rng.permutation(60)[:30])
        if t in (100, 2999):
            peaks.append(_peak_of_a_restricted_round(policy, available))
        basis = policy.select(available=available)
        policy.update(basis, rng.normal(0, 1, 10))
    assert len(policy._kernel.state()["former_times"]) > 1000
    # A copy of the table would be more than 100,000 bytes.
    assert peaks[1] < peaks[0] + 20_000
