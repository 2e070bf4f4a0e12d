"""Messages, bad input and edges of the policies."""

import contextlib
import copy
import inspect
import pickle
import subprocess
import sys
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import matroid_bandits as mb

from ..states import assert_same

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
        ([0.5], [0.5], "elements must be integers"),
        (np.array([0, True], dtype=object), [0.5, 0.5], "elements must be integers"),
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
    assert_same(before, policy._kernel.state())
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


@pytest.mark.parametrize("learn", ["learn_log", "update", "observe"])
def test_leader_of_what_was_learned_without_a_round(learn: str) -> None:
    problem = mb.Problem(mb.UniformMatroid(2, 4), labels=["a", "b", "c", "d"], sense="min")
    policy = mb.MAUB(problem)
    for rewards, expected in (({"a": 4.0, "b": 1.0, "c": 3.0}, None), ({"d": 2.0}, ["b", "d"])):
        assert policy.leader is None
        if learn == "learn_log":
            log = {"element": list(rewards), "reward": list(rewards.values())}
            policy.learn_log(log | {"decision": [f"{expected} {name}" for name in rewards]})
        elif learn == "update":
            policy.update(rewards)
        else:
            policy.observe({name: (cost, 1) for name, cost in rewards.items()})
        before = policy._kernel.state()
        assert policy.leader == expected
        assert_same(before, policy._kernel.state())
    assert policy.select() == policy.leader == ["b", "d"]


def test_repr_shows_parameters_that_are_not_the_default() -> None:
    matroid = mb.UniformMatroid(1, 2)
    for policy, expected in (
        (mb.MAUB(matroid), "MAUB(UniformMatroid(rank=1, size=2))"),
        (mb.MAUB(matroid, noise=0.2), "MAUB(UniformMatroid(rank=1, size=2), noise=0.2)"),
        (
            mb.OMM(matroid, index=mb.KLUCB(c=0.0), seed=3),
            "OMM(UniformMatroid(rank=1, size=2), index=KLUCB(c=0.0), seed=3)",
        ),
        (mb.RandomBasis(matroid, seed=0), "RandomBasis(UniformMatroid(rank=1, size=2))"),
    ):
        assert repr(policy) == expected
        assert repr(eval(expected, vars(mb))) == expected


def test_parameters_are_what_was_passed_and_can_be_read() -> None:
    matroid = mb.UniformMatroid(1, 3)
    policy = mb.MAUB(matroid, noise=0.5, seed=4)
    assert policy.get_params() == {
        "matroid": matroid,
        "neighborhood": "lean",
        "index": "ucb",
        "exchanges": None,
        "noise": 0.5,
        "seed": 4,
        "pending": "ignore",
        "window": None,
        "discount": None,
        "restart": None,
    }
    assert (policy.noise, policy.seed, policy.neighborhood) == (0.5, 4, "lean")
    assert policy.index == mb.UCB(noise=0.5)
    assert mb.MAUB(matroid).noise == 1.0
    assert mb.MAUB(matroid, index="kl").noise is None
    assert (mb.KLOSM(matroid, c=0.5).c, mb.CTS(matroid).prior) == (0.5, "beta")
    assert mb.EpsilonGreedy(matroid, epsilon=0.3, seed=2).get_params()["epsilon"] == 0.3
    problem = mb.Problem(matroid, labels=list("abc"), sense="min")
    assert mb.OMM(problem).get_params()["matroid"] is problem


def test_clones_are_fresh_and_play_the_same() -> None:
    for cls in mb.catalog.POLICIES.values():
        policy = cls._example(mb.GraphicMatroid.complete(4))
        played = []
        for one in (policy, policy.clone()):
            rng = np.random.default_rng(0)
            plays = []
            for _ in range(30):
                plays.append(one.select().tolist())
                one.update(plays[-1], rng.random(3))
            played.append(plays)
        assert played[0] == played[1]
        assert mb.clone(policy).rounds == 0


def test_a_clone_of_a_graph_given_by_an_iterator() -> None:
    policy = mb.OSUB(mb.UniformMatroid(1, 3), graph=iter([(0, 1), (1, 2)]))
    assert policy.clone().graph == ((0, 1), (1, 2))


def test_clone_needs_a_policy() -> None:
    with pytest.raises(TypeError, match="clone needs a Policy, got 3"):
        mb.clone(3)


class Stored(mb.Policy):
    """A user's policy with parameters of every kind."""

    def __init__(self, matroid, /, boldness=2, *weights, seed=0, **options) -> None:
        super().__init__(matroid)
        # What is inherited can be used at once.
        self.n = self.matroid.size + len(self.counts)
        self.kept = (boldness, weights, seed, options)

    def _select(self):
        return self.greedy_basis(-1.0 * self.counts)


def test_parameters_of_users_classes_need_no_help_of_their_authors() -> None:
    policy = Stored(mb.UniformMatroid(1, 2), 3, 0.5, 0.7, color="red")
    assert policy.n == 4
    assert policy.boldness == 3
    assert repr(policy) == "Stored(UniformMatroid(rank=1, size=2), 3, 0.5, 0.7, color='red')"
    assert repr(Stored(mb.UniformMatroid(1, 2), seed=2)) == (
        "Stored(UniformMatroid(rank=1, size=2), seed=2)"
    )
    assert policy.get_params()["color"] == "red"
    assert policy.clone().kept == policy.kept == (3, (0.5, 0.7), 0, {"color": "red"})
    assert pickle.loads(pickle.dumps(policy)).get_params().keys() == policy.get_params().keys()
    with pytest.raises(AttributeError, match="'Stored' object has no attribute 'shyness'"):
        policy.shyness  # noqa: B018


def test_the_kernel_is_made_when_all_parameters_are_there() -> None:
    class Late(mb.OMM):
        def __init__(self, matroid, *, factor: float) -> None:
            super().__init__(matroid)
            self.factor = factor

        def _new_kernel(self, matroid):
            assert self.factor == 3.0
            return super()._new_kernel(matroid)

    assert Late(mb.UniformMatroid(1, 2), factor=3.0).select().tolist() == [0]


def test_a_constructor_without_super_is_explained() -> None:
    class Forgetful(mb.Policy):
        def __init__(self, matroid) -> None:
            self.size = matroid.size

        def _select(self):
            return [0]

    with pytest.raises(TypeError, match=r"Forgetful.__init__ did not call super\(\).__init__"):
        Forgetful(mb.UniformMatroid(1, 2))

    class Hasty(mb.Policy):
        def __init__(self, matroid) -> None:
            self.start = self.counts
            super().__init__(matroid)

        def _select(self):
            return [0]

    with pytest.raises(TypeError, match=r"Hasty.__init__ did not call super\(\).__init__"):
        Hasty(mb.UniformMatroid(1, 2))


def test_signatures_and_help_name_what_is_there() -> None:
    parameters = list(inspect.signature(mb.OMM).parameters)
    assert parameters[:5] == ["matroid", "index", "noise", "seed", "pending"]
    assert parameters[5:] == ["window", "discount", "restart"]
    for cls in mb.catalog.POLICIES.values():
        kinds = [p.kind for p in inspect.signature(cls).parameters.values()][1:]
        data = [inspect.Parameter.POSITIONAL_OR_KEYWORD] if cls is mb.OSUB else []
        assert kinds == data + [inspect.Parameter.KEYWORD_ONLY] * (len(kinds) - len(data))
    assert "npt.ArrayLike" in str(inspect.signature(mb.Policy.update))


class EpsilonGreedy(mb.Policy):
    """A user's policy: mostly what looks best, now and then anything."""

    name = "eps"
    _check_exemptions = {  # noqa: RUF012
        "relabeling": "random numbers are drawn in the order of the elements",
    }

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


def test_checks_survive_optimization() -> None:
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


class Resized(mb.Matroid):
    """A user's matroid whose size is that of a list, which may change."""

    def __init__(self, items: list[str]) -> None:
        self.items = items
        super().__init__(len(items))

    @property
    def size(self) -> int:
        return len(self.items)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2


class Reranked(mb.UniformMatroid):
    """A user's matroid whose rank is another one every time."""

    calls = 0

    @property
    def rank(self) -> int:
        type(self).calls += 1
        return self.calls

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2


@pytest.mark.parametrize("name", sorted(mb.catalog.POLICIES))
def test_a_matroid_that_changes_is_an_error_in_words_or_is_not_noticed(name: str) -> None:
    cls = mb.catalog.POLICIES[name]
    for grow in (["e"] * 200, []):
        items = list("abcd")
        matroid = Resized(items)
        policy = cls._example(matroid)
        rng = np.random.default_rng(0)
        for t in range(60):
            try:
                if t == 5:
                    items += grow
                    if not grow:
                        del items[2:]
                chosen = policy.select(available=None if t % 2 else [0, 1, 3])
                policy.update(chosen, rng.random(len(chosen)))
                policy.explain()
            except (ValueError, TypeError, IndexError) as error:
                assert str(error)  # noqa: PT017
        with contextlib.suppress(ValueError):
            mb.simulate(
                cls._example(matroid), mb.BernoulliEnvironment(np.full(len(items), 0.5)), 50
            )


@pytest.mark.parametrize("name", sorted(mb.catalog.POLICIES))
def test_a_rank_that_changes_is_an_error_in_words(name: str) -> None:
    for start in (0, 1, 2, 3, 20):
        Reranked.calls = start
        try:
            policy = mb.catalog.POLICIES[name]._example(Reranked(2, 4))
            for _ in range(20):
                chosen = policy.select()
                policy.update(chosen, np.full(len(chosen), 0.5))
        except ValueError as error:
            assert "contradicts itself" in str(error) or "not a " in str(error)  # noqa: PT017


def test_a_contradiction_is_named() -> None:
    Reranked.calls = 20
    with pytest.raises(
        ValueError, match="Reranked contradicts itself: 4 elements, 0 of them loops"
    ):
        mb.OMM(Reranked(2, 4))


def test_a_rule_that_selects_no_basis_is_refused() -> None:
    class Wrong(mb.Policy):
        def _select(self):
            return [0, 1, 2]

    policy = Wrong(mb.UniformMatroid(2, 4))
    message = r"Wrong selected .* is not a basis of UniformMatroid.*use self.greedy_basis"
    for call in (policy.select, policy.explain, lambda: policy.select(available=[0, 1, 2])):
        with pytest.raises(ValueError, match=message):
            call()
    assert policy.rounds == 0


def test_a_policy_in_python_explains_itself_by_its_own_words() -> None:
    class Lazy(mb.Policy):
        """Plays the first elements."""

        def _select(self):
            return range(2)

    policy = Lazy(mb.UniformMatroid(2, 4))
    assert policy.explain().why == "Plays the first elements."


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nx.complete_graph(3), "MAUB needs a matroid, got .*; for a NetworkX graph, pass from_net"),
        (mb.UniformMatroid, r"UniformMatroid is a class: pass an instance, UniformMatroid\(...\)"),
        ("K5", r"pass catalog.matroid\('K5'\)"),
        (pd.DataFrame({"a": [1]}), "pass from_dataframe"),
        (None, r"got None; .*OracleMatroid\(size, function\)"),
    ],
)
def test_what_is_passed_instead_of_a_matroid(value, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        mb.MAUB(value)


def test_a_series_of_pandas_is_a_mapping() -> None:
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(2, 3), labels=["a", "b", "c"]))
    policy.update(pd.Series({"b": 0.5, "c": 0.25}))
    assert policy.counts.tolist() == [0, 1, 1]
    assert policy.means[1:].tolist() == [0.5, 0.25]
    numbers = mb.OMM(mb.UniformMatroid(2, 3))
    numbers.update(pd.Series([0.5, 0.25], index=[2, 0]))
    assert numbers.counts.tolist() == [1, 0, 1]
    numbers.update(pd.Series([1, 2]), pd.Series([0.5, 0.5]))
    assert numbers.counts.tolist() == [1, 1, 2]


def test_rewards_far_from_the_assumed_noise_are_warned_of_once() -> None:
    for policy in (
        mb.MAUB(mb.UniformMatroid(1, 2)),
        mb.OMM(mb.UniformMatroid(1, 2)),
        mb.CTS(mb.UniformMatroid(1, 2), prior="gaussian"),
    ):
        policy.update([0], [2300.0])
        with pytest.warns(
            UserWarning, match=r"element 0 had a mean of 2300 .* pass noise="
        ) as seen:
            policy.update([0], [1900.0])
        assert seen[0].filename == __file__
        policy.update([0], [2700.0])
        assert policy.counts.tolist() == [3, 0]


def test_large_rewards_that_scatter_little_or_whose_noise_is_given_are_fine() -> None:
    matroid = mb.UniformMatroid(1, 2)
    for policy in (
        mb.MAUB(matroid, noise=300),
        mb.OMM(matroid, index="normal"),
        mb.OMM(matroid, index=mb.UCB()),
        mb.CUCB(matroid),
    ):
        policy.update([0], [2300.0])
        policy.update([0], [1900.0])
    policy = mb.MAUB(matroid)
    for reward in (2300.0, 2301.0, 2299.5):
        policy.update([0, 1], [reward, -reward])


def test_simulations_warn_of_noise_too() -> None:
    environment = mb.GaussianEnvironment([2000.0, 2500.0], std=300)
    with pytest.warns(UserWarning, match=r"standard deviation of 300, but MAUB assumes .* 1, its"):
        mb.simulate(mb.MAUB(mb.UniformMatroid(1, 2)), environment, 10)
    mb.simulate(mb.MAUB(mb.UniformMatroid(1, 2), noise=300), environment, 10)


def test_checks_refuse_other_things_in_words() -> None:
    with pytest.raises(TypeError, match="check_environment needs an Environment, got 3"):
        mb.check_environment(3)
    with pytest.raises(TypeError, match="check_environment needs an Environment, got <class"):
        mb.check_environment(mb.BernoulliEnvironment)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        mb.check_environment(mb.BernoulliEnvironment([0.5]), seed=-1)
    with pytest.raises(TypeError, match="which has no method select"):
        mb.check_policy(lambda _: 3)


@pytest.mark.parametrize(
    "elements",
    [np.array([0, 1], dtype=object), np.array([np.int8(0), 1.0], dtype=object), [0.0, 1.0]],
)
def test_feedback_for_whole_numbers_of_any_type(elements) -> None:
    policy = mb.OMM(mb.UniformMatroid(2, 3))
    policy.update(elements, [0.25, 0.75])
    policy.update(dict(zip(elements, [0.25, 0.75], strict=True)))
    decision = policy.decide(available=elements)
    assert decision.elements.tolist() == [0, 1]
    policy.learn(decision, dict(zip(elements, [0.25, 0.75], strict=True)))
    assert policy.counts.tolist() == [3, 3, 0]
    assert policy.means[:2].tolist() == [0.25, 0.75]
    # Where there are labels, a number is a label.
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(2, 3), labels=[1, 2, 0]))
    policy.update(elements, [0.25, 0.75])
    assert policy.counts.tolist() == [1, 0, 1]
    assert policy.means[[2, 0]].tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda u: mb.MAUB(u, epsilon=0.1),
            "MAUB has no parameter 'epsilon'; allowed are matroid, neighborhood",
        ),
        (lambda u: mb.OMM(u, nois=0.1), r"OMM has no parameter 'nois'; did you mean noise\?"),
        (
            lambda u: mb.OMM(u).decide(context=[1.0]),
            r"OMM.decide has no parameter 'context'; did you mean features\? allowed are available",
        ),
        (
            lambda u: mb.OMM(u).select(availabel=[0]),
            r"OMM.select has no parameter 'availabel'; did you mean available\? allowed are avail",
        ),
    ],
)
def test_unknown_arguments(call, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(mb.UniformMatroid(1, 2))


def test_classes_that_take_any_argument_are_left_alone() -> None:
    class Any(mb.OMM):
        def __init__(self, matroid, **more) -> None:
            super().__init__(matroid, **more)

    assert Any(mb.UniformMatroid(1, 2), noise=0.5).noise == 0.5
    with pytest.raises(TypeError, match="epsilon"):
        Any(mb.UniformMatroid(1, 2), epsilon=0.5)
