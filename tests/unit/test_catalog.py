"""Matroids and policies by a text: the same however it is written, one answer to every mistake."""

import re
from itertools import combinations
from math import comb

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits._call_text import call_text, parse_call


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
def test_policies_by_name(text: str, name: str, given: tuple) -> None:
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


WRONG = [None, 7, 2.5, b"MAUB", ["MAUB"], {"MAUB": 1}, mb.MAUB, mb.UniformMatroid(1, 2), object()]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "function, message",
    [
        (catalog.policy, "a policy must be given by its name, such as 'MAUB'"),
        (catalog.policy_class, "unknown policy "),
        (catalog.environment_class, "unknown environment "),
        (catalog.matroid, "a matroid must be given by its name, such as 'K20'"),
    ],
)
def test_names_of_a_wrong_type(function, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(value)


@pytest.mark.parametrize("value", [*WRONG, -1])
def test_other_arguments_of_a_wrong_type(value: object) -> None:
    assert catalog.takes_seed(value) in {True, False}
    assert isinstance(catalog.summary(value), str)
    if value != 7:
        with pytest.raises(ValueError, match="seed must be"):
            catalog.matroid("partition(5)", seed=value)


def test_only_policies_with_a_seed_receive_one() -> None:
    assert catalog.takes_seed(Choosy)
    assert catalog.takes_seed(mb.MAUB)
    assert not catalog.takes_seed(mb.CUCB)
    assert not catalog.takes_seed(int)
    matroid = mb.UniformMatroid(1, 2)
    assert catalog.policy("Choosy")(matroid).given[-1] == 0  # its own default
    assert isinstance(catalog.policy("CUCB")(matroid, seed=5), mb.CUCB)


def test_call_texts_round_trip() -> None:
    for value in (1, -2.5, 1e300, True, False, "kl", "a b", "1e5", "", "x=y", "a,b", 'say "x"'):
        text = call_text("name", {"key": value})
        if value == "":
            assert text == 'name(key="")'
        assert parse_call(text) == ("name", {"key": value})


def test_long_texts_are_refused_before_they_are_read() -> None:
    # A step for each parameter takes as long as the rest of the text.
    text = f"MAUB({','.join(f'p{i}=1' for i in range(200_000))})"
    with pytest.raises(ValueError, match=r"has 1,888,\d+ letters; a name with its parameters may"):
        parse_call(text)


# ---- matroids ----

# Elements, rank and bases. Those of the appendix of [OXL11] have as many bases as sets of `rank`
# elements, less those that its figures show on a line or in a plane.
FACTS = {
    "U(2,4)": (4, 2, 6),
    "U(15,30)": (30, 15, 155117520),
    "K20": (190, 19, 20**18),  # Cayley
    "K4": (6, 3, 16),
    "K(3,4)": (12, 6, 3**3 * 4**2),
    "K(3,3)": (9, 5, 81),
    "wheel(3)": (6, 3, 16),  # K4
    "wheel(5)": (10, 5, 121),  # L(10) - 2
    "prism(3)": (9, 5, 75),
    "prism(4)": (12, 7, 384),  # the cube
    "ladder(6)": (16, 11, 780),
    "grid(3,3)": (12, 8, 192),
    "grid(3,4)": (17, 11, 2415),
    "petersen": (15, 9, 2000),
    "PG(2,2)": (7, 3, comb(7, 3) - 7),
    "PG(3,2)": (15, 4, 15 * 14 * 12 * 8 // 24),  # a next point is outside the flat of the others
    "AG(2,2)": (4, 3, 4),
    "AG(3,2)": (8, 4, comb(8, 4) - 14),
    "projective_plane(3)": (13, 3, comb(13, 3) - 13 * comb(4, 3)),
    "projective_plane(5)": (31, 3, comb(31, 3) - 31 * comb(6, 3)),
    "affine_plane(3)": (9, 3, comb(9, 3) - 12),
    "fano": (7, 3, comb(7, 3) - 7),
    "nonfano": (7, 3, comb(7, 3) - 6),
    "pappus": (9, 3, comb(9, 3) - 9),
    "nonpappus": (9, 3, comb(9, 3) - 8),
    "desargues": (10, 3, comb(10, 3) - 10),
    "vamos": (8, 4, comb(8, 4) - 5),
    "whirl(2)": (4, 2, 6),  # U(2,4)
    "whirl(3)": (6, 3, 17),
    "whirl(5)": (10, 5, 122),  # that of the wheel, and the rim
    "R10": (10, 5, 162),
    "dual(fano)": (7, 4, 28),
    "truncate(K5,2)": (10, 2, 45),
    "K4+U(2,4)": (10, 5, 16 * 6),
}


@pytest.mark.parametrize("name", FACTS)
def test_published_numbers(name: str) -> None:
    matroid = catalog.matroid(name)
    assert (matroid.size, matroid.rank, matroid.n_bases()) == FACTS[name]


def test_every_named_matroid_has_facts() -> None:
    named = [matroid for group in catalog.NAMED.values() for matroid in group]
    assert {matroid.example for matroid in named} <= set(FACTS)
    for matroid in named:
        assert matroid.about.endswith(".")
        assert matroid.make.__name__ in catalog.__all__
        numbers = re.sub(r"[^\d,(]", "", matroid.example) if matroid.n_numbers else ""
        for word in matroid.spellings():
            same = catalog.matroid(f" {word.upper()} {numbers}{')' * numbers.count('(')} ")
            assert repr(same) == repr(catalog.matroid(matroid.example))


@pytest.mark.parametrize(
    "one, other",
    [
        ("K3,4", "k( 3, 4 )"),
        ("W5", "wheel(5)"),
        ("F7", "PG(2,2)"),
        ("non-Fano", "F7-"),
        ("Projective plane of order 3", "PG(2,3)"),
        ("truncate(K3,4,2)", "truncate(K(3,4), 2)"),
        ("dual(dual(K5))", "K5"),
        ("K4 + truncate(dual(K5) + U(1,2), 3)", "k4+TRUNCATE(DUAL(k5)+u1,2,3)"),
        ("dual(9)", "DUAL( 9 )"),  # a random one
    ],
)
def test_equivalent_names(one: str, other: str) -> None:
    assert repr(catalog.matroid(one)) == repr(catalog.matroid(other))
    assert catalog.matroid(one).n_bases() == catalog.matroid(other).n_bases()


@pytest.mark.parametrize("family", catalog.MATROIDS)
def test_random_instances_of_every_class(family: str) -> None:
    one, same = (catalog.matroid(f"{family}(9)", seed=3) for _ in range(2))
    assert type(one) is catalog.MATROIDS[family]
    assert one.size == 9
    assert one.bases().tolist() == same.bases().tolist()


@pytest.mark.parametrize(
    "name, message",
    [
        ("K", "unknown matroid 'K'; did you mean K20 or K(3,4)? allowed are U(15,30), K20, "),
        ("K(1,2,3)", "unknown matroid 'K(1,2,3)'; did you mean K20 or K(3,4)?"),
        ("whel(7)", "did you mean wheel(5)?"),
        ("Petersn", "unknown matroid 'Petersn'; did you mean petersen?"),
        ("PG(3)", "did you mean PG(3,2)?"),
        ("fano(3)", "unknown matroid 'fano(3)'; did you mean fano?"),
        ("partitoin(30)", "did you mean partition(30)?"),
        ("K5+", "unknown matroid 'K5+'; allowed are"),
        ("dual()", "unknown matroid 'dual()'; "),
        ("truncate(K5)", "unknown matroid 'truncate(K5)'; "),
        ("K4)+(K4", "unknown matroid 'K4)+(K4'; "),
        ("", "unknown matroid ''; allowed are"),
        ("wheel(2)", "n must be at least 3, got 2"),
        ("PG(2,4)", "PG(2,4): q must be a prime, got 4"),
        ("PG(0,2)", "n must be at least 1, got 0"),
        ("U(5,3)", "rank must be at most size = 3, got 5"),
        ("U(2," + "9" * 5000 + ")", "has a number of more than 100 digits"),
        ("dual(" * 5000 + "K5" + ")" * 5000, "has more than 100 brackets"),
        ("truncate(K5," + "9" * 5000 + ")", "has a number of more than 100 digits"),
        ("K" + "9" * 100_000, "has 100,001 letters, and a name may have 10,000"),
        ("+".join(["K3"] * 4000), "has 11,999 letters"),
        ("K\uff15", "a matroid must be given by a name in plain letters, digits and signs"),
        ("\u212a5", "in plain letters, digits and signs, got '\u212a5'"),
        ("K5\n", "in plain letters, digits and signs, got 'K5\\n'"),
        ("K1000000000", "K1000000000 has more than 2,000,000 elements, too many"),
        ("K(10000,10000)", "K(10000,10000) has more than 2,000,000 elements"),
        ("U(1,10000000000000000)", "has more than 2,000,000 elements"),
        ("wheel(999999999)", "more than 2,000,000"),
        ("prism(999999999)", "more than 2,000,000"),
        ("ladder(999999999)", "ladder(999999999) has more than 2,000,000"),
        ("grid(99999,99999)", "more than 2,000,000"),
        ("whirl(99999)", "more than 2,000,000 entries of its vectors"),
        ("AG(999999999,7)", "more than 2,000,000 entries of its vectors"),
        ("PG(2,1000000007)", "more than 2,000,000 entries of its vectors"),
        ("transversal(999999999)", "transversal(999999999) has more than 2,000,000 elements"),
    ],
)
def test_mistakes_in_the_names_of_matroids(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        catalog.matroid(name)


def test_lines_and_planes() -> None:
    # Any two points of a projective plane are on one line, any two lines meet in one point.
    plane = catalog.projective_plane(3)
    lines = {
        frozenset(e for e in range(13) if e in pair or not plane.is_independent([*pair, e]))
        for pair in combinations(range(13), 2)
    }
    assert len(lines) == 13
    assert all(len(one & other) == 1 for one, other in combinations(lines, 2))
    # Without the rim being independent a whirl is a wheel.
    for n in (3, 6):
        wheel, whirl = catalog.wheel(n).bases(), catalog.whirl(n).bases()
        rim = np.arange(n, 2 * n).tolist()
        assert whirl.tolist() == sorted([*wheel.tolist(), rim])
