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
    policy = mb.catalog.POLICIES[name](K4)
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

    policy = mb.catalog.POLICIES[name](mb.OracleMatroid(5, ask))
    twin = mb.catalog.POLICIES[name](mb.UniformMatroid(2, 5))
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
