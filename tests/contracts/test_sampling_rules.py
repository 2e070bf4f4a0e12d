"""Every sampling rule keeps the contract: it ends, with a basis, and is right."""

from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import identification
from matroid_bandits.identification import CSAR, LUCBExchange, SamplingRule, UniformSampling

from ..seeds import seeds

RULES = [
    cls
    for name in identification.__all__
    if isinstance(cls := getattr(identification, name), type)
    and issubclass(cls, SamplingRule)
    and cls is not SamplingRule
]
each_rule = pytest.mark.parametrize("cls", RULES, ids=lambda cls: cls.__name__)
each_model = pytest.mark.parametrize("model", ["basis", "element"])

GRAPH = mb.GraphicMatroid([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)])
WEIGHTS = [0.9, 0.1, 0.5, 0.7, 0.3, 0.2]


def made(cls: Any, problem: Any, **options: Any) -> SamplingRule:
    rule: SamplingRule = cls(problem, 400, **options) if cls is CSAR else cls(problem, **options)
    return rule


@each_rule
@each_model
def test_it_finds_the_best_basis(cls: type, model: str) -> None:
    environment = mb.GaussianEnvironment(WEIGHTS, std=0.05)
    for seed in seeds(3):
        found = mb.identify(made(cls, GRAPH, model=model), environment, seed=seed)
        assert found.basis.tolist() == [0, 2, 3]
        assert found.is_correct
        assert found.settled == cls.is_sure
        assert found.observations == found.counts.sum()
        assert found.observations == found.rounds * (3 if model == "basis" else 1)
        assert (found.counts >= 1).all()
        assert (np.diff(found.curve_rounds) > 0).all()


@each_rule
def test_costs_and_labels(cls: type) -> None:
    problem = mb.Problem(GRAPH, labels=[*"abcdef"], sense="min")
    environment = mb.BernoulliEnvironment([1 - mean for mean in WEIGHTS])
    found = mb.identify(made(cls, problem), environment, seed=1)
    assert found.basis == ["a", "c", "d"]
    assert found.means[0] == pytest.approx(0.1, abs=0.1)


@each_rule
def test_the_same_again(cls: type) -> None:
    environment = mb.GaussianEnvironment(WEIGHTS, std=0.2)
    rule = made(cls, GRAPH)
    one, other = (mb.identify(rule, environment, seed=5) for _ in range(2))
    assert one.rounds == other.rounds
    assert one.counts.tolist() == other.counts.tolist()
    assert one.statistic == other.statistic


@each_rule
def test_the_limit(cls: type) -> None:
    environment = mb.GaussianEnvironment([0.5] * 6, std=1.0)
    found = mb.identify(made(cls, GRAPH), environment, limit=50)
    assert found.rounds == 50
    assert not found.settled
    assert len(found.basis) == 3
    assert found.is_correct  # all bases are equally good


@each_rule
def test_a_single_basis(cls: type) -> None:
    environment = mb.GaussianEnvironment([0.5, 0.4])
    matroid = mb.GraphicMatroid([(0, 1), (1, 2)])
    found = mb.identify(made(cls, matroid), environment)
    assert found.rounds == 0
    assert found.basis.tolist() == [0, 1]


@each_rule
def test_loops_are_not_observed(cls: type) -> None:
    matroid = mb.GraphicMatroid([(0, 0), (0, 1), (0, 1), (1, 1)])
    found = mb.identify(made(cls, matroid), mb.GaussianEnvironment([9, 0.9, 0.1, 9], std=0.1))
    assert found.basis.tolist() == [1]
    assert found.counts[[0, 3]].tolist() == [0, 0]
    assert np.isnan(found.means[[0, 3]]).all()


@each_rule
def test_a_matroid_written_in_python(cls: type) -> None:
    oracle = mb.OracleMatroid(6, GRAPH.is_independent)
    environment = mb.GaussianEnvironment(WEIGHTS, std=0.2)
    one = mb.identify(made(cls, GRAPH), environment, seed=2)
    other = mb.identify(made(cls, oracle), environment, seed=2)
    assert one.rounds == other.rounds
    assert one.counts.tolist() == other.counts.tolist()


@each_rule
def test_what_it_shows(cls: type) -> None:
    shown = repr(made(cls, mb.UniformMatroid(2, 4), model="element"))
    assert shown.startswith(f"{cls.__name__}(UniformMatroid(rank=2, size=4)")
    assert shown.endswith("model='element')")
    assert cls.name  # type: ignore[attr-defined]
    assert cls.__doc__


def test_mistakes() -> None:
    environment = mb.GaussianEnvironment(WEIGHTS)
    rule = LUCBExchange(GRAPH)
    for options, message in (
        ({"delta": 0}, "delta must be between 0 and 1, such as 0.05, got 0"),
        ({"delta": 1.5}, "delta"),
        ({"limit": 0}, "limit"),
        ({"seed": -1}, "seed"),
        ({"eps": -0.1}, "eps"),
        ({"threshold": "prooven"}, "unknown threshold 'prooven'; did you mean proven"),
        ({"threshold": "own"}, "LUCBExchange does not stop by itself"),
        ({"noise": 0}, "noise must be above 0"),
        ({"family": "poisson"}, "unknown family 'poisson'"),
        ({"family": "bernoulli"}, "is for rewards from 0 to 1, but those of GaussianEnvironment"),
        ({"family": "bernoulli", "noise": 1.0}, "noise is for"),
    ):
        with pytest.raises(ValueError, match=message):
            mb.identify(rule, environment, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="rule must be a SamplingRule, such as LUCBExchange"):
        mb.identify(mb.MAUB(GRAPH), environment)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="environment must be an Environment"):
        mb.identify(rule, WEIGHTS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the environment has 2 elements, the matroid 6"):
        mb.identify(rule, mb.GaussianEnvironment([0.1, 0.2]))
    with pytest.raises(ValueError, match="unknown model 'bases'"):
        LUCBExchange(GRAPH, model="bases")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="budget"):
        CSAR(GRAPH, 5)
    with pytest.raises(ValueError, match=r"CSAR stops by itself; leave threshold='proven' out"):
        mb.identify(CSAR(GRAPH, 50), environment, threshold="proven")
    with pytest.raises(TypeError, match="UniformSampling"):
        UniformSampling([1, 2])  # type: ignore[arg-type]


def test_a_rule_of_ones_own_is_checked() -> None:
    class Wrong(SamplingRule):
        """Wants what is not there."""

        def _targets(self, known: identification.Knowledge) -> list[int]:
            return [9]

    class Loops(Wrong):
        """Wants a loop."""

        def _targets(self, known: identification.Knowledge) -> list[int]:
            return [0]

    with pytest.raises(ValueError, match="9"):
        mb.identify(Wrong(GRAPH), mb.GaussianEnvironment(WEIGHTS))
    loops = mb.GraphicMatroid([(0, 0), (0, 1), (0, 1)])
    with pytest.raises(ValueError, match=r"Loops\._targets returned 0, which is in no basis"):
        mb.identify(Loops(loops), mb.GaussianEnvironment([0.1, 0.2, 0.3]))


def test_eps_stops_earlier() -> None:
    environment = mb.GaussianEnvironment([0.5, 0.49, 0.1], std=0.2)
    rule = LUCBExchange(mb.UniformMatroid(1, 3))
    exact = mb.identify(rule, environment, limit=100_000)
    loose = mb.identify(rule, environment, eps=0.1, limit=100_000)
    assert loose.settled
    assert loose.is_correct
    assert loose.rounds < exact.rounds / 4
