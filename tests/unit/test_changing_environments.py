"""Environments whose means change: messages, the rounds of draws, and what is refused."""

import pickle
import tracemalloc

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.identification import LUCBExchange

MEANS = [0.2, 0.5, 0.8]


def piecewise(**more: object) -> mb.PiecewiseEnvironment:
    return mb.PiecewiseEnvironment([MEANS, MEANS[::-1]], [101], **more)


# ---- arguments ----


@pytest.mark.parametrize(
    ("means", "changes", "message"),
    [
        ([MEANS], [5], "1 rows of means need 0 changes, the first rounds of the later rows, got 1"),
        ([MEANS, MEANS], [], "2 rows of means need 1 changes"),
        ([MEANS, MEANS], [1], "changes must be rounds from 2 on, since round 1 begins, got 1"),
        ([MEANS] * 3, [9, 9], r"changes must ascend, got \[9, 9\]"),
        ([MEANS, MEANS], [2.5], "a change must be an integer"),
        ([MEANS, MEANS], 5, "changes must be a list, got 5"),
        ([MEANS, MEANS[:2]], [5], "row 0 has 3 means, row 1 has 2"),
        ([], [], "means must have a row for each piece, got none"),
        (MEANS, [], "a row of means must be a one-dimensional list"),
        ([MEANS, [0.1, np.nan, 0.2]], [5], "the mean of element 1 in row 1 is nan"),
    ],
)
def test_mistakes_of_pieces(means: object, changes: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.PiecewiseEnvironment(means, changes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"step": -0.1}, "step must be"),
        ({"step": 1.5}, "step must be"),
        ({"step": 0.1, "low": 0.5, "high": 0.5}, "low must be below high, got 0.5 and 0.5"),
        ({"step": 0.1, "low": 0.3}, "the mean of element 0 must be from low=0.3 to high=1.0"),
        ({"step": 0.1, "high": 2.0, "kind": "bernoulli"}, "from 0 to 1, but low is 0.0 and high"),
        ({"step": 0.1, "seed": -1}, "seed must be"),
    ],
)
def test_mistakes_of_drift(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.DriftingEnvironment(MEANS, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"amplitude": 0.1, "period": 1}, "period must be more than 1"),
        ({"amplitude": 0.1, "period": 0}, "period must be"),
        ({"amplitude": [0.1, 0.2], "period": 9}, "one per element: 3, got 2"),
        ({"amplitude": np.inf, "period": 9}, "amplitude must be finite"),
        ({"amplitude": 0.1, "period": 9, "phase": [0.0]}, "phase must be one number, or one per"),
        (
            {"amplitude": 0.3, "period": 9, "kind": "bernoulli"},
            "the mean of element 0 at its farthest must be from 0 to 1",
        ),
    ],
)
def test_mistakes_of_seasons(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.SeasonalEnvironment(MEANS, **arguments)


def test_mistakes_of_kind_and_std() -> None:
    with pytest.raises(ValueError, match="unknown kind 'poisson'"):
        piecewise(kind="poisson")
    with pytest.raises(ValueError, match=r"std=0.2 is for Gaussian rewards; leave it out"):
        piecewise(kind="bernoulli", std=0.2)
    with pytest.raises(ValueError, match="std must be from 0"):
        piecewise(std=-1)
    with pytest.raises(ValueError, match="in row 0 must be from 0 to 1, got 2"):
        mb.PiecewiseEnvironment([[2.0]], [], kind="bernoulli")


def test_mistakes_of_a_function() -> None:
    with pytest.raises(TypeError, match="a function of the round and the elements, got 3"):
        mb.FunctionEnvironment(3, 2)
    matroid = mb.UniformMatroid(1, 2)
    short = mb.FunctionEnvironment(lambda t, e: [0.1] if t == 4 else [0.1, 0.2], 2)
    policy = mb.MAUB(matroid)
    with pytest.raises(ValueError, match="the means of round 4 must be 2 numbers, one per element"):
        mb.simulate(policy, short, 10)
    # The three rounds before are whole, and the policy may be used.
    assert policy.rounds == 3
    policy.update(policy.select(), [0.5])
    large = mb.FunctionEnvironment(lambda t, e: e + t / 2, 2, kind="bernoulli")
    with pytest.raises(ValueError, match=r"element 1 in round 1 must be from 0 to 1, got 1\.5"):
        mb.simulate(mb.MAUB(matroid), large, 10)


def test_a_subclass_must_not_sample() -> None:
    with pytest.raises(TypeError, match=r"Mine\._sample is never called"):

        class Mine(mb.PiecewiseEnvironment):
            def _sample(self, rng: np.random.Generator, element: int, count: int) -> np.ndarray:
                return rng.random(count)


@pytest.mark.parametrize(
    "cls", [mb.PiecewiseEnvironment, mb.DriftingEnvironment, mb.SeasonalEnvironment]
)
def test_a_subclass_may_change_the_means(cls: type[mb.ChangingEnvironment]) -> None:
    class Raised(cls):
        def _means_at(self, round: int) -> np.ndarray:  # noqa: A002
            return np.asarray(super()._means_at(round)) + 5

    plain = cls.random(np.random.default_rng(1), 4)
    raised = Raised.random(np.random.default_rng(1), 4)
    assert raised.means_at([1, 300]).tolist() == (plain.means_at([1, 300]) + 5).tolist()
    drawn = raised.rewards(2).draw([0, 1], round=7) - plain.rewards(2).draw([0, 1], round=7)
    assert drawn == pytest.approx([5, 5])
    mb.check_environment(raised)
    regrets = [
        mb.simulate(mb.OMM(mb.UniformMatroid(2, 4)), one, 200).total_regret
        for one in (plain, raised)
    ]
    assert regrets[0] == pytest.approx(regrets[1])


# ---- means and draws ----


def test_there_are_no_fixed_means() -> None:
    with pytest.raises(AttributeError, match=r"change: means_at\(round\) has those of a round"):
        _ = piecewise().means
    assert not hasattr(piecewise(), "means")


def test_means_at() -> None:
    environment = piecewise()
    assert environment.means_at([100, 101]).tolist() == [MEANS, MEANS[::-1]]
    assert environment.means_at([]).shape == (0, 3)
    assert environment.changes.tolist() == [101]
    for wrong in (0, -1, 1.5, [0], "1"):
        with pytest.raises(ValueError, match="round"):
            environment.means_at(wrong)
    with pytest.raises(ValueError, match="rounds must be in ascending order"):
        environment.means_at([2, 1])


def test_rounds_of_draws() -> None:
    environment = mb.FunctionEnvironment(lambda t, e: e + t, 2, std=0.0)
    rewards = environment.rewards()
    assert rewards.round == 0
    assert rewards.draw([0]).tolist() == [1.0]
    assert rewards.draw([1, 0]).tolist() == [3.0, 2.0]
    assert rewards.draw([0], round=50).tolist() == [50.0]
    assert rewards.draw([]).tolist() == []
    assert rewards.draw([0]).tolist() == [52.0]
    assert rewards.draw([0], round=7).tolist() == [7.0]
    assert rewards.round == 7
    # What is wrong changes nothing.
    for elements, now in (([2], None), ([0], 0), ([0], 1.5)):
        with pytest.raises(ValueError, match=r"element 2|round must be"):
            rewards.draw(elements, round=now)
    assert rewards.round == 7


def test_where_means_stay_the_round_does_not_matter() -> None:
    for environment in (mb.BernoulliEnvironment([0.5]), Own([0.5])):
        one, other = environment.rewards(1), environment.rewards(1)
        assert [one.draw([0], round=9)[0] for _ in range(20)] == [
            other.draw([0])[0] for _ in range(20)
        ]
        with pytest.raises(ValueError, match="round must be"):
            one.draw([0], round=0)


class Own(mb.Environment):
    """An environment written in Python."""

    def _sample(self, rng: np.random.Generator, element: int, count: int) -> np.ndarray:
        return rng.uniform(0, 2 * self.means[element], count)


def test_what_is_known_of_the_rewards() -> None:
    assert piecewise().kind == "gaussian"
    assert piecewise().std.tolist() == [0.2] * 3
    assert piecewise().reward_range == (-np.inf, np.inf)
    assert piecewise(std=0.0).reward_range is None
    coins = piecewise(kind="bernoulli")
    assert coins.std is None
    assert coins.reward_range == (0, 1)
    mb.simulate(mb.CTS(mb.UniformMatroid(1, 3)), coins, 50)
    with pytest.raises(ValueError, match="CTS is for rewards from 0 to 1"):
        mb.simulate(mb.CTS(mb.UniformMatroid(1, 3)), piecewise(), 50)


def test_a_large_spread_is_warned_about() -> None:
    with pytest.warns(UserWarning, match="standard deviation of 500"):
        mb.simulate(mb.MAUB(mb.UniformMatroid(1, 3)), piecewise(std=500.0), 5)


@pytest.mark.parametrize("cls", [mb.PiecewiseEnvironment, mb.DriftingEnvironment])
def test_pickled(cls: type[mb.ChangingEnvironment]) -> None:
    environment = cls.random(np.random.default_rng(1), 4)
    again = pickle.loads(pickle.dumps(environment))
    assert again.means_at([1, 500]).tolist() == environment.means_at([1, 500]).tolist()
    with pytest.raises(ValueError, match="read-only"):
        again.std[0] = 1.0


def test_the_memory_of_a_drift_does_not_grow_with_the_rounds() -> None:
    """20,000 rounds of 1,000 means would be 160 MB; a kernel has 72 bytes for an element."""
    environment = mb.DriftingEnvironment(np.full(1000, 0.5), step=0.01)
    tracemalloc.start()
    environment.means_at(20_000)
    mb.simulate(mb.MAUB(mb.UniformMatroid(2, 1000)), environment, 2000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6


def test_check_environment_finds_a_function_that_changes_its_mind() -> None:
    rng = np.random.default_rng(0)
    restless = mb.FunctionEnvironment(lambda t, e: rng.random(len(e)), 3)
    with pytest.raises(AssertionError, match="depend on when they are read"):
        mb.check_environment(restless)


def test_random_means_of_pieces() -> None:
    rows = mb.random_means(5, 7, pieces=3)
    assert rows.shape == (3, 5)
    assert rows[0].tolist() == mb.random_means(5, 7).tolist()
    with pytest.raises(ValueError, match="pieces must be"):
        mb.random_means(5, 7, pieces=0)


# ---- what is for means that stay ----


def test_refused_where_means_must_stay() -> None:
    matroid = mb.UniformMatroid(1, 3)
    environment = piecewise()
    for what, call in {
        "the lower bound on the regret": lambda: mb.regret_lower_bound(matroid, environment, 100),
        "the lower bound of identification": lambda: mb.identification_lower_bound(
            matroid, environment, 0.1
        ),
        "identification": lambda: mb.identify(LUCBExchange(matroid), environment),
        "confidence=0.05": lambda: mb.simulate(mb.MAUB(matroid), environment, 10, confidence=0.05),
    }.items():
        with pytest.raises(
            ValueError, match=f"{what} is for means that stay as they are.*means_at"
        ):
            call()


# ---- the regret ----


def test_dynamic_regret_by_hand() -> None:
    """A policy that always plays element 0 loses against another best element in every piece."""

    class Stubborn:
        matroid = mb.UniformMatroid(1, 3)

        def select(self) -> list[int]:
            return [0]

        def update(self, elements: object, rewards: object) -> None:
            pass

    environment = mb.PiecewiseEnvironment([[0, 1, 2], [5, 1, 2], [0, 0, 1]], [11, 21])
    result = mb.simulate(Stubborn(), environment, 30, checkpoints=[10, 20, 30])
    assert result.regret.tolist() == [20.0, 20.0, 30.0]
    assert (np.diff(result.regret) / np.diff(result.rounds)).tolist() == [0.0, 1.0]


def test_a_matroid_that_is_none_is_refused() -> None:
    bases = [{0, 1}, {2}]
    broken = mb.OracleMatroid(3, lambda s: any(s <= b for b in bases))
    environment = mb.PiecewiseEnvironment([[2, 2, 1], [0, 0, 1]], [6])
    with pytest.raises(ValueError, match="not a matroid"):
        mb.simulate(mb.OMM(broken), environment, 10)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("x", "the means of round 3 must be 4 numbers, one per element, got 'x'"),
        (None, r"must be 4 numbers, one per element, got an array of shape \(\)"),
        ([1, 2], r"got an array of shape \(2,\)"),
        ([[1], [2, 3]], r"must be 4 numbers, one per element, got \[\[1\], \[2, 3\]\]"),
    ],
)
def test_what_a_function_may_return(returned: object, message: str) -> None:
    environment = mb.FunctionEnvironment(lambda _round, _elements: returned, 4)
    with pytest.raises(ValueError, match=message):
        environment.means_at(3)


def test_a_function_takes_the_round_and_the_elements() -> None:
    with pytest.raises(TypeError, match=r"function\(round, elements\), got <lambda>\(t\)"):
        mb.FunctionEnvironment(lambda t: [t], 1)
    assert mb.FunctionEnvironment(np.add, 2).means_at(1).tolist() == [1.0, 2.0]
