"""Identification: rounds against the lower bound, error rates, and time."""

from statistics import mean, median
from time import perf_counter

import numpy as np

import matroid_bandits as mb
from benchmarks.tables import Table, goal, seconds
from matroid_bandits import catalog
from matroid_bandits.identification import (
    CLUCB,
    BestChallenger,
    FrankWolfe,
    LUCBExchange,
    UniformSampling,
)

RULES = (FrankWolfe, BestChallenger, LUCBExchange, CLUCB, UniformSampling)

# [TWPL23], as the published log of their experiments has it: 8 vertices, noise of 1.
EDGES = (
    "12 13 14 16 18 23 24 26 28 35 37 38 45 46 47 56 57 58 67 78".split()  # noqa: SIM905
)
MEANS = (
    2.4286026902098756,
    2.9278098614715438,
    3.3104332915251566,
    2.3192637823065003,
    0.4463388480766708,
    1.7002558778637291,
    2.618873245666574,
    0.10000000000000009,
    4.507735529508414,
    1.423127099976139,
    3.289604313299193,
    2.1368657275423733,
    0.16091523531229424,
    3.7297673669250604,
    7.244247635832336,
    0.5243765457591305,
    2.9177253680575124,
    2.5200009727764567,
    3.931194157566085,
    1.6734792361258473,
)


def measure(*, quick: bool = False) -> Table:
    """One row for each figure."""
    runs = 5 if quick else 100
    rows = [
        *_against_the_bound("K7", runs, quick=quick),
        *_against_the_bound("U(5,20)", runs, quick=quick),
        *_small_graph(runs),
        *_error_rates(100 if quick else 2000),
        _many_elements(quick=quick),
        _large_graph(quick=quick),
        _confidence(quick=quick),
    ]
    return Table(
        name="identification",
        question="How many rounds until the best basis is settled, and how often is it wrong?",
        method=(
            "Means uniform in [0.5, 1], noise 0.2, means of several seeds, basis model, unless "
            f"said otherwise; {runs} runs for each. Rounds by the bound: the mean of the runs by "
            "T* kl(delta, 1 - delta), the largest ratio of all means whose bound is below 200,000. "
            "Wrong: with the 95 % interval of Clopper and Pearson. Rules see the same rewards."
        ),
        columns=["what", "rule", "result", "goal"],
        rows=rows,
        remarks=[],
    )


def _against_the_bound(name: str, runs: int, *, quick: bool) -> list[list[str]]:
    """At delta = 1e-6, where the bound says something."""
    matroid = catalog.matroid(name)
    ratios: dict[str, list[float]] = {rule.__name__: [] for rule in RULES[:3]}
    for means in range(1 if quick else 10):
        drawn = np.random.default_rng([means, 10**6]).uniform(0.5, 1, matroid.size)
        environment = mb.GaussianEnvironment(drawn, std=0.2)
        bound = mb.identification_lower_bound(matroid, environment, 1e-6).rounds
        if bound > 200_000:
            continue
        for rule in RULES[:3]:
            found = _rounds(rule(matroid), environment, 1e-6, min(runs, 20))
            ratios[rule.__name__].append(mean(found) / bound)
    return [
        [
            f"{name}, delta 1e-6, customary: rounds by the bound, {len(values)} sets of means",
            rule,
            f"median {median(values):.2f}, largest {max(values):.2f}",
            goal(max(values), "<=", 1.5) if rule == "FrankWolfe" else "",
        ]
        for rule, values in ratios.items()
    ]


def _rounds(
    rule: mb.identification.SamplingRule, environment: mb.Environment, delta: float, runs: int
) -> list[int]:
    return [
        mb.identify(rule, environment, delta=delta, seed=seed, threshold="customary").rounds
        for seed in range(runs)
    ]


def _small_graph(runs: int) -> list[list[str]]:
    matroid = mb.GraphicMatroid([(int(edge[0]), int(edge[1])) for edge in EDGES])
    environment = mb.GaussianEnvironment(MEANS, std=1.0)
    bound = mb.identification_lower_bound(matroid, environment, 0.1).rounds
    rounds, times = {}, {}
    for rule in RULES:
        start = perf_counter()
        rounds[rule] = mean(_rounds(rule(matroid), environment, 0.1, runs))
        times[rule] = (perf_counter() - start) / runs
    rows = []
    for rule in RULES:
        ratio = rounds[UniformSampling] / rounds[rule]
        goals = f"{goal(ratio, '>=', 2)}, {goal(1e3 * times[rule], '<', 20)}"
        rows.append(
            [
                f"20-edge graph, delta 0.1, customary, bound {bound:.0f}: rounds, uniform by it",
                rule.__name__,
                f"{rounds[rule]:,.0f}, {ratio:.2f}, {seconds(times[rule])}",
                goals if rule in RULES[:3] else "",
            ]
        )
    return rows


def _error_rates(runs: int) -> list[list[str]]:
    """On U(2,6) with equal gaps: every exchange at the border is hard."""
    from scipy.stats import binomtest  # noqa: PLC0415

    rows = []
    matroid = mb.UniformMatroid(2, 6)
    environment = mb.GaussianEnvironment([0.6, 0.6, 0.4, 0.4, 0.4, 0.4], std=1.0)
    for threshold in ("proven", "customary"):
        for delta in (0.1, 0.01):
            wrong = sum(
                not mb.identify(
                    LUCBExchange(matroid),
                    environment,
                    delta=delta,
                    seed=seed,
                    threshold=threshold,
                ).is_correct
                for seed in range(runs)
            )
            interval = binomtest(wrong, runs).proportion_ci(0.95, "exact")
            rows.append(
                [
                    f"U(2,6), gap 0.2, noise 1, delta {delta:g}, {threshold}: wrong of {runs:,}",
                    "LUCBExchange",
                    f"{wrong} ({100 * interval.low:.2g} to {100 * interval.high:.2g} %)",
                    goal(wrong / runs, "<=", delta) if threshold == "proven" else "",
                ]
            )
    return rows


def _many_elements(*, quick: bool) -> list[str]:
    matroid = mb.PartitionMatroid([i // 1000 for i in range(10_000)], [1] * 10)
    drawn = np.random.default_rng([0, 10**6]).uniform(0.5, 1, 10_000)
    environment = mb.GaussianEnvironment(drawn, std=0.2)
    rounds = 5_000 if quick else 50_000
    rule = LUCBExchange(matroid)
    found = mb.identify(rule, environment, limit=rounds, threshold="customary")
    each = found.seconds / found.rounds
    return [
        f"10,000 elements in 10 groups: a round, mean of {found.rounds:,}",
        "LUCBExchange",
        seconds(each),
        goal(1e6 * each, "<", 50).replace("50", "50 us"),
    ]


def _large_graph(*, quick: bool) -> list[str]:
    matroid = catalog.matroid("K10" if quick else "K50")
    drawn = np.random.default_rng([0, 10**6]).uniform(0.5, 1, matroid.size)
    environment = mb.GaussianEnvironment(drawn, std=0.2)
    found = mb.identify(BestChallenger(matroid), environment, delta=0.1, threshold="customary")
    state = "settled" if found.settled else "not settled"
    right = "right" if found.is_correct else "wrong"
    return [
        f"{'K10' if quick else 'K50'}, delta 0.1, customary, to the end",
        "BestChallenger",
        f"{found.rounds:,} rounds, {seconds(found.seconds)}, {state}, {right}",
        "",
    ]


def _confidence(*, quick: bool) -> list[str]:
    matroid = catalog.matroid("K20")
    policy = mb.MAUB(matroid, noise=0.2)
    drawn = np.random.default_rng([0, 10**6]).uniform(0.5, 1, matroid.size)
    mb.simulate(policy, mb.GaussianEnvironment(drawn, std=0.2), 10_000 if quick else 100_000)
    times = []
    for _ in range(20):
        fresh = policy.fork(0)
        start = perf_counter()
        fresh.confidence()
        times.append(perf_counter() - start)
    return [
        "policy.confidence() on K20 after 100,000 rounds, circuits not known before",
        "MAUB",
        seconds(median(times)),
        goal(1e3 * median(times), "<", 1).replace("< 1", "< 1 ms"),
    ]
