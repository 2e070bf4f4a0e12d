"""Evaluation on logs: exact values, unbiased estimates, and what is refused."""

import copy
from math import sqrt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import matroid_bandits as mb

MEANS = np.array([0.9, 0.7, 0.5, 0.3, 0.2])
LABELS = list("abcde")


def log_of(policy, n, *, seed=0, means=MEANS, learn=True, draws=200, available=None):
    """The log of n decisions with Bernoulli rewards."""
    rng = np.random.default_rng(seed)
    rows = {"decision": [], "element": [], "reward": [], "propensity": []}
    for k in range(n):
        decision = policy.decide(None if available is None else available[k], propensities=draws)
        numbers = policy.problem.elements(decision.elements)
        rewards = (rng.random(len(numbers)) < means[numbers]).astype(float)
        rows["decision"] += [decision.id] * len(numbers)
        rows["element"] += list(decision.elements)
        rows["reward"] += rewards.tolist()
        rows["propensity"] += decision.propensities.tolist()
        if learn:
            policy.learn(decision, rewards)
        else:
            policy.expire(decision)
    return rows


# ---- exact ----

#: Every outcome of U(1, 2) played with the probabilities 1/4 and 3/4, as often as it is likely.
FOUR = {
    "decision": [1, 2, 3, 4],
    "element": ["a", "b", "b", "b"],
    "reward": [1.0, 2.0, 3.0, 4.0],
    "propensity": [0.25, 0.75, 0.75, 0.75],
}


def test_a_log_with_every_outcome_gives_the_exact_value():
    only_a = mb.evaluate_log(FOUR, ["a"])
    assert only_a.value == 1.0
    assert mb.evaluate_log(FOUR, ["b"]).value == pytest.approx(3.0)
    assert mb.evaluate_log(FOUR, {"a": 0.5, "b": 0.5}).value == pytest.approx(2.0)
    assert mb.evaluate_log(FOUR, ["a", "b"]).value == pytest.approx(4.0)
    assert only_a.logged_value == 2.5
    assert only_a.coverage == {"a": 1.0}
    # Weighted rewards 4, 0, 0, 0 have the standard deviation 2.
    assert only_a.standard_error == pytest.approx(1.0)
    assert only_a.interval == pytest.approx((1 - 1.959964, 1 + 1.959964))
    assert only_a.effective_size == pytest.approx(1.0)
    assert mb.evaluate_log(FOUR, ["b"]).effective_size == pytest.approx(3.0)


def test_self_normalized_weights_do_not_care_about_a_constant():
    # One outcome more of `a` than is likely: its mean reward is what it is.
    log = {
        "decision": [1, 2, 3],
        "element": ["a", "a", "b"],
        "reward": [1.0, 3.0, 7.0],
        "propensity": [0.5, 0.5, 0.5],
    }
    assert mb.evaluate_log(log, ["a"]).value == pytest.approx(8 / 3)
    result = mb.evaluate_log(log, ["a"], estimator="snips")
    assert result.value == pytest.approx(2.0)
    # Residuals w (r - 2): -2, 2, 0; scale 1 / (4/3).
    assert result.standard_error == pytest.approx(0.75 * sqrt(8 / 2 / 3))
    moved = {**log, "reward": [r + 10 for r in log["reward"]]}
    assert mb.evaluate_log(moved, ["a"], estimator="snips").value == pytest.approx(12.0)


def test_clipped_weights():
    result = mb.evaluate_log(FOUR, ["a"], clip=2)
    assert result.value == 0.5
    assert result.n_clipped == 1
    assert result.coverage == {"a": 1.0}
    assert "clipped" in str(result)
    assert mb.evaluate_log(FOUR, ["a"], clip=4).n_clipped == 0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_tables_of_all_kinds(frame):
    assert mb.evaluate_log(frame(FOUR), ["b"]).value == pytest.approx(3.0)


def test_labels_that_are_tuples_and_numbers():
    tuples = {**FOUR, "element": [("x", 1), ("y", 2), ("y", 2), ("y", 2)]}
    assert mb.evaluate_log(pd.DataFrame(tuples), [("y", 2)]).value == pytest.approx(3.0)
    lists = pa.table({**FOUR, "element": [[0, 1], [2, 3], [2, 3], [2, 3]]})
    assert mb.evaluate_log(lists, [(2, 3)]).value == pytest.approx(3.0)
    numbers = {**FOUR, "element": np.array([0, 1, 1, 1])}
    assert mb.evaluate_log(numbers, np.array([1])).value == pytest.approx(3.0)


def test_reward_and_propensity_may_be_in_two_rows():
    two = {
        "decision": ["1", "2", "2", "1"],
        "element": ["a", "b", "b", "a"],
        "reward": [None, None, 2.0, 6.0],
        "propensity": [0.5, 0.5, None, None],
    }
    for frame in (two, pd.DataFrame(two), pl.DataFrame(two), pa.table(two)):
        assert mb.evaluate_log(frame, ["a"]).value == pytest.approx(6.0)


def test_missing_feedback():
    log = {**FOUR, "reward": [None, 2.0, 3.0, 4.0]}
    with pytest.raises(ValueError, match=r"row 0 .*no reward of 'a'.*missing_reward=0"):
        mb.evaluate_log(log, ["a"])
    assert mb.evaluate_log(log, ["a"], missing_reward=0.5).value == 0.5


# ---- unbiased ----


def test_a_policy_that_learns_is_a_fair_log():
    # 300 logs of 40 decisions. The noise is so large that propensities stay above 0.2: with 41
    # observations or fewer, posteriors have a standard deviation of at least 4 / sqrt(41) = 0.6,
    # and means differ by 0.7 at most. So weighted rewards of a decision are from 0 to 1.5 / 0.2,
    # with a standard deviation below 3.75. They are uncorrelated: 3.75 / sqrt(12000) = 0.034. The
    # margin is 4 of it.
    problem = mb.Problem(mb.UniformMatroid(2, 5), labels=LABELS)
    values, n_covered = [], 0
    for seed in range(300):
        policy = mb.CTS(problem, prior="gaussian", noise=4.0, seed=seed)
        policy.observe(dict.fromkeys(LABELS, (0.5, 1)))
        log = log_of(policy, 40, seed=seed, draws=60)
        assert min(log["propensity"]) > 0.1
        result = mb.evaluate_log(log, {"a": 0.5, "b": 1.0, "c": 0.5})
        values.append(result.value)
        n_covered += result.interval[0] < 1.4 < result.interval[1]
    assert np.mean(values) == pytest.approx(1.4, abs=0.137)
    # 0.95 in theory; a normal interval of 40 decisions may have 0.92. Then 3 standard deviations
    # of the number of intervals are 14.
    assert n_covered >= 262


def test_elements_that_lose_their_chance_are_reported():
    # CTS hardly ever plays the worst element after some hundred rounds.
    log = log_of(mb.CTS(mb.Problem(mb.UniformMatroid(2, 5), labels=LABELS), seed=1), 1500, draws=50)
    result = mb.evaluate_log(log, ["a", "e"])
    assert result.doubtful == ["e"]
    assert result.coverage["a"] == pytest.approx(1, abs=0.1)
    assert result.coverage["e"] < 0.7


@pytest.mark.parametrize("estimator", ["ips", "snips"])
def test_random_bases_of_a_graph(estimator):
    # The propensity of an edge of K4 is 1/2. So weighted rewards of a tree of three edges are from
    # 0 to 6, with a standard deviation below 3. With 4000 decisions: 3 / sqrt(4000) = 0.047. The
    # margin is 4 of it.
    matroid = mb.GraphicMatroid.complete(4)
    means = np.linspace(0.1, 0.9, 6)
    log = log_of(mb.RandomBasis(matroid, seed=1), 4000, means=means, learn=False, draws=100)
    best = matroid.max_weight_basis(means)
    result = mb.evaluate_log(log, best, estimator=estimator)
    assert result.value == pytest.approx(means[best].sum(), abs=0.19)
    assert 0.01 < result.standard_error < 0.047
    assert not result.doubtful
    assert set(result.coverage) == set(best.tolist())


def test_elements_that_are_seldom_wanted_are_not_doubtful():
    # Every element of the log has the propensity 2/5. One that is wanted in two decisions is in
    # neither of them with a probability of 0.36.
    policy = mb.RandomBasis(mb.Problem(mb.UniformMatroid(2, 5), labels=LABELS), seed=4)
    log = log_of(policy, 60, learn=False, draws=200)
    for seed in range(20):
        replayed = mb.CTS(mb.Problem(mb.UniformMatroid(2, 5), labels=LABELS), seed=seed)
        assert not mb.evaluate_log(log, replayed).doubtful


def test_policies_whose_features_come_with_the_round_are_refused():
    log = {"decision": [1, 2], "element": ["a", "b"], "reward": [1, 0], "propensity": [0.5, 0.5]}
    page = mb.Problem(mb.UniformMatroid(1, 2), labels=["a", "b"])
    policy = mb.CombLinUCB(page, features=mb.LinearFeatures(n_features=2))
    with pytest.raises(ValueError, match="whose features come with the round cannot be evaluated"):
        mb.evaluate_log(log, policy)


def test_the_probability_of_an_interval_is_not_rounded():
    log = {"decision": [1, 2], "element": ["a", "b"], "reward": [1, 0], "propensity": [0.5, 0.5]}
    assert "with probability 99.9% from" in str(mb.evaluate_log(log, ["a"], delta=0.001))


def test_costs_are_reported_as_costs():
    problem = mb.Problem(mb.UniformMatroid(2, 5), labels=LABELS, sense="min")
    log = log_of(mb.RandomBasis(problem, seed=2), 2000, learn=False, draws=100)
    # Weights are 5/2, so weighted costs of a decision are at most 5: 2.5 / sqrt(2000) = 0.056.
    assert mb.evaluate_log(log, ["d", "e"]).value == pytest.approx(0.5, abs=0.28)
    learner = mb.CUCB(problem)
    replayed = mb.evaluate_log(log, learner)
    assert replayed.value < replayed.logged_value
    assert learner.rounds == 0


def test_what_is_not_available_counts_as_not_played():
    policy = mb.RandomBasis(mb.Problem(mb.UniformMatroid(2, 5), labels=LABELS), seed=3)
    available = [LABELS if k % 2 else LABELS[1:] for k in range(4000)]
    log = log_of(policy, 4000, available=available, learn=False, draws=100)
    # `a` can be played in half of the decisions: 0.9 / 2 + 0.7. Standard error below 0.04.
    result = mb.evaluate_log(log, ["a", "b"])
    assert result.value == pytest.approx(1.15, abs=0.16)
    assert result.doubtful == ["a"]
    assert "Not always possible" in str(result)


# ---- replayed policies ----


def test_a_policy_that_stays_as_it_is_is_a_fixed_set():
    problem = mb.Problem(mb.UniformMatroid(2, 5), labels=LABELS)
    log = log_of(mb.RandomBasis(problem, seed=4), 300, learn=False, draws=50)
    policy = mb.FollowTheLeader(problem)
    policy.observe({"a": (0.9, 5), "b": (0.8, 5), "c": (0.1, 5), "d": (0.1, 5), "e": (0.1, 5)})
    replayed = mb.evaluate_log(log, policy, learn=False)
    assert replayed.value == mb.evaluate_log(log, ["a", "b"]).value
    assert policy.counts.tolist() == [5] * 5


def test_a_policy_learns_what_both_have_chosen():
    problem = mb.Problem(mb.UniformMatroid(1, 2), labels=["a", "b"])
    seen = []

    class Watching(mb.Policy):
        def _select(self):
            return [0] if self.rounds % 2 == 0 else [1]

        def _observe(self, elements, rewards):
            seen.append((elements.tolist(), rewards.tolist()))

        def __deepcopy__(self, memo):
            return self

    # It would play a, b, a, b; the log has a, b, b, b.
    result = mb.evaluate_log(FOUR, Watching(problem))
    assert seen == [([0], [1.0]), ([1], [2.0]), ([1], [4.0])]
    assert result.value == pytest.approx((4 + 2 / 0.75 + 0 + 4 / 0.75) / 4)
    assert result.coverage == pytest.approx({"a": 2.0, "b": 4 / 3})


def test_rows_are_taken_in_the_order_of_their_times():
    problem = mb.Problem(mb.UniformMatroid(1, 2), labels=["a", "b"])
    shuffled = [2, 0, 3, 1]
    late = {name: [values[i] for i in shuffled] for name, values in FOUR.items()}
    late["time"] = shuffled
    policy = mb.CUCB(problem)
    assert mb.evaluate_log(late, policy) == mb.evaluate_log(FOUR, policy)


def test_a_policy_with_available_elements():
    problem = mb.Problem(mb.UniformMatroid(1, 2), labels=["a", "b"])
    policy = mb.FollowTheLeader(problem)
    policy.observe({"a": (9.0, 5), "b": (1.0, 5)})
    available = {2: ["b"], 3: ["b"], 4: ["b"]}
    result = mb.evaluate_log(FOUR, policy, available=available, learn=False)
    assert result.value == pytest.approx((4 + 2 / 0.75 + 3 / 0.75 + 4 / 0.75) / 4)
    with pytest.raises(ValueError, match="available has 9, which the log does not have"):
        mb.evaluate_log(FOUR, policy, available={9: ["b"]})
    with pytest.raises(ValueError, match="available= is for a policy"):
        mb.evaluate_log(FOUR, ["a"], available=available)


# ---- what is refused ----


def without(name):
    return {key: values for key, values in FOUR.items() if key != name}


@pytest.mark.parametrize(
    "log, policy, options, message",
    [
        (without("propensity"), ["a"], {}, "the log has no column 'propensity'"),
        (without("reward"), ["a"], {}, "no column 'reward'"),
        (FOUR | {"propensity": [1.0] * 4}, ["a"], {}, "all propensities are 1"),
        (FOUR | {"propensity": [0.5, None, 1, 1]}, ["a"], {}, "row 1 .* no propensity of 'b'"),
        (FOUR | {"propensity": np.array([0.5, np.nan, 1, 1])}, ["a"], {}, "no propensity of 'b'"),
        (FOUR | {"propensity": [0.5, 0.0, 1, 1]}, ["a"], {}, "row 1 .*0.0 is no probability"),
        (FOUR | {"propensity": [0.5, 1.5, 1, 1]}, ["a"], {}, "row 1 .*1.5 is no probability"),
        (FOUR | {"propensity": ["x"] * 4}, ["a"], {}, "is no number"),
        (FOUR | {"reward": [1, 2, 3, np.inf]}, ["a"], {}, "row 3 .* is not finite"),
        (FOUR | {"decision": [1, 1.5, 2, 3]}, ["a"], {}, "cannot be an id"),
        (FOUR | {"decision": [1, 2, 2, 3]}, ["a"], {}, "row 2 .*contradicts an earlier row"),
        ({k: v[:1] for k, v in FOUR.items()}, ["a"], {}, "at least 2 decisions are needed"),
        (FOUR, ["a", "z"], {}, "the log never shows 'z'"),
        (FOUR, {"a": 1.0, "z": 0.1}, {}, "the log never shows 'z'"),
        (FOUR, ["a", "a"], {}, "'a' is given twice"),
        (FOUR, [], {}, "nothing would be played"),
        (FOUR, {"a": 0}, {}, "nothing would be played"),
        (FOUR, {"a": 1.5}, {}, "the probability of 'a' must be from 0 to 1, got 1.5"),
        (FOUR, "ab", {}, "the set to evaluate must be a list"),
        (FOUR, ["a"], {"estimator": "dr"}, "estimator"),
        (FOUR, ["a"], {"clip": 0.5}, "clip"),
        (FOUR, ["a"], {"delta": 0}, "delta must be between 0 and 1"),
        (FOUR, ["a"], {"learn": "yes"}, "learn"),
        (FOUR, ["a"], {"missing_reward": "0"}, "missing_reward"),
    ],
)
def test_mistakes(log, policy, options, message):
    with pytest.raises(ValueError, match=message):
        mb.evaluate_log(log, policy, **options)


def test_other_mistakes():
    wide = mb.CUCB(mb.Problem(mb.UniformMatroid(1, 3), labels=["a", "b", "c"]))
    with pytest.raises(ValueError, match=r"never shows 'c'.*restrict"):
        mb.evaluate_log(FOUR, wide)
    narrow = mb.CUCB(mb.Problem(mb.UniformMatroid(1, 1), labels=["a"]))
    with pytest.raises(ValueError, match="unknown label 'b'"):
        mb.evaluate_log(FOUR, narrow)
    for wrong in (mb.CUCB, object()):
        with pytest.raises((TypeError, ValueError), match=r"evaluate_log needs|must be a list"):
            mb.evaluate_log(FOUR, wrong)
    with pytest.raises(TypeError, match="evaluate_log needs a data frame"):
        mb.evaluate_log([1, 2], ["a"])


def test_nothing_in_common():
    class Contrary(mb.Policy):
        def _select(self):
            return [1] if self.rounds == 0 else [0]

    problem = mb.Problem(mb.UniformMatroid(1, 2), labels=["a", "b"])
    with pytest.raises(ValueError, match="no decision of the log has an element"):
        mb.evaluate_log(FOUR, Contrary(problem))


def test_learn_log_ignores_propensities():
    problem = mb.Problem(mb.UniformMatroid(2, 5), labels=LABELS)
    log = log_of(mb.CTS(problem, seed=1), 20)
    plain, other = mb.CTS(problem), mb.CTS(problem)
    plain.learn_log({key: values for key, values in log.items() if key != "propensity"})
    other.learn_log(log)
    assert plain.means.tolist() == other.means.tolist()
    assert copy.copy(other).counts.tolist() == plain.counts.tolist()
