"""Intervals that hold at every number of runs at once, and how many runs are enough.

Simulated studies have fixed seeds, and their margins are worked out beforehand.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import exp, log, pi, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from matroid_bandits.experiments import Results, compare, summarize
from matroid_bandits.experiments.analysis.comparisons import (
    all_pairs,
    compare_all,
    pairwise_intervals,
    sequential_factor,
    student_factor,
    was_continued,
)
from matroid_bandits.experiments.analysis.separation import OpenPair, next_batch, open_pairs
from matroid_bandits.experiments.reporting.findings import findings

CONTINUED = [{"runs": 5}, {"runs": 20}]


def bayes_factor(n: int, t: float) -> float:
    """The density of Student's t if the mean is drawn from its prior, over that if it is zero.

    With n differences and a mean of `effect` standard deviations, t has the noncentral
    distribution.
    """

    def joint(effect: float) -> float:
        return float(stats.nct.pdf(t, n - 1, effect * sqrt(n)) * stats.norm.pdf(effect))

    found = integrate.quad(joint, -8, 8, points=[0, t / sqrt(n)], limit=200)[0]
    return float(found / stats.t.pdf(t, n - 1))


def log_bayes_factor(n: float, squared_effect: float) -> float:
    """Its logarithm in closed form, if mean**2 / std**2 is `squared_effect`."""
    t2 = n * squared_effect / (n - 1)
    return n / 2 * log((1 + t2) / (1 + t2 / (n + 1))) - log(n + 1) / 2


# ---- the intervals ----


@pytest.mark.parametrize("error_rate", [0.05, 0.05 / 30])
@pytest.mark.parametrize("n", [5, 6, 9, 20, 60])
def test_the_bounds_are_where_the_bayes_factor_says(n: int, error_rate: float) -> None:
    t = float(sequential_factor(np.array(n), error_rate))
    if np.isinf(t):
        # However large t is, the Bayes factor is below (n + 1)**((n - 1) / 2).
        assert (n + 1) ** ((n - 1) / 2) <= 1 / error_rate
        return
    assert bayes_factor(n, t) == pytest.approx(1 / error_rate, rel=1e-5)
    assert log_bayes_factor(n, t * t / n) == pytest.approx(-log(error_rate))


@pytest.mark.parametrize("scale", [0.01, 1.0, 300.0])
def test_the_bayes_factor_from_the_likelihood_itself(scale: float) -> None:
    """Integrated over mean and standard deviation, the latter with density 1 / std."""
    x = np.array([0.3, 1.9, -0.4, 1.1, 0.8, 1.6]) * scale
    n = len(x)

    def likelihood(log_std: float, effect: float) -> float:
        std = exp(log_std) * scale
        return float(np.exp(-(((x / std - effect) ** 2).sum()) / 2) * (scale / std) ** n)

    def mixed(effect: float, log_std: float) -> float:
        return likelihood(log_std, effect) * exp(-(effect**2) / 2) / sqrt(2 * pi)

    null = integrate.quad(likelihood, -4, 6, args=(0.0,))[0]
    alternative = integrate.dblquad(mixed, -4, 6, -6, 6, epsabs=1e-12)[0]
    squared_effect = x.mean() ** 2 / x.var(ddof=1)
    assert log(alternative / null) == pytest.approx(log_bayes_factor(n, squared_effect), rel=1e-4)
    # An interval at this level ends at zero.
    error_rate = null / alternative
    half = sequential_factor(np.array(n), error_rate) * x.std(ddof=1) / sqrt(n)
    assert half == pytest.approx(x.mean(), rel=1e-4)


def test_more_runs_make_intervals_narrower() -> None:
    n = np.arange(2, 1_000_001)
    for error_rate in (0.05, 0.05 / 30, 0.05 / 10_000):
        half_widths = sequential_factor(n, error_rate) / np.sqrt(n)
        bounded = half_widths[np.isfinite(half_widths)]
        assert np.isinf(half_widths[: len(n) - len(bounded)]).all()
        assert (np.diff(bounded) < 0).all()
        # The price of looking at any time.
        assert (sequential_factor(n, error_rate) > student_factor(n, error_rate)).all()


def test_sequential_intervals_of_pairs() -> None:
    regrets = np.random.default_rng(4).normal(size=(2, 12, 3))
    regrets[1, 3:, 0] = np.nan  # three runs: unbounded
    regrets[0, :, 1] = regrets[0, :, 2]
    found = pairwise_intervals(regrets, 40, sequential=True)
    for i, k in np.ndindex(2, 3):
        differences = regrets[i, :, found.first[k]] - regrets[i, :, found.second[k]]
        differences = differences[~np.isnan(differences)]
        n, std = len(differences), np.std(differences, ddof=1)
        assert found.std[i, k] == pytest.approx(std)
        if n == 3:
            assert (found.low[i, k], found.high[i, k]) == (-np.inf, np.inf)
        elif std == 0:
            assert found.low[i, k] == found.high[i, k] == 0
        else:
            half = sequential_factor(np.array(n), 0.05 / 40) * std / sqrt(n)
            assert found.low[i, k] == pytest.approx(differences.mean() - half)
            assert found.high[i, k] == pytest.approx(differences.mean() + half)


@pytest.mark.parametrize("runs, is_claim", [(2, False), (5, False), (6, True), (7, True)])
def test_equal_differences_are_decided_by_the_sign_test(runs: int, is_claim: bool) -> None:
    regrets = np.array([[1.0, 2.0]]) + np.arange(runs)[:, np.newaxis] / 10
    assert (pairwise_intervals(regrets, sequential=True).high[0] < 0) == is_claim
    # Also after two runs, when the interval of any other pair is unbounded.
    same = pairwise_intervals(np.ones((runs, 2)), sequential=True)
    assert same.low[0] == same.high[0] == 0


# ---- how often they are wrong ----

PATHS = 4000
#: Three standard errors of the share of 4,000 paths, if 5 % of all are wrong: 1.03 %.
MARGIN = 3 * sqrt(0.05 * 0.95 / PATHS)

Factor = Callable[[np.ndarray, float], np.ndarray]


def share_of_wrong_paths(differences: np.ndarray, factor: Factor, first_look: int) -> float:
    """Of paths with mean zero: where some interval, from `first_look` on, excludes it."""
    n = np.arange(1, differences.shape[1] + 1)
    mean = np.cumsum(differences, axis=1) / n
    squares = np.cumsum(differences**2, axis=1)
    looks = slice(first_look - 1, None)
    n, mean, squares = n[looks], mean[:, looks], squares[:, looks]
    std = np.sqrt((squares - n * mean**2) / (n - 1))
    wrong = np.abs(mean) > factor(n, 0.05) * std / np.sqrt(n)
    return float(wrong.any(axis=1).mean())


def test_looking_at_every_number_of_runs() -> None:
    """Normal differences, looks after 2, 3, ..., 400 runs.

    At most 5 % may be wrong. In 20,000 other paths it was 3.6 %, so that 4,000 have at least 2.5 %
    but for a deviation of 3.7 standard errors: the intervals are not much too wide. Student's
    intervals were wrong in 50 %.
    """
    differences = np.random.default_rng(11).normal(0, 3, (PATHS, 400))
    assert 0.025 <= share_of_wrong_paths(differences, sequential_factor, 2) <= 0.05 + MARGIN
    assert share_of_wrong_paths(differences, student_factor, 2) > 0.4


@pytest.mark.parametrize(
    "noise",
    [
        lambda rng, shape: rng.laplace(size=shape),
        lambda rng, shape: rng.standard_t(2, size=shape),
        lambda rng, shape: rng.lognormal(size=shape) - rng.lognormal(size=shape),
    ],
    ids=["Laplace", "Student, 2 degrees of freedom", "two log-normal regrets"],
)
def test_long_tails(noise: Callable) -> None:
    differences = noise(np.random.default_rng(12), (PATHS, 300))
    assert share_of_wrong_paths(differences, sequential_factor, 2) <= 0.05 + MARGIN


@pytest.mark.parametrize("first_look, documented", [(2, 0.133), (20, 0.068)])
def test_skewed_differences_as_documented(first_look: int, documented: float) -> None:
    """An exponential regret against a constant one; the shares are those of
    docs/reference/study-file.md.

    They are of 20,000 paths. Four standard errors of both shares together are at most 2.4 %.
    """
    differences = np.random.default_rng(13).exponential(size=(PATHS, 500)) - 1
    share = share_of_wrong_paths(differences, sequential_factor, first_look)
    deviation = 4 * sqrt(documented * (1 - documented) * (1 / PATHS + 1 / 20_000))
    assert abs(share - documented) <= deviation


# ---- studies ----


def made_up(
    regrets: Mapping[str, np.ndarray],
    policies: str,
    *,
    sessions: list[dict] | None = None,
    only: Mapping[str, str] | None = None,
) -> Results:
    """Results: a table per instance, with a row per run, a column per policy, NaN if missing."""
    rows = [
        {"instance": instance, "policy": policy, "seed": seed, "regret": regret}
        for instance, table in regrets.items()
        for seed, row in enumerate(table)
        for policy, regret in zip(policies, row, strict=True)
        if not np.isnan(regret)
    ]
    runs = pd.DataFrame(rows, columns=["instance", "policy", "seed", "regret"]).assign(
        lower_bound=np.nan, oracle_calls=0, greedy_calls=0, neighborhood_updates=0, seconds=1.0
    )
    origin = {"size": 3, "rank": 1, "horizon": 10}
    chosen = {name: {"policies": list(names)} for name, names in (only or {}).items()}
    study = {
        "identity": {
            "seed": 0,
            "runs": max(len(table) for table in regrets.values()),
            "policies": {policy: {} for policy in policies},
            "instances": {name: {**origin, **chosen.get(name, {})} for name in regrets},
        },
        "instances": [{"name": name, "warning": ""} for name in regrets],
        "reference": None,
    }
    return Results(
        runs=runs, curves=pd.DataFrame(), study=study, sessions=sessions or [], folder=Path()
    )


def with_difference(runs: int, mean: float, std: float, *, seed: int = 0) -> np.ndarray:
    """Regrets of two policies whose differences have exactly this mean and standard deviation."""
    rng = np.random.default_rng([5, seed])
    noise = rng.normal(size=runs)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    other = 100 + rng.normal(size=runs)
    return np.column_stack([other + mean + std * noise, other])


def test_all_pairs_that_are_to_run() -> None:
    results = made_up({"x": np.ones((2, 3)), "y": np.ones((2, 3))}, "ABC", only={"y": "CA"})
    pairs = all_pairs(results.study["identity"])
    assert pairs == [("x", "A", "B"), ("x", "A", "C"), ("x", "B", "C"), ("y", "A", "C")]


@pytest.mark.parametrize(
    "sessions, expected",
    [
        ([], False),
        ([{}, {}], False),  # of earlier versions
        ([{"runs": 20}, {"runs": 20}], False),  # interrupted
        ([{}, {"runs": 20}], False),
        ([{"runs": 20}, {}, {"runs": 200}], True),
        ([{"runs": 20, "until_separated": False}], False),
        ([{"runs": 20}, {"runs": 20, "until_separated": True}], True),
    ],
)
def test_was_continued(sessions: list[dict], expected: bool) -> None:
    assert was_continued(sessions) == expected


def test_a_continued_study_is_judged_sequentially_and_for_all_its_pairs() -> None:
    regrets = np.random.default_rng(6).normal([0.0, 0.5, 1.0], 1, (12, 3))
    regrets[:, 2] = np.nan  # C has not run at all, and yet its two pairs count
    results = made_up({"x": regrets}, "ABC")
    differences = regrets[:, 0] - regrets[:, 1]
    (fixed,) = compare(results, "A", "B")
    (continued,) = compare(replace(results, sessions=CONTINUED), "A", "B")
    assert fixed.n_runs == continued.n_runs == 12
    assert fixed.std == continued.std == pytest.approx(np.std(differences, ddof=1))
    width = continued.std / sqrt(12)
    assert fixed.high - fixed.low == pytest.approx(2 * stats.t.ppf(0.975, 11) * width)
    factor = sequential_factor(np.array(12), 0.05 / 3)
    assert continued.high - continued.low == pytest.approx(2 * factor * width)
    assert compare_all(results, sequential=True)["x", "A", "B"] == continued
    again = compare_all(replace(results, sessions=CONTINUED), sequential=False)
    assert again["x", "A", "B"] == fixed


# ---- open pairs ----


@pytest.mark.parametrize("mean, std, runs", [(1.0, 2.0, 10), (-0.3, 1.0, 8), (0.05, 2.0, 30)])
@pytest.mark.parametrize("others", [0, 9])
def test_more_runs_by_direct_search(mean: float, std: float, runs: int, others: int) -> None:
    """Other instances, of which each is a claim more, are all told apart."""
    settled = {f"y{k}": with_difference(runs, 1e3, 1.0) for k in range(others)}
    (pair,) = open_pairs(made_up({"x": with_difference(runs, mean, std), **settled}, "AB"))
    needed = runs + 1
    while log_bayes_factor(needed, (mean / std) ** 2) <= log((1 + others) / 0.05):
        needed += 1
    assert pair.more_runs == needed - runs
    assert (pair.instance, pair.policy, pair.other, pair.n_runs) == ("x", "A", "B", runs)
    assert pair.regret - pair.other_regret == pytest.approx(mean)
    assert pair.low < 0 < pair.high
    # With so many runs of the same mean and spread the pair is told apart, with one fewer not.
    for total, is_open in ((needed - 1, True), (needed, False)):
        more = {"x": with_difference(total, mean, std), **settled}
        found = open_pairs(made_up(more, "AB"), sequential=True)
        assert [p.instance for p in found] == ["x"] * is_open


def test_pairs_without_a_prediction() -> None:
    noise = np.array([1.0, -1.0, 2.0, -2.0])
    regrets = {
        "equal means": np.column_stack([5 + noise, np.full(4, 5.0)]),
        "almost equal": with_difference(4, 1e-4, 1.0),
        "one run": np.array([[1.0, 3.0], [np.nan, 1.0], [1.0, np.nan]]),
        "none": np.full((4, 2), np.nan),
        "same": np.column_stack([noise, noise]),
        "told apart": with_difference(4, 1e6, 1.0),
    }
    found = {pair.instance: pair for pair in open_pairs(made_up(regrets, "AB"))}
    assert list(found) == ["equal means", "almost equal", "one run", "none"]
    assert {pair.more_runs for pair in found.values()} == {None}
    one = OpenPair("one run", "A", "B", 1.0, 3.0, -np.inf, np.inf, n_runs=1, more_runs=None)
    assert found["one run"] == one
    assert found["none"].n_runs == 0
    assert np.isnan(found["none"].regret)
    # A single run is not enough to be the same.
    (pair,) = open_pairs(made_up({"x": np.ones((1, 2))}, "AB"))
    assert pair.n_runs == 1


def test_equal_differences_wait_for_the_sign_test() -> None:
    regrets = np.array([[1.0, 2.0]]) + np.arange(3)[:, np.newaxis] / 10
    (pair,) = open_pairs(made_up({"x": regrets}, "AB"))
    assert pair.more_runs == 3  # 2 / 2**6 is below 5 %


def test_only_what_the_study_runs_can_be_open() -> None:
    table = np.random.default_rng(0).normal(size=(5, 3))
    table[:, 1] = np.nan
    results = made_up({"x": table}, "ABC", only={"x": "AC"})
    assert [(pair.policy, pair.other) for pair in open_pairs(results)] == [("A", "C")]
    with pytest.raises(TypeError, match="what run_study or read_results returns, got str"):
        open_pairs("results/study")


# ---- what to run next ----


def test_the_next_batch_has_what_is_predicted() -> None:
    """Half an interval is 0.693 standard deviations wide at 30 runs and 0.626 at 36."""
    regrets = {
        "x": with_difference(20, 0.693, 1.0),
        "y": with_difference(20, 0.626, 1.0),
        "z": with_difference(20, 10.0, 1.0),
    }
    results = made_up(regrets, "AB")
    needs = {pair.instance: pair.more_runs for pair in open_pairs(results, sequential=True)}
    assert needs == {"x": 10, "y": 16}
    tasks = {("x", "A"), ("x", "B"), ("y", "A"), ("y", "B")}
    assert next_batch(results, 1000) == (tasks, 36)
    assert next_batch(results, 30) == (tasks, 30)
    assert next_batch(results, 20) is None
    regrets["y"] = with_difference(20, 0.01, 1.0)
    assert next_batch(made_up(regrets, "AB"), 1000) == (tasks, 40)
    regrets["x"] = with_difference(20, 0.857, 1.0)
    regrets["y"] = with_difference(20, 0.833, 1.0)
    results = made_up(regrets, "AB")
    assert [pair.more_runs for pair in open_pairs(results, sequential=True)] == [1, 2]
    assert next_batch(results, 1000) == (tasks, 25)
    regrets |= {"x": with_difference(20, -10.0, 1.0), "y": np.ones((20, 2))}
    assert next_batch(made_up(regrets, "AB"), 1000) is None
    with pytest.raises(ValueError, match="limit"):
        next_batch(results, 0)


def test_policies_that_are_told_apart_do_not_go_on() -> None:
    rng = np.random.default_rng(8)
    table = rng.normal([0.0, 0.1, 50.0, 100.0], 1.0, (20, 4))
    tasks, total = next_batch(made_up({"x": table}, "ABCD"), 1000)
    assert tasks == {("x", "A"), ("x", "B")}
    assert total == 40


def test_the_next_batch_is_for_those_with_the_fewest_runs() -> None:
    few = np.full((40, 2), np.nan)
    few[:20] = with_difference(20, 0.01, 1.0)
    regrets = {"x": with_difference(40, 0.01, 1.0), "y": few}
    tasks, total = next_batch(made_up(regrets, "AB"), 1000)
    assert total == 40
    assert ("y", "A") in tasks
    # A pair at the limit is left as it is.
    tasks, total = next_batch(made_up(regrets, "AB"), 30)
    assert (tasks, total) == ({("y", "A"), ("y", "B")}, 30)
    nothing = made_up({"x": np.full((3, 2), np.nan)}, "AB")
    assert next_batch(nothing, 10) == ({("x", "A"), ("x", "B")}, 2)
    assert next_batch(nothing, 1) == ({("x", "A"), ("x", "B")}, 1)


def test_whether_to_go_on_is_always_judged_sequentially() -> None:
    results = made_up({"x": with_difference(20, 0.6, 1.0)}, "AB")
    assert open_pairs(results) == []  # 20 runs, fixed beforehand, are enough for Student
    assert next_batch(results, 1000) is not None
    assert len(open_pairs(replace(results, sessions=CONTINUED))) == 1


def test_going_on_until_all_are_told_apart() -> None:
    """Means 0, 0.7 and 5 with standard deviation 1: the last policy needs fewer runs."""
    rng = np.random.default_rng(9)
    possible = rng.normal([0.0, 0.7, 5.0], 1.0, (400, 3))
    table = np.full((400, 3), np.nan)
    table[:10] = possible[:10]
    results = made_up({"x": table}, "ABC")
    totals = []
    while (batch := next_batch(results, 400)) is not None:
        tasks, total = batch
        totals.append(total)
        for _, policy in tasks:
            table[:total, "ABC".index(policy)] = possible[:total, "ABC".index(policy)]
        results = made_up({"x": table}, "ABC")
    assert totals == sorted(set(totals))
    assert totals[-1] < 200
    verdicts = {key[1:]: c.verdict for key, c in compare_all(results, sequential=True).items()}
    assert verdicts["A", "B"] == verdicts["A", "C"] == verdicts["B", "C"] == "lower"
    counts = results.runs["policy"].value_counts()
    assert counts["C"] < counts["B"] == counts["A"] == totals[-1]


# ---- in words ----


def paragraph(results: Results) -> str:
    found = [text for text in findings(results, summarize(results)) if "told apart" in text]
    return "\n".join(found)


def test_words_about_open_pairs() -> None:
    regrets = {
        "x": with_difference(20, -0.4, 1.0),
        "y": with_difference(20, 0.1, 1.0),
        "z": with_difference(20, 10.0, 1.0),
    }
    results = made_up(regrets, "AB")
    needs = [pair.more_runs for pair in open_pairs(results)]
    assert needs == [66, 1543]
    assert paragraph(results) == (
        "2 of 3 pairs of policies are not told apart yet. If the differences stay as they are, "
        "this takes so many more runs of each policy: on x about 66 for A against B "
        "(\N{MINUS SIGN}0.4 %); on y about 1,500 for A against B (+0.1 %)."
    )


def test_words_about_many_open_pairs() -> None:
    regrets = {f"x{k}": with_difference(20, 0.5 - k / 20, 1.0, seed=k) for k in range(8)}
    regrets |= {"tiny": with_difference(20, 1e-5, 1.0), "one": np.array([[1.0, 2.0]])}
    results = made_up(regrets, "AB")
    assert max(pair.more_runs or 0 for pair in open_pairs(results)) == 756
    text = paragraph(results)
    assert text.startswith("10 of 10 pairs of policies are not told apart yet.")
    assert [f"on x{k} " in text for k in range(8)] == [True] * 4 + [False] * 4
    assert "; up to about 760 for 4 more." in text
    assert "A million runs would not settle 1." in text
    assert text.endswith("For 1 there are fewer than two runs to compare.")


def test_words_about_several_pairs_of_an_instance() -> None:
    """There is no percentage of a regret of zero."""
    noise = np.array([1.0, -1.0, 2.0, -2.0, 0.5])
    table = np.column_stack([noise + 3, np.zeros(5), np.full(5, 1e3)])
    results = made_up({"x": table, "y": table}, "ABC", only={"y": "AC"})
    # The sign test needs 8 runs for one of four claims.
    assert [pair.more_runs for pair in open_pairs(results)] == [4, 3]
    expected = "on x about 4 for A against B and about 3 for B against C (\N{MINUS SIGN}100.0 %)."
    assert paragraph(results).endswith(expected)


def test_words_if_all_are_told_apart() -> None:
    apart = {"x": with_difference(20, 5.0, 1.0)}
    sentence = "All pairs of policies are told apart on all instances"
    assert paragraph(made_up(apart, "AB")) == f"{sentence}."
    same = apart | {"y": np.ones((20, 2))}
    expected = f"{sentence}, except those with the same regret in every run."
    assert paragraph(made_up(same, "AB")) == expected
    assert paragraph(made_up({"x": np.ones((3, 1))}, "A")) == ""


@pytest.mark.parametrize("policies", ["AB", "ABCDE"])
def test_words_about_the_intervals_of_a_continued_study(policies: str) -> None:
    table = np.random.default_rng(1).normal(100, 1, (20, len(policies)))
    results = made_up({"x": table}, policies)
    words = "at every number of runs at once, since the number of runs was not fixed beforehand"
    for sessions, expected in (([{"runs": 20}], False), (CONTINUED, True)):
        told = replace(results, sessions=sessions)
        text = " ".join(findings(told, summarize(told)))
        assert (f"hold together with 95 % confidence, {words}.)" in text) == expected
        assert ("hold together with 95 % confidence.)" in text) != expected
