"""Indices: values, ranges, parameters, and indices of one's own."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.catalog import INDICES

from ..reference import indices as slow

every_index = pytest.mark.parametrize("cls", INDICES.values(), ids=lambda cls: cls.name)


# ---- values ----


def _pairs(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Means from 0 to 1, the ends and their neighborhoods included, and counts."""
    means = np.concatenate(
        [
            [0.0, 1.0, 0.5, 1e-300, 1e-17, 1e-9, 1 - 2.0**-53, 1 - 1e-9],
            rng.random(n),
            np.round(rng.random(n), 2),
            10.0 ** rng.uniform(-12, 0, n),
            1 - 10.0 ** rng.uniform(-12, 0, n),
        ]
    )
    return means, np.ceil(10 ** rng.uniform(0, 7, len(means))).astype(np.int64)


@pytest.mark.parametrize("c", [0.0, 3.0])
@pytest.mark.parametrize("time", [1, 2, 3, 1000, 10**9])
def test_kl_ucb_is_exact(c: float, time: int) -> None:
    means, counts = _pairs(np.random.default_rng(0), 150)
    exact = slow.KLUCB(c)
    expected = [
        exact.value(0, int(count), float(mean), time)
        for mean, count in zip(means, counts, strict=True)
    ]
    values = mb.KLUCB(c).values(means, counts, time)
    # The goal is 1e-10; rounding alone costs far less.
    assert np.abs(values - expected).max() < 1e-12
    assert (values >= means).all()
    assert (values <= 1).all()
    assert values[means == 1] == 1


def test_kl_ucb_keeps_shapes_and_refuses_other_means() -> None:
    assert mb.KLUCB().values([[0.1, 0.2]], [[3, 4]], 10).shape == (1, 2)
    assert mb.KLUCB().values([0.1, 0.2], 3, 10).shape == (2,)
    for mean in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="means must be from 0 to 1"):
            mb.KLUCB().values([0.5, mean], [1, 1], 10)


@pytest.mark.parametrize(
    "index, exact",
    [
        (mb.Mean(), slow.Mean()),
        (mb.UCB(), slow.UCB()),
        (mb.UCB(0.3, 1.5), slow.UCB(0.3, 1.5)),
    ],
    ids=["mean", "the paper's", "0.3, 1.5"],
)
def test_values_of_formulas(index: mb.Index, exact: slow.Index) -> None:
    means, counts = _pairs(np.random.default_rng(1), 20)
    for time in (1, 7, 10**6):
        expected = [
            exact.value(0, int(count), float(mean), time)
            for mean, count in zip(means, counts, strict=True)
        ]
        assert index.values(means, counts, time) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("index", [mb.UCBV(), mb.NormalUCB(), mb.BetaThompson()], ids=repr)
def test_what_means_and_counts_do_not_determine_is_said(index: mb.Index) -> None:
    with pytest.raises(NotImplementedError, match="depend on more than means and counts"):
        index.values(np.array([0.5]), np.array([1]), 1)


# ---- parameters ----


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: mb.UCB(-1), "noise must be a number from 0 to 1e\\+100, got -1"),
        (lambda: mb.UCB(float("nan")), "noise must be a number from 0"),
        (lambda: mb.UCB("much"), "noise must be a number from 0 to 1e\\+100, got 'much'"),
        (lambda: mb.UCB(True), "noise must be a number"),
        (lambda: mb.UCB(1, -2), "constant must be a number from 0"),
        (lambda: mb.KLUCB(-1), "c must be a number from 0"),
        (lambda: mb.GaussianThompson(-0.5), "noise must be a number from 0"),
    ],
)
def test_parameters_out_of_range(make: partial[mb.Index], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"index": "kll"}, "unknown index 'kll'; did you mean kl\\? allowed are"),
        ({"index": "klucb"}, "unknown index 'klucb'; did you mean kl\\? allowed are"),
        ({"index": "GaussianThomson"}, "did you mean gaussian\\?"),
        ({"index": 3}, "unknown index 3"),
        ({"index": "kl", "noise": 0.2}, "the index kl has no parameter 'noise'; allowed are c"),
        ({"index": "beta", "noise": 0.2}, "has no parameter 'noise'; it takes none"),
        ({"index": mb.UCB(), "noise": 0.2}, "noise=0.2 belongs into the index: UCB"),
        ({"index": {"type": "ucb", "loudness": 1}}, "no parameter 'loudness'; allowed are noise"),
        ({"index": {"noise": 1}}, "unknown index None"),
        ({"index": "kl(b=0)"}, "the index kl has no parameter 'b'; allowed are c"),
        ({"index": "kl(c=0"}, "'kl\\(c=0' cannot be read"),
        ({"noise": -1}, "noise must be a number from 0"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
def test_mistakes_with_an_index(cls: type[mb.OMM], arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cls(mb.UniformMatroid(1, 2), **arguments)


def test_an_index_class_is_refused_with_the_call_that_was_meant() -> None:
    with pytest.raises(TypeError, match=r"got the class KLUCB; pass KLUCB\(\)"):
        mb.MAUB(mb.UniformMatroid(1, 2), index=mb.KLUCB)


def test_indices_by_name_with_parameters_and_as_they_are() -> None:
    matroid = mb.UniformMatroid(1, 2)
    assert mb.OMM(matroid).index == mb.UCB(noise=1.0, constant=2.0)
    assert mb.MAUB(matroid, noise=0.2).index == mb.UCB(0.2)
    assert mb.MAUB(matroid, index="gaussian", noise=0.2).index == mb.GaussianThompson(0.2)
    assert mb.MAUB(matroid, index={"type": "kl", "c": 0}).index == mb.KLUCB(0)
    assert mb.MAUB(matroid, index="kl(c=0)").index == mb.KLUCB(0)
    assert mb.MAUB(matroid, index="ucb(noise=0.2, constant=1.5)").index == mb.UCB(0.2, 1.5)
    assert mb.OMM(matroid, index=mb.UCBV()).index == mb.UCBV()
    assert repr(mb.KLUCB()) == "KLUCB(c=3.0)"


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda m: mb.CTS(m, prior="betta"), "unknown prior 'betta'; did you mean beta"),
        (lambda m: mb.CTS(m, noise=0.1), 'noise is for prior="gaussian"'),
        (lambda m: mb.CTS(m, prior="gaussian", noise=-1), "noise must be a number from 0"),
        (lambda m: mb.KLOSM(m, c=-1), "c must be a number from 0"),
        (lambda m: mb.EpsilonGreedy(m, epsilon=1.5), "epsilon must be a number from 0 to 1"),
        (lambda m: mb.EpsilonGreedy(m, epsilon=-0.1), "epsilon must be a number from 0 to 1"),
        (lambda m: mb.EpsilonGreedy(m, seed=0.5), "seed must be an integer"),
        (lambda m: mb.RandomBasis(m, seed=-3), "seed must be at least 0, got -3"),
    ],
)
def test_mistakes_with_policies(make: partial[mb.Policy], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(mb.UniformMatroid(1, 2))


# ---- rewards out of range ----


@pytest.mark.parametrize("index", ["kl", "ucbv", "beta"])
@pytest.mark.parametrize("structure", [mb.OMM, mb.MAUB])
@pytest.mark.parametrize("reward", [-1e-9, 1 + 1e-9, 7.0])
def test_rewards_out_of_range_are_refused(
    structure: type[mb.OMM], index: str, reward: float
) -> None:
    policy = structure(mb.UniformMatroid(2, 4), index=index)
    before = policy.select()
    with pytest.raises(ValueError, match=r"the reward of element 1 is .* from 0 to 1"):
        policy.update([0, 1], [0.5, reward])
    assert policy.counts.sum() == 0
    assert policy.rounds == 0
    assert policy.select().tolist() == before.tolist()


@pytest.mark.parametrize("cls", [mb.KLOSM, mb.CTS])
def test_a_simulation_stops_at_a_reward_out_of_range(cls: type[mb.Policy]) -> None:
    class Wild(mb.Environment):
        def _sample(self, rng, element, count):
            return rng.normal(0.5, 5.0, count)

    policy = cls(mb.UniformMatroid(1, 3))
    with pytest.raises(ValueError, match="is for rewards from 0 to 1; rescale them"):
        mb.simulate(policy, Wild([0.5, 0.5, 0.5]), 1000)
    assert (policy.means[policy.counts > 0] <= 1).all()


def test_an_environment_that_cannot_fit_is_refused_at_once() -> None:
    policy = mb.KLOSM(mb.UniformMatroid(1, 3))
    message = "KLOSM is for rewards from 0 to 1, but GaussianEnvironment gives rewards from -inf"
    with pytest.raises(ValueError, match=message):
        mb.simulate(policy, mb.GaussianEnvironment([0.5, 0.6, 0.7]), 1)
    assert policy.rounds == 0
    assert mb.BernoulliEnvironment([0.5]).reward_range == (0, 1)
    assert mb.GaussianEnvironment([0.5, 0.2], std=0).reward_range == (0.2, 0.5)
    mb.simulate(policy, mb.GaussianEnvironment([0.5, 0.6, 0.7], std=0), 10)

    class Wider(mb.BernoulliEnvironment):
        def _sample(self, rng, element, count):
            return 2 * np.ones(count)

    assert Wider([0.5]).reward_range is None


@pytest.mark.parametrize("structure", [mb.OMM, mb.MAUB])
@pytest.mark.parametrize("size", [1e-300, 1e160, 1e300])
def test_rewards_of_any_size_end_in_a_basis(structure: type[mb.OMM], size: float) -> None:
    policy = structure(mb.GraphicMatroid.complete(4), index="normal")
    rng = np.random.default_rng(0)
    for _ in range(100):
        basis = policy.select()
        assert policy.matroid.is_independent(basis)
        policy.update(basis, size * rng.normal(size=3))


# ---- indices of one's own ----


class Hopeful(mb.Index):
    """A plain formula, in Python."""

    high = 2.0

    def values(self, means, counts, time):
        return means + np.sqrt(np.log(time) / counts)


@pytest.mark.parametrize("structure", [mb.OMM, mb.MAUB])
def test_an_index_in_python_equals_the_compiled_one(structure: type[mb.OMM]) -> None:
    class InPython(mb.UCB):
        def values(self, means, counts, time):
            return super().values(means, counts, time)

    environment = mb.GaussianEnvironment(np.linspace(0.2, 0.9, 10), 0.3)
    matroid = mb.GraphicMatroid.complete(5)
    # 0.3 and 1.7: widths that come out alike in NumPy and in C, but for the last bit.
    compiled = mb.simulate(structure(matroid, index=mb.UCB(0.3, 1.7)), environment, 3000)
    own = mb.simulate(structure(matroid, index=InPython(0.3, 1.7)), environment, 3000)
    assert own.regret.tolist() == compiled.regret.tolist()


def test_an_index_of_ones_own_is_watched() -> None:
    class Lost(mb.Index):
        def values(self, means, counts, time):
            return np.full(len(means), np.nan if time > 2 else 0.0)

    policy = mb.OMM(mb.UniformMatroid(1, 2), index=Lost())
    for _ in range(2):
        policy.update(policy.select(), [0.5])
    with pytest.raises(ValueError, match=r"Lost\.values returned NaN for element 0 at time 3"):
        policy.select()

    class Short(mb.Index):
        def values(self, means, counts, time):
            return means[:1]

    policy = mb.OMM(mb.UniformMatroid(1, 3), index=Short())
    policy.update([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(
        ValueError, match=r"Short\.values must return one .* of the 3 elements, got 1"
    ):
        policy.select()
    with pytest.raises(ValueError, match="from -inf to 2"):
        mb.OMM(mb.UniformMatroid(1, 2), index=Hopeful()).update([0], [3.0])


def test_an_index_of_ones_own_is_printed_with_its_parameters() -> None:
    class Scaled(mb.Index):
        def __init__(self, factor):
            self.factor = factor

    assert repr(Scaled(0.5)) == "Scaled(factor=0.5)"
    assert repr(mb.UCB(0.2)) == "UCB(noise=0.2, constant=2.0)"


def test_an_index_of_ones_own_passes_the_contract() -> None:
    for structure in (mb.OMM, mb.MAUB):
        mb.check_policy(partial(structure, index=Hopeful()), rounds=40)


@every_index
@pytest.mark.parametrize("structure", [mb.OMM, mb.MAUB])
def test_every_index_keeps_the_contract(structure: type[mb.OMM], cls: type[mb.Index]) -> None:
    mb.check_policy(partial(structure, index=cls()), seed=3)


@every_index
@pytest.mark.parametrize("structure", [mb.OMM, mb.MAUB])
def test_saved_in_mid_run(structure: type[mb.OMM], cls: type[mb.Index]) -> None:
    rewards = mb.BernoulliEnvironment(np.linspace(0.2, 0.8, 10)).rewards(seed=1)
    policy = structure(mb.GraphicMatroid.complete(5), index=cls(), seed=5)
    for t in range(200):
        if t in (0, 5, 100):
            others = [pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)]
        basis = policy.select()
        drawn = rewards.draw(basis)
        policy.update(basis, drawn)
        for other in others:
            assert other.select().tolist() == basis.tolist()
            other.update(basis, drawn)


# ---- chance ----


@pytest.mark.parametrize(
    "make",
    [
        mb.CTS,
        mb.RandomBasis,
        mb.EpsilonGreedy,
        partial(mb.MAUB, index="beta"),
        partial(mb.CTS, prior="gaussian"),
    ],
)
def test_seeds(make: partial[mb.Policy]) -> None:
    environment = mb.BernoulliEnvironment(np.linspace(0.2, 0.8, 10))

    def regret(seed: int) -> list[float]:
        policy = make(mb.GraphicMatroid.complete(5), seed=seed)
        return mb.simulate(policy, environment, 500).regret.tolist()

    assert regret(1) == regret(1)
    assert regret(1) != regret(2)


@pytest.mark.parametrize(
    "make", [mb.CTS, mb.RandomBasis, mb.EpsilonGreedy, partial(mb.MAUB, index="beta")]
)
def test_a_question_that_failed_costs_no_draw(make: partial[mb.Policy]) -> None:
    complete = mb.GraphicMatroid.complete(5)
    luck = np.random.default_rng(1)
    risk = [0.0]

    def is_independent(elements: frozenset[int]) -> bool:
        if luck.random() < risk[0]:
            raise OSError("no answer")
        return complete.is_independent(elements)

    policy = make(mb.OracleMatroid(10, is_independent), seed=3)
    twin = make(complete, seed=3)
    risk[0] = 0.1
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(200):
        basis = None
        while basis is None:
            try:
                basis = policy.select()
            except OSError:
                failures += 1
        assert basis.tolist() == twin.select().tolist()
        rewards = rng.integers(0, 2, len(basis)).astype(float)
        policy.update(basis, rewards)
        twin.update(basis, rewards)
    assert failures > 0
