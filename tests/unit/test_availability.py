"""Rounds in which not all elements are available: one answer per set, one effect per round."""

import contextlib
import copy
import pickle

import numpy as np
import pytest

import matroid_bandits as mb

from ..states import local_times

K4 = mb.GraphicMatroid.complete(4)
SETS = [[0, 1, 2, 3, 5], None, [0, 1, 3, 4, 5], [1, 2, 3, 4, 5]]
every_policy = pytest.mark.parametrize("name", sorted(mb.catalog.POLICIES))


def learned(name: str, rounds: int = 12) -> mb.Policy:
    policy = mb.catalog.POLICIES[name]._example(K4)
    rng = np.random.default_rng(3)
    for t in range(rounds):
        chosen = policy.select(available=SETS[t % 4])
        policy.update(chosen, rng.random(3))
    return policy


@every_policy
@pytest.mark.parametrize("last", range(4))
def test_only_the_set_selected_last_makes_a_difference(name: str, last: int) -> None:
    once, often = learned(name), learned(name)
    rng = np.random.default_rng(7)
    # A selection from all elements may move the leader of MAUB and the order of FasterCUCB, which
    # is not undone.
    choices = [s for s in SETS if s is not None or name not in {"MAUB", "FasterCUCB"}]
    for t in range(40):
        sets = [choices[k] for k in rng.permutation(len(choices))]
        final = choices[(last + t) % len(choices)]
        answers = [often.select(available=chosen).tolist() for chosen in sets]
        for _ in range(3):
            assert [often.select(available=chosen).tolist() for chosen in sets] == answers
        if rng.random() < 0.5:
            often.explain()
        played = once.select(available=final).tolist()
        assert often.select(available=final).tolist() == played
        assert str(often.explain()) == str(once.explain())
        rewards = rng.random(3)
        for policy in (once, often):
            policy.update(played, rewards)
        assert often.oracle_calls == once.oracle_calls
        assert often.greedy_calls == once.greedy_calls


class _Doubled(mb.Index):
    """An index in Python, whose values are kept as they were computed."""

    def values(self, means, counts, time):
        return 2 * np.asarray(means) + 1 / np.asarray(counts)


def test_an_explanation_has_the_values_of_its_own_set() -> None:
    def policy_after(selections: list) -> mb.Policy:
        policy = mb.MAUB(mb.UniformMatroid(2, 5), index=_Doubled(), exchanges="one")
        for _ in range(12):
            policy.update(policy.select(), [0.5, 0.25])
        for available in selections:
            policy.select(available=available)
        return policy

    for first in (None, [1, 2, 3]):
        explained = str(policy_after([first, [2, 3, 4]]).explain())
        assert explained == str(policy_after([[2, 3, 4]]).explain())


@pytest.mark.parametrize("name", ["MAUB", "OMM", "CTS", "ESCB"])
def test_late_feedback_leaves_the_explanation_of_what_was_selected(name: str) -> None:
    policy = learned(name)
    decision = policy.decide()
    policy.select()
    before = [line.index for line in policy.explain().selected]
    twin = copy.deepcopy(policy)
    for one in (policy, twin):
        one.learn(decision.id, dict.fromkeys(decision.elements.tolist(), 0.9))
        after = [line.index for line in one.explain().selected]
        assert after == pytest.approx(before, rel=0, abs=0, nan_ok=True)


def test_two_hundred_repetitions_give_one_answer_and_one_local_time() -> None:
    policy = mb.CTS(mb.UniformMatroid(3, 12))
    first, second = list(range(8)), list(range(4, 12))
    answers = {
        (tuple(policy.select(available=first)), tuple(policy.select(available=second)))
        for _ in range(200)
    }
    assert len(answers) == 1

    policy = mb.MAUB(mb.UniformMatroid(2, 4))
    rng = np.random.default_rng(0)
    for _ in range(30):
        for available in ([0, 1, 2], [1, 2, 3], None, [0, 1, 2]):
            chosen = policy.select(available=available)
        policy.update(chosen, rng.random(2))
    assert sum(local_times(policy).values()) <= 30


@every_policy
def test_copies_between_selections_go_on_alike(name: str) -> None:
    policy = learned(name)
    rng = np.random.default_rng(5)
    for t in range(24):
        for available in (SETS[t % 4], SETS[(t + 1) % 4]):
            policy.select(available=available)
        twins = [pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)]
        if t % 3 == 0:
            for one in (policy, *twins):
                one.select(available=SETS[t % 4])
        chosen = policy.select(available=SETS[(t + t // 4) % 4]).tolist()
        rewards = rng.random(3)
        for one in (policy, *twins):
            assert one.select(available=SETS[(t + t // 4) % 4]).tolist() == chosen
            one.update(chosen, rewards)
        expected = policy.select(available=SETS[t % 4]).tolist()
        assert [one.select(available=SETS[t % 4]).tolist() for one in twins] == [expected] * 2
        assert [one.oracle_calls for one in twins] == [policy.oracle_calls] * 2


def test_allow_smaller_is_asked_for_every_time() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 3))
    assert policy.select(available=[1], allow_smaller=True).tolist() == [1]
    with pytest.raises(mb.NoBasisError):
        policy.select(available=[1])
    assert policy.select(available=[1], allow_smaller=True).tolist() == [1]


@pytest.mark.parametrize("name", ["MAUB", "OMM", "CTS", "EpsilonGreedy", "RandomBasis"])
def test_a_selection_that_fails_changes_nothing(name: str) -> None:
    broken = []

    def ask(elements: frozenset[int]) -> bool:
        if broken and len(elements) == 2:
            raise OSError("no answer")
        return len(elements) <= 2

    policy = mb.catalog.POLICIES[name]._example(mb.OracleMatroid(5, ask))
    twin = mb.catalog.POLICIES[name]._example(mb.UniformMatroid(2, 5))
    rng = np.random.default_rng(0)
    for t in range(40):
        available = [0, 1, 2, 3] if t % 2 or name == "MAUB" else None
        if t % 3 == 0:
            broken.append(True)
            for other in (available, [1, 2, 3, 4]):
                # Where answers are cached, there may be no call that fails.
                with contextlib.suppress(OSError):
                    policy.select(available=other)
            broken.clear()
        chosen = policy.select(available=available).tolist()
        assert twin.select(available=available).tolist() == chosen, t
        rewards = rng.random(2)
        for one in (policy, twin):
            one.update(chosen, rewards)


def test_the_matroid_of_a_round_is_seen_by_its_rule_alone() -> None:
    seen = []

    class Rule(mb.Policy):
        def _select(self):
            seen.append(self.matroid)
            return self.greedy_basis(np.arange(6))

    policy = Rule(K4)
    for available in ([0, 1, 2, 3, 5], None):
        policy.select(available=available)
        assert policy.matroid is K4
        policy.update([0], [0.5])
    assert repr(seen[0]) == f"{K4!r} with 5 available elements"
    assert seen[0].loops.tolist() == [4]
    assert seen[1] is K4


NAMED = mb.Problem(mb.UniformMatroid(2, 4), list("abcd"))


@pytest.mark.parametrize(
    "make, available",
    [
        (lambda pd, pl, pa: pd.Series([True, True, False, False], list("dcba")), "cd"),
        (lambda pd, pl, pa: pd.Series([True, True, False, False]), "ab"),
        (lambda pd, pl, pa: pd.Series(["a", "d"]), "ad"),
        (lambda pd, pl, pa: pl.Series([True, False, False, True]), "ad"),
        (lambda pd, pl, pa: pa.array(["a", "c"]), "ac"),
        (lambda pd, pl, pa: pa.array([False, False, True, True]), "cd"),
        (lambda pd, pl, pa: [True, False, True, False], "ac"),
        (lambda pd, pl, pa: np.array([True, False, True, False], dtype=object), "ac"),
        (lambda pd, pl, pa: {"b", "c"}, "bc"),
        (lambda pd, pl, pa: (x for x in "ad"), "ad"),
    ],
)
def test_available_elements_in_many_forms(make, available: str) -> None:
    libraries = [pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow")]
    assert mb.OMM(NAMED).decide(make(*libraries)).available == list(available)


def test_numbers_in_many_forms() -> None:
    pd = pytest.importorskip("pandas")
    for given, available in [
        (np.array([1, 2], dtype=">i8"), [1, 2]),
        (np.array([3, 0], dtype=np.int8), [0, 3]),
        ([True, False, True, False], [0, 2]),
        (pd.Series([True, True, False, False], [3, 2, 1, 0]), [2, 3]),
    ]:
        decision = mb.OMM(mb.UniformMatroid(2, 4)).decide(given)
        assert decision.available.tolist() == available


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda pd, pl: "ab", "available must be a list .* got 'ab'; the id .* id="),
        (lambda pd, pl: {"a": True, "b": True}, "available must be a list"),
        (lambda pd, pl: pd.DataFrame({"a": [1]}), "available must be a list"),
        (lambda pd, pl: 3, "available must be a list"),
        (lambda pd, pl: np.ma.array([True] * 4, mask=[0, 0, 1, 1]), "a masked array"),
        (lambda pd, pl: [True, "a"], "truth values and other values.* got 'a' too"),
        (lambda pd, pl: [True, False], "one truth value per element: 4, got .*shape \\(2,\\)"),
        (lambda pd, pl: pl.Series([True, True, None, False]), "got None too"),
        (lambda pd, pl: pd.Series([True, True, None, True], dtype="boolean"), "missing values"),
        (lambda pd, pl: pd.Series([True] * 4, list("abcx")), "unknown label 'x'"),
        (lambda pd, pl: ["a", "e"], "unknown label 'e'"),
        (lambda pd, pl: ["a", "b", "a"], "'a' is given twice"),
    ],
)
def test_wrong_available_elements(make, message: str) -> None:
    libraries = [pytest.importorskip(name) for name in ("pandas", "polars")]
    policy = mb.OMM(NAMED)
    for call in (policy.decide, policy.select):
        with pytest.raises(ValueError, match=message):
            call(make(*libraries))
    assert policy.rounds == 0


def test_a_label_that_is_given_twice_is_found_quickly() -> None:
    """In time proportional to the number of labels: a quadratic search would take minutes."""
    labels = [f"item {k}" for k in range(300_000)]
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(1, len(labels)), labels))
    with pytest.raises(ValueError, match="'item 299998' is given twice"):
        policy.decide([*labels[:-1], labels[-2]])


@pytest.mark.parametrize("labels", [[0, 1, 2], [1, 0, 2], None])
def test_truth_values_are_a_mask_whatever_the_labels(labels) -> None:
    pd = pytest.importorskip("pandas")
    problem = mb.Problem(mb.UniformMatroid(1, 3), labels)
    expected = [(labels or [0, 1, 2])[0]]
    masks = [[True, False, False], np.array([True, False, False], dtype=object)]
    for mask in (*masks, pd.Series([True, False, False], labels, dtype=object)):
        assert list(mb.OMM(problem).decide(mask).available) == expected
    for mask in ([True, False], [True]):
        with pytest.raises(ValueError, match="needs one truth value per element: 3"):
            mb.OMM(problem).decide(mask)


def test_advice_is_the_same_after_loading(tmp_path) -> None:
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(3, 6), labels=list("abcdef")))
    policy.select(["e", "f"], allow_smaller=True)
    policy.save(tmp_path / "policy")
    for one in (policy, mb.load(tmp_path / "policy"), copy.deepcopy(policy)):
        with pytest.raises(mb.NoBasisError, match="for instance a;"):
            one.select(["e", "f"])
