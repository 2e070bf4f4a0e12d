"""Learning from logs: each decision is a round, as `update` makes it; all rows or none."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from ..seeds import seeds

NAMES = ["ab", "ac", "ad", "bc", "bd", "cd"]
K4 = mb.GraphicMatroid([tuple(name) for name in NAMES])
every_policy = pytest.mark.parametrize("name", sorted(catalog.POLICIES))
every_library = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])


def _random_log(rng: np.random.Generator, n_decisions: int) -> dict[str, list]:
    """Rows in no particular order; each decision has a few elements, some without feedback."""
    rows = [
        (f"d{d}", NAMES[e], None if rng.random() < 0.1 else float(rng.integers(0, 2)))
        for d in range(n_decisions)
        for e in rng.permutation(6)[: rng.integers(0, 5)]
    ]
    rows = [rows[i] for i in np.argsort(np.arange(len(rows)) + rng.normal(0, 5, len(rows)))]
    columns = zip(*rows, strict=True)
    return dict(zip(("decision", "element", "reward"), map(list, columns), strict=True))


def _by_hand(policy: mb.Policy, log: dict[str, list]) -> None:
    decisions: dict = {}
    for decision, element, reward in zip(*log.values(), strict=True):
        decisions.setdefault(decision, {})
        if reward is not None:
            decisions[decision][element] = reward
    for feedback in decisions.values():
        policy.update({name: feedback[name] for name in NAMES if name in feedback})


@every_policy
@pytest.mark.parametrize("sense", ["max", "min"])
def test_a_log_is_a_sequence_of_updates(name: str, sense: str) -> None:
    problem = mb.Problem(K4, NAMES, sense=sense)
    for seed in seeds(3):
        rng = np.random.default_rng(seed)
        features = mb.LinearFeatures(np.eye(6))
        named = catalog.policy(name)
        policy, twin = (named(problem, seed=seed, features=features) for _ in range(2))
        for _ in range(3):
            log = _random_log(rng, 60)
            policy.learn_log(log)
            _by_hand(twin, log)
            assert policy.rounds == twin.rounds
            assert policy.counts.tolist() == twin.counts.tolist()
            assert np.array_equal(policy.means, twin.means, equal_nan=True)
            for _ in range(20):
                shown = policy.select()
                assert shown == twin.select()
                rewards = rng.integers(0, 2, len(shown)).astype(float)
                policy.update(shown, rewards)
                twin.update(shown, rewards)


@every_library
def test_any_library(make) -> None:
    log = {
        "decision": [1, 1, 2],
        "element": ["ab", "cd", "ab"],
        "reward": [1.0, 0.0, None],
        "time": [2, 3, 1],
    }
    policy = mb.OMM(mb.Problem(K4, NAMES))
    policy.learn_log(make(log))
    assert policy.rounds == 2
    assert policy.counts.tolist() == [1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"element": ["ab", "xy"]}, "row 1 .*unknown label 'xy'"),
        ({"reward": [0.5, 1.5]}, "row 1 .*1.5 is outside the range of the policy"),
        ({"reward": [0.5, np.inf]}, "row 1 .*inf is not finite"),
        ({"decision": [1, 1], "element": ["ab", "ab"]}, "row 1 .*contradicts row 0"),
    ],
)
def test_nothing_is_learned_from_a_wrong_log(changed, message: str) -> None:
    policy = mb.MAUB(mb.Problem(K4, NAMES), index="kl")
    log = {"decision": [1, 2], "element": ["ab", "ac"], "reward": [0.5, 1.0], **changed}
    with pytest.raises(ValueError, match=message):
        policy.learn_log(log)
    assert policy.rounds == 0
    assert policy.counts.sum() == 0


def test_sums_that_overflow_are_refused_before_anything_is_learned() -> None:
    policy = mb.OMM(mb.Problem(K4, NAMES), noise=1e100)
    policy.update({"ab": 1e308})
    log = {"decision": [1, 2, 3], "element": ["ac", "ab", "ac"], "reward": [1.0, 1.7e308, 2.0]}
    with pytest.raises(ValueError, match=r"row 1 .*1\.7e\+308 is too large: .*mean.* overflow"):
        policy.learn_log(log)
    assert policy.rounds == 1
    assert policy.counts.sum() == 1


def test_warnings_do_not_stop_half_way() -> None:
    # Far from what the default noise allows.
    log = {"decision": [1, 2, 3], "element": ["ab"] * 3, "reward": [0.0, 1e6, 2.0]}
    policy = mb.MAUB(mb.Problem(K4, NAMES))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="assumes a noise of 1"):
            policy.learn_log(log)
    assert policy.counts[0] in {0, 3}


def test_a_policy_of_ones_own_hears_every_decision() -> None:
    heard = []

    class Listening(mb.Policy):
        """Notes what it hears."""

        def _select(self):
            return self.greedy_basis(np.zeros(6))

        def _observe(self, elements, rewards):
            heard.append(dict(zip(elements.tolist(), rewards.tolist(), strict=True)))

    policy = Listening(mb.Problem(K4, NAMES))
    policy.learn_log({"decision": [1, 2, 1], "element": ["cd", "ab", "ab"], "reward": [1, 0, 0.5]})
    assert heard == [{0: 0.5, 5: 1.0}, {0: 0.0}]
    assert policy.rounds == 2


# ---- open decisions ----


def test_rows_about_open_decisions_are_their_feedback() -> None:
    policy = mb.OMM(mb.Problem(K4, NAMES))
    first = policy.decide()
    second = policy.decide(id="mine")
    log = {
        "decision": ["x", "mine", "mine", "mine"],
        "element": ["cd", *second.elements],
        "reward": [1.0, 0.5, 0.25, 0.0],
    }
    policy.learn_log(log)
    assert policy.rounds == 3
    assert list(policy.open_decisions) == [first.id]
    assert policy.n_pending.sum() == 3
    assert policy.counts.sum() == 4


def test_integers_are_ids_of_rounds_too() -> None:
    policy = mb.OMM(mb.Problem(K4, NAMES))
    first = policy.decide()
    policy.learn_log({"decision": [first.id], "element": first.elements[:1], "reward": [1.0]})
    assert policy.rounds == 1
    assert policy.n_pending.sum() == 2


def test_feedback_that_is_known_already_changes_nothing() -> None:
    policy = mb.OMM(mb.Problem(K4, NAMES))
    shown = policy.decide(id="mine")
    policy.learn("mine", {shown.elements[0]: 0.5})
    log = {"decision": ["mine"] * 2, "element": shown.elements[:2], "reward": [0.5, 0.25]}
    policy.learn_log(log)
    assert policy.counts.sum() == 2
    policy.learn_log(log)
    assert policy.counts.sum() == 2
    assert policy.rounds == 1


@pytest.mark.parametrize(
    "rows, message",
    [
        (
            [("x", "ab", 1.0), ("mine", "outside", 1.0)],
            "row 1 .*'element': .*not .* decision 'mine'",
        ),
        ([("x", "ab", 1.0), ("mine", "known", 1.0)], "row 1 .*'reward': 1.0 .*'mine'.*0.5"),
    ],
)
def test_what_contradicts_an_open_decision(rows, message: str) -> None:
    policy = mb.OMM(mb.Problem(K4, NAMES))
    shown = policy.decide(id="mine")
    policy.learn("mine", {shown.elements[0]: 0.5})
    outside = next(name for name in NAMES if name not in shown.elements)
    meant = {"outside": outside, "known": shown.elements[0]}
    log = {
        "decision": [row[0] for row in rows],
        "element": [meant.get(row[1], row[1]) for row in rows],
        "reward": [row[2] for row in rows],
    }
    with pytest.raises(ValueError, match=message):
        policy.learn_log(log)
    assert policy.rounds == 1
    assert policy.counts.sum() == 1
    assert list(policy.open_decisions) == ["mine"]


def test_rows_about_decisions_that_were_closed_recently() -> None:
    """What was learned is not learned again; what is missing is no longer accepted."""
    policy = mb.OMM(mb.Problem(K4, NAMES))
    shown = policy.decide(id="mine")
    policy.learn("mine", {shown.elements[0]: 0.5}, final=True)
    known = {"decision": ["mine"], "element": shown.elements[:1], "reward": [0.5]}
    policy.learn_log(known)
    assert (policy.rounds, policy.counts.sum()) == (1, 1)
    for changed, message in (
        ({"reward": [0.25]}, "row 0 .*'reward': 0.25 contradicts the decision 'mine'"),
        ({"element": shown.elements[1:2]}, "row 0 .*'decision': 'mine' was closed"),
    ):
        with pytest.raises(ValueError, match=message):
            policy.learn_log(known | changed)


def test_rows_about_dropped_elements() -> None:
    """As `learn` takes them: in decisions that have them, and nothing is learned."""
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(3, 5), list("abcde")))
    policy.decide(id="mine")
    moved = policy.moved_to(mb.Problem(mb.UniformMatroid(2, 3), list("cde")))
    log = {"decision": ["mine"] * 2, "element": ["a", "c"], "reward": [1.0, 0.5]}
    moved.learn_log(log)
    moved.learn_log(log)
    assert dict(moved.statistics) == {"c": (0.5, 1)}
    moved.learn_log(log | {"element": ["b", "c"]})
    assert not moved.open_decisions
    for wrong, message in (
        ({"decision": ["other"] * 2}, "row 0 .*'a' was dropped by moved_to"),
        ({"element": ["a", "x"]}, "row 1 .*unknown label 'x'"),
        ({"reward": [0.0, 0.5]}, "row 0 .*'reward': 0.0 contradicts .*'a' had 1"),
    ):
        with pytest.raises(ValueError, match=message):
            moved.learn_log(log | wrong)


@pytest.mark.parametrize("identifier", [2.5, float("nan"), True, ("a", 1), None])
def test_ids_are_texts_or_integers(identifier: object) -> None:
    policy = mb.OMM(mb.Problem(K4, NAMES))
    log = {"decision": ["x", identifier], "element": ["ab", "ac"], "reward": [0.5, 0.5]}
    with pytest.raises(ValueError, match=r"row 1 .*'decision': (.*texts or integers|.*no value)"):
        policy.learn_log(log)
    assert policy.rounds == 0


@pytest.mark.parametrize("times", [[3.0, float("nan")], np.array(["2026-01-01", "NaT"], "M8[D]")])
def test_times_that_are_no_times(times: object) -> None:
    policy = mb.OMM(mb.Problem(K4, NAMES))
    log = {"decision": ["x", "y"], "element": ["ab", "ac"], "reward": [0.5, 0.5], "time": times}
    with pytest.raises(ValueError, match=r"row 1 .*'time': nan is no time"):
        policy.learn_log(log)
