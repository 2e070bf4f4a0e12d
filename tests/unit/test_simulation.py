"""Arguments and results of simulate, and the loop for other people's policies."""

import pickle
import signal
import threading
import tracemalloc

import numpy as np
import pytest

import matroid_bandits as mb

from ..reference.streams import means_generator

U24 = mb.UniformMatroid(2, 4)
ENVIRONMENT = mb.GaussianEnvironment([0.9, 0.8, 0.3, 0.2], 0.2)


def test_result() -> None:
    result = mb.simulate(mb.MAUB(U24), ENVIRONMENT, 1000, seed=1)
    assert result.rounds[0] == 1
    assert result.rounds[-1] == 1000
    assert np.all(np.diff(result.rounds) > 0)
    assert np.all(np.diff(result.regret) >= -1e-12)
    assert result.total_regret == result.regret[-1]
    assert result.seconds > 0
    assert set(result.counters) == {"oracle_calls", "greedy_calls", "neighborhood_updates"}


def test_the_default_grid_is_thin() -> None:
    for horizon in (1, 2, 10, 1000, 10**6, 10**9):
        grid = mb.default_checkpoints(horizon)
        assert grid[0] == 1
        assert grid[-1] == horizon
        assert len(grid) <= 200
        assert np.all(np.diff(grid) > 0)


def test_checkpoints() -> None:
    chosen = mb.simulate(mb.OMM(U24), ENVIRONMENT, 100, checkpoints=[3, 50])
    assert chosen.rounds.tolist() == [3, 50, 100]
    every = mb.simulate(mb.OMM(U24), ENVIRONMENT, 100, checkpoints=np.arange(1, 101))
    assert chosen.regret.tolist() == every.regret[[2, 49, 99]].tolist()
    assert mb.simulate(mb.OMM(U24), ENVIRONMENT, 5, checkpoints=[]).rounds.tolist() == [5]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"horizon": 0}, "horizon must be at least 1, got 0"),
        ({"horizon": 1.5}, "horizon must be an integer, got 1.5"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": "x"}, "seed must be an integer"),
        ({"checkpoints": [0, 5]}, "checkpoints must be from 1 to the horizon 10, got 0"),
        ({"checkpoints": [11]}, "checkpoints must be from 1 to the horizon 10, got 11"),
        ({"checkpoints": [5, 3]}, r"checkpoints must ascend, got \[5, 3\]"),
        ({"checkpoints": 5}, "checkpoints must be a list, got 5"),
        ({"checkpoints": [2**70]}, "checkpoints must be from 1 to the horizon 10"),
        ({"horizon": 10**20}, "horizon must be at most 9007199254740992"),
        ({"checkpoints": [2.5]}, "a checkpoint must be an integer"),
        (
            {"environment": mb.BernoulliEnvironment([0.5])},
            "the environment has 1 elements, the matroid 4",
        ),
        ({"matroid": mb.UniformMatroid(1, 4)}, "the policy has a matroid of its own"),
    ],
)
def test_bad_arguments(change: dict, message: str) -> None:
    policy = mb.MAUB(U24)
    arguments = {"policy": policy, "environment": ENVIRONMENT, "horizon": 10} | change
    with pytest.raises(ValueError, match=message):
        mb.simulate(**arguments)
    assert policy.rounds == 0


def test_bad_types() -> None:
    with pytest.raises(TypeError, match="an object with select and update, got"):
        mb.simulate(mb.MAUB, ENVIRONMENT, 10)
    with pytest.raises(TypeError, match="environment must be an Environment"):
        mb.simulate(mb.MAUB(U24), [0.5] * 4, 10)


def test_a_used_policy_is_refused() -> None:
    policy = mb.MAUB(U24)
    mb.simulate(policy, ENVIRONMENT, 10)
    with pytest.raises(ValueError, match="has already learned from 10 rounds"):
        mb.simulate(policy, ENVIRONMENT, 10)


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("name", sorted(mb.catalog.POLICIES))
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_confidence_at_the_horizon(kind: str, name: str, sense: str) -> None:
    means = [0.9, 0.8, 0.3, 0.2]
    environment = (
        mb.GaussianEnvironment(means, [0.1, 0.2, 0.3, 0.2])
        if kind == "gaussian"
        else mb.BernoulliEnvironment(means)
    )
    policy = mb.catalog.POLICIES[name]._example(mb.Problem(U24, labels=list("abcd"), sense=sense))
    if policy._confidence_refusal:
        with pytest.raises(ValueError, match=f"{name} has no confidence"):
            mb.simulate(policy, mb.GaussianEnvironment([0.1] * 4), 10, confidence=0.05)
        return
    is_bounded = np.isfinite(policy.reward_range).all()
    if is_bounded and kind == "gaussian":
        return
    plain = mb.simulate(policy.clone(), environment, 200)
    assert plain.confidence is None
    result = mb.simulate(policy, environment, 200, confidence=0.1)
    assert result.regret.tolist() == plain.regret.tolist()
    assert result.counters == plain.counters
    found = result.confidence
    assert found.delta == 0.1
    if kind == "gaussian":
        assert (found.family, found.noise) == ("gaussian", 0.3)
        assert str(found) == str(policy.confidence(0.1, noise=0.3))
    else:
        assert str(found) == str(policy.confidence(0.1, family="bernoulli"))


def test_confidence_where_the_environment_does_not_tell() -> None:
    class Own(mb.GaussianEnvironment):
        def _sample(self, rng, element, count):
            return self.means[element] + rng.uniform(-1, 1, count)

    environment = Own([0.9, 0.8, 0.3, 0.2], 0.2)
    assert mb.simulate(mb.OMM(U24, noise=2), environment, 9, confidence=0.1).confidence.noise == 2
    with pytest.raises(ValueError, match=r"Own does not tell, and FollowTheLeader assumes nothing"):
        mb.simulate(mb.FollowTheLeader(U24), environment, 9, confidence=0.1)


def test_confidence_of_policies_in_python_and_late_feedback() -> None:
    class Least(mb.Policy):
        def _select(self):
            return self.greedy_basis(-self.counts.astype(float))

    for delay in (None, 3):
        result = mb.simulate(Least(U24), ENVIRONMENT, 400, delay=delay, confidence=0.05)
        assert result.confidence.settled
        assert result.confidence.basis.tolist() == [0, 1]


@pytest.mark.parametrize(
    "confidence, message",
    [
        (0, "confidence must be between 0 and 1, the probability of a wrong answer, such as 0.05"),
        (1.0, r"such as 0.05, got 1\.0"),
        (0.95, "the probability of a wrong answer and must be below 0.5, got 0.95; .*, pass 0.05"),
        (95, "confidence must be a number from 0 to 1, got 95"),
        ("5 %", "confidence must be a number from 0 to 1, got '5 %'"),
        (True, "confidence must be a number from 0 to 1, got True"),
    ],
)
def test_bad_confidence(confidence, message: str) -> None:
    policy = mb.OMM(U24)
    with pytest.raises(ValueError, match=message):
        mb.simulate(policy, ENVIRONMENT, 10, confidence=confidence)
    assert policy.rounds == 0


def test_confidence_is_refused_before_the_run() -> None:
    with pytest.raises(ValueError, match=r"confidence=0.1 needs .* derive Fixed from Policy, or"):
        mb.simulate(Fixed([0, 1]), ENVIRONMENT, 10, matroid=U24, confidence=0.1)
    silent = mb.GaussianEnvironment([0.9, 0.8, 0.3, 0.2], 0)
    with pytest.raises(ValueError, match="is for rewards that vary, but this GaussianEnvironment"):
        mb.simulate(mb.OMM(U24), silent, 10, confidence=0.1)


class Fixed:
    """Somebody's own policy: no base class, no matroid."""

    def __init__(self, basis) -> None:
        self.basis = basis
        self.seen = 0

    def select(self):
        return self.basis

    def update(self, elements, rewards) -> None:
        self.seen += len(rewards)


def test_counters_at_the_checkpoints_of_a_policy_in_python() -> None:
    class Greedy(mb.Policy):
        def _select(self):
            return self.greedy_basis(self.counts * -1.0)

    result = mb.simulate(Greedy(U24), ENVIRONMENT, 100, checkpoints=[1, 10, 100])
    assert result.counter_curves["greedy_calls"].tolist() == [1, 10, 100]
    assert result.counter_curves["neighborhood_updates"].tolist() == [0, 0, 0]
    assert result.counters["greedy_calls"] == 100


def test_a_policy_of_ones_own() -> None:
    policy = Fixed([3, 0])
    result = mb.simulate(policy, ENVIRONMENT, 100, matroid=U24)
    assert result.total_regret == pytest.approx(100 * (0.8 - 0.2))
    assert result.counters == result.counter_curves == {}
    assert policy.seen == 200
    with pytest.raises(TypeError, match="pass matroid= to simulate"):
        mb.simulate(policy, ENVIRONMENT, 100)


@pytest.mark.parametrize("basis", [[0], [0, 1, 2], []])
def test_what_is_no_basis_is_refused(basis: list[int]) -> None:
    with pytest.raises(ValueError, match=r"in round 1 Fixed selected .* not a basis"):
        mb.simulate(Fixed(basis), ENVIRONMENT, 10, matroid=U24)


def test_a_subclass_that_changes_the_policy_is_obeyed() -> None:
    class Deaf(mb.MAUB):
        def update(self, elements, rewards) -> None:
            super().update(elements, np.zeros(len(rewards)))

    policy = Deaf(U24)
    mb.simulate(policy, ENVIRONMENT, 50)
    assert policy.means.tolist() == [0.0] * 4

    class Loud(mb.OMM):
        n_calls = 0

        def select(self):
            type(self).n_calls += 1
            return super().select()

    mb.simulate(Loud(U24), ENVIRONMENT, 50)
    assert Loud.n_calls == 50

    policy, log = mb.MAUB(U24), []
    learn = policy.update
    policy.update = lambda elements, rewards: (log.append(elements), learn(elements, rewards))
    mb.simulate(policy, ENVIRONMENT, 50)
    assert len(log) == 50


def test_a_subclass_that_changes_the_rewards_is_obeyed() -> None:
    class Clipped(mb.GaussianEnvironment):
        def _sample(self, rng, element, count):
            return np.clip(super()._sample(rng, element, count), 0, 1)

    drawn = Clipped([0.5] * 100, 10.0).rewards(0).draw(range(100))
    assert drawn.min() == 0
    assert drawn.max() == 1


@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rewards_that_are_not_finite_do_not_reach_a_policy(cls, value: float) -> None:
    class Broken(mb.Environment):
        def _sample(self, rng, element, count):
            return np.full(count, value)

    policy = cls(U24)
    with pytest.raises(ValueError, match="the reward of element 0 is not finite"):
        mb.simulate(policy, Broken([0.1] * 4), 100)
    assert policy.rounds == 0


def test_rewards_for_another_size_are_refused() -> None:
    class Wrapper(mb.GaussianEnvironment):
        def _rewards(self, seed: int):
            return ENVIRONMENT.rewards(seed)

    with pytest.raises(ValueError, match="rewards are for 4 elements, the policy has 100"):
        mb.simulate(mb.MAUB(mb.UniformMatroid(2, 100)), Wrapper(np.zeros(100), 1), 10)


def test_unpickled_environments_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        pickle.loads(pickle.dumps(ENVIRONMENT)).means[0] = 99


def test_results_are_compared_by_identity() -> None:
    result = mb.simulate(mb.OMM(U24), ENVIRONMENT, 5)
    assert result != mb.simulate(mb.OMM(U24), ENVIRONMENT, 5)


@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
def test_ctrl_c_stops_a_run_and_leaves_the_policy_whole(cls) -> None:
    policy = cls(mb.GraphicMatroid.complete(10))
    environment = mb.GaussianEnvironment(np.linspace(0, 1, 45), 0.2)
    # Also where the tests were started with Ctrl-C ignored, as in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        mb.simulate(policy, environment, 10**10)
    timer.join()
    signal.signal(signal.SIGINT, before)
    assert policy.counts.sum() == 9 * policy.rounds
    policy.update(policy.select(), np.zeros(9))


def test_a_million_elements_are_frugal() -> None:
    # 32 bytes of stream per element; NumPy generators would take about a kilobyte each.
    n = 1_000_000
    environment = mb.GaussianEnvironment(np.zeros(n), 1.0)
    elements = np.arange(n)
    tracemalloc.start()
    try:
        rewards = environment.rewards(0)
        drawn = rewards.draw(elements)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50 * n
    assert drawn.std() == pytest.approx(1, abs=0.01)  # its standard error is 0.0007


@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
def test_a_policy_on_a_million_elements_is_frugal(cls) -> None:
    n = 1_000_000
    environment = mb.BernoulliEnvironment(np.zeros(n))
    tracemalloc.start()
    try:
        policy = cls(mb.UniformMatroid(10, n))
        result = mb.simulate(policy, environment, 3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.counters["greedy_calls"] == 3
    assert peak < 400 * n


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: mb.GaussianEnvironment([0.5, np.nan], 1), "the mean of element 1 is nan"),
        (lambda: mb.GaussianEnvironment([0.5], -1), "std must be from 0 to .* got -1"),
        (lambda: mb.GaussianEnvironment([1e200], 1), "at most 1e\\+100 in size"),
        (lambda: mb.GaussianEnvironment([0.5] * 3, [1]), "one per element: 3, got 1"),
        (lambda: mb.GaussianEnvironment([0.5], [1, 2]), "one per element: 1, got 2"),
        (lambda: mb.GaussianEnvironment([0.5], None), "std must be numbers"),
        (lambda: mb.GaussianEnvironment(["a"], 1), "means must be numbers"),
        (lambda: mb.BernoulliEnvironment([0.5, 1.5]), "element 1 must be from 0 to 1, got 1.5"),
        (lambda: ENVIRONMENT.rewards(-1), "seed must be at least 0"),
        (lambda: ENVIRONMENT.rewards().draw([4]), "element 4 is not in the ground set"),
        (lambda: ENVIRONMENT.rewards().draw([0.5]), "elements must be integers"),
    ],
)
def test_bad_environments(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_sample_of_the_wrong_shape_is_named() -> None:
    class Wrong(mb.Environment):
        def _sample(self, rng, element, count):
            return np.zeros(count + 1)

    with pytest.raises(ValueError, match=r"Wrong\._sample must return 1 rewards"):
        mb.simulate(mb.MAUB(mb.UniformMatroid(1, 2)), Wrong([0.0, 1.0]), 10)


def test_random_means() -> None:
    means = mb.random_means(1000, seed=3)
    assert 0.5 <= means.min() < 0.51
    assert 0.99 < means.max() <= 1
    assert np.array_equal(means, mb.random_means(1000, 3))
    assert not np.array_equal(means, mb.random_means(1000, 4))
    assert mb.random_means(2, 0, low=3, high=3).tolist() == [3, 3]
    assert np.array_equal(means, means_generator(3).uniform(0.5, 1, 1000))
    for low, high in ((1, 0), (np.nan, 1), (0, np.inf)):
        with pytest.raises(ValueError, match="means must be from low to high"):
            mb.random_means(2, 0, low=low, high=high)
    with pytest.raises(ValueError, match="seed must be at least 0"):
        mb.random_means(2, -1)
