"""Checks of a policy on a matroid, shared by the contract tests."""

import copy
import pickle

import numpy as np

import matroid_bandits as mb


def assert_every_playable_element_is_tried(policy: mb.Policy) -> None:
    """Every playable element is played, loops are not."""
    matroid = policy.matroid
    means = np.linspace(0.1, 1, matroid.size)
    mb.simulate(policy, mb.BernoulliEnvironment(means), 200)
    playable = np.setdiff1d(np.arange(matroid.size), matroid.loops)
    assert (policy.counts[playable] > 0).all()
    assert (policy.counts[matroid.loops] == 0).all()
    assert policy.counts.sum() == 200 * matroid.rank


def assert_copies_continue_alike(policy: mb.Policy, rounds: int) -> None:
    """Pickled and continued equals never pickled."""
    matroid = policy.matroid
    means = np.linspace(0.2, 0.8, matroid.size)
    rewards = mb.BernoulliEnvironment(means).rewards(seed=1)
    for t in range(rounds):
        # Saved between rounds and between select and update.
        if t in {0, 3, rounds // 3, 2 * rounds // 3}:
            other = pickle.loads(pickle.dumps(policy))
        basis = policy.select()
        if t in {1, rounds // 2}:
            other = copy.deepcopy(policy)
        assert other.select().tolist() == basis.tolist()
        assert matroid.is_independent(basis)
        drawn = rewards.draw(basis)
        policy.update(basis, drawn)
        other.update(basis, drawn)
    assert np.array_equal(other.means, policy.means, equal_nan=True)
    assert other.oracle_calls == policy.oracle_calls
    assert other.rounds == policy.rounds == rounds
