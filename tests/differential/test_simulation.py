"""The compiled loop against a replay in plain Python: the same regret to the last bit."""

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from ..reference.policies import ReferenceMAUB, ReferenceOMM
from ..reference.streams import (
    basis_value,
    bernoulli_rewards,
    gaussian_rewards,
    means_generator,
    reference_run,
)
from ..seeds import FAMILIES, seeds


class Wrapped:
    """A policy of somebody's own: nothing but select and update."""

    def __init__(self, policy: mb.Policy) -> None:
        self._policy = policy

    def select(self) -> list[int]:
        return self._policy.select().tolist()

    def update(self, elements: np.ndarray, rewards: np.ndarray) -> None:
        self._policy.update(elements.tolist(), rewards.tolist())


@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("noise", catalog.ENVIRONMENTS)
def test_replay_through_select_and_update(cls: type[mb.Policy], family: str, noise: str) -> None:
    for seed in seeds(3):
        rng = np.random.default_rng(seed)
        matroid = catalog.MATROIDS[family].random(rng, 12)
        environment = catalog.ENVIRONMENTS[noise].random(rng, 12)
        horizon = 1000
        every_round = np.arange(1, horizon + 1)
        policy = cls(matroid)
        result = mb.simulate(policy, environment, horizon, seed=seed, checkpoints=every_round)

        replayed = cls(matroid)
        rewards = environment.rewards(seed)
        changes = isinstance(environment, mb.ChangingEnvironment)
        table = environment.means_at(every_round) if changes else None
        total = 0.0
        if table is None:
            means = environment.means
            best = matroid.max_weight_basis(means)
        for t in range(horizon):
            if table is not None:
                means = table[t]
                best = matroid.max_weight_basis(means)
            basis = replayed.select()
            replayed.update(basis, rewards.draw(basis))
            total += basis_value(best, means) - basis_value(basis, means)
            assert result.regret[t] == total
            for name, curve in result.counter_curves.items():
                assert curve[t] == getattr(replayed, name)
        assert result.total_regret == total
        assert np.array_equal(policy.means, replayed.means, equal_nan=True)

        # A policy without anything but select and update takes the other loop.
        foreign = mb.simulate(
            Wrapped(cls(matroid)), environment, horizon, seed=seed, matroid=matroid
        )
        assert foreign.total_regret == total


@pytest.mark.parametrize("pair", [(mb.MAUB, ReferenceMAUB), (mb.OMM, ReferenceOMM)])
@pytest.mark.parametrize("noise", ["gaussian", "bernoulli"])
def test_reference_run_with_numpys_generators_only(pair: tuple, noise: str) -> None:
    cls, reference_cls = pair
    matroid = mb.GraphicMatroid.complete(5)
    means = means_generator(3).uniform(0.5, 1, 10)
    horizon = 3000
    if noise == "gaussian":
        environment: mb.Environment = mb.GaussianEnvironment(means, 0.2)
        rewards = [gaussian_rewards(3, e, means[e], 0.2, horizon) for e in range(10)]
    else:
        environment = mb.BernoulliEnvironment(means)
        rewards = [bernoulli_rewards(3, e, means[e], horizon) for e in range(10)]
    best = basis_value(matroid.max_weight_basis(means), means)
    reference = reference_cls(10, matroid.is_independent)
    expected = reference_run(reference, rewards, means, best, horizon)
    result = mb.simulate(
        cls(matroid), environment, horizon, seed=3, checkpoints=range(1, horizon + 1)
    )
    assert result.regret.tolist() == expected
    if cls is mb.OMM:
        assert result.counters["oracle_calls"] == reference.oracle_calls


class Meddling(mb.GaussianEnvironment):
    """Calls the policy that is being simulated."""

    policy: mb.Policy
    refused = 0

    def _sample(self, rng: np.random.Generator, element: int, count: int) -> np.ndarray:
        for call in (
            self.policy.select,
            lambda: self.policy.update([element], [100.0]),
            lambda: mb.simulate(self.policy, self, 10),
        ):
            # A policy that has rounds behind it is refused by simulate for that reason.
            with pytest.raises((RuntimeError, ValueError), match=r"deciding right now|already"):
                call()
            self.refused += 1
        return np.asarray(super()._sample(rng, element, count))


@pytest.mark.parametrize("name", ["MAUB", "OMM", "ESCB", "FasterCUCB", "OSUB", "CTS"])
def test_an_environment_cannot_call_the_policy_it_answers(name: str) -> None:
    matroid = mb.GraphicMatroid.complete(4)
    environment = Meddling(np.linspace(0.4, 0.6, 6), 0.0)
    environment.policy = catalog.POLICIES[name]._example(matroid)
    result = mb.simulate(environment.policy, environment, 300)
    assert environment.refused > 0
    assert environment.policy.rounds == 300
    plain = catalog.POLICIES[name]._example(matroid)
    expected = mb.simulate(plain, mb.GaussianEnvironment(np.linspace(0.4, 0.6, 6), 0.0), 300)
    assert result.regret.tolist() == expected.regret.tolist()
    assert environment.policy.means.tolist() == plain.means.tolist()
    # Afterwards it may be used again.
    environment.policy.update(environment.policy.select(), [0.5, 0.5, 0.5])


def test_a_failed_draw_leaves_the_policy_usable() -> None:
    class Failing(mb.GaussianEnvironment):
        def _sample(self, rng: np.random.Generator, element: int, count: int) -> np.ndarray:
            raise KeyError(element)

    policy = mb.MAUB(mb.UniformMatroid(1, 3))
    with pytest.raises(KeyError):
        mb.simulate(policy, Failing([0.5, 0.4, 0.3]), 10)
    assert policy.rounds == 0
    policy.update(policy.select(), [0.5])
    assert policy.rounds == 1
