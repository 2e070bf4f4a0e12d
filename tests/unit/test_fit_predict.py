"""`FitPredict`: a policy as programs written for MABWiser call it."""

import numpy as np
import pandas as pd
import pytest

import matroid_bandits as mb

LABELS = ["car", "tea", "book", "bike"]
ADS = mb.Problem(mb.UniformMatroid(2, 4), labels=LABELS)


def test_rows_become_the_rounds_of_a_loop():
    rng = np.random.default_rng(1)
    mab, policy = mb.FitPredict(mb.CTS(ADS, seed=3)), mb.CTS(ADS, seed=3)
    decisions, rewards = [], []
    for _ in range(60):
        slate = mab.predict()
        assert slate == policy.select() == mab.predict()
        seen = (rng.random(2) < 0.5).astype(float)
        assert mab.partial_fit(slate, seen) is mab
        policy.update(slate, seen)
        decisions += slate
        rewards += seen.tolist()
    assert mab.policy.rounds == 60
    # All rows at once, cut into slates.
    again = mb.FitPredict(mb.CTS(ADS, seed=3)).fit(np.array(decisions), np.array(rewards))
    assert again.policy.rounds == 60
    assert again.policy.means.tolist() == policy.means.tolist()
    series = mb.FitPredict(mb.CTS(ADS, seed=3))
    series.partial_fit(pd.Series(decisions), pd.Series(rewards))
    assert series.policy.means.tolist() == policy.means.tolist()


@pytest.mark.parametrize(
    "decisions, rounds, expected",
    [
        (["car", "tea", "book", "car"], None, 2),
        (["car", "car", "tea"], None, 2),
        (["car", "tea", "book"], [5, 5, 5], 1),
        (["car", "tea", "car"], ["a", "b", "b"], 2),
        ([], None, 0),
    ],
)
def test_rounds(decisions, rounds, expected):
    mab = mb.FitPredict(mb.MAUB(ADS))
    mab.partial_fit(decisions, [0.5] * len(decisions), rounds=rounds)
    assert mab.policy.rounds == expected


def test_fit_begins_anew_and_partial_fit_goes_on():
    mab = mb.FitPredict(mb.FollowTheLeader(ADS))
    mab.fit(LABELS, [0.1, 0.9, 0.2, 0.8])
    assert mab.predict() == ["tea", "bike"]
    assert mab.predict(available=["car", "tea", "book"]) == ["tea", "book"]
    assert mab.predict_expectations() == dict(zip(LABELS, [0.1, 0.9, 0.2, 0.8], strict=True))
    mab.partial_fit(["car"], [0.5])
    assert mab.predict_expectations()["car"] == pytest.approx(0.3)
    mab.fit(["car"], [0.7])
    expectations = mab.predict_expectations()
    assert expectations["car"] == 0.7
    assert np.isnan(expectations["tea"])
    assert repr(mab).startswith("FitPredict(FollowTheLeader(Problem(")


def test_costs_and_numbers():
    costs = mb.Problem(mb.UniformMatroid(2, 4), labels=LABELS, sense="min")
    mab = mb.FitPredict(mb.FollowTheLeader(costs)).fit(LABELS, [10, 90, 20, 80])
    assert mab.predict() == ["car", "book"]
    plain = mb.FitPredict(mb.FollowTheLeader(mb.UniformMatroid(1, 3))).fit([0, 1, 2], [1, 3, 2])
    assert plain.predict() == [1]
    assert plain.arms == [0, 1, 2]


def test_arms_come_and_go():
    mab = mb.FitPredict(mb.FollowTheLeader(ADS)).fit(LABELS, [0.1, 0.9, 0.2, 0.8])
    mab.add_arm("train")
    assert mab.arms == [*LABELS, "train"]
    # What was never observed comes first.
    assert "train" in mab.predict()
    mab.partial_fit(["train"], [0.85])
    mab.remove_arm("tea")
    assert mab.predict() == ["bike", "train"]
    with pytest.raises(ValueError, match="unknown label 'tea'"):
        mab.remove_arm("tea")
    trees = mb.FitPredict(mb.MAUB(mb.Problem(mb.GraphicMatroid([(0, 1)]), labels=["a"])))
    with pytest.raises(ValueError, match="what can be played together with 'b' is not known"):
        trees.add_arm("b")
    two = mb.Problem(mb.GraphicMatroid([(0, 1), (1, 0)]), labels=["a", "b"])
    with pytest.raises(ValueError, match="must have the 1 elements known and 'c'"):
        trees.add_arm("c", two)
    with pytest.raises(ValueError, match="must have the 1 elements known and 'a'"):
        trees.add_arm("a", trees.policy.problem)
    trees.add_arm("b", two)
    assert trees.arms == ["a", "b"]


@pytest.mark.parametrize(
    "arguments, options, message",
    [
        ((["car", "tea"], [1.0]), {}, "2 decisions, but 1 rewards"),
        ((["car", "tea"], [1.0, 2.0]), {"rounds": [1]}, "2 decisions, but 1 rounds"),
        ((["car", "bus"], [1.0, 1.0]), {}, "row 1 .* unknown label 'bus'"),
        ((["car", "tea"], [1.0, float("nan")]), {}, "row 1 .* not finite"),
        ((["car", "car"], [1.0, 2.0]), {"rounds": [1, 1]}, "contradicts row 0"),
        (("car", [1.0]), {}, "decisions must be a list"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_mistakes_change_nothing(method, arguments, options, message):
    mab = mb.FitPredict(mb.MAUB(ADS)).fit(["tea"], [0.25])
    policy = mab.policy
    with pytest.raises(ValueError, match=message):
        getattr(mab, method)(*arguments, **options)
    assert mab.policy is policy
    assert policy.counts.tolist() == [0, 1, 0, 0]


def test_it_needs_a_policy():
    for wrong in (mb.MAUB, ADS, "MAUB"):
        with pytest.raises(TypeError, match="FitPredict needs a Policy"):
            mb.FitPredict(wrong)
