"""Decisions with available elements against plain ones."""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np

import matroid_bandits as mb
from benchmarks.tables import Table, goal, in_turn, seconds

LOOP = 300  # calls that are timed together
N_SETS = 200  # different sets of available elements


def measure(*, quick: bool = False) -> Table:
    """Two sizes, several policies, availability as mask, numbers and names."""
    repeats = 5 if quick else 25
    return Table(
        name="decisions",
        question="What does a decision cost if some elements are not available?",
        method=(
            "K20: 150 of its 190 edges are available, another set in every call. Partition: "
            "100,000 elements in 10 groups of which one each is played, 80 % of them available, "
            "another mask in every call, with feedback in between. Every policy has learned 4,000 "
            f"rounds (K20) or each element once. The kinds of a row are taken in turn, {repeats} "
            "times; times are the minima for one call."
        ),
        columns=[
            "instance",
            "policy",
            "available",
            "time",
            "compared with",
            "time ",
            "ratio",
            "goal",
        ],
        rows=[*_small(repeats), *_large(repeats)],
        remarks=[
            "Plain: decide() with all elements available, without feedback in between.",
            "Argsort: numpy.argsort of as many floats as there are elements.",
        ],
    )


def _small(repeats: int) -> list[list[str]]:
    matroid = mb.GraphicMatroid.complete(20)
    names = [("link", *edge) for edge in matroid.edges]
    rng = np.random.default_rng(0)
    means = rng.random(matroid.size)
    masks: list[Any] = []
    while len(masks) < N_SETS:
        mask = np.zeros(matroid.size, dtype=bool)
        mask[rng.permutation(matroid.size)[:150]] = True
        if matroid.rank_of(np.flatnonzero(mask)) == matroid.rank:
            masks.append(mask)
    numbers = [np.flatnonzero(mask) for mask in masks]
    lists = [[names[e] for e in given.tolist()] for given in numbers]
    rows = []
    policies: list[Callable[[Any], mb.Policy]]
    policies = [mb.MAUB, partial(mb.MAUB, index="kl"), mb.OMM, mb.CTS]
    for policy_class in policies:
        plain = _learned(policy_class(matroid), means)
        named = _learned(policy_class(mb.Problem(matroid, names)), means)
        shown = str(plain).replace(repr(matroid), "").replace("(, ", "(").replace("()", "")
        kinds: dict[str, Callable[[], object]] = {
            "mask": _with_sets(plain, masks),
            "numbers": _with_sets(plain, numbers),
            "names": _with_sets(named, lists),
        }
        timings = in_turn(repeats, _plain(plain), _plain(named), *kinds.values())
        for kind, timing in zip(kinds, timings[2:], strict=True):
            before = timings[1 if kind == "names" else 0].least
            ratio = timing.least / before
            rows.append(
                [
                    *("K20", shown, kind, seconds(timing.least / LOOP), "plain"),
                    *(seconds(before / LOOP), f"{ratio:.2f}", goal(ratio, "<=", 5)),
                ]
            )
    return rows


def _large(repeats: int) -> list[list[str]]:
    size = 100_000
    matroid = mb.PartitionMatroid([e % 10 for e in range(size)], [1] * 10)
    rng = np.random.default_rng(1)
    values = rng.random(size)
    masks = [rng.random(size) < 0.8 for _ in range(20)]
    rows = []
    for policy in (mb.MAUB(matroid), mb.OMM(matroid)):
        policy.update(np.arange(size), values)
        turn = count()

        def decide(policy: mb.Policy = policy, turn: "count[int]" = turn) -> None:
            decision = policy.decide(available=masks[next(turn) % len(masks)])
            policy.learn(decision, np.full(10, 0.5))

        decide()
        sorting, deciding = in_turn(repeats, partial(np.argsort, values), decide)
        ratio = deciding.least / sorting.least
        rows.append(
            [
                *("partition", type(policy).__name__, "mask", seconds(deciding.least), "argsort"),
                *(seconds(sorting.least), f"{ratio:.2f}", goal(ratio, "<=", 3)),
            ]
        )
    return rows


def _learned(policy: mb.Policy, means: Any) -> mb.Policy:
    """The policy after 4,000 rounds of rewards that are 0 or 1."""
    rng = np.random.default_rng(2)
    for _ in range(4_000):
        selected = policy.select()
        elements = policy.problem.elements(selected)
        policy.update(selected, (rng.random(len(elements)) < means[elements]).astype(float))
    return policy


def _plain(policy: mb.Policy) -> Callable[[], object]:
    def call() -> None:
        for _ in range(LOOP):
            policy.decide()

    return call


def _with_sets(policy: mb.Policy, sets: list[Any]) -> Callable[[], object]:
    turn = count()

    def call() -> None:
        for _ in range(LOOP):
            policy.decide(available=sets[next(turn) % len(sets)])

    return call
