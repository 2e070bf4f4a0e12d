"""Environments whose means change, and the dynamic regret, against the reference: the same bits."""

from itertools import combinations

import numpy as np
import pytest

import matroid_bandits as mb

from ..reference import changing_means, indices, matroids
from ..reference.decisions import ReferenceDecisions
from ..reference.delays import delayed_run
from ..reference.policies import ReferenceGreedy, ReferenceMAUB
from ..reference.streams import reference_run
from ..seeds import seeds

EDGES = list(combinations("abcde", 2))
IS_FOREST = matroids.graphic(EDGES)
SIZE, HORIZON = len(EDGES), 700

TYPES = ["piecewise", "drifting", "seasonal", "function"]
KINDS = ["gaussian", "bernoulli"]
each_type = pytest.mark.parametrize("name", TYPES)
each_kind = pytest.mark.parametrize("kind", KINDS)


def two_versions(
    name: str, kind: str, seed: int, horizon: int = HORIZON
) -> tuple[mb.ChangingEnvironment, list[list[float]]]:
    """An environment, and the means of its rounds by the reference."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.3, 0.7, SIZE)
    std = None if kind == "bernoulli" else rng.uniform(0, 0.5, SIZE)
    how = {"std": std, "kind": kind}
    rounds = range(1, horizon + 1)
    if name == "piecewise":
        rows = rng.uniform(0, 1, (4, SIZE))
        # Equal means: ties go to the lowest element.
        rows[2] = rng.integers(0, 3, SIZE) / 2
        changes = np.sort(rng.choice(np.arange(2, horizon), 3, replace=False)).tolist()
        return (
            mb.PiecewiseEnvironment(rows, changes, **how),
            [changing_means.piecewise(rows, changes, t) for t in rounds],
        )
    if name == "drifting":
        # Large steps are reflected often.
        step = float(rng.choice([0.001, 0.05, 0.4]))
        walks = [
            changing_means.walk(seed, e, means[e], step, 0.25, 0.75, horizon) for e in range(SIZE)
        ]
        return (
            mb.DriftingEnvironment(means, step=step, low=0.25, high=0.75, seed=seed, **how),
            [[walk[t] for walk in walks] for t in range(horizon)],
        )
    if name == "seasonal":
        amplitudes, phases = rng.uniform(-0.3, 0.3, SIZE), rng.uniform(-1, 2, SIZE)
        period = float(rng.uniform(2, 300))
        return (
            mb.SeasonalEnvironment(means, amplitude=amplitudes, period=period, phase=phases, **how),
            [
                [
                    changing_means.seasonal(means[e], amplitudes[e], period, phases[e], t)
                    for e in range(SIZE)
                ]
                for t in rounds
            ],
        )
    table = rng.integers(0, 5, (horizon, SIZE)) / 4
    return (
        mb.FunctionEnvironment(lambda t, elements: table[t - 1, elements], SIZE, **how),
        table.tolist(),
    )


def reference_rewards(environment: mb.ChangingEnvironment, seed: int, means: list) -> object:
    std = environment.std
    return changing_means.changing_rewards(seed, means, None if std is None else std.tolist())


@each_kind
@each_type
def test_means_of_the_rounds(name: str, kind: str) -> None:
    for seed in seeds(3):
        environment, expected = two_versions(name, kind, seed)
        assert environment.means_at(range(1, HORIZON + 1)).tolist() == expected
        # In any order.
        for t in (HORIZON, 1, 2, HORIZON // 2):
            assert environment.means_at(t).tolist() == expected[t - 1]


@each_kind
@each_type
def test_rewards(name: str, kind: str) -> None:
    for seed in seeds(3):
        environment, means = two_versions(name, kind, seed)
        reward = reference_rewards(environment, seed + 10, means)
        rng = np.random.default_rng(seed)
        rewards = environment.rewards(seed + 10)
        pulls = [0] * SIZE
        t = 0
        for _ in range(HORIZON):
            # Most calls are the next round; some go back or forth.
            jump = (
                int(rng.integers(1, HORIZON + 1)) if rng.random() < 0.05 or t == HORIZON else None
            )
            t = t + 1 if jump is None else jump
            elements = rng.permutation(SIZE)[: rng.integers(0, SIZE + 1)]
            drawn = rewards.draw(elements, round=jump)
            assert rewards.round == t
            for e, value in zip(elements.tolist(), drawn.tolist(), strict=True):
                assert value == reward(e, pulls[e], t)
                pulls[e] += 1


class Wrapped:
    """A policy of somebody's own: nothing but select and update."""

    def __init__(self, policy: mb.Policy) -> None:
        self.matroid = policy.problem
        self._policy = policy

    def select(self) -> list[int]:
        return self._policy.select().tolist()

    def update(self, elements: np.ndarray, rewards: np.ndarray) -> None:
        self._policy.update(elements, rewards)


class InPython(mb.MAUB):
    """A policy with a rule of its own, written in Python: every seventh round is the first tree."""

    def _select(self) -> np.ndarray:
        return self.matroid.max_weight_basis(
            np.arange(SIZE) if self.rounds % 7 == 0 else np.nan_to_num(self.means, nan=9.0)
        )


@each_kind
@each_type
@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
def test_dynamic_regret(cls: type[mb.Policy], name: str, kind: str) -> None:
    matroid = mb.GraphicMatroid(EDGES)
    for seed in seeds(2):
        environment, means = two_versions(name, kind, seed)
        make = ReferenceMAUB if cls is mb.MAUB else ReferenceGreedy
        expected = reference_run(
            make(SIZE, IS_FOREST, indices.UCB()),
            reference_rewards(environment, seed, means),
            lambda t, means=means: means[t - 1],
            lambda t, means=means: changing_means.best_value(means[t - 1], IS_FOREST),
            HORIZON,
        )
        rounds = range(1, HORIZON + 1)
        result = mb.simulate(cls(matroid), environment, HORIZON, seed=seed, checkpoints=rounds)
        assert result.regret.tolist() == expected
        foreign = mb.simulate(
            Wrapped(cls(matroid)), environment, HORIZON, seed=seed, checkpoints=rounds
        )
        assert foreign.regret.tolist() == expected


@each_type
def test_costs(name: str) -> None:
    """Against the basis of least cost of every round."""
    problem = mb.Problem(mb.GraphicMatroid(EDGES), sense="min")
    for seed in seeds(2):
        environment, means = two_versions(name, "gaussian", seed)
        costs = reference_rewards(environment, seed, means)
        expected = reference_run(
            ReferenceGreedy(SIZE, IS_FOREST, indices.UCB()),
            lambda e, k, t, costs=costs: -costs(e, k, t),
            lambda t, means=means: [-mean for mean in means[t - 1]],
            lambda t, means=means: changing_means.best_value([-m for m in means[t - 1]], IS_FOREST),
            HORIZON,
        )
        rounds = range(1, HORIZON + 1)
        for policy in (mb.OMM(problem), Wrapped(mb.OMM(problem))):
            result = mb.simulate(policy, environment, HORIZON, seed=seed, checkpoints=rounds)
            assert result.regret.tolist() == expected


@each_kind
@each_type
@pytest.mark.parametrize("delay", [3, 40])
def test_late_feedback_is_of_the_round_of_the_play(name: str, kind: str, delay: int) -> None:
    matroid = mb.GraphicMatroid(EDGES)
    for seed in seeds(2):
        environment, means = two_versions(name, kind, seed)
        expected = delayed_run(
            ReferenceDecisions(ReferenceMAUB(SIZE, IS_FOREST, indices.UCB())),
            reference_rewards(environment, seed, means),
            lambda t, means=means: means[t - 1],
            lambda t, means=means: changing_means.best_value(means[t - 1], IS_FOREST),
            HORIZON,
            lambda _t, _e: (delay, False),
        )
        rounds = range(1, HORIZON + 1)
        result = mb.simulate(
            mb.MAUB(matroid), environment, HORIZON, seed=seed, checkpoints=rounds, delay=delay
        )
        assert result.regret.tolist() == expected


@each_type
@pytest.mark.parametrize("delay", [None, 5])
def test_a_rule_in_python(name: str, delay: int | None) -> None:
    """The loop for rules written in Python measures the same regret as a loop by hand."""
    matroid = mb.GraphicMatroid(EDGES)
    environment, means = two_versions(name, "bernoulli", 1)
    policy = InPython(matroid)
    result = mb.simulate(policy, environment, 200, seed=4, checkpoints=range(1, 201), delay=delay)
    reward = reference_rewards(environment, 4, means)
    replayed = InPython(matroid)
    total, pulls, due = 0.0, [0] * SIZE, {}
    for t in range(1, 201):
        decision = replayed.decide()
        basis = np.sort(decision.elements)
        drawn = {}
        for e in basis.tolist():
            drawn[e] = reward(e, pulls[e], t)
            pulls[e] += 1
        due[t + (delay or 0)] = decision, drawn
        if t in due:
            replayed.learn(*due.pop(t))
        total += changing_means.best_value(means[t - 1], IS_FOREST) - changing_means.basis_value(
            basis.tolist(), means[t - 1]
        )
        assert result.regret[t - 1] == total
    assert np.array_equal(policy.means, replayed.means, equal_nan=True)


def test_a_piece_that_stays_is_the_fixed_environment() -> None:
    """Without any change, regret and rewards are those of the environment with fixed means."""
    means = mb.random_means(SIZE, 3)
    matroid = mb.GraphicMatroid(EDGES)
    for changing, fixed in (
        (mb.PiecewiseEnvironment([means], []), mb.GaussianEnvironment(means)),
        (
            mb.PiecewiseEnvironment([means], [], kind="bernoulli"),
            mb.BernoulliEnvironment(means),
        ),
        (mb.DriftingEnvironment(means, step=0.0), mb.GaussianEnvironment(means)),
        (
            mb.SeasonalEnvironment(means, amplitude=0.0, period=10),
            mb.GaussianEnvironment(means),
        ),
    ):
        for cls in (mb.MAUB, mb.CTS if fixed.reward_range == (0, 1) else mb.OMM):
            one = mb.simulate(cls(matroid), changing, 2000, seed=1)
            other = mb.simulate(cls(matroid), fixed, 2000, seed=1)
            assert one.regret.tolist() == other.regret.tolist()
