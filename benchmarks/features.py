"""Rounds of CombLinUCB and CombLinTS against the products and the sort that they need."""

from collections.abc import Callable
from time import thread_time

import numpy as np

import matroid_bandits as mb
from benchmarks.tables import Table

SIZES = (1_000, 5_000, 20_000)
N_FEATURES = 20
GROUPS = 20
GOAL = 3
ROUNDS = 300
BLOCKS = 5


def measure(*, quick: bool = False) -> Table:
    """Time of a round, beside what it cannot do without."""
    sizes = SIZES[:2] if quick else SIZES
    return Table(
        name="features",
        question="What does a round with features cost?",
        method=(
            f"{N_FEATURES} features; one item of each of {GROUPS} groups is played. CPU time of "
            f"one thread, minimum of {BLOCKS} blocks of {ROUNDS} rounds. A round is `select` and "
            "`update`. Least work is one product of the features with a vector and one `argsort` "
            "of the result, of new numbers every time; for CombLinUCB, all it needs is also the "
            "product with a matrix of d x d and the sums of squares of its rows."
        ),
        columns=[
            "policy",
            "items",
            "round, µs",
            "least work, µs",
            "ratio",
            "all it needs, µs",
            "ratio ",
        ],
        rows=[row for n in sizes for row in _rows(n)],
        remarks=[f"The goal, at 5,000 items, is a ratio of at most {GOAL} to the least work."],
    )


def _rows(n: int) -> list[list[str]]:
    phi = mb.random_features(n, N_FEATURES, 0, kind="sphere")
    means = mb.linear_means(phi, np.linspace(-1, 1, N_FEATURES))
    matroid = mb.PartitionMatroid((np.arange(n) % GROUPS).tolist(), 1)
    features = mb.LinearFeatures(phi, noise=0.2)
    least = _least_work(phi)
    needed = {"CombLinUCB": least + _widths(phi), "CombLinTS": least}
    rows: list[list[str]] = []
    for policy in (
        mb.CombLinUCB(matroid, features=features),
        mb.CombLinTS(matroid, features=features),
    ):

        def play(policy: mb.Policy = policy) -> None:
            basis = policy.select()
            policy.update(basis, means[basis])

        seconds = _seconds(play)
        rows.append(
            [
                policy.name,
                f"{n:,}",
                f"{1e6 * seconds:,.0f}",
                f"{1e6 * least:,.0f}",
                f"{seconds / least:.2f}",
                f"{1e6 * needed[policy.name]:,.0f}",
                f"{seconds / needed[policy.name]:.2f}",
            ]
        )
    return rows


def _least_work(phi: np.ndarray) -> float:
    """A product with a vector, and an argsort."""
    rng = np.random.default_rng(1)
    vectors = iter(rng.standard_normal((ROUNDS * BLOCKS + 10, phi.shape[1])))
    return _seconds(lambda: np.argsort(phi @ next(vectors)))


def _widths(phi: np.ndarray) -> float:
    """A product with a matrix, and sums of squares of rows."""
    root = np.random.default_rng(2).standard_normal((phi.shape[1],) * 2)

    def compute() -> None:
        products = phi @ root
        np.sqrt(np.einsum("ij,ij->i", products, products))

    return _seconds(compute)


def _seconds(call: Callable[[], object]) -> float:
    """CPU time of one call."""
    call()
    best = float("inf")
    for _ in range(BLOCKS):
        start = thread_time()
        for _ in range(ROUNDS):
            call()
        best = min(best, (thread_time() - start) / ROUNDS)
    return best
