"""Random calls of the public functions end with a result or with an error that we mean.

`make test-sanitized` runs many more of them on kernels in which every access to memory is checked.
"""

import copy
import os
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb

from ..seeds import seeds
from .worlds import World

# Ten batches, so that they run on several cores.
BATCHES = 10
PER_BATCH = int(os.environ.get("FUZZ", "20"))

# Rewards far from the mean are warned about, once.
pytestmark = pytest.mark.filterwarnings("ignore:element .* had a mean:UserWarning")

# What bad input, an odd matroid or a call from within may end with.
EXPECTED = (ValueError, TypeError, RuntimeError, NotImplementedError, IndexError)


def _elements(world: World) -> np.ndarray:
    """Some elements; now and then such that do not exist, or one twice."""
    size = world.matroid.size
    if world.rng.random() < 0.1:
        return world.rng.integers(-2, size + 3, world.rng.integers(0, size + 4))
    return np.flatnonzero(world.rng.random(size) < 0.6)


def _weights(world: World) -> np.ndarray:
    size = world.matroid.size + int(world.rng.random() < 0.05)
    weights = world.rng.random(size)
    if size and world.rng.random() < 0.2:
        weights[world.rng.integers(size)] = world.rng.choice([np.inf, -np.inf, np.nan, 1e300])
    return weights


def _play(world: World) -> None:
    for _ in range(world.rng.integers(1, 12)):
        basis = world.policy.select()
        world.policy.update(basis, world.rng.random(len(basis)))


def _play_available(world: World) -> None:
    for _ in range(world.rng.integers(1, 6)):
        basis = world.policy.select(available=_elements(world))
        world.policy.update(basis, world.rng.random(len(basis)))


def _update(world: World) -> None:
    elements = _elements(world)
    rewards = world.rng.random(len(elements) + int(world.rng.random() < 0.1))
    if len(rewards) and world.rng.random() < 0.2:
        rewards[0] = world.rng.choice([np.nan, np.inf, 1e308, -1e308, 7.0])
    world.policy.update(elements, rewards)


def _decide(world: World) -> None:
    """Several decisions, some of them with ids of their own."""
    for _ in range(world.rng.integers(1, 6)):
        options: dict[str, Any] = {"allow_smaller": bool(world.rng.random() < 0.7)}
        if world.rng.random() < 0.5:
            options["available"] = _elements(world)
            if world.rng.random() < 0.5:
                size = world.matroid.size + int(world.rng.random() < 0.05)
                options["available"] = world.rng.random(size) < 0.7
        if world.rng.random() < 0.3:
            ids = ["a", "b", 3, 10**30, "", 1.5, None, True, ("a",)]
            options["id"] = ids[world.rng.integers(len(ids))]
        if world.rng.random() < 0.3:
            options["propensities"] = [1, 3, 10, 0, 2.5, "many"][world.rng.integers(6)]
        world.decisions.append(world.policy.decide(**options))


def _decision(world: World) -> Any:
    """A decision or an id, now and then one that does not exist."""
    if not world.decisions or world.rng.random() < 0.1:
        return [0, -1, 10**30, "nobody", None, 1.5, [1], object()][world.rng.integers(8)]
    chosen = world.decisions[world.rng.integers(len(world.decisions))]
    return chosen if world.rng.random() < 0.5 else chosen.id


def _learn(world: World) -> None:
    for _ in range(world.rng.integers(1, 6)):
        decision = _decision(world)
        elements = list(getattr(decision, "elements", _elements(world)))
        if world.rng.random() < 0.4:
            elements = elements[: world.rng.integers(0, len(elements) + 1)]
        rewards: Any = world.rng.integers(0, 3, len(elements)) / 2
        if len(rewards) and world.rng.random() < 0.1:
            rewards[0] = world.rng.choice([np.nan, np.inf, 1e308, -1e308, 7.0])
        if world.rng.random() < 0.7:
            rewards = dict(zip(elements, rewards, strict=True))
        world.policy.learn(decision, rewards, final=bool(world.rng.random() < 0.2))


def _expire(world: World) -> None:
    ids: Any = [_decision(world) for _ in range(world.rng.integers(0, 4))]
    if world.rng.random() < 0.3:
        ids = _decision(world)
    elif world.rng.random() < 0.2:
        ids = world.policy.open_decisions
    if world.rng.random() < 0.5:
        world.policy.expire(ids)
    else:
        world.policy.expire(ids, reward=world.rng.choice([0.0, 0.5, 1.0, np.nan, 7.0]))


def _save(world: World) -> None:
    other = copy.deepcopy(world.policy)
    if isinstance(world.policy.matroid, mb.UniformMatroid):
        other = pickle.loads(pickle.dumps(world.policy))
    basis = other.select()
    other.update(basis, world.rng.random(len(basis)))
    decision = other.decide()
    other.expire(other.open_decisions, reward=0.5)
    other.learn(decision, {})


def _simulate(world: World) -> None:
    fresh = type(world.policy)(world.matroid)
    mb.simulate(fresh, world.environment, int(world.rng.integers(1, 60)), seed=3)


def _from_threads(world: World) -> None:
    """Four threads on one policy; each call is done as if it were alone."""

    def call() -> None:
        for _ in range(5):
            try:
                _play(world)
                _play_available(world)
                _decide(world)
                _learn(world)
                _expire(world)
            except EXPECTED:
                pass
            except Exception as error:  # noqa: BLE001 (raised again by the test)
                unexpected.append(error)

    unexpected: list[Exception] = []
    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if unexpected:
        raise unexpected[0]


def _look(world: World) -> None:
    policy = world.policy
    repr(policy)
    policy.explain()
    for name in ("counts", "means", "leader", "rounds", "oracle_calls", "greedy_calls", "bound"):
        getattr(policy, name, None)
    for decision in policy.open_decisions.values():
        repr(decision)
        decision.to_dict()


def _ask_matroid(world: World) -> None:
    matroid = world.matroid
    calls: list[Callable[[], object]] = [
        lambda: matroid.is_independent(_elements(world)),
        lambda: matroid.max_weight_basis(_weights(world)),
        lambda: matroid.fundamental_circuit(
            matroid.max_weight_basis(world.rng.random(matroid.size)),
            int(world.rng.integers(-1, matroid.size + 1)),
        ),
        lambda: (matroid.rank, matroid.loops),
        lambda: list(matroid.bases())[:5],
        lambda: list(matroid.circuits())[:5],
        matroid.n_bases,
        lambda: matroid.dual().rank,
        lambda: matroid.truncate(2).max_weight_basis(np.ones(matroid.size)),
        lambda: matroid.contract(_elements(world)).rank,
        lambda: matroid.delete(_elements(world)).rank,
        lambda: (matroid | matroid).rank,
        lambda: (matroid + matroid).loops,
    ]
    calls[world.rng.integers(len(calls))]()


def _ask_bounds(world: World) -> None:
    mb.gaps(world.matroid, _weights(world))
    mb.regret_lower_bound(world.matroid, world.environment, 1000)


def _draw(world: World) -> None:
    rewards = world.environment.rewards(int(world.rng.integers(0, 2**40)))
    for _ in range(5):
        rewards.draw(_elements(world))


CALLS: list[Callable[[World], None]] = [
    _play,
    _play,
    _play,
    _play_available,
    _play_available,
    _update,
    _decide,
    _decide,
    _decide,
    _learn,
    _learn,
    _expire,
    _save,
    _simulate,
    _look,
    _ask_matroid,
    _ask_matroid,
    _ask_bounds,
    _draw,
    lambda world: world.policy.greedy_basis(_weights(world)),
]


def _run(seed: int, calls: list[Callable[[World], None]], n_calls: int) -> int:
    """Random calls in one world; return how many were done."""
    rng = np.random.default_rng([seed, 40])
    done = 0
    try:
        world = World(rng)
    except EXPECTED:
        return done
    for _ in range(n_calls):
        call = calls[rng.integers(len(calls))]
        try:
            call(world)
            done += 1
        except Exception as error:
            if not isinstance(error, EXPECTED) or isinstance(error, RecursionError):
                error.add_note(f"seed {seed}: {world.policy!r} on {world.matroid!r}")
                raise
        _check(world.policy)
    return done


def _check(policy: Any) -> None:
    """Whatever was refused, a policy's numbers remain numbers that it can have."""
    assert policy.counts.min(initial=0) >= 0
    assert policy.rounds >= policy.counts.max(initial=0)
    observed = policy.counts > 0
    assert np.isfinite(policy.means[observed]).all()
    assert np.isnan(policy.means[~observed]).all()
    waiting = [len(decision.elements) for decision in policy.open_decisions.values()]
    assert policy.n_pending.min(initial=0) >= 0
    # One selection may be waiting too.
    assert policy.n_pending.sum() <= sum(waiting) + len(policy.counts)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_calls(batch: int) -> None:
    worlds = seeds(2 * PER_BATCH)
    done = sum(_run(BATCHES * k + batch, CALLS, 20) for k in worlds)
    # Most calls of most worlds are not refused.
    assert done > 5 * len(worlds)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_calls_from_threads(batch: int) -> None:
    for k in seeds(max(1, PER_BATCH // 5)):
        _run(10_000 + BATCHES * k + batch, [_from_threads], 2)
