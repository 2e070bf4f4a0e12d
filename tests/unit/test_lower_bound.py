"""Gaps and lower bounds: against enumeration, closed forms, and bad input."""

import math
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matroid_bandits as mb
from matroid_bandits import catalog

from ..strategies import Instance, instances

FAMILIES = sorted(catalog.MATROIDS)


# ---- gaps, from the definition ----


def bases_of(instance: Instance) -> list[set[int]]:
    """All bases, by the textbook test."""
    sets = [
        set(chosen)
        for size in range(instance.size + 1)
        for chosen in combinations(range(instance.size), size)
        if instance.is_independent(frozenset(chosen))
    ]
    rank = max(map(len, sets))
    return [chosen for chosen in sets if len(chosen) == rank]


def means_for(instance: Instance) -> st.SearchStrategy[list[float]]:
    # Few values, so that there are ties.
    value = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.integers(0, 10**6).map(
        lambda k: k / 10**6
    )
    return st.lists(value, min_size=instance.size, max_size=instance.size)


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_gaps_are_those_of_the_definition(family: str, data) -> None:
    instance = data.draw(instances(family))
    means = data.draw(means_for(instance))
    bases = bases_of(instance)
    found = mb.gaps(instance.matroid, means)
    best = set(found.basis.tolist())
    assert best in bases
    value = sum(means[e] for e in best)
    assert value == pytest.approx(max(sum(means[e] for e in basis) for basis in bases))
    in_a_basis = set().union(*bases)
    assert found.elements.tolist() == sorted(in_a_basis - best)
    for e, partner, gap in zip(found.elements, found.partners, found.gaps, strict=True):
        can_go = [x for x in best if (best - {x}) | {int(e)} in bases]
        assert partner == min(can_go, key=lambda x: (means[x], x))
        assert gap == means[partner] - means[e] >= 0
    # The same bound from the two lists.
    environment = mb.GaussianEnvironment(means, std=0.3)
    expected = sum(2 * 0.3**2 / gap for gap in found.gaps if gap > 0) * math.log(1000)
    assert mb.regret_lower_bound(instance.matroid, environment, 1000) == pytest.approx(expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_the_catalog_has_a_bound(family: str) -> None:
    if family == "oracle":
        matroid: mb.Matroid = mb.OracleMatroid(12, lambda chosen: len(chosen) <= 3)
    else:
        matroid = catalog.matroid(f"{family}(12)", seed=1)
    means = mb.random_means(12, seed=3)
    found = mb.gaps(matroid, means)
    assert len(found.basis) + len(found.elements) + len(matroid.loops) == 12
    for environment in (mb.GaussianEnvironment(means), mb.BernoulliEnvironment(means)):
        bound = mb.regret_lower_bound(matroid, environment, 10_000)
        assert bound > 0 if len(found.elements) else bound == 0


def test_partners_of_a_circuit_in_python() -> None:
    """`_fundamental_circuit` of a matroid written in Python is used."""

    class Two(mb.Matroid):
        n_calls = 0

        def __init__(self) -> None:
            super().__init__(size=5)

        def _is_independent(self, elements):
            return len(elements) <= 2

        def _fundamental_circuit(self, basis, element):
            type(self).n_calls += 1
            return basis | {element}

    found = mb.gaps(Two(), [1, 2, 3, 4, 5])
    assert found.partners.tolist() == [3, 3, 3]
    assert Two.n_calls == 3


def test_closed_forms_for_uniform_matroids() -> None:
    means = np.array([0.9, 0.2, 0.8, 0.6, 0.5])
    matroid = mb.UniformMatroid(2, 5)
    found = mb.gaps(matroid, means)
    assert found.basis.tolist() == [0, 2]
    assert found.elements.tolist() == [1, 3, 4]
    assert found.partners.tolist() == [2, 2, 2]  # the second best, for all
    assert found.gaps == pytest.approx([0.6, 0.2, 0.3])
    gaussian = mb.GaussianEnvironment(means, std=0.5)
    rate = 2 * 0.25 * (1 / 0.6 + 1 / 0.2 + 1 / 0.3)
    bound = mb.regret_lower_bound(matroid, gaussian, [1, 10, 1000])
    assert isinstance(bound, np.ndarray)
    assert bound == pytest.approx(rate * np.log([1, 10, 1000]))
    one = mb.regret_lower_bound(matroid, gaussian, 1000)
    assert isinstance(one, float)
    assert one == pytest.approx(bound[2])

    def kl(p: float, q: float) -> float:
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    rate = 0.6 / kl(0.2, 0.8) + 0.2 / kl(0.6, 0.8) + 0.3 / kl(0.5, 0.8)
    bernoulli = mb.BernoulliEnvironment(means)
    assert mb.regret_lower_bound(matroid, bernoulli, 50) == pytest.approx(rate * math.log(50))


def test_one_noise_for_every_element() -> None:
    """What counts is the noise of the element that must be tried, not that of its partner."""
    environment = mb.GaussianEnvironment([0.9, 0.5, 0.4], std=[7.0, 0.1, 0.2])
    expected = (2 * 0.01 / 0.4 + 2 * 0.04 / 0.5) * math.log(100)
    found = mb.regret_lower_bound(mb.UniformMatroid(1, 3), environment, 100)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    "environment",
    [
        mb.GaussianEnvironment([0.9, 0.5, 0.5], std=0.0),
        mb.GaussianEnvironment([0.5, 0.5, 0.5]),
        mb.BernoulliEnvironment([1.0, 0.5, 0.0]),  # one reward of 0 settles it
        mb.BernoulliEnvironment([0.0, 0.0, 0.0]),
        mb.BernoulliEnvironment([1.0, 1.0, 1.0]),
    ],
)
def test_what_costs_nothing(environment: mb.Environment) -> None:
    assert mb.regret_lower_bound(mb.UniformMatroid(1, 3), environment, 1000) == 0


def test_tiny_gaps_have_finite_bounds() -> None:
    for gap in (1e-3, 1e-6, 1e-9, 1e-12):
        means = [0.3, 0.3 - gap]
        bound = mb.regret_lower_bound(mb.UniformMatroid(1, 2), mb.BernoulliEnvironment(means), 100)
        # kl is the square of the gap over twice the variance, nearly.
        expected = 2 * 0.3 * 0.7 / gap * math.log(100)
        assert bound == pytest.approx(expected, rel=0.01)
    same = np.nextafter(0.3, 1)
    bound = mb.regret_lower_bound(mb.UniformMatroid(1, 2), mb.BernoulliEnvironment([0.3, same]), 9)
    assert math.isfinite(bound)


def test_no_choice_no_gap() -> None:
    for matroid in (mb.UniformMatroid(3, 3), mb.UniformMatroid(0, 3), mb.UniformMatroid(0, 0)):
        found = mb.gaps(matroid, [0.5] * matroid.size)
        assert found.elements.size == found.partners.size == found.gaps.size == 0
        assert "nothing to learn" in str(found)
        environment = mb.GaussianEnvironment([0.5] * matroid.size)
        assert mb.regret_lower_bound(matroid, environment, 10) == 0
    # Loops are no elements of any basis.
    found = mb.gaps(mb.GraphicMatroid([("a", "b"), ("c", "c"), ("a", "b")]), [0.1, 0.9, 0.3])
    assert found.basis.tolist() == [2]
    assert found.elements.tolist() == [0]


def test_large_matroids_are_quick() -> None:
    size = 200_000
    means = mb.random_means(size, seed=0)
    groups = np.arange(size) // 2
    found = mb.gaps(mb.PartitionMatroid(groups.tolist(), 1), means)
    pairs = means.reshape(-1, 2)
    assert np.array_equal(np.sort(found.gaps), np.sort(np.abs(pairs[:, 0] - pairs[:, 1])))


# ---- as a table ----


def test_gaps_print_as_a_table() -> None:
    assert str(mb.gaps(mb.UniformMatroid(2, 4), [0.9, 0.7, 0.1, 0.6])).splitlines() == [
        "best basis: 0, 1",
        "element  mean  partner  mean  gap",
        "      3   0.6        1   0.7  0.1",
        "      2   0.1        1   0.7  0.6",
    ]
    many = mb.gaps(mb.UniformMatroid(30, 200), mb.random_means(200, seed=1))
    lines = str(many).splitlines()
    assert len(lines) == 23
    assert lines[0].endswith("... (30 elements)")
    assert lines[-1] == "... and 150 more"
    shown = [float(line.split()[-1]) for line in lines[2:-1]]
    assert shown == sorted(shown)
    assert repr(many) == f"Gaps(170 elements outside the best basis, the smallest {shown[0]})"
    assert max(map(len, lines)) < 100


def test_gaps_do_not_change() -> None:
    means = np.array([0.1, 0.2, 0.3])
    found = mb.gaps(mb.UniformMatroid(1, 3), means)
    means[0] = 9.0
    assert found.means[0] == 0.1
    for array in (found.means, found.basis, found.elements, found.partners, found.gaps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert str(pickle.loads(pickle.dumps(found))) == str(found)


# ---- how hard means are to tell apart ----


def test_divergence() -> None:
    gaussian = mb.GaussianEnvironment([0.0, 1.0], std=[1.0, 0.5])
    assert gaussian.divergence([0, 1, 1], [2.0, 2.0, 1.0]) == pytest.approx([2.0, 2.0, 0.0])
    sure = mb.GaussianEnvironment([0.0, 1.0], std=0.0)
    assert sure.divergence([0, 1], [0.0, 0.5]).tolist() == [0.0, math.inf]
    bernoulli = mb.BernoulliEnvironment([0.0, 0.5, 1.0])
    found = bernoulli.divergence([0, 0, 1, 1, 2, 2, 1], [0.5, 0.0, 0.0, 1.0, 0.5, 0.0, 0.5])
    half = math.log(2)
    assert found.tolist() == pytest.approx([half, 0, math.inf, math.inf, half, math.inf, 0])
    assert bernoulli.divergence([], []).shape == (0,)


@pytest.mark.parametrize("cls", catalog.ENVIRONMENTS.values(), ids=lambda cls: cls.__name__)
def test_divergence_of_every_environment(cls: type[mb.Environment]) -> None:
    environment = cls.random(np.random.default_rng(0), 5)
    elements = np.arange(5)
    if isinstance(environment, mb.ChangingEnvironment):
        with pytest.raises(ValueError, match="a divergence is for means that stay as they are"):
            environment.divergence(elements, elements)
        return
    assert environment.divergence(elements, environment.means).tolist() == [0.0] * 5
    near = environment.divergence(elements, environment.means * 0.99)
    far = environment.divergence(elements, environment.means * 0.9)
    assert (near > 0).all()
    assert (far > near).all()


def test_an_environment_of_ones_own_joins_in() -> None:
    class Exponential(mb.Environment):
        def _sample(self, rng, element, count):
            return rng.exponential(self.means[element], count)

    matroid = mb.UniformMatroid(1, 2)
    message = r"Exponential has no divergence .*: define Exponential._divergence\(elements, means\)"
    with pytest.raises(NotImplementedError, match=message):
        mb.regret_lower_bound(matroid, Exponential([1.0, 2.0]), 100)

    class Known(Exponential):
        def _divergence(self, elements, means):
            ratio = self.means[elements] / means
            return ratio - 1 - np.log(ratio)

    bound = mb.regret_lower_bound(matroid, Known([1.0, 2.0]), 100)
    assert bound == pytest.approx(1 / (math.log(2) - 0.5) * math.log(100))


def test_a_subclass_with_other_rewards_must_say_so_itself() -> None:
    class Clipped(mb.GaussianEnvironment):
        def _sample(self, rng, element, count):
            return np.clip(super()._sample(rng, element, count), 0, 1)

    with pytest.raises(NotImplementedError, match="Clipped has no divergence"):
        mb.regret_lower_bound(mb.UniformMatroid(1, 2), Clipped([0.1, 0.2]), 100)

    class Renamed(mb.GaussianEnvironment):
        pass

    assert mb.regret_lower_bound(mb.UniformMatroid(1, 2), Renamed([0.1, 0.2]), 100) > 0


@pytest.mark.parametrize("answer", [[-1.0], [math.nan], [1.0, 2.0], 1.0])
def test_divergences_that_are_none(answer) -> None:
    class Odd(mb.BernoulliEnvironment):
        def _divergence(self, elements, means):
            return answer

    with pytest.raises(ValueError, match=r"Odd._divergence must return 1 numbers"):
        Odd([0.1, 0.2]).divergence([0], [0.2])


# ---- bad input ----


@pytest.mark.parametrize(
    "means, message",
    [
        ([0.1, 0.2], "one weight per element is needed: 3, got 2"),
        ([0.1, math.nan, 0.2], "the weight of element 1 is NaN"),
        ([0.1, 0.2, math.inf], "the mean of element 2 must be finite, got inf"),
        (["a", "b", "c"], "must be numbers"),
        (0.5, "must be a one-dimensional list"),
    ],
)
def test_bad_means(means, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.gaps(mb.UniformMatroid(1, 3), means)


@pytest.mark.parametrize(
    "rounds, message",
    [
        (0, "at least 1, got 0"),
        ([5, -1], "at least 1, got -1"),
        (2.5, "whole numbers, at least 1, got 2.5"),
        (math.nan, "whole numbers, at least 1, got nan"),
        (math.inf, "whole numbers, at least 1, got inf"),
        ("many", "must be whole numbers, got 'many'"),
        (True, "must be whole numbers, got True"),
    ],
)
def test_bad_rounds(rounds, message: str) -> None:
    environment = mb.GaussianEnvironment([0.1, 0.2])
    with pytest.raises(ValueError, match=message):
        mb.regret_lower_bound(mb.UniformMatroid(1, 2), environment, rounds)


def test_whole_rounds_of_other_types() -> None:
    matroid, environment = mb.UniformMatroid(1, 2), mb.BernoulliEnvironment([0.1, 0.2])
    expected = mb.regret_lower_bound(matroid, environment, [10, 1000]).tolist()
    for rounds in ([1e1, 1e3], np.array([10, 1e3], dtype=object)):
        assert mb.regret_lower_bound(matroid, environment, rounds).tolist() == expected


def test_what_is_no_matroid() -> None:
    allowed = [set(), {0}, {1}, {2}, {3}, {0, 1}, {2, 3}]
    odd = mb.OracleMatroid(4, lambda chosen: set(chosen) in allowed)
    with pytest.raises(mb.MatroidAxiomError, match=r"element 2 is no loop .* can replace none"):
        mb.gaps(odd, [0.9, 0.8, 0.2, 0.1])


def test_other_bad_input() -> None:
    matroid, environment = mb.UniformMatroid(1, 2), mb.GaussianEnvironment([0.1, 0.2])
    with pytest.raises(TypeError, match="gaps are those of a matroid, got 'K5'"):
        mb.gaps("K5", [0.1])
    with pytest.raises(TypeError, match="gaps are those of a matroid, got None"):
        mb.regret_lower_bound(None, environment, 5)
    with pytest.raises(TypeError, match="environment must be an Environment"):
        mb.regret_lower_bound(matroid, [0.1, 0.2], 5)
    with pytest.raises(ValueError, match="the environment has 2 elements, the matroid 3"):
        mb.regret_lower_bound(mb.UniformMatroid(1, 3), environment, 5)
    with pytest.raises(ValueError, match="element 2 is not in the ground set"):
        environment.divergence([2], [0.1])
    with pytest.raises(ValueError, match="2 elements, but 1 means"):
        environment.divergence([0, 1], [0.1])
    with pytest.raises(ValueError, match=r"no rewards of 0 and 1 have the mean 1.5"):
        mb.BernoulliEnvironment([0.1]).divergence([0], [1.5])
