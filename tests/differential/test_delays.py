"""Simulations with late feedback against the reference: the same regret to the last bit."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

import matroid_bandits as mb

from ..reference import indices, matroids
from ..reference.decisions import ReferenceDecisions
from ..reference.delays import delayed_run
from ..reference.osub import ReferenceOSUB
from ..reference.policies import ReferenceEpsilonGreedy, ReferenceGreedy, ReferenceMAUB
from ..reference.streams import basis_value, bernoulli_rewards, delay_generator
from ..seeds import seeds

EDGES = list(combinations("abcde", 2))
ASK = matroids.graphic(EDGES)
K5 = mb.GraphicMatroid(EDGES)
TREES = sorted(tuple(sorted(basis)) for basis in matroids.bases(10, ASK))
EXCHANGES = [[j for j, b in enumerate(TREES) if len({*a, *b}) == 5] for a in TREES]

# The engine's policy and the reference's.
PAIRS: dict[str, tuple[Callable, Callable]] = {
    "MAUB": (mb.MAUB, lambda: ReferenceMAUB(10, ASK, indices.UCB())),
    "MAUB kl": (
        lambda m, **more: mb.MAUB(m, index="kl", **more),
        lambda: ReferenceMAUB(10, ASK, indices.KLUCB()),
    ),
    "MAUB all": (
        lambda m, **more: mb.MAUB(m, exchanges="all", noise=0.3, **more),
        lambda: ReferenceMAUB(10, ASK, indices.UCB(0.3), "all"),
    ),
    "MAUB beta": (
        lambda m, **more: mb.MAUB(m, index="beta", seed=3, exchanges="one", **more),
        lambda: ReferenceMAUB(10, ASK, indices.BetaThompson(3)),
    ),
    "OMM ucbv": (
        lambda m, **more: mb.OMM(m, index="ucbv", **more),
        lambda: ReferenceGreedy(10, ASK, indices.UCBV()),
    ),
    "CTS": (
        lambda m, **more: mb.CTS(m, seed=3, **more),
        lambda: ReferenceGreedy(10, ASK, indices.BetaThompson(3)),
    ),
    # Compared with their definitions elsewhere, round by round.
    "FasterCUCB": (mb.FasterCUCB, None),
    "ESCB": (mb.ESCB, None),
    "OSUB": (mb.OSUB, lambda: ReferenceOSUB(TREES, EXCHANGES, size=10)),
    "EpsilonGreedy": (
        lambda m: mb.EpsilonGreedy(m, epsilon=0.3, seed=3),
        lambda: ReferenceEpsilonGreedy(10, ASK, 0.3, 3),
    ),
}
WITHOUT_PENDING = {"EpsilonGreedy"}

DELAYS = {
    "3": 3,
    "3, lost": mb.FixedDelay(3, lost=0.3),
    "0, lost": mb.FixedDelay(0, lost=0.3),
    "geometric": mb.GeometricDelay(6),
    "geometric, lost": mb.GeometricDelay(6, lost=0.3),
    "all lost": mb.FixedDelay(2, lost=1.0),
    "never": 10**6,
    "function": lambda rng: rng.integers(-4, 9),
}


def _drawn(delay: object, rng: np.random.Generator) -> Callable[[int, int], tuple[int, bool]]:
    """The delays of a run in the order in which they are drawn."""
    if isinstance(delay, int):
        delay = mb.FixedDelay(delay)

    def draw(t: int, e: int) -> tuple[int, bool]:
        rounds = int(delay.draw(rng, 1)[0] if isinstance(delay, mb.Delay) else delay(rng))
        return (rounds, False) if rounds >= 0 else (-1 - rounds, True)

    return draw


@pytest.mark.usefixtures("plain_draws")
@pytest.mark.parametrize("late", DELAYS)
@pytest.mark.parametrize("name", [name for name, (_, slow) in PAIRS.items() if slow])
def test_against_the_reference(name: str, late: str) -> None:
    horizon = 150
    make, make_slow = PAIRS[name]
    for seed in seeds(2):
        for pending in ("ignore",) if name in WITHOUT_PENDING else ("ignore", "count"):
            means = np.random.default_rng(seed).uniform(0.2, 0.9, 10)
            rewards = [bernoulli_rewards(seed, e, means[e], horizon) for e in range(10)]
            best = basis_value(matroids.best_basis(10, ASK, means), means)
            slow = ReferenceDecisions(make_slow(), pending=pending)
            delays = _drawn(DELAYS[late], delay_generator(seed))
            expected = delayed_run(slow, rewards, means, best, horizon, delays)

            policy = make(K5, **({} if name in WITHOUT_PENDING else {"pending": pending}))
            result = mb.simulate(
                policy,
                mb.BernoulliEnvironment(means),
                horizon,
                seed=seed,
                checkpoints=range(1, horizon + 1),
                delay=DELAYS[late],
            )
            assert result.regret.tolist() == expected
            assert policy.counts.tolist() == slow.counts
            seen = policy.counts > 0
            assert policy.means[seen].tolist() == np.array(slow.means)[seen].tolist()
            assert not policy.n_pending.any()
            assert not policy.open_decisions


@pytest.mark.parametrize("late", DELAYS)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("sense", ["max", "min"])
def test_the_compiled_loop_against_the_one_in_python(name: str, late: str, sense: str) -> None:
    problem = mb.Problem(K5, labels=EDGES, sense=sense)
    for seed in seeds(2):
        environment = mb.BernoulliEnvironment(np.random.default_rng(seed).uniform(0.2, 0.9, 10))
        policies = [PAIRS[name][0](problem) for _ in range(2)]
        policies[1]._deciding_kernel = lambda: None
        run = [
            mb.simulate(policy, environment, 400, seed=seed, delay=DELAYS[late])
            for policy in policies
        ]
        assert run[0].regret.tolist() == run[1].regret.tolist()
        for counter, curve in run[0].counter_curves.items():
            assert curve.tolist() == run[1].counter_curves[counter].tolist()
        assert policies[0].counts.tolist() == policies[1].counts.tolist()
        assert np.array_equal(policies[0].means, policies[1].means, equal_nan=True)
        assert not policies[1].n_pending.any()
        assert policies[0].rounds == policies[1].rounds == 400


@pytest.mark.parametrize("name", PAIRS)
def test_no_delay_is_the_usual_run(name: str) -> None:
    environment = mb.BernoulliEnvironment(np.linspace(0.1, 0.9, 10))
    usual = mb.simulate(PAIRS[name][0](K5), environment, 500, seed=1)
    for delay in (None, 0, mb.FixedDelay(0), mb.GeometricDelay(0), lambda rng: 0):
        run = mb.simulate(PAIRS[name][0](K5), environment, 500, seed=1, delay=delay)
        assert run.regret.tolist() == usual.regret.tolist()
        assert run.counters == usual.counters


def test_what_is_learned_when() -> None:
    heard = []

    class Listening(mb.Policy):
        """Plays the same set, and notes what it hears."""

        def _select(self):
            heard.append("decide")
            return [0, 2]

        def _observe(self, elements, rewards):
            heard.append(dict(zip(elements.tolist(), rewards.tolist(), strict=True)))

    # By round, those of elements 0 and 2; 9 is after the end, and -1 is lost.
    delays = iter([0, 2, 1, 1, 0, 0, 9, -1])
    environment = mb.BernoulliEnvironment([1.0, 0.5, 0.0])
    policy = Listening(mb.UniformMatroid(2, 3))
    mb.simulate(policy, environment, 4, delay=lambda _: next(delays))
    assert heard == [
        *("decide", {0: 1.0}),
        "decide",
        # Before round 4: the rest of rounds 1, 2 and 3.
        *("decide", {2: 0.0}, {0: 1.0, 2: 0.0}, {0: 1.0, 2: 0.0}),
        "decide",
    ]
    assert not policy.n_pending.any()


def test_what_was_selected_before_is_of_no_consequence() -> None:
    environment = mb.BernoulliEnvironment(np.linspace(0.1, 0.9, 10))
    regrets = set()
    for in_python in (False, True):
        for available in (None, range(10), range(1, 10), "not asked"):
            policy = mb.MAUB(K5, index="kl")
            if in_python:
                policy._deciding_kernel = lambda: None
            if available != "not asked":
                policy.select(available)
            regrets.add(mb.simulate(policy, environment, 200, delay=3).total_regret)
            assert policy.rounds == 200
    assert len(regrets) == 1


def test_a_policy_can_be_saved_after_a_run_with_lost_feedback(tmp_path) -> None:
    environment = mb.BernoulliEnvironment(np.linspace(0.1, 0.9, 10))
    for make in (mb.MAUB, mb.OSUB):
        policy = make(K5)
        mb.simulate(policy, environment, 300, delay=mb.GeometricDelay(20, lost=0.3))
        policy.save(tmp_path / "policy")
        twin = mb.load(tmp_path / "policy")
        for _ in range(20):
            one, other = policy.decide(), twin.decide()
            assert one.elements.tolist() == other.elements.tolist()
            rewards = (one.elements % 2).astype(float)
            policy.learn(one, rewards)
            twin.learn(other, rewards)


def test_without_decisions_there_is_no_delay() -> None:
    class Mine:
        matroid = mb.UniformMatroid(1, 2)

        def select(self):
            return [0]

        def update(self, elements, rewards):
            pass

    environment = mb.BernoulliEnvironment([0.5, 0.5])
    assert mb.simulate(Mine(), environment, 5, delay=0).rounds[-1] == 5
    with pytest.raises(ValueError, match=r"derive Mine from Policy, .*or leave delay= out"):
        mb.simulate(Mine(), environment, 5, delay=1)
