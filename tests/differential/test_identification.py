"""Identification against the slow reference: what is played in every round, and what is found.

The k-th reward of an element depends on nothing but the seed, so that counts and means tell what
was played; the last tests compare the rounds one by one.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import identification as rules

from .. import recipes
from ..reference import identification as reference
from ..reference import matroids as textbook
from ..seeds import seeds

BUDGET = 120
LIMIT = 250
RULES: dict[str, tuple[Callable[..., Any], Callable[[], reference.Rule]]] = {
    "UniformSampling": (rules.UniformSampling, reference.Uniform),
    "LUCBExchange": (rules.LUCBExchange, reference.LUCBExchange),
    "BestChallenger": (rules.BestChallenger, reference.BestChallenger),
    "CLUCB": (rules.CLUCB, reference.CLUCB),
    "FrankWolfe": (rules.FrankWolfe, reference.FrankWolfe),
}
each_rule = pytest.mark.parametrize("name", RULES)
each_model = pytest.mark.parametrize("model", ["basis", "element"])
each_threshold = pytest.mark.parametrize("threshold", ["proven", "customary"])


class Fractions(mb.Environment):
    """Rewards between 0 and 1 that are never the same."""

    def _sample(self, rng: np.random.Generator, element: int, count: int) -> Any:
        return rng.beta(2 * self.means[element], 2 - 2 * self.means[element], count)

    def _reward_range(self) -> tuple[float, float]:
        return 0.0, 1.0


NOISE = 0.3
ENVIRONMENTS: dict[
    str, tuple[Callable[[Any], mb.Environment], reference.Family, dict[str, Any]]
] = {
    "gaussian": (
        lambda means: mb.GaussianEnvironment(means, NOISE),
        reference.Gaussian(NOISE),
        {},
    ),
    "bernoulli": (mb.BernoulliEnvironment, reference.Bernoulli(), {}),
    "fractions": (Fractions, reference.Bernoulli(), {"family": "bernoulli"}),
    "fractions as gaussian": (Fractions, reference.Gaussian(0.5), {"noise": 0.5}),
}
each_environment = pytest.mark.parametrize("rewards", ENVIRONMENTS)


@dataclass
class World:
    """What is played: ours and the textbook's."""

    problem: Any
    is_independent: textbook.Independence

    @property
    def size(self) -> int:
        return int(self.problem.size)

    @property
    def are_costs(self) -> bool:
        return isinstance(self.problem, mb.Problem) and self.problem.sense == "min"

    def numbers(self, names: Iterable[Any]) -> frozenset[int]:
        if isinstance(self.problem, mb.Problem):
            return frozenset(self.problem.elements(list(names)).tolist())
        return frozenset(int(e) for e in names)


EDGES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 1), (0, 1)]
GROUPS = list("aabbbcc")
NEIGHBORS: list[list[int]] = [[0, 1], [0], [0, 1], [2], [], [1, 2]]
VECTORS = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]]
WORLDS: dict[str, Callable[[], World]] = {
    "uniform": lambda: World(mb.UniformMatroid(2, 5), textbook.uniform(2)),
    "graph with labels": lambda: World(
        mb.Problem(mb.GraphicMatroid(EDGES), labels=list("abcdefg")), textbook.graphic(EDGES)
    ),
    "costs with labels": lambda: World(
        mb.Problem(mb.PartitionMatroid(GROUPS, 1), labels=list("tuvwxyz"), sense="min"),
        textbook.partition(GROUPS, dict.fromkeys("abc", 1)),
    ),
    "costs": lambda: World(
        mb.Problem(mb.TransversalMatroid(NEIGHBORS), sense="min"), textbook.transversal(NEIGHBORS)
    ),
    "vectors": lambda: World(mb.LinearMatroid(np.array(VECTORS)), textbook.linear(VECTORS)),
    "Python": lambda: World(mb.OracleMatroid(7, textbook.graphic(EDGES)), textbook.graphic(EDGES)),
}
each_world = pytest.mark.parametrize("world", WORLDS)


def expected_run(
    world: World,
    rule: reference.Rule,
    environment: mb.Environment,
    family: reference.Family,
    seed: int,
    **settings: Any,
) -> reference.Run:
    stream = environment.rewards(seed)
    return reference.identify(
        world.size,
        cache(world.is_independent),
        rule,
        lambda elements: stream.draw(np.array(elements, dtype=np.intp)).tolist(),
        family,
        are_costs=world.are_costs,
        **settings,
    )


def compare(
    world: World,
    make: Callable[..., Any],
    make_reference: Callable[[], reference.Rule],
    rewards: str,
    means: Any,
    seed: int,
    *,
    model: str = "basis",
    limit: int = LIMIT,
    **settings: Any,
) -> tuple[mb.Identification, reference.Run]:
    """Both runs, which are the same."""
    new_environment, family, arguments = ENVIRONMENTS[rewards]
    environment = new_environment(means)
    expected = expected_run(
        world, make_reference(), environment, family, seed, model=model, limit=limit, **settings
    )
    if expected.close_call is not None and expected.close_call < expected.rounds:
        # From here on, rounding may decide otherwise.
        limit = expected.close_call
        expected = expected_run(
            world, make_reference(), environment, family, seed, model=model, limit=limit, **settings
        )
    rule = make(world.problem, model=model)
    found = mb.identify(rule, environment, limit=limit, seed=seed, **arguments, **settings)
    assert found.counts.tolist() == expected.counts
    assert found.rounds == expected.rounds
    assert found.observations == sum(expected.counts)
    _compare_means(world, family, found.means, expected)
    if expected.close_call != expected.rounds:
        assert found.settled == expected.settled
        assert world.numbers(found.basis) == expected.basis
    return found, expected


def _compare_means(
    world: World, family: reference.Family, means: Any, expected: reference.Run
) -> None:
    """Equal to the last bit; of costs, what the learner learns is one subtraction away."""
    for e, count in enumerate(expected.counts):
        if count:
            gain = expected.means[e]
            assert means[e] == (family.pivot - gain if world.are_costs else gain)


def compare_statistics(found: mb.Identification, expected: reference.Run) -> None:
    judged = expected.judgement
    assert found.statistic == pytest.approx(judged.statistic, rel=1e-12, abs=1e-13)
    place = judged.hardest
    # Pairs that are equally hard by different numbers may be rounded to either side.
    if place is not None and sum(m < min(judged.margins) + 1e-9 for m in judged.margins) == 1:
        assert found.threshold == pytest.approx(judged.thresholds[place], rel=1e-9)


def some_means(world: World, rng: np.random.Generator) -> Any:
    """Far apart, so that runs end, or not."""
    if rng.random() < 0.5:
        return rng.permutation(np.linspace(0.05, 0.95, world.size))
    return rng.uniform(0.2, 0.8, world.size)


# --- every rule ----------------------------------------------------------------------------------


@each_rule
@each_model
@each_threshold
@each_environment
@each_world
def test_round_for_round(name: str, model: str, threshold: str, rewards: str, world: str) -> None:
    for seed in seeds(2):
        rng = np.random.default_rng([seed, 51])
        made = WORLDS[world]()
        found, expected = compare(
            made,
            *RULES[name],
            rewards,
            some_means(made, rng),
            seed,
            model=model,
            threshold=threshold,
            delta=float(rng.choice([0.3, 0.05])),
        )
        compare_statistics(found, expected)


@each_rule
@each_model
@pytest.mark.parametrize("rewards", ["gaussian", "fractions"])
def test_compositions(name: str, model: str, rewards: str) -> None:
    for seed in seeds(10):
        rng = np.random.default_rng([seed, 52])
        recipe = recipes.random_recipe(rng, int(rng.integers(0, 8)), depth=2)
        world = World(recipe.build(), recipe.is_independent)
        found, expected = compare(
            world,
            *RULES[name],
            rewards,
            rng.uniform(0.05, 0.95, recipe.size),
            seed,
            model=model,
            limit=120,
            threshold="customary",
        )
        compare_statistics(found, expected)


@each_rule
@each_model
@pytest.mark.parametrize("rewards", ["gaussian", "fractions"])
def test_nearly_best_is_good_enough(name: str, model: str, rewards: str) -> None:
    for seed, eps in enumerate([0.01, 0.1, 0.3]):
        world = WORLDS["graph with labels"]()
        means = np.random.default_rng([seed, 53]).uniform(0.1, 0.9, 7)
        found, expected = compare(
            world, *RULES[name], rewards, means, seed, model=model, limit=100, eps=eps
        )
        compare_statistics(found, expected)


@each_model
@each_world
@pytest.mark.parametrize("rewards", ["gaussian", "fractions"])
def test_clucb_stops_by_itself(model: str, rewards: str, world: str) -> None:
    made = WORLDS[world]()
    # Far apart where it matters, in the order of the sense.
    basis = reference.Ground(made.size, made.is_independent).greedy(range(made.size))
    means = np.array([0.9 if e in basis else 0.1 for e in range(made.size)])
    means = (1 - means if made.are_costs else means) + np.linspace(0, 0.05, made.size)
    found, expected = compare(
        made, *RULES["CLUCB"], rewards, means, 0, model=model, limit=4000, threshold="own"
    )
    assert expected.settled
    assert found.is_correct
    assert found.statistic == pytest.approx(expected.judgement.statistic, rel=1e-12)


@each_model
@each_environment
@each_world
@pytest.mark.parametrize("budget", ["n", "n + 1", "2 n + 3", BUDGET])
def test_csar(model: str, rewards: str, world: str, budget: Any) -> None:
    for seed in seeds(2):
        made = WORLDS[world]()
        n = made.size - len(textbook.loops(made.size, made.is_independent))
        count = {"n": n, "n + 1": n + 1, "2 n + 3": 2 * n + 3}.get(budget, budget)
        found, _ = compare(
            made,
            lambda problem, model, count=count: rules.CSAR(problem, count, model=model),
            lambda count=count: reference.CSAR(count),
            rewards,
            some_means(made, np.random.default_rng([seed, 54])),
            seed,
            model=model,
        )
        assert found.rounds <= count


@each_model
@each_world
@pytest.mark.parametrize("rewards", ["gaussian", "bernoulli"])
def test_exact_exp_gap(model: str, rewards: str, world: str) -> None:
    made = WORLDS[world]()
    means = np.linspace(0.0, 1.0, made.size)
    compare(
        made,
        rules.ExactExpGap,
        reference.ExactExpGap,
        rewards,
        means,
        0,
        model=model,
        limit=6000,
        delta=0.2,
    )


@each_model
def test_exact_exp_gap_at_the_limit(model: str) -> None:
    compare(
        WORLDS["uniform"](),
        rules.ExactExpGap,
        reference.ExactExpGap,
        "gaussian",
        np.linspace(0, 1, 5),
        0,
        model=model,
        limit=50,
    )


# --- special cases -------------------------------------------------------------------------------


@each_rule
@each_model
@each_world
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_small_limits(name: str, model: str, world: str, limit: int) -> None:
    made = WORLDS[world]()
    means = np.linspace(0.1, 0.9, made.size)
    found, _ = compare(made, *RULES[name], "gaussian", means, 0, model=model, limit=limit)
    assert found.rounds == limit
    assert not found.settled


@pytest.mark.parametrize("name", [*RULES, "CSAR", "ExactExpGap"])
@each_model
@pytest.mark.parametrize("rank, size", [(0, 1), (0, 3), (1, 1), (3, 3)])
def test_a_single_basis_needs_no_rounds(name: str, model: str, rank: int, size: int) -> None:
    matroid = mb.UniformMatroid(rank, size)
    if name == "CSAR":
        rule: Any = rules.CSAR(matroid, 10, model=model)
    else:
        rule = getattr(rules, name)(matroid, model=model)
    found = mb.identify(rule, mb.GaussianEnvironment(np.linspace(0, 1, size)))
    assert found.rounds == found.observations == 0
    assert list(found.basis) == list(range(rank))
    assert found.counts.tolist() == [0] * size
    if name != "CSAR":
        assert found.settled
        assert found.statistic == math.inf


@each_rule
@each_model
def test_equal_means_of_rewards_without_noise(name: str, model: str) -> None:
    """Ties in everything: they are broken in one way only."""
    environment = mb.GaussianEnvironment([0.5, 0.5, 0.75, 0.5, 0.75, 0.5], 0.0)
    world = World(mb.UniformMatroid(2, 6), textbook.uniform(2))
    make, make_reference = RULES[name]
    for limit in (3, 6, 10, 40, 150):
        expected = expected_run(
            world,
            make_reference(),
            environment,
            reference.Gaussian(1.0),
            0,
            model=model,
            limit=limit,
        )
        found = mb.identify(make(world.problem, model=model), environment, limit=limit, noise=1.0)
        assert found.counts.tolist() == expected.counts, limit
        assert list(found.basis) == sorted(expected.basis)


@each_rule
@each_model
@pytest.mark.parametrize("rewards", ["gaussian", "fractions"])
def test_every_round(name: str, model: str, rewards: str) -> None:
    """The elements played in each round: what a run of one round more has observed more."""
    world = WORLDS["graph with labels"]()
    make, make_reference = RULES[name]
    new_environment, family, arguments = ENVIRONMENTS[rewards]
    environment = new_environment(np.array([0.9, 0.4, 0.5, 0.45, 0.7, 0.5, 0.6]))
    expected = expected_run(world, make_reference(), environment, family, 5, model=model, limit=60)
    assert expected.close_call is None
    before = np.zeros(7, dtype=int)
    for t, play in enumerate(expected.plays, start=1):
        rule = make(world.problem, model=model)
        found = mb.identify(rule, environment, limit=t, seed=5, **arguments)
        assert tuple(np.flatnonzero(found.counts - before).tolist()) == play, t
        before = found.counts.copy()


@each_rule
def test_the_same_rule_twice(name: str) -> None:
    """A rule keeps nothing of the run before."""
    world = WORLDS["vectors"]()
    rule = RULES[name][0](world.problem)
    environment = mb.GaussianEnvironment(np.linspace(0, 1, 6), NOISE)
    first, second = (mb.identify(rule, environment, limit=200, seed=1) for _ in range(2))
    assert first.counts.tolist() == second.counts.tolist()
    assert first.means.tobytes() == second.means.tobytes()
    assert first.rounds == second.rounds


def test_an_own_rule() -> None:
    """A rule in Python that wants what BestChallenger wants is played like it."""

    class Mine(rules.SamplingRule):
        def _targets(self, state: Any) -> Any:
            fewest = min(state.counts)
            if fewest < 0.5 * math.sqrt(state.rounds * len(state.basis) / len(state.counts)):
                return []
            chosen: dict[int, tuple[float, int]] = {}
            for x, e, z in zip(state.inside, state.outside, state.statistics, strict=True):
                chosen[int(x)] = min(chosen.get(int(x), (math.inf, 0)), (float(z), int(e)))
            wanted: list[int] = []
            for x, (_, e) in sorted(chosen.items(), key=lambda item: (item[1][0], item[0])):
                wanted += [e, x] if state.counts[e] <= state.counts[x] else [x, e]
            return list(dict.fromkeys(wanted))

    environment = mb.GaussianEnvironment(np.linspace(0, 1, 5), NOISE)
    matroid = mb.UniformMatroid(2, 5)
    own = mb.identify(Mine(matroid), environment, limit=LIMIT, seed=2)
    built_in = mb.identify(rules.BestChallenger(matroid), environment, limit=LIMIT, seed=2)
    assert own.rounds == built_in.rounds
    assert own.counts.tolist() == built_in.counts.tolist()
    assert own.means.tobytes() == built_in.means.tobytes()


def test_wishes_of_an_own_rule_have_an_order() -> None:
    class Last(rules.SamplingRule):
        def _targets(self, state: Any) -> Any:
            return [3, 0]

    environment = mb.GaussianEnvironment([0.0, 0.1, 0.2, 0.3])
    for model in ("element", "basis"):
        rule = Last(mb.UniformMatroid(1, 4), model=model)
        assert mb.identify(rule, environment, limit=20).counts.tolist() == [1, 1, 1, 17]


@each_rule
@each_model
def test_the_answer_is_usually_right(name: str, model: str) -> None:
    world = WORLDS["graph with labels"]()
    means = np.array([0.9, 0.2, 0.7, 0.1, 0.8, 1.0, 0.3])
    for seed in range(5):
        found, expected = compare(
            world, *RULES[name], "gaussian", means, seed, model=model, limit=2000
        )
        assert expected.settled
        assert found.is_correct
        assert list(found.basis) == ["a", "c", "e"]
        assert found.statistic > found.threshold
        assert found.curve_rounds[-1] == found.rounds
        assert found.curve_statistics[-1] == found.statistic
