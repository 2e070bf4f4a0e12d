"""Every matroid and every policy has HTML for notebooks, which changes nothing."""

import copy

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from ..seeds import seeds
from ..states import assert_same
from ..well_formed import shown

HOSTILE = "<script>alert('&\"')</script>\x00\ud800\N{RIGHT-TO-LEFT OVERRIDE}"

every_policy = pytest.mark.parametrize("cls", catalog.POLICIES.values(), ids=str)
families = pytest.mark.parametrize("family", catalog.MATROIDS)


def _hostile(matroid: mb.Matroid, *, sense: str = "max") -> mb.Problem:
    labels = [f"{HOSTILE}{e}{'x' * 500}" for e in range(matroid.size)]
    return mb.Problem(matroid, labels=labels, sense=sense)


@families
def test_matroids(family: str) -> None:
    cls = catalog.MATROIDS[family]
    for seed in seeds(5):
        for size in (0, 1, 9, 80):
            matroid = cls.random(np.random.default_rng(seed), size)
            text = shown(matroid)
            assert cls.__name__ in text
            assert f"elements {size}" in text
            assert "elements" in shown(_hostile(matroid, sense="min"))


@families
def test_rank_is_shown_once_it_is_known(family: str) -> None:
    matroid = catalog.MATROIDS[family].random(np.random.default_rng(3), 30)
    rank = matroid.rank
    assert f"rank {rank}" in shown(matroid)


@every_policy
@families
def test_policies(cls: type[mb.Policy], family: str) -> None:
    matroid = catalog.MATROIDS[family].random(np.random.default_rng(4), 8)
    policy = cls._example(_hostile(matroid))
    rewards = mb.BernoulliEnvironment(np.linspace(0.2, 0.8, matroid.size)).rewards(seed=1)
    for t in range(60):
        if t in {0, 1, 7, 40}:
            _assert_shows_without_change(policy)
        basis = policy.select()
        if t in {2, 41}:
            _assert_shows_without_change(policy)
        policy.update(basis, rewards.draw(policy.problem.elements(basis)))
    policy.decide()
    _assert_shows_without_change(policy)


def _assert_shows_without_change(policy: mb.Policy) -> None:
    """HTML twice, and the next rounds are those of a copy that was never shown."""
    other = copy.deepcopy(policy)
    before = copy.deepcopy(policy._kernel.state())
    text = shown(policy)
    assert shown(policy) == text
    assert type(policy).__name__ in text
    assert f"rounds {policy.rounds}" in text
    assert_same(before, policy._kernel.state())
    here, there = copy.deepcopy(policy), other
    for _ in range(3):
        basis = here.select()
        assert there.select() == basis
        zeros = np.zeros(len(basis))
        here.update(basis, zeros)
        there.update(basis, zeros)
    assert here.oracle_calls == there.oracle_calls


@every_policy
def test_policies_with_costs_and_numbers(cls: type[mb.Policy]) -> None:
    matroid = mb.GraphicMatroid.complete(4)
    policy = cls._example(mb.Problem(matroid, sense="min"))
    policy.update(policy.select(), [0.25, 0.5, 0.75])
    text = shown(policy)
    assert "smaller costs" in text
    assert "mean cost" in text
    # The smallest cost comes first.
    assert text.index(" 0.25 ") < text.index(" 0.5 ") < text.index(" 0.75 ")


@every_policy
def test_explanations(cls: type[mb.Policy]) -> None:
    policy = cls._example(_hostile(mb.UniformMatroid(3, 9)))
    assert "selected" in shown(policy.explain())
    mb.simulate(policy, mb.BernoulliEnvironment(np.linspace(0.1, 0.9, 9)), 50)
    assert "would replace" in shown(policy.explain())


def test_no_oracle_in_python_is_called() -> None:
    calls = []

    def is_independent(elements) -> bool:
        calls.append(elements)
        return len(elements) <= 2

    matroid = mb.OracleMatroid(5, is_independent)
    total = matroid + mb.UniformMatroid(1, 2)
    for thing in (matroid, mb.Problem(matroid), total, total.dual()):
        n_calls = len(calls)
        assert "elements" in shown(thing)
        assert len(calls) == n_calls
    policy = mb.MAUB(matroid)
    n_calls = len(calls)
    assert "MAUB" in shown(policy)
    assert len(calls) == n_calls


def test_millions_of_elements_are_not_looked_at() -> None:
    # Neither the rank nor the labels of all elements are needed.
    matroid = mb.GraphicMatroid([(i, i + 1) for i in range(100_000)])
    assert "rank" not in shown(matroid)
    assert matroid._known_rank_and_loops is None
    assert "rank 5 " in shown(mb.UniformMatroid(5, 2_000_000)) + " "
    problem = mb.Problem(matroid, labels=range(100_000))
    assert "99,988 more" in shown(problem)
    assert "99,990 more" in shown(mb.RandomBasis(problem))


def test_objects_that_fail_are_still_shown() -> None:
    class Bad:
        def __str__(self) -> str:
            raise RuntimeError("no text")

        __repr__ = __str__

    problem = mb.Problem(mb.UniformMatroid(1, 2), labels=[Bad(), Bad()])
    assert problem._repr_html_() == "<pre>&lt;Problem&gt;</pre>"

    class Unfinished(mb.Matroid):
        def __init__(self) -> None:
            """Not what a matroid does."""

        def _is_independent(self, elements) -> bool:
            return True

    assert Unfinished()._repr_html_() == "<pre>&lt;Unfinished&gt;</pre>"


def test_leader_is_bold_and_thick() -> None:
    policy = mb.MAUB(mb.Problem(mb.GraphicMatroid.complete(4), labels=list("abcdef")), noise=0.1)
    mb.simulate(policy, mb.GaussianEnvironment([0.9, 0.8, 0.7, 0.1, 0.1, 0.1], std=0.1), 100)
    html = policy._repr_html_()
    assert policy.leader == ["a", "b", "c"]
    assert html.count('stroke-width="3.5"') == 3
    assert html.count("font-weight:bold") == 3 * 3
    assert "a: mean" in html
