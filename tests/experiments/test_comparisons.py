"""Which differences a report claims: rarely a false one, and the true ones where they are large.

Simulated studies have fixed seeds. With 2,000 of them and a family-wise error of 5 %, the share
with a false claim has a standard error of 0.49 %; the bound is 5 % and three of these.
"""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from matroid_bandits.experiments import Results, compare, summarize
from matroid_bandits.experiments.analysis.comparisons import compare_all, pairwise_intervals
from matroid_bandits.experiments.reporting.findings import findings

STUDIES = 2000
BOUND = 0.05 + 3 * sqrt(0.05 * 0.95 / STUDIES)

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
NOISE: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "Student, 2 degrees of freedom": lambda rng, shape: rng.standard_t(2, size=shape),
    "Cauchy": lambda rng, shape: rng.standard_cauchy(size=shape),
    "log-normal": lambda rng, shape: rng.lognormal(size=shape),
}


def simulated(
    noise: str, *, policies: int, instances: int, runs: int, seed: int, studies: int = STUDIES
) -> np.ndarray:
    """Regrets of equal mean: studies, instances, runs, policies.

    What a run's rewards do to all policies alike is part of them, and cancels in pairs.
    """
    rng = np.random.default_rng([1, seed])
    own = NOISE[noise](rng, (studies, instances, runs, policies))
    return own + 10 * rng.normal(size=(studies, instances, runs, 1))


def claims(regrets: np.ndarray) -> np.ndarray:
    """-1, 0 or 1 for every study, instance and pair: lower, no claim, higher."""
    _, instances, _, policies = regrets.shape
    n_claims = instances * policies * (policies - 1) // 2
    found = pairwise_intervals(regrets, n_claims)
    return np.where(found.high < 0, -1, np.where(found.low > 0, 1, 0))


def share_with_a_claim(found: np.ndarray) -> float:
    return float(np.any(found != 0, axis=(1, 2)).mean())


@pytest.mark.parametrize("runs", [3, 5, 20])
@pytest.mark.parametrize("policies, instances", [(2, 1), (3, 1), (3, 10), (6, 3)])
@pytest.mark.parametrize("noise", NOISE)
def test_false_claims_are_rare(noise: str, policies: int, instances: int, runs: int) -> None:
    regrets = simulated(noise, policies=policies, instances=instances, runs=runs, seed=runs)
    assert share_with_a_claim(claims(regrets)) <= BOUND


@pytest.mark.parametrize("runs", [2, 3, 5])
@pytest.mark.parametrize("policies, instances", [(2, 1), (3, 1), (3, 10), (6, 3)])
def test_few_possible_regrets(policies: int, instances: int, runs: int) -> None:
    """In short runs all differences of a pair are often equal, and have no spread."""
    rng = np.random.default_rng([2, runs])
    regrets = rng.integers(0, 2, size=(STUDIES, instances, runs, policies)).astype(float)
    assert share_with_a_claim(claims(regrets)) <= BOUND


def test_many_policies() -> None:
    """As many as the study `compare` has on one kind of rewards."""
    regrets = simulated("normal", policies=14, instances=5, runs=20, seed=0, studies=500)
    bound = 0.05 + 3 * sqrt(0.05 * 0.95 / 500)
    assert share_with_a_claim(claims(regrets)) <= bound


@pytest.mark.parametrize("runs", [3, 5, 20])
def test_true_differences_elsewhere_make_no_false_ones(runs: int) -> None:
    """Two of four policies are equal, the others far apart; no wrong direction either."""
    regrets = simulated("normal", policies=4, instances=3, runs=runs, seed=runs)
    found = claims(regrets + np.array([0.0, 0.0, 100.0, 500.0]))
    equal = found[..., 0]  # the pair of the first two
    assert (equal != 0).any(axis=1).mean() <= BOUND
    assert not (found[..., 1:] > 0).any()
    if runs > 3:
        assert (found[..., 1:] < 0).mean() > 0.99


@pytest.mark.parametrize("runs, shift", [(3, 100.0), (5, 20.0), (20, 3.0)])
def test_large_differences_are_found(runs: int, shift: float) -> None:
    """Of two policies on ten instances, with noise of standard deviation sqrt(2) in a pair.

    At 20 runs the interval is 3.4 * sqrt(2 / 20) = 1.1 wide on either side, so that a difference of
    3 is found but for the tail beyond six standard errors.
    """
    regrets = simulated("normal", policies=2, instances=10, runs=runs, seed=7)
    found = claims(regrets + np.array([0.0, shift]))
    assert (found < 0).mean() > 0.99


def test_all_pairs_on_all_instances_count() -> None:
    regrets = simulated("normal", policies=4, instances=3, runs=8, seed=3, studies=1)[0]
    regrets[2, 5:, 1] = np.nan  # three runs of policy 1 are missing
    regrets[1, 1:, 3] = np.nan  # all but one of policy 3: its three pairs cannot be compared
    found = pairwise_intervals(regrets)
    confidence = 1 - 0.05 / (3 * 6 - 3)
    for i in range(3):
        for k, (a, b) in enumerate(zip(found.first, found.second, strict=True)):
            differences = regrets[i, :, a] - regrets[i, :, b]
            differences = differences[~np.isnan(differences)]
            assert found.n_runs[i, k] == len(differences)
            if len(differences) < 2:
                assert np.isnan(found.low[i, k])
                continue
            expected = stats.ttest_1samp(differences, 0).confidence_interval(confidence)
            assert found.low[i, k] == pytest.approx(expected.low)
            assert found.high[i, k] == pytest.approx(expected.high)


@pytest.mark.parametrize("runs, is_claim", [(3, False), (5, False), (6, True)])
def test_equal_differences_are_a_claim_only_in_many_runs(runs: int, is_claim: bool) -> None:
    """All differences are 1: by the sign test, p is 2 / 2**runs, which must be below 5 %."""
    regrets = np.array([[1.0, 2.0]]) + np.arange(runs)[:, np.newaxis] / 10  # equal up to rounding
    found = pairwise_intervals(regrets)
    assert (found.high[0] < 0) == is_claim
    same = pairwise_intervals(np.ones((runs, 2)))
    assert same.low[0] == same.high[0] == 0


def made_up(regrets: np.ndarray, policies: list[str]) -> Results:
    """Results of one instance: a row per run, a column per policy."""
    runs, n = regrets.shape
    table = pd.DataFrame(
        {
            "instance": "x",
            "policy": np.tile(policies, runs),
            "seed": np.repeat(np.arange(runs), n),
            "regret": regrets.ravel(),
            "lower_bound": np.nan,
            "oracle_calls": 0,
            "greedy_calls": 0,
            "neighborhood_updates": 0,
            "seconds": 1.0,
        }
    )
    origin = {"size": 3, "rank": 1, "horizon": 10}
    study = {
        "identity": {
            "seed": 0,
            "runs": runs,
            "policies": {policy: {} for policy in policies},
            "instances": {"x": origin},
        },
        "instances": [{"name": "x", "warning": ""}],
        "reference": None,
    }
    return Results(runs=table, curves=pd.DataFrame(), study=study, sessions=[], folder=Path())


def test_the_choice_of_the_leader_is_paid_for() -> None:
    """A difference that two policies alone would establish, but not one of three pairs."""
    shape = np.array([1.0, -1.0, 0.5, -0.5, 0.0])
    spread = np.std(shape, ddof=1) / np.sqrt(5)
    regrets = np.zeros((5, 3)) + 50.0
    regrets[:, 1] += shape + 3.4 * spread  # 2.8 is enough for one pair, three need 4.0
    regrets[:, 2] += shape[::-1] + 3.4 * spread
    three = made_up(regrets, ["A", "B", "C"])
    assert {c.verdict for c in compare_all(three).values()} == {"undecided"}
    text = " ".join(findings(three, summarize(three)))
    assert "regret of A is not distinguishable from that of B on x" in text
    two = made_up(regrets[:, :2], ["A", "B"])
    assert [c.verdict for c in compare(two, "A", "B")] == ["lower"]
    assert "regret of A is below that of B on x" in " ".join(findings(two, summarize(two)))


def test_both_orders_say_the_same() -> None:
    results = made_up(np.random.default_rng(0).normal([1.0, 9.0], 1.0, (6, 2)), ["A", "B"])
    (one,), (other,) = compare(results, "A", "B"), compare(results, "B", "A")
    assert one == other.reversed()
    assert (one.verdict, other.verdict) == ("lower", "higher")
    assert one.regret == pytest.approx(results.runs.query("policy == 'A'")["regret"].mean())


def test_mistakes() -> None:
    results = made_up(np.ones((3, 2)), ["MAUB", "OMM"])
    with pytest.raises(ValueError, match=r"unknown policy 'MUAB'; did you mean MAUB\?"):
        compare(results, "MUAB", "OMM")
    with pytest.raises(ValueError, match="two policies are compared, got 'OMM' twice"):
        compare(results, "OMM", "OMM")
    with pytest.raises(ValueError, match="unknown policy 3"):
        compare(results, "OMM", 3)
    one_run = replace(results, runs=results.runs[results.runs["seed"] == 0])
    assert compare(one_run, "MAUB", "OMM") == []
    for call in (summarize, lambda value: compare(value, "MAUB", "OMM")):
        with pytest.raises(TypeError, match="what run_study or read_results returns, got str"):
            call("results/study")
