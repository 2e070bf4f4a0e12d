"""Policies by a text: the same name however it is written, and one answer to every mistake."""

import re

import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits._spelling import spelled, taken_apart


class Choosy(mb.OMM):
    """Takes all kinds of parameters."""

    name = "Choo-sy"

    def __init__(self, matroid, noise=1.0, *, index="ucb", bold=False, size=3, seed=0) -> None:
        super().__init__(matroid)
        if not noise > 0:
            raise ValueError(f"noise must be positive, got {noise}")
        self.given = (noise, index, bold, size, seed)


@pytest.fixture(autouse=True)
def one_more(monkeypatch) -> None:
    monkeypatch.setitem(catalog.POLICIES, Choosy.name, Choosy)


@pytest.mark.parametrize(
    "text, name, given",
    [
        ("choo-sy", "Choo-sy", (1.0, "ucb", False, 3, 7)),
        ("Choosy()", "Choo-sy", (1.0, "ucb", False, 3, 7)),  # by the name of the class
        ("Choo-sy(noise=0.20)", "Choo-sy(noise=0.2)", (0.2, "ucb", False, 3, 7)),
        ("Choo-sy(noise=1e-3)", "Choo-sy(noise=0.001)", (0.001, "ucb", False, 3, 7)),
        ("Choo-sy(noise=.5)", "Choo-sy(noise=0.5)", (0.5, "ucb", False, 3, 7)),
        (
            " choo-sy ( index = kl , noise = 2 ) ",
            "Choo-sy(noise=2, index=kl)",
            (2, "kl", False, 3, 7),
        ),
        ("Choo-sy(bold=TRUE)", "Choo-sy(bold=true)", (1.0, "ucb", True, 3, 7)),
        ("Choo-sy(bold=false,)", "Choo-sy(bold=false)", (1.0, "ucb", False, 3, 7)),
        ("Choo-sy(index='kl')", "Choo-sy(index=kl)", (1.0, "kl", False, 3, 7)),
        ('Choo-sy(index="a, (b)")', 'Choo-sy(index="a, (b)")', (1.0, "a, (b)", False, 3, 7)),
        ("Choo-sy(index='\"')", "Choo-sy(index='\"')", (1.0, '"', False, 3, 7)),
        ("Choo-sy(index='true')", 'Choo-sy(index="true")', (1.0, "true", False, 3, 7)),
        ("Choo-sy(index=nan)", "Choo-sy(index=nan)", (1.0, "nan", False, 3, 7)),
        ("Choo-sy(index='3')", 'Choo-sy(index="3")', (1.0, "3", False, 3, 7)),
        ("Choo-sy(size=-1_000)", "Choo-sy(size=-1000)", (1.0, "ucb", False, -1000, 7)),
        ("Choo-sy(seed=4)", "Choo-sy(seed=4)", (1.0, "ucb", False, 3, 4)),
    ],
)
def test_policies_by_a_text(text: str, name: str, given: tuple) -> None:
    found = catalog.policy(text)
    assert found.name == name
    policy = found(mb.UniformMatroid(2, 4), seed=7)
    assert policy.given == given
    assert [type(value) for value in policy.given[1:]] == [type(value) for value in given[1:]]
    # The name is one of its own ways of being written.
    assert catalog.policy(name) == found


@pytest.mark.parametrize(
    "text, message",
    [
        ("Chosy", "unknown policy 'Chosy'; did you mean Choo-sy? allowed are "),
        ("MUAB(noise=1)", "unknown policy 'MUAB'; did you mean MAUB?"),
        ("Choo-sy(nose=1)", "Choo-sy has no parameter 'nose'; did you mean noise? allowed are noi"),
        ("Choo-sy(matroid=1)", "Choo-sy has no parameter 'matroid'"),
        ("Choo-sy(noise=-1)", "Choo-sy(noise=-1): noise must be positive, got -1"),
        ("Choo-sy(noise=loud)", "Choo-sy(noise=loud): "),
        ("Choo-sy(0.2)", "cannot be read at '0.2': parameters are named, with commas between them"),
        ("Choo-sy(noise 0.2)", "cannot be read at 'noise 0.2'"),
        ("Choo-sy(noise=)", "cannot be read at 'noise='"),
        ("Choo-sy(noise=1 index=kl)", "cannot be read at"),
        ("Choo-sy(noise=1,,index=kl)", "cannot be read at ',index=kl'"),
        ("Choo-sy(noise=1, noise=2)", "gives noise twice"),
        ("Choo-sy(noise=1", "'Choo-sy(noise=1' cannot be read: write it like MAUB(noise=0.2)"),
        ("Choo-sy noise=1)", "cannot be read: write it like"),
        ("Choo-sy(noise=(1))", "cannot be read: write it like"),
        ("(noise=1)", "cannot be read: write it like"),
        ("Choo-sy(index='kl)", "cannot be read"),
        ("", "unknown policy ''"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        catalog.policy(text)


def test_the_seed_is_for_those_that_take_one() -> None:
    assert catalog.takes_seed(Choosy)
    assert catalog.takes_seed(mb.MAUB)
    assert not catalog.takes_seed(mb.CUCB)
    assert not catalog.takes_seed(int)
    matroid = mb.UniformMatroid(1, 2)
    assert catalog.policy("Choosy")(matroid).given[-1] == 0  # its own default
    assert isinstance(catalog.policy("CUCB")(matroid, seed=5), mb.CUCB)


def test_texts_of_any_kind_come_back() -> None:
    for value in (1, -2.5, 1e300, True, False, "kl", "a b", "1e5", "", "x=y", "a,b", 'say "x"'):
        text = spelled("name", {"key": value})
        if value == "":
            assert text == 'name(key="")'
        assert taken_apart(text) == ("name", {"key": value})
