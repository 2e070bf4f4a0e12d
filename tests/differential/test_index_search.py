"""MAUB's search by bounds, with indices that are no lines in a width, against a look at all values.

Both must play the same bases, ties included, round for round (docs/explanation/rounds.md). The
cases are those in which bounds are most easily wrong: equal statistics, equal means, many leaders,
large classes, pending plays, and observations of any elements at any time.
"""

import pickle
from collections.abc import Callable

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from .. import feedback
from ..seeds import seeds

INDICES: dict[str, Callable[[], mb.Index]] = {
    "kl": mb.KLUCB,
    "kl 0": lambda: mb.KLUCB(0),
    "kl 50": lambda: mb.KLUCB(50),
    "ucbv": mb.UCBV,
    "normal": mb.NormalUCB,
    "moss": mb.MOSS,
    "moss 0.05": lambda: mb.MOSS(noise=0.05),
    "moss 500": lambda: mb.MOSS(500),
    "moss 100000": lambda: mb.MOSS(100_000, 0.1),
    "imed": mb.IMED,
    "imed 0.1": lambda: mb.IMED(0.1),
    "shared": mb.SharedGaussian,
    "shared 0.05": lambda: mb.SharedGaussian(0.05),
}
UNBOUNDED = [index for index, make in INDICES.items() if make().high == np.inf]
FAMILIES = ("uniform", "partition", "graphic", "laminar", "transversal", "linear", "oracle")
KINDS = ("bernoulli", "few values", "uniform", "rare")


class _Pair:
    """A policy that searches by bounds, and its twin that computes all values."""

    def __init__(self, matroid: mb.Matroid, index: str, **options: str) -> None:
        self.bounded = mb.MAUB(matroid, index=INDICES[index](), **options)
        self.full = mb.MAUB(matroid, index=INDICES[index](), **options)
        self.full._deciding_kernel().search_fully()

    def select(self) -> np.ndarray:
        basis = self.bounded.select()
        assert basis.tolist() == self.full.select().tolist(), self.bounded.rounds
        return basis

    def update(self, elements: np.ndarray, rewards: np.ndarray) -> None:
        self.bounded.update(elements, rewards)
        self.full.update(elements, rewards)

    def compare_exchanges(self) -> None:
        """All positive exchanges, and the values that belong to them."""
        if self.full.leader is None or isinstance(self.full.index, mb.IMED):
            return
        elements, values = self.bounded._deciding_kernel().positive_exchanges()
        expected, all_values = self.full._deciding_kernel().positive_exchanges()
        assert elements.tolist() == expected.tolist()
        known = np.union1d(elements, self.full.leader)
        assert values[known].tolist() == all_values[known].tolist()

    def save(self) -> None:
        self.bounded = pickle.loads(pickle.dumps(self.bounded))


def _rewards(
    kind: str, rng: np.random.Generator, means: np.ndarray, elements: np.ndarray
) -> np.ndarray:
    return feedback.rewards(kind, rng, means[elements])


def _play(
    pair: _Pair, rng: np.random.Generator, size: int, kind: str, rounds: int, *, mixed: bool = True
) -> None:
    means = rng.choice([rng.random(size), np.full(size, rng.random())])
    for _ in range(rounds):
        basis = pair.select()
        if mixed and rng.random() < 0.1:
            pair.compare_exchanges()
        if mixed and rng.random() < 0.01:
            pair.save()
        elements = basis
        if mixed:
            elements = feedback.observed(rng, basis, size, part=0.03, foreign=0.03)
        pair.update(elements, _rewards(kind, rng, means, elements))


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("family", FAMILIES)
def test_small_matroids(index: str, family: str) -> None:
    for seed in seeds(4):
        for i, kind in enumerate([*KINDS, *["gaussian"] * (index in UNBOUNDED)]):
            rng = np.random.default_rng([seed, 70, i])
            matroid = catalog.MATROIDS[family].random(rng, int(rng.integers(0, 16)))
            _play(_Pair(matroid, index), rng, matroid.size, kind, 200)


def _large(rng: np.random.Generator, family: str) -> mb.Matroid:
    if family == "uniform":
        return mb.UniformMatroid(int(rng.integers(1, 8)), int(rng.integers(1000, 1300)))
    if family == "partition":
        size = int(rng.integers(700, 1200))
        groups = rng.integers(0, 3, size).tolist()
        return mb.PartitionMatroid(groups, dict(enumerate(rng.integers(1, 5, 3).tolist())))
    if family == "graph":
        return mb.GraphicMatroid([tuple(p) for p in rng.integers(0, 6, (900, 2)).tolist()])
    return mb.LinearMatroid(rng.integers(0, 2, (300, 3)) * rng.integers(1, 4, (300, 1)))


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("family", ["uniform", "partition", "graph", "vectors"])
def test_large_classes(index: str, family: str) -> None:
    for seed in seeds(1):
        for i, kind in enumerate([*KINDS, *["gaussian"] * (index in UNBOUNDED)]):
            rng = np.random.default_rng([seed, 71, i])
            matroid = _large(rng, family)
            pair = _Pair(matroid, index)
            # Every element has been observed, before the first leader.
            for _ in range(3):
                elements = np.arange(matroid.size)
                pair.update(elements, _rewards(kind, rng, rng.random(matroid.size), elements))
            _play(pair, rng, matroid.size, kind, 600)


@pytest.mark.parametrize("index", INDICES)
def test_a_longer_run(index: str) -> None:
    """One leader for long: budgets pass through several intervals."""
    for seed in seeds(2):
        rng = np.random.default_rng([seed, 72])
        matroid = mb.GraphicMatroid.complete(6)
        _play(_Pair(matroid, index), rng, matroid.size, "bernoulli", 6000, mixed=False)


@pytest.mark.parametrize("index", INDICES)
def test_leaders_that_come_back(index: str) -> None:
    """Local time drops to that of the new leader, and rises again when the old one is back."""
    for seed in seeds(3):
        rng = np.random.default_rng([seed, 73])
        matroid = mb.PartitionMatroid([e % 2 for e in range(40)], 2)
        pair = _Pair(matroid, index)
        good = rng.permutation(40)
        for t in range(1500):
            basis = pair.select()
            means = np.zeros(40)
            # The best elements change all the time, and for a few rounds only.
            means[good[: 6 + t // 50 % 3]] = 0.8
            pair.update(basis, _rewards("bernoulli", rng, means, basis))


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("pending", ["ignore", "count"])
def test_pending_plays(index: str, pending: str) -> None:
    for seed in seeds(3):
        rng = np.random.default_rng([seed, 74])
        matroid = catalog.MATROIDS[FAMILIES[seed % 3]].random(rng, 14)
        pair = _Pair(matroid, index, pending=pending)
        means = rng.random(matroid.size)
        waiting = []
        for _ in range(400):
            a, b = pair.bounded.decide(), pair.full.decide()
            assert a.elements.tolist() == b.elements.tolist()
            waiting.append((a, b))
            while waiting and rng.random() < 0.6:
                a, b = waiting.pop(int(rng.integers(0, len(waiting))))
                rewards = _rewards("few values", rng, means, a.elements)
                pair.bounded.learn(a, rewards)
                pair.full.learn(b, rewards)


@pytest.mark.parametrize("index", INDICES)
def test_some_elements_are_not_available(index: str) -> None:
    for seed in seeds(3):
        rng = np.random.default_rng([seed, 75])
        matroid = catalog.MATROIDS[FAMILIES[seed % 3]].random(rng, 12)
        pair = _Pair(matroid, index)
        means = rng.random(matroid.size)
        for t in range(300):
            available = None if t % 3 else np.flatnonzero(rng.random(matroid.size) < 0.8)
            a = pair.bounded.decide(available, allow_smaller=True)
            b = pair.full.decide(available, allow_smaller=True)
            assert a.elements.tolist() == b.elements.tolist()
            rewards = _rewards("few values", rng, means, a.elements)
            pair.bounded.learn(a, rewards)
            pair.full.learn(b, rewards)


@pytest.mark.parametrize("index", ["kl", "ucbv", "normal"])
def test_nearly_equal_means(index: str) -> None:
    """Sums in another order: means that differ in the last bits, and values that may not."""
    for seed in seeds(3):
        rng = np.random.default_rng([seed, 76])
        matroid = mb.UniformMatroid(3, 60)
        pair = _Pair(matroid, index)
        values = np.array([0.1, 0.2, 0.3, 0.7])
        for _ in range(8):
            for e in rng.permutation(60):
                pair.update(np.array([e]), values[rng.integers(0, 4, 1)])
        for _ in range(600):
            basis = pair.select()
            pair.update(basis, values[rng.integers(0, 4, len(basis))])


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e-3, 1e6, 1e15, 1e150, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_rewards_of_any_size(scale: float, offset: float) -> None:
    """The index for Gaussian rewards has no range; squares of the largest overflow."""
    for seed in seeds(2):
        rng = np.random.default_rng([seed, 77])
        matroid = mb.PartitionMatroid([e % 3 for e in range(60)], 2)
        pair = _Pair(matroid, "normal")
        means = offset + rng.random(60)
        for _ in range(300):
            basis = pair.select()
            pair.update(basis, scale * rng.normal(means[basis], 0.3))


@pytest.mark.parametrize("index", ["imed", "imed 0.1", "shared 0.05"])
@pytest.mark.parametrize("family", ["uniform", "graph"])
def test_most_elements_come_to_be_out_of_reach(index: str, family: str) -> None:
    """A search that overlooks what comes back within reach would differ."""
    rng = np.random.default_rng(9)
    matroid = mb.UniformMatroid(4, 40) if family == "uniform" else mb.GraphicMatroid.complete(8)
    pair = _Pair(matroid, index)
    means = rng.choice([0.05, 0.5, 0.93], matroid.size)
    fewest = matroid.size
    for t in range(6000):
        basis = pair.select()
        if t % 50 == 0:
            fewest = min(fewest, pair.bounded._deciding_kernel().n_within_reach())
        # Twice everything is turned around.
        now = means if t % 4000 < 2000 else means[::-1]
        pair.update(basis, (rng.random(len(basis)) < now[basis]).astype(float))
    assert fewest < matroid.size - matroid.rank
