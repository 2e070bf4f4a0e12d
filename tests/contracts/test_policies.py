"""Every policy class keeps the contract."""

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits.checks.policies import exemptions_of

from ..seeds import seeds
from .playing import assert_copies_continue_alike, assert_every_playable_element_is_tried

every_policy = pytest.mark.parametrize("cls", catalog.POLICIES.values(), ids=str)
every_matroid = pytest.mark.parametrize("family", catalog.MATROIDS)


@every_policy
def test_contract(cls: type[mb.Policy]) -> None:
    for seed in seeds(3):
        mb.check_policy(cls, seed=seed)


@every_policy
@every_matroid
def test_every_playable_element_is_tried(cls: type[mb.Policy], family: str) -> None:
    matroid = catalog.MATROIDS[family].random(np.random.default_rng(2), 9)
    assert_every_playable_element_is_tried(cls._example(matroid))


@every_policy
@every_matroid
def test_copies_go_on_alike(cls: type[mb.Policy], family: str) -> None:
    matroid = catalog.MATROIDS[family].random(np.random.default_rng(4), 8)
    assert_copies_continue_alike(cls._example(matroid), rounds=300)


def test_exemptions_are_printed(capsys) -> None:
    mb.check_policy(mb.OSUB, rounds=3)
    printed = capsys.readouterr().out
    assert printed.startswith('OSUB is exempt from "relabeling": bases that were never played tie')
    mb.check_policy(mb.OMM, rounds=3)
    assert not capsys.readouterr().out


class TiesByIndex(mb.Policy):
    """Rounded means tie all the time."""

    def _select(self):
        seen = np.round(self.mean_rewards)
        return self.greedy_basis(np.where(self.counts == 0, np.inf, seen))


def test_a_policy_that_breaks_ties_by_index_declares_it() -> None:
    with pytest.raises(AssertionError, match=r"with other numbers .* declare _check_exemptions"):
        mb.check_policy(TiesByIndex)

    class Declared(TiesByIndex):
        _check_exemptions = {"relabeling": "ties are broken by index"}  # noqa: RUF012

    class Inherited(Declared):
        _check_exemptions = {"availability": "only for this test"}  # noqa: RUF012

    mb.check_policy(Declared)
    assert exemptions_of(Inherited) == {
        "relabeling": "ties are broken by index",
        "availability": "only for this test",
    }


def test_an_exemption_is_taken_back_by_a_subclass(capsys) -> None:
    class Declared(TiesByIndex):
        _check_exemptions = {"relabeling": "ties", "availability": "a test"}  # noqa: RUF012

    class TakenBack(Declared):
        _check_exemptions = {"relabeling": None}  # noqa: RUF012

    assert exemptions_of(TakenBack) == {"availability": "a test"}
    with pytest.raises(AssertionError, match="with other numbers"):
        mb.check_policy(TakenBack)
    assert "relabeling" not in capsys.readouterr().out


def test_exemptions_are_from_checks_that_exist_and_have_a_reason() -> None:
    class Misspelled(mb.OMM):
        _check_exemptions = {"relabelling": "ties"}  # noqa: RUF012

    with pytest.raises(ValueError, match=r"unknown check .*'relabelling'; did you mean relabeling"):
        mb.check_policy(Misspelled)

    class Silent(mb.OMM):
        _check_exemptions = {"relabeling": ""}  # noqa: RUF012

    with pytest.raises(ValueError, match="must give a reason for 'relabeling'"):
        mb.check_policy(Silent)


def test_feedback_that_counts_twice_is_found() -> None:
    class Doubling(mb.FollowTheLeader):
        def learn(self, decision, rewards, *, final=False) -> None:
            super().learn(decision, rewards, final=final)
            if hasattr(rewards, "items"):
                self.update(rewards)

    with pytest.raises(AssertionError, match=r"observed \d+ times|given twice changed|has round"):
        mb.check_policy(Doubling)


def test_rules_that_depend_on_how_they_are_asked_are_found() -> None:
    class Impatient(mb.Policy):
        """Something else while feedback is awaited."""

        def _select(self):
            order = np.arange(self.matroid.size, dtype=float)
            return self.greedy_basis(order if self.rounds > self.counts.max(initial=0) else -order)

    class Sly(Impatient):
        """Something else when it was asked by decide."""

        def decide(self, *args, **kwargs):
            self.sign = -1.0
            return super().decide(*args, **kwargs)

        def _select(self):
            return self.greedy_basis(
                getattr(self, "sign", 1.0) * np.arange(self.matroid.size, dtype=float)
            )

    exempt = {"_check_exemptions": {"relabeling": "goes by number"}}
    mb.check_policy(type("Impatient", (Impatient,), exempt))
    with pytest.raises(AssertionError, match=r"decide\(\) returned .* select\(\)"):
        mb.check_policy(type("Sly", (Sly,), exempt))
