"""Features: messages, contexts, moving, explanations, names."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits.service.errors import ServiceError
from matroid_bandits.service.problems import made_policy

from ..states import assert_same

ADS = mb.Problem(mb.UniformMatroid(1, 3), labels=["car", "tea", "book"])
PHI = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
FEATURES = mb.LinearFeatures(PHI, noise=0.1, names=["wheels", "warm"])
BOTH = (mb.CombLinUCB, mb.CombLinTS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs phi, a row of features for each element; or n_features"),
        ({"phi": [1.0, 2.0]}, r"shape \(2,\); a single feature is a column"),
        ({"phi": [[1.0], [np.nan]]}, "feature 0 in row 1 is nan"),
        ({"phi": [[1.0], [1e60]]}, r"feature 0 in row 1 is 1e\+60; .* at most 1e\+50"),
        ({"phi": [["a"]]}, "features must be an array"),
        ({"phi": PHI, "noise": 0}, "noise must be above 0"),
        ({"phi": PHI, "prior": -1}, "prior must be a number from 0"),
        ({"phi": PHI, "names": ["a"]}, "names must be 2 different texts"),
        ({"phi": PHI, "n_features": 3}, "phi has 2 features, got n_features=3"),
        ({"phi": PHI, "prior": 1e9, "noise": 1e-9}, "too far apart for double precision"),
        ({"phi": {}}, "must not be empty"),
    ],
)
def test_bad_features(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.LinearFeatures(**arguments)


@pytest.mark.parametrize("cls", BOTH)
def test_features_of_other_policies_and_problems_are_refused(cls: type) -> None:
    with pytest.raises(ValueError, match=r"features must be LinearFeatures\(phi"):
        cls(ADS, features=PHI)
    with pytest.raises(ValueError, match="phi has 2 rows, the problem 3 elements"):
        cls(ADS, features=mb.LinearFeatures(PHI[:2]))
    with pytest.raises(ValueError, match="phi has no features of 'book'"):
        cls(ADS, features=mb.LinearFeatures({"car": [1.0], "tea": [2.0]}))
    with pytest.raises(TypeError, match="features"):
        cls(ADS)
    with pytest.raises(ValueError, match="has no confidence: its statistic is for elements"):
        cls(ADS, features=FEATURES).confidence()
    environment = mb.GaussianEnvironment([0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="has no confidence"):
        mb.simulate(cls(ADS, features=FEATURES), environment, 10, confidence=0.05)
    for call in (mb.MAUB(ADS).select, mb.MAUB(ADS).decide):
        with pytest.raises(ValueError, match="MAUB uses no features"):
            call(features=PHI)
    with pytest.raises(ValueError, match="MAUB uses no features"):
        mb.MAUB(ADS).moved_to(ADS, features={"car": [1.0]})


def test_parameters() -> None:
    with pytest.raises(ValueError, match="c must be a number from 0"):
        mb.CombLinUCB(ADS, features=FEATURES, c=-1)
    policy = mb.CombLinUCB(ADS, features=FEATURES, c=0.5)
    assert policy.get_params() == {"matroid": ADS, "features": FEATURES, "c": 0.5}
    large = mb.LinearFeatures(np.ones((5_000, 20)), noise=0.2)
    assert repr(large) == "LinearFeatures(<5,000 x 20>, noise=0.2)"
    assert repr(mb.LinearFeatures(n_features=3)) == "LinearFeatures(n_features=3)"
    assert mb.policy_from_spec(policy.to_spec()).get_params()["features"] == FEATURES
    by_label = mb.LinearFeatures(dict(zip(["book", "car", "tea"], PHI, strict=True)))
    again = mb.policy_from_spec(mb.CombLinTS(ADS, features=by_label).to_spec())
    assert again.features == by_label
    with pytest.raises(ValueError, match=r"policy\.features\.rho: unknown key"):
        mb.policy_from_spec({"type": "CombLinUCB", "features": {"rho": 1}}, ADS)


def test_all_forms_of_features_are_the_same() -> None:
    frame = {"element": ["tea", "book", "car"], "wheels": [0.0, 1.0, 1.0], "warm": [1.0, 1.0, 0.0]}
    expected = np.array(PHI)
    for form in (PHI, dict(zip(["car", "tea", "book"], PHI, strict=True))):
        assert np.array_equal(mb.LinearFeatures(form).matrix_for(ADS), expected)
    for library in (pd.DataFrame, pl.DataFrame):
        given = mb.LinearFeatures(library(frame))
        assert given.names == ("wheels", "warm")
        assert np.array_equal(given.matrix_for(ADS), expected)
        # Columns by name, in another order.
        context = library(
            {"warm": frame["warm"], "wheels": frame["wheels"], "element": frame["element"]}
        )
        policy = mb.CombLinUCB(ADS, features=mb.LinearFeatures(n_features=2, names=given.names))
        policy.select(features=context)
        assert np.array_equal(policy._kernel.features, expected)
    with pytest.raises(ValueError, match="column 'kind' must have numbers"):
        mb.LinearFeatures(pd.DataFrame({"kind": ["a", "b", "c"]}))


def test_features_come_with_the_round() -> None:
    policy = mb.CombLinUCB(ADS, features=mb.LinearFeatures(n_features=2, noise=0.1), c=0.0)
    for call in (policy.select, policy.decide, policy.explain):
        with pytest.raises(ValueError, match="this policy has no fixed features"):
            call()
    with pytest.raises(ValueError, match="this policy has no fixed features"):
        policy.update({"car": 1.0})
    with pytest.raises(ValueError, match="this policy has no fixed features"):
        policy.observe({"car": (1.0, 3)})
    with pytest.raises(ValueError, match="must have 2 columns"):
        policy.select(features=[[1.0], [0.0], [0.0]])
    with pytest.raises(ValueError, match="row for each of the 3 elements, got 2"):
        policy.select(features=PHI[:2])
    with pytest.raises(ValueError, match="no vector for 'tea', which is available"):
        policy.select(available=["car", "tea"], features={"car": [1.0, 0.0]})
    assert policy.rounds == 0
    policy.select(available=["car"], features={"car": [1.0, 0.0]})
    policy.update({"car": 1.0})
    # Whatever is like the car in this round is what is played.
    assert policy.select(features=PHI) == ["car"]
    assert policy.select(features=[[0, 1], [1, 0], [0, 0]]) == ["tea"]
    assert policy.select() == ["tea"]
    assert policy.explain().selected[0].features[0][0] == "feature 0"
    # The round has the features of the last selection.
    policy.update({"tea": 1.0})
    assert policy.theta[0] > 0.99
    assert policy.theta[1] == 0


def test_a_refused_call_changes_nothing() -> None:
    policy = mb.CombLinTS(mb.UniformMatroid(2, 3), features=FEATURES, seed=4)
    policy.update([0], [0.3])
    selected = policy.select().tolist()
    twin = policy.fork(seed=4)
    state = policy._kernel.state()
    with pytest.raises(mb.NoBasisError):
        policy.select(available=[0], features=-np.array(PHI))
    with pytest.raises(mb.NoBasisError):
        policy.decide(available=[0], features=-np.array(PHI))
    assert policy._kernel.features is policy._kernel.fixed
    after = policy._kernel.state()
    assert after["stream"] == state["stream"]
    assert policy.select().tolist() == selected == twin.select().tolist()
    for one in (policy, twin):
        with pytest.raises(ValueError, match="too large for a policy with features"):
            one.update([0], [1e101])
        one.decide(id="a")
        with pytest.raises(ValueError, match="too large for a policy with features"):
            one.expire("a", reward=1e101)
        with pytest.raises(ValueError, match=r"row 1 .*1e\+101 is too large for this policy"):
            one.learn_log({"decision": [8, 9], "element": [0, 0], "reward": [0.5, 1e101]})
        assert one.counts.tolist() == [1, 0, 0]


def test_a_selection_that_becomes_a_decision_keeps_its_features() -> None:
    policy = mb.CombLinUCB(ADS, features=mb.LinearFeatures(n_features=2, noise=0.1))
    selected = policy.select(features=PHI)
    decision = policy.decide(features=[[0.0, 0.0]] * 3)
    assert policy.select() == selected
    assert policy.select(features=PHI) == selected
    policy.update({"car": 1.0})
    assert policy.theta[0] > 0.9
    before = policy.theta
    policy.learn(decision, [5.0])
    assert np.allclose(policy.theta, before)
    # Other features: the selection is replaced, and its decision closed.
    policy.select(features=PHI)
    policy.decide(features=PHI)
    policy.select(features=np.zeros((3, 2)))
    policy.update({"car": 9.0})
    assert np.allclose(policy.theta, before)
    assert len(policy._kernel.state()["decided_with"][0]) == len(policy.open_decisions) == 1


@pytest.mark.parametrize("fixed", [None, PHI])
def test_a_log_is_never_learned_with_the_features_of_a_round(fixed) -> None:
    features = mb.LinearFeatures(fixed, n_features=2, noise=0.1)
    policy = mb.CombLinUCB(ADS, features=features)
    log = {"decision": ["x", "y"], "element": ["car", "tea"], "reward": [0.5, 1.0]}
    own = policy.decide(id="own", features=PHI)

    def refuses(message: str) -> None:
        before = policy._kernel.state()
        with pytest.raises(ValueError, match=message):
            policy.learn_log(log)
        assert_same(before, policy._kernel.state())

    message = "this policy has no fixed ones" if fixed is None else "the round under way has"
    if fixed is None:
        refuses(message)
    policy.select(features=-np.array(PHI))
    policy.explain()
    refuses(message)
    # Now it is a decision, and its features wait with it.
    policy.decide(features=PHI)
    refuses(message)
    policy.update([], [])
    # What is learned has features of its own.
    policy.learn_log({"decision": ["own"], "element": own.elements, "reward": [1.0]})
    assert policy.counts.sum() == 1
    if fixed is None:
        refuses(message)
    else:
        twin = policy.fork(seed=0)
        policy.learn_log(log)
        twin.update(["car"], [0.5])
        twin.update(["tea"], [1.0])
        assert_same(policy.theta, twin.theta)
        # All rows are checked first.
        log["reward"][1] = 1e150
        refuses(r"row 1 .*'reward': 1e\+150 is too large for this policy")


@pytest.mark.parametrize("cls", [mb.CombLinUCB, mb.CombLinTS])
def test_an_explanation_for_features_begins_no_round(cls: type) -> None:
    policy = cls(ADS, features=mb.LinearFeatures(n_features=2, noise=0.1))
    policy.select(available=["car"], features={"car": [1.0, 0.0]})
    policy.update({"car": 1.0})
    other = [[0, 1], [1, 0], [0, 0]]
    before = policy._kernel.state()
    explained = policy.explain(features=other)
    assert [line.element for line in explained.selected] == ["tea"]
    assert_same(before, policy._kernel.state())
    # A round is under way, and stays as it is.
    selected = policy.select(features=PHI)
    before = policy._kernel.state()
    assert [line.element for line in policy.explain(features=other).selected] == ["tea"]
    assert_same(before, policy._kernel.state())
    assert policy.select() == selected
    with pytest.raises(ValueError, match="OMM uses no features"):
        mb.OMM(ADS).explain(features=PHI)


def test_moving() -> None:
    policy = mb.CombLinUCB(ADS, features=FEATURES)
    policy.update({"car": 1.0, "tea": 0.2})
    waiting = policy.decide()
    new = mb.Problem(mb.UniformMatroid(1, 3), labels=["tea", "bike", "car"])
    with pytest.raises(ValueError, match="'bike' is new and has no features"):
        policy.moved_to(new)
    with pytest.raises(ValueError, match="must have 2 columns"):
        policy.moved_to(new, features={"bike": [1.0]})
    with pytest.raises(ValueError, match="moved_to takes the features themselves"):
        policy.moved_to(new, features=FEATURES)
    moved = policy.moved_to(new, features={"bike": [0.9, 0.1], "car": [5.0, 5.0]})
    assert np.array_equal(moved.theta, policy.theta)
    assert moved.features.phi.tolist() == [[0.0, 1.0], [0.9, 0.1], [5.0, 5.0]]
    assert moved.features.names == ("wheels", "warm")
    # Late feedback is learned with the features that the decision had.
    feedback = dict.fromkeys(waiting.elements, 0.5)
    assert "book" not in feedback or moved.open_decisions
    moved.learn(waiting.id, feedback)
    policy.learn(waiting, feedback)
    if "book" not in feedback:
        assert np.allclose(moved.theta, policy.theta)
    moved_again = moved.moved_to(ADS, features={"book": [1.0, 1.0]})
    assert moved_again.features.phi[2].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("cls", BOTH)
def test_columns_of_new_items_have_the_names_of_the_features(cls: type) -> None:
    frame = pd.DataFrame({"element": ["a", "b"], "x": [1.0, 0.0], "y": [0.0, 1.0]})
    problem = mb.Problem(mb.UniformMatroid(1, 2), labels=["a", "b"])
    policy = cls(problem, features=mb.LinearFeatures(frame, noise=0.1, prior=100.0))
    more = mb.Problem(mb.UniformMatroid(1, 3), labels=["a", "b", "c"])
    moved = policy.moved_to(more, features=pd.DataFrame({"element": ["c"], "y": [5.0], "x": [7.0]}))
    assert moved.features.phi.tolist() == [[1.0, 0.0], [0.0, 1.0], [7.0, 5.0]]
    with pytest.raises(ValueError, match="the features are called"):
        policy.moved_to(more, features=pd.DataFrame({"element": ["c"], "z": [5.0], "x": [7.0]}))
    with pytest.raises(ValueError, match="must have 2 columns"):
        policy.moved_to(more, features={"c": [1.0]})
    with pytest.raises(ValueError, match="too far apart"):
        policy.moved_to(more, features={"c": [1.0, 1e8]})


def test_columns_of_a_round_need_names() -> None:
    frame = pd.DataFrame({"x": [1.0, 0.0, 0.5], "y": [0.0, 1.0, 0.5]}, index=ADS.labels)
    policy = mb.CombLinUCB(ADS, features=mb.LinearFeatures(n_features=2))
    with pytest.raises(ValueError, match=r"columns \['x', 'y'\], but the features have no names"):
        policy.decide(features=frame)
    assert policy.rounds == 0
    named = mb.CombLinUCB(ADS, features=mb.LinearFeatures(n_features=2, names=["x", "y"]))
    for columns in (["x", "y"], ["y", "x"]):
        made = named.decide(features=frame[columns])
        named.learn(made, [1.0])
    assert named.decide(features=frame[["y", "x"]]).elements == made.elements
    # Numbers of columns are no names.
    policy.decide(features=frame.to_numpy())
    policy.decide(features=frame.set_axis([0, 1], axis=1))


@pytest.mark.parametrize("cls", BOTH)
def test_available_elements_may_be_an_iterator(cls: type) -> None:
    policy = cls(ADS, features=FEATURES)
    assert policy.select((name for name in ["car", "tea"]), features=PHI)[0] in {"car", "tea"}


@pytest.mark.parametrize("delay", [0, 3])
def test_an_interruption_while_a_run_learns_is_not_lost(monkeypatch, delay: int) -> None:
    policy = mb.CombLinUCB(ADS, features=FEATURES)
    environment = mb.GaussianEnvironment([0.1, 0.2, 0.3])
    qr, calls = np.linalg.qr, []

    def interrupted(*args, **kwargs):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return qr(*args, **kwargs)

    monkeypatch.setattr(np.linalg, "qr", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mb.simulate(policy, environment, 100, delay=delay)
    # The round is not learned by half.
    assert policy.counts.sum() == 4
    monkeypatch.setattr(np.linalg, "qr", qr)
    huge = mb.GaussianEnvironment([1e100] * 3, std=1e100)
    with pytest.raises(ValueError, match="too large"):
        mb.simulate(policy.clone(), huge, 100, delay=delay)


def test_explanation_names_the_features() -> None:
    for sense in ("max", "min"):
        problem = mb.Problem(mb.UniformMatroid(1, 3), labels=ADS.labels, sense=sense)
        policy = mb.CombLinUCB(problem, features=FEATURES, c=0.1)
        policy.update({"car": 0.6, "tea": -0.3})
        explanation = policy.explain()
        line = explanation.selected[0]
        assert line.element == ("car" if sense == "max" else "tea")
        assert line.estimate == pytest.approx(policy.estimates[ADS.labels.index(line.element)])
        assert [name for name, _ in line.features] == ["wheels" if sense == "max" else "warm"]
        both = next(one for one in explanation.others if one.element == "book")
        assert [name for name, _ in both.features] == ["wheels", "warm"]
        assert sum(value for _, value in both.features) == pytest.approx(both.estimate)
        assert "wheels +0.594, warm -0.297" in str(explanation)
        assert explanation.confidence is None


def test_by_name() -> None:
    named = catalog.policy("comblinucb(c=0.3)")
    assert named.name == "CombLinUCB(c=0.3)"
    assert named(ADS, features=FEATURES).c == 0.3
    with pytest.raises(ValueError, match=r"CombLinUCB\(c=0.3\) needs features of the elements"):
        named(mb.UniformMatroid(1, 3))
    assert catalog.takes_features(mb.CombLinTS)
    assert not catalog.takes_features(mb.MAUB)


def test_linear_means() -> None:
    phi = mb.random_features(200, 5, seed=1, kind="sphere")
    assert np.allclose(np.linalg.norm(phi, axis=1), 1)
    theta = np.arange(5.0)
    means = mb.linear_means(phi, theta, off=0.25, off_by=0.5, seed=3)
    assert np.count_nonzero(means != phi @ theta) == 50
    with pytest.raises(ValueError, match="a column for each of the 5 coefficients"):
        mb.linear_means(phi[:, :3], theta)
    with pytest.raises(ValueError, match="off must be a number from 0 to 1"):
        mb.linear_means(phi, theta, off=2)


def test_no_regret_without_noise() -> None:
    """With two features, five rounds are enough to know the best of 50 items."""
    phi = mb.random_features(50, 2, seed=0, kind="sphere")
    environment = mb.GaussianEnvironment(mb.linear_means(phi, [0.7, -0.2]), std=0.0)
    policy = mb.CombLinUCB(mb.UniformMatroid(1, 50), features=mb.LinearFeatures(phi, noise=1e-4))
    result = mb.simulate(policy, environment, 30)
    assert result.total_regret == pytest.approx(np.interp(5, result.rounds, result.regret))


def test_the_service_refuses_them() -> None:
    for spec in ("CombLinUCB", {"type": "CombLinTS", "features": {"phi": PHI}}):
        with pytest.raises(ServiceError, match="learns from features, which this server does not"):
            made_policy(spec, ADS)


def test_propensities_while_decisions_with_features_are_open() -> None:
    rng = np.random.default_rng(0)
    policy = mb.CombLinTS(mb.UniformMatroid(2, 5), features=mb.LinearFeatures(n_features=3))
    first = policy.decide(features=rng.normal(size=(5, 3)))
    second = policy.decide(features=rng.normal(size=(5, 3)), propensities=20)
    assert ((second.propensities > 0) & (second.propensities <= 1)).all()
    policy.learn(first, [0.5, 0.5])


def test_elements_without_features_are_not_played() -> None:
    problem = mb.Problem(mb.UniformMatroid(2, 4), labels=list("abcd"))
    policy = mb.CombLinUCB(problem, features=mb.LinearFeatures(n_features=2))
    given = {"a": [1.0, 0.0], "c": [0.0, 1.0]}
    assert policy.select(["a", "c"], features=given) == ["a", "c"]
    assert policy.select(["a", "c"], features=given) == ["a", "c"]
    with pytest.raises(ValueError, match="features have no vector for 'b', which is available"):
        policy.select()
    policy.update({"a": -1.0, "c": -1.0})
    assert policy.theta == pytest.approx([-0.5, -0.5])
