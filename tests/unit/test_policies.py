"""Messages, bad input and edges of the policies."""

import copy
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import matroid_bandits as mb

both = pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])


@both
@pytest.mark.parametrize(
    "elements, rewards, message",
    [
        ([0, 1], [0.5], "one reward per element is needed, got 2 elements and 1 rewards"),
        ([0], [np.nan], "the reward of element 0 is nan; it must be finite"),
        ([2, 1], [0.5, -np.inf], "the reward of element 1 is -inf"),
        ([0, 6], [0.5, 0.5], r"element 6 is not in the ground set 0\.\.5"),
        ([-1], [0.5], "element -1 is not in the ground set"),
        ([3, 1, 3], [0.5, 0.5, 0.5], "element 3 is given twice"),
        ([0], ["good"], "rewards must be numbers, got"),
        ([0], [None], "rewards must be numbers"),
        ([0], [1j], "rewards must be numbers"),
        ([0], 0.5, "rewards must be a one-dimensional list, got 0.5"),
        ([0], [[0.5]], "rewards must be a one-dimensional list, got an array of shape"),
        ({0}, [0.5], r"elements must be a list, a tuple or an array.*\(set\)"),
        ([0.0], [0.5], "elements must be integers"),
        ([True, False], [0.5, 0.5], "flatnonzero"),
    ],
)
def test_bad_feedback_changes_nothing(cls, elements, rewards, message: str) -> None:
    policy = cls(mb.GraphicMatroid.complete(4))
    for _ in range(10):
        basis = policy.select()
        policy.update(basis, np.sin(basis))
    selected = policy.select()
    before = policy._kernel.state()
    with pytest.raises(ValueError, match=message):
        policy.update(elements, rewards)
    after = policy._kernel.state()
    for name, value in before.items():
        assert np.array_equal(value, after[name]), name
    assert policy.select().tolist() == selected.tolist()


@both
def test_rewards_that_overflow_the_mean_are_refused(cls) -> None:
    policy = cls(mb.UniformMatroid(1, 2))
    policy.update([0], [1.7e308])
    with pytest.raises(ValueError, match=r"the reward 1.7e\+308 of element 0 is too large"):
        policy.update([0], [1.7e308])
    assert policy.counts.tolist() == [1, 0]


@both
def test_feedback_comes_in_many_shapes(cls) -> None:
    policy = cls(mb.UniformMatroid(2, 4))
    policy.update((0, 1), (1, 0))
    policy.update(np.array([3], dtype=np.int8), np.array([True]))
    policy.update([2], np.array([0.25], dtype=np.float32))
    policy.update(np.arange(8)[::2][:2], np.linspace(0, 1, 8)[::4])
    policy.update([], [])
    policy.update(range(2), [0.0, 0.0])
    assert policy.rounds == 6
    assert policy.counts.tolist() == [3, 2, 2, 1]


@both
def test_a_matroid_is_needed(cls) -> None:
    with pytest.raises(TypeError, match=r"pass OracleMatroid\(size, function\)"):
        cls(lambda s: True)


@both
def test_what_is_given_out_is_a_copy(cls) -> None:
    policy = cls(mb.UniformMatroid(2, 4))
    policy.select()[:] = 3
    policy.counts[:] = 9
    policy.means[:] = 9
    assert policy.select().tolist() == [0, 1]
    assert policy.counts.tolist() == [0] * 4
    assert np.isnan(policy.means).all()


@both
def test_feedback_is_not_kept_by_reference(cls) -> None:
    policy = cls(mb.UniformMatroid(1, 2))
    elements, rewards = np.array([0]), np.array([0.5])
    policy.update(elements, rewards)
    elements[0], rewards[0] = 1, 99.0
    assert policy.counts.tolist() == [1, 0]
    assert policy.means[0] == 0.5


def test_attributes_cannot_be_assigned() -> None:
    policy = mb.MAUB(mb.UniformMatroid(1, 2))
    for name in ("counts", "means", "rounds", "leader", "oracle_calls", "matroid"):
        with pytest.raises(AttributeError):
            setattr(policy, name, 0)


def test_leader_appears_after_the_first_rounds() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 4))
    for expected in ([0, 1], [2, 3]):
        assert policy.leader is None
        assert policy.select().tolist() == expected
        policy.update(expected, [0.1 * e for e in expected])
    assert policy.select().tolist() == [2, 3]
    assert policy.leader.tolist() == [2, 3]


def test_repr() -> None:
    policy = mb.MAUB(mb.UniformMatroid(1, 2))
    assert repr(policy) == (
        "MAUB(UniformMatroid(rank=1, size=2), index=UCB(noise=1.0, constant=2.0)) after 0 rounds"
    )
    policy = mb.RandomBasis(mb.UniformMatroid(1, 2))
    assert repr(policy) == "RandomBasis(UniformMatroid(rank=1, size=2)) after 0 rounds"


class EpsilonGreedy(mb.Policy):
    """A user's policy: mostly what looks best, now and then anything."""

    name = "eps"

    def __init__(self, matroid: mb.Matroid, epsilon: float = 0.1, seed: int = 0) -> None:
        super().__init__(matroid)
        self.epsilon = epsilon
        self.rng = np.random.default_rng(seed)

    def _select(self):
        if self.rng.random() < self.epsilon:
            return self.greedy_basis(self.rng.random(self.matroid.size))
        return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))


def test_a_users_policy_keeps_the_contract() -> None:
    mb.check_policy(EpsilonGreedy)
    environment = mb.GaussianEnvironment(np.linspace(0, 1, 10), 0.2)
    policy = EpsilonGreedy(mb.GraphicMatroid.complete(5))
    result = mb.simulate(policy, environment, 500)
    assert result.counters["greedy_calls"] == 500
    assert 0 < result.total_regret < 500
    with pytest.raises(ValueError, match="one weight per element is needed: 10, got 1"):
        policy.greedy_basis([1.0])


def test_a_changed_select_in_a_subclass_is_asked_once_a_round() -> None:
    class Shuffled(mb.MAUB):
        def _select(self):
            return np.random.default_rng().permutation(6)[:2]

    policy = Shuffled(mb.UniformMatroid(2, 6))
    basis = policy.select().tolist()
    assert basis == sorted(basis)
    assert all(policy.select().tolist() == basis for _ in range(20))


def test_copies_learn_on_their_own() -> None:
    policy = mb.MAUB(mb.UniformMatroid(1, 2))
    for other in (copy.copy(policy), copy.deepcopy(policy)):
        other.update([0], [1.0])
        assert other.matroid is policy.matroid
    assert policy.rounds == 0


def test_numbers_of_many_kinds_are_rewards() -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 3))
    policy.update([0, 1, 2], [Fraction(1, 2), 10**30, np.float32(0.5)])
    assert policy.means.tolist() == [0.5, 1e30, 0.5]


def test_a_policy_is_not_used_while_it_decides() -> None:
    policies = []

    def ask(elements: frozenset[int]) -> bool:
        if policies:
            policies[0].update([0], [1.0])
        return len(elements) <= 1

    policy = mb.MAUB(mb.OracleMatroid(3, ask))
    policies.append(policy)
    with pytest.raises(RuntimeError, match="this policy is deciding right now"):
        policy.select()
    policies.clear()
    assert policy.rounds == 0
    assert policy.select().tolist() == [0]


def test_checks_survive_optimisation() -> None:
    code = (
        "import matroid_bandits as mb; mb.check_matroid(mb.OracleMatroid(3, lambda s: len(s) != 1))"
    )
    shown = subprocess.run(
        [sys.executable, "-O", "-c", code], capture_output=True, text=True, check=False
    )
    assert "AssertionError: heredity fails" in shown.stderr


def test_checks_want_the_right_kind_of_thing() -> None:
    with pytest.raises(TypeError, match="check_matroid needs an instance"):
        mb.check_matroid(mb.UniformMatroid)
    with pytest.raises(TypeError, match="check_policy needs a class"):
        mb.check_policy(mb.MAUB(mb.UniformMatroid(1, 2)))


def test_check_policy_finds_faults() -> None:
    class Stubborn:
        """Keeps playing elements 0..rank-1, basis or not."""

        def __init__(self, matroid: mb.Matroid) -> None:
            self.rank = matroid.rank

        def select(self):
            return np.arange(self.rank)

        def update(self, elements, rewards) -> None:
            pass

    with pytest.raises(AssertionError, match="not a basis"):
        mb.check_policy(Stubborn)

    class Fickle(EpsilonGreedy):
        def select(self):
            return np.sort(self._select())

    with pytest.raises(AssertionError, match=r"changed its mind|second select"):
        mb.check_policy(lambda m: Fickle(m, epsilon=1.0))

    class Careless(mb.MAUB):
        def update(self, elements, rewards) -> None:
            super().update(elements, np.nan_to_num(rewards))

    with pytest.raises(AssertionError, match="was not refused"):
        mb.check_policy(Careless)


def test_check_matroid_finds_faults() -> None:
    class WrongCircuit(mb.UniformMatroid):
        def fundamental_circuit(self, basis, element):
            return np.array([element])

    with pytest.raises(AssertionError, match="fundamental_circuit"):
        mb.check_matroid(WrongCircuit(2, 4))
    with pytest.raises(AssertionError, match="heredity fails"):
        mb.check_matroid(mb.OracleMatroid(3, lambda s: len(s) != 1))
    with pytest.raises(AssertionError, match="augmentation fails"):
        mb.check_matroid(mb.OracleMatroid(4, lambda s: s <= {0, 1} or s <= {2}))


def test_check_environment_finds_faults() -> None:
    class Shifted(mb.Environment):
        def _sample(self, rng, element, count):
            return rng.normal(self.means[element] + 0.5, 1.0, count)

    with pytest.raises(AssertionError, match="stated is"):
        mb.check_environment(Shifted([0.0]))

    class Blockwise(mb.Environment):
        def _sample(self, rng, element, count):
            return np.full(count, rng.normal())

    with pytest.raises(AssertionError, match="_sample in one go"):
        mb.check_environment(Blockwise([0.0]))
