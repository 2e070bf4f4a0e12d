"""Indices: values, ranges, parameters, and indices of one's own."""

import copy
import pickle
from functools import partial
from itertools import product

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.catalog import INDICES

from ..reference import indices as slow

# IMED compares an element with its partner, which OMM does not have.
every_pair = pytest.mark.parametrize(
    "structure, cls",
    [(mb.MAUB, cls) for cls in INDICES.values()]
    + [(mb.OMM, cls) for cls in INDICES.values() if cls is not mb.IMED],
    ids=lambda cls: cls.name,
)


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
        (mb.MOSS(), slow.MOSS()),
        (mb.MOSS(10**6, 0.2), slow.MOSS(10**6, 0.2)),
    ],
    ids=["mean", "the paper's", "0.3, 1.5", "anytime", "horizon"],
)
def test_values_of_formulas(index: mb.Index, exact: slow.Index) -> None:
    means, counts = _pairs(np.random.default_rng(1), 20)
    exact.n_choices = len(means)
    for time in (1, 7, 10**6):
        expected = [
            exact.value(0, int(count), float(mean), time)
            for mean, count in zip(means, counts, strict=True)
        ]
        assert index.values(means, counts, time) == pytest.approx(expected, rel=1e-14)


def test_moss_is_the_formula_of_the_paper_for_rewards_from_0_to_1() -> None:
    means, counts = np.array([0.5, 0.25, 0.75, 0.5]), np.array([1, 10, 100, 250])
    # [AB09]: sqrt(max(0, ln(T / (n N))) / N); the last element has its share of 1000 rounds.
    widths = [np.sqrt(np.log(250)), np.sqrt(np.log(25) / 10), np.sqrt(np.log(2.5) / 100), 0.0]
    values = mb.MOSS(horizon=1000).values(means, counts, 3)
    assert values == pytest.approx(means + widths, rel=1e-12)
    # [DP16]: t in place of T, and (1 + 1.35) / 2 before the logarithm.
    values = mb.MOSS().values(means, counts, 1000)
    assert values == pytest.approx(means + np.sqrt(1.175) * np.array(widths), rel=1e-12)


def test_moss_counts_the_elements_that_are_no_loops() -> None:
    with_loops = mb.PartitionMatroid([0, 0, 0, 1, 1], {0: 1, 1: 0})
    policies = [
        mb.OMM(matroid, index=mb.MOSS(100)) for matroid in (with_loops, mb.UniformMatroid(1, 3))
    ]
    for policy in policies:
        policy.update([0, 1, 2], [0.2, 0.5, 0.4])
        policy.select()
    lines = [
        {line.element: line.index for line in (*seen.selected, *seen.others)}
        for seen in (policy.explain() for policy in policies)
    ]
    assert lines[0] == lines[1]
    assert lines[0][1] == pytest.approx(0.5 + np.sqrt(np.log(100 / 3)))


def test_one_draw_is_shared_by_all_elements() -> None:
    policy = mb.OMM(mb.UniformMatroid(2, 4), index=mb.SharedGaussian(0.5), seed=7)
    for counts in (1, 2, 3):
        policy.update(range(4 - counts + 1), np.full(4 - counts + 1, 0.5))
    policy.select()
    seen = policy.explain()
    draws = {
        (line.index - line.mean) * np.sqrt((line.count + 1) / np.log(4)) / 0.5
        for line in (*seen.selected, *seen.others)
    }
    assert max(draws) - min(draws) < 1e-12
    assert min(draws) == pytest.approx(slow.policy_generator(7).standard_normal())


def test_a_negative_draw_prefers_what_is_known() -> None:
    matroid = mb.UniformMatroid(1, 2)
    played = set()
    for seed in range(20):
        policy = mb.OMM(matroid, index="shared-gaussian", seed=seed)
        for elements in ([0, 1], [0], [0]):
            policy.update(elements, [0.5] * len(elements))
        played.add((slow.policy_generator(seed).standard_normal() > 0, policy.select().item()))
    assert played == {(True, 1), (False, 0)}


@pytest.mark.parametrize(
    "index",
    [mb.UCBV(), mb.NormalUCB(), mb.BetaThompson(), mb.SharedGaussian(), mb.IMED()],
    ids=repr,
)
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
        (lambda: mb.SharedGaussian(-0.5), "noise must be a number from 0"),
        (lambda: mb.MOSS(noise=-0.5), "noise must be a number from 0"),
        (lambda: mb.MOSS(0), "horizon must be at least 1, got 0"),
        (lambda: mb.MOSS(1.5), "horizon must be an integer, got 1.5"),
        (lambda: mb.IMED(0), "noise must be a number from 1e-100 to 1e\\+100, got 0"),
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


@pytest.mark.parametrize("cls", [mb.OMM, mb.OSUB])
def test_imed_is_refused_where_there_are_no_partners(cls: type[mb.OMM]) -> None:
    message = rf"IMED compares an element with its partner, and {cls.__name__} has no partners; use"
    for index in ("imed", mb.IMED(0.2), {"type": "imed"}):
        with pytest.raises(ValueError, match=message):
            cls(mb.UniformMatroid(1, 3), index=index)


@pytest.mark.parametrize("exchanges", ["all", 1, 3])
def test_imed_makes_one_exchange(exchanges: str | int) -> None:
    matroid = mb.UniformMatroid(60, 120)
    message = f"IMED makes one exchange in a round: exchanges must be 'one', got {exchanges!r}"
    with pytest.raises(ValueError, match=message):
        mb.MAUB(matroid, index="imed", exchanges=exchanges)
    assert mb.MAUB(matroid, index="imed").exchanges == "one"
    assert mb.MAUB(matroid, index="moss").exchanges == 2
    assert mb.MAUB(matroid, index="shared-gaussian").exchanges == 2


def test_imed_takes_rewards_of_its_distributions() -> None:
    matroid = mb.UniformMatroid(1, 3)
    assert mb.MAUB(matroid, index="imed").reward_range == (0, 1)
    assert mb.MAUB(matroid, index="imed", noise=0.3).reward_range == (-np.inf, np.inf)
    assert (mb.IMED().high, mb.IMED(0.3).high) == (1, np.inf)
    assert mb.MAUB(matroid, index="imed", noise=0.3).index == mb.IMED(0.3)


def test_imed_has_no_value_to_explain() -> None:
    policy = mb.MAUB(mb.UniformMatroid(1, 3), index="imed")
    policy.update([0, 1, 2], [0.2, 0.5, 0.4])
    for _ in range(6):
        basis = policy.select()
        seen = policy.explain()
        assert all(np.isnan(line.index) for line in (*seen.selected, *seen.others))
        policy.update(basis, [0.5])
    assert "in place of" in seen.why or "The leader" in seen.why


def test_imed_of_one_arm_is_that_of_the_paper() -> None:
    """Rank 1 without the rounds in which MAUB plays the leader in any case."""
    policy = mb.MAUB(mb.UniformMatroid(1, 4), index="imed")
    rng = np.random.default_rng(2)
    means = np.array([0.3, 0.5, 0.6, 0.4])
    policy.update(range(4), rng.integers(0, 2, 4).astype(float))
    compared = 0
    for _ in range(3000):
        counts, found = policy.counts, policy.means
        best = int(found.argmax())
        cost = [
            slow.IMED().cost(int(n), float(m), float(found[best]))
            for n, m in zip(counts, found, strict=True)
        ]
        cost[best] = np.log(counts[best])
        played = int(policy.select().item())
        if policy.explain().why != "The leader: the set that looks best so far.":
            # [HT15]: the arm of the lowest index.
            assert cost[played] == min(cost)
            compared += 1
        policy.update([played], [float(rng.random() < means[played])])
    assert compared > 30


def test_indices_by_name_with_parameters_and_as_they_are() -> None:
    matroid = mb.UniformMatroid(1, 2)
    assert mb.OMM(matroid).index == mb.UCB(noise=1.0, constant=2.0)
    assert mb.MAUB(matroid, noise=0.2).index == mb.UCB(0.2)
    assert mb.MAUB(matroid, index="gaussian", noise=0.2).index == mb.GaussianThompson(0.2)
    assert mb.MAUB(matroid, index={"type": "kl", "c": 0}).index == mb.KLUCB(0)
    assert mb.MAUB(matroid, index="kl(c=0)").index == mb.KLUCB(0)
    assert mb.MAUB(matroid, index="ucb(noise=0.2, constant=1.5)").index == mb.UCB(0.2, 1.5)
    assert mb.OMM(matroid, index=mb.UCBV()).index == mb.UCBV()
    assert mb.MAUB(matroid, index="moss(horizon=500)", noise=0.2).index == mb.MOSS(500, 0.2)
    assert mb.OMM(matroid, index="shared-gaussian", noise=0.2).index == mb.SharedGaussian(0.2)
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


@pytest.mark.parametrize(
    "structure, index",
    [*product([mb.OMM, mb.MAUB], ["kl", "ucbv", "beta"]), (mb.MAUB, "imed")],
)
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


@pytest.mark.parametrize("cls", [mb.KLOSM, mb.CTS, partial(mb.OMM, index="kl")])
def test_the_advice_for_unbounded_rewards_can_be_taken(cls) -> None:
    matroid, environment = mb.UniformMatroid(1, 3), mb.GaussianEnvironment([0.1, 0.5, 0.9])
    advice = r'take a policy for rewards .*such as MAUB\(noise=...\) or CTS\(prior="gaussian"\)'
    with pytest.raises(ValueError, match=advice):
        mb.simulate(cls(matroid), environment, 100)
    with pytest.raises(ValueError, match=advice):
        cls(matroid).update([0], [1.5])
    for policy in (mb.MAUB(matroid, noise=1.0), mb.CTS(matroid, prior="gaussian")):
        assert mb.simulate(policy, environment, 100).total_regret >= 0


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


@pytest.mark.parametrize(
    "structure, index",
    [
        *product([mb.OMM, mb.MAUB], ["normal", "moss", mb.MOSS(50), "shared-gaussian"]),
        (mb.MAUB, mb.IMED(0.1)),
    ],
)
@pytest.mark.parametrize("size", [1e-300, 1e160, 1e300])
def test_rewards_of_any_size_end_in_a_basis(
    structure: type[mb.OMM], index: str | mb.Index, size: float
) -> None:
    policy = structure(mb.GraphicMatroid.complete(4), index=index)
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


@every_pair
def test_every_index_keeps_the_contract(structure: type[mb.OMM], cls: type[mb.Index]) -> None:
    mb.check_policy(partial(structure, index=cls()), seed=3)


@every_pair
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
        partial(mb.OMM, index="shared-gaussian"),
        partial(mb.MAUB, index="shared-gaussian"),
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
    "make",
    [
        mb.CTS,
        mb.RandomBasis,
        mb.EpsilonGreedy,
        partial(mb.MAUB, index="beta"),
        partial(mb.OMM, index="shared-gaussian"),
        partial(mb.MAUB, index="shared-gaussian"),
    ],
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
