"""Specifications of indices and policies: as plain data, and back."""

import json
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog


def through_json(spec: Any) -> Any:
    return json.loads(json.dumps(spec, allow_nan=False))


@pytest.mark.parametrize("cls", catalog.INDICES.values())
def test_indices_are_made_again(cls: type[mb.Index]) -> None:
    assert mb.index_from_spec(through_json(cls().to_spec())) == cls()


def test_parameters_of_indices() -> None:
    for index in (mb.UCB(noise=0.1, constant=1 / 3), mb.KLUCB(c=np.float64(0.1))):
        again = mb.index_from_spec(through_json(index.to_spec()))
        assert again == index
        assert hash(again) == hash(index)
    assert mb.index_from_spec("kl(c=0)") == mb.KLUCB(c=0)
    for spec, message in (
        ({"type": "kll"}, r"index.type: unknown index 'kll'; did you mean kl"),
        ({"type": "kl", "d": 2}, r"index.d: unknown key with the value 2; allowed are type, c"),
        ({"type": "kl", "c": "x"}, r"index: c must be a number"),
        ({"c": 3}, r"index: type is missing"),
        ({"type": "other:Kl"}, r"index.type: pass the class 'other:Kl', your own, in classes="),
        ({"type": 3}, r"index.type: must be a name, got 3"),
        ("kl(", r"index: 'kl\(' cannot be read"),
    ):
        with pytest.raises(ValueError, match=message):
            mb.index_from_spec(spec)


class Hopeful(mb.Index):
    """An index of one's own."""

    def __init__(self, boldness: float = 1.0) -> None:
        self.boldness = boldness

    def values(self, means: Any, counts: Any, time: int) -> Any:
        return means + self.boldness / counts


class Forgetful(Hopeful):
    """Does not keep its parameter."""

    def __init__(self, boldness: float = 1.0, extra: float = 0.0) -> None:
        super().__init__(boldness + extra)


class Cautious(mb.Policy):
    """A policy of one's own, with arguments of every kind."""

    name = "MAUB"  # as a class of the package

    def __init__(self, problem: Any, *weights: float, index: Any = None, **more: Any) -> None:
        super().__init__(problem)
        self.weights, self.index, self.more = weights, index, more

    def _select(self) -> Any:
        return self.greedy_basis(np.arange(self.matroid.size))


class Fixed(mb.Policy):
    """A policy that makes its own matroid."""

    def __init__(self, size: int) -> None:
        super().__init__(mb.UniformMatroid(1, size))

    def _select(self) -> Any:
        return [0]


@pytest.mark.parametrize("cls", catalog.POLICIES.values(), ids=lambda cls: cls.name)
def test_policies_are_made_again(cls: type[mb.Policy]) -> None:
    matroid = mb.UniformMatroid(2, 4)
    for made_for in (
        matroid,
        mb.Problem(matroid),
        mb.Problem(matroid, labels=list("abcd"), sense="min"),
        mb.Problem(matroid, labels=[(1, "a"), (2, ("b",)), 3, None]),
    ):
        policy = cls._example(made_for)
        again = mb.policy_from_spec(through_json(policy.to_spec()))
        assert type(again) is cls
        assert repr(again) == repr(policy)
        assert again.get_params() == policy.get_params()
        assert again.problem == policy.problem


def test_parameters_of_policies() -> None:
    matroid = mb.UniformMatroid(1, 3)
    for policy in (
        mb.MAUB(matroid, neighborhood="paper", index="kl", seed=3),
        mb.MAUB(matroid, index=mb.KLUCB(c=0.5)),
        mb.OMM(matroid, noise=0.1),
        mb.FasterCUCB(matroid, eps=1 / 3),
        mb.OSUB(matroid, ((0, 1), (1, 2))),
        mb.OSUB(mb.Problem(matroid, [("a", 1), 2, 3]), ((("a", 1), 2), (2, 3))),
    ):
        again = mb.policy_from_spec(through_json(policy.to_spec()))
        assert repr(again) == repr(policy)
        assert again.to_spec() == policy.to_spec()


def test_the_notation_of_studies() -> None:
    matroid = mb.UniformMatroid(1, 3)
    policy = mb.policy_from_spec({"type": "maub", "noise": 0.2, "index": "ucb"}, matroid)
    assert repr(policy) == "MAUB(UniformMatroid(rank=1, size=3), noise=0.2)"
    assert repr(mb.policy_from_spec("OMM(noise=0.5)", matroid)) == repr(mb.OMM(matroid, noise=0.5))
    problem = mb.Problem(matroid, list("abc"))
    assert mb.policy_from_spec("OMM", problem).problem is problem


def test_mistakes_in_policies() -> None:
    matroid = mb.UniformMatroid(1, 3)
    for spec, message in (
        (5, r"policy: must be a table such as .*, got 5"),
        ({"noise": 1}, r"policy: type is missing"),
        ({"type": "MUAB"}, r"policy.type: unknown policy 'MUAB'; did you mean MAUB"),
        ({"type": "MAUB", "nois": 1}, r"policy.nois: unknown key .* did you mean noise"),
        ({"type": "MAUB", "noise": "x"}, r"policy: noise must be a number"),
        ({"type": "MAUB", "index": {"type": "k"}}, r"policy.index.type: unknown index 'k'; did"),
        ({"type": "MAUB", "index": {"type": "kl", "d": 1}}, r"policy.index.d: unknown key"),
        ({"type": "MAUB", "problem": {}}, r"policy.problem: matroid is missing"),
        ({"type": "mine:Mine"}, r"policy.type: pass the class 'mine:Mine', your own, in classes="),
    ):
        with pytest.raises(ValueError, match=message):
            mb.policy_from_spec(spec, matroid)
    with pytest.raises(ValueError, match=r"policy: problem is missing; .*, or pass matroid="):
        mb.policy_from_spec("MAUB")


def test_classes_of_ones_own() -> None:
    matroid = mb.UniformMatroid(1, 3)
    policy = Cautious(matroid, 0.5, 0.25, index=Hopeful(2.0), color="red", sizes=(1, (2, 3)))
    spec = through_json(policy.to_spec())
    assert spec["type"] == f"{__name__}:Cautious"
    assert spec["index"] == {"type": f"{__name__}:Hopeful", "boldness": 2.0}
    with pytest.raises(ValueError, match=r"policy.type: pass the class '.*:Cautious', your own"):
        mb.policy_from_spec(spec)
    with pytest.raises(ValueError, match=r"policy.index.type: pass the class '.*:Hopeful', your"):
        mb.policy_from_spec(spec, classes=[Cautious])
    again = mb.policy_from_spec(spec, classes=[Cautious, Hopeful])
    assert repr(again) == repr(policy)
    # A program that is run calls its module __main__.
    spec["type"] = "__main__:Cautious"
    assert repr(mb.policy_from_spec(spec, classes=[Cautious, Hopeful])) == repr(policy)
    assert repr(mb.policy_from_spec(Fixed(3).to_spec(), classes=[Fixed])) == "Fixed(3)"


def test_mistakes_with_classes_of_ones_own() -> None:
    spec = mb.OMM(mb.UniformMatroid(1, 3), index=Hopeful()).to_spec()
    for classes, message in (
        (Hopeful, "classes must be a list of classes, got the class Hopeful"),
        ([mb.Matroid], "classes must be subclasses of Policy and of Index, got .*Matroid"),
        ([Cautious], "given are .*Cautious"),
    ):
        with pytest.raises(ValueError, match=message):
            mb.policy_from_spec(spec, classes=classes)  # type: ignore[arg-type]
    spec["index"]["type"] = f"{__name__}:Cautious"
    with pytest.raises(ValueError, match=r"policy.index.type: Cautious is not derived from Index"):
        mb.policy_from_spec(spec, classes=[Cautious])
    with pytest.raises(ValueError, match=r"Forgetful does not keep its parameter extra; store"):
        mb.OMM(mb.UniformMatroid(1, 3), index=Forgetful()).to_spec()
    with pytest.raises(ValueError, match=r"more of Cautious: <built-in .* cannot be written"):
        Cautious(mb.UniformMatroid(1, 3), more=len).to_spec()
    with pytest.raises(ValueError, match=r"type of Cautious: a parameter of this name cannot be"):
        Cautious(mb.UniformMatroid(1, 3), type=1).to_spec()
