"""What policies say about confidence, against the definitions: every matroid, every policy."""

import copy
import math
import pickle
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from .. import recipes
from ..reference import identification as reference
from ..reference import matroids as textbook
from ..seeds import seeds

NOISE = 0.5
FAMILIES: dict[str, tuple[dict[str, Any], reference.Family]] = {
    "gaussian": ({"noise": NOISE}, reference.Gaussian(NOISE)),
    "bernoulli": ({"family": "bernoulli"}, reference.Bernoulli()),
}
each_family = pytest.mark.parametrize("family", FAMILIES)
each_threshold = pytest.mark.parametrize("threshold", ["proven", "customary"])


def compare(
    policy: mb.Policy,
    is_independent: textbook.Independence,
    family: str,
    *,
    delta: float = 0.05,
    threshold: str = "proven",
    gains: Any = None,
    own_family: bool = False,
) -> mb.Confidence:
    """The answer of the policy, which is that of the reference."""
    arguments, expected_family = FAMILIES[family]
    given = {} if own_family else arguments
    answer = policy.confidence(delta, threshold=threshold, **given)
    problem, counts = policy.problem, policy.counts.tolist()
    means = np.nan_to_num(policy.mean_rewards if gains is None else gains).tolist()
    ground = reference.Ground(problem.size, is_independent)
    judged = reference.judge(
        ground,
        counts,
        means,
        expected_family,
        rounds=policy.rounds,
        delta=delta,
        threshold=threshold,
    )
    assert answer.delta == delta
    assert answer.threshold_name == threshold
    assert answer.family == family
    assert answer.noise == (NOISE if family == "gaussian" else None)
    assert answer.n_unobserved == judged.n_unobserved
    # A single basis needs no observations.
    if judged.n_unobserved and not judged.is_single:
        assert answer.basis is None
        assert answer.pair is None
        assert answer.more_observations is None
        assert answer.statistic == 0
        assert not answer.settled
        return answer
    assert list(answer.basis) == list(problem.names(np.array(sorted(judged.basis), dtype=np.intp)))
    assert answer.statistic == pytest.approx(judged.statistic, rel=1e-12, abs=1e-14)
    assert isinstance(answer.settled, bool)
    margins = judged.margins
    if not any(abs(margin) < 1e-9 for margin in margins):
        assert answer.settled == judged.settled
    if judged.is_single:
        assert answer.pair is None
        assert answer.more_observations == 0
        assert answer.settled
        return answer
    _compare_hardest(answer, judged, problem, counts, means, expected_family, ground.hypotheses)
    return answer


def _compare_hardest(
    answer: mb.Confidence,
    judged: reference.Judgement,
    problem: Any,
    counts: list[int],
    means: list[float],
    family: reference.Family,
    hypotheses: int,
) -> None:
    assert answer.pair is not None
    x, e = problem.elements(list(answer.pair)).tolist()
    place = judged.pairs.index((x, e))
    assert answer.pair_statistic == pytest.approx(judged.statistics[place], rel=1e-12, abs=1e-14)
    assert answer.threshold == pytest.approx(judged.thresholds[place], rel=1e-9)
    # The hardest pair, and the first one of those with the same numbers. Pairs that are equally
    # hard by different numbers may be rounded to either side.
    margins = judged.margins
    assert margins[place] <= min(margins) + 1e-9 * (1 + abs(min(margins)))
    numbers = [[(means[y], counts[y]) for y in pair] for pair in judged.pairs]
    assert numbers.index(numbers[place]) == place
    if answer.settled:
        assert answer.more_observations == 0
    elif means[x] == means[e]:
        assert answer.pair_statistic == 0
        assert answer.more_observations is None
    elif judged.statistics[place] > 1e-12:
        assert answer.more_observations is not None
        added, rest = divmod(answer.more_observations, 2)
        assert (added >= 1, rest) == (True, 0)
        # So many are enough, and fewer are not, but for rounding.
        for more, sign in ((added, 1), (added - 1, -1)):
            n_x, n_e = counts[x] + more, counts[e] + more
            z = family.statistic((means[x], n_x), (means[e], n_e), 0.0)
            limit = judged.thresholds[place]
            if answer.threshold_name == "proven":
                limit = family.proven(n_x, n_e, hypotheses, answer.delta)
            assert sign * (z - limit) >= -1e-6 * (1 + limit)


def observe(policy: mb.Policy, rng: np.random.Generator, elements: list[int] | None = None) -> None:
    """Random means and counts; equal ones, zeros and ones among them."""
    size = policy.problem.size
    counts = rng.integers(1, [4, 50, 100_000][rng.integers(3)], size)
    means = rng.random(size) if rng.random() < 0.5 else rng.integers(0, counts + 1) / counts
    if rng.random() < 0.3:
        means = rng.choice([0.0, 0.25, 1.0], size)
    names = policy.problem.names(np.arange(size))
    policy.observe(
        {
            names[e]: (float(means[e]), int(counts[e]))
            for e in (range(size) if elements is None else elements)
        }
    )
    for _ in range(int(rng.integers(0, 3))):
        policy.update(policy.select(), rng.random(len(policy.select())))


# --- all matroids --------------------------------------------------------------------------------


@each_family
@each_threshold
@pytest.mark.parametrize("name", catalog.MATROIDS)
def test_every_matroid(name: str, family: str, threshold: str) -> None:
    for seed in seeds(8):
        rng = np.random.default_rng([seed, 31])
        matroid = catalog.MATROIDS[name].random(rng, int(rng.integers(0, 11)))
        ask = cache(lambda s, m=matroid: m.is_independent(s))
        policy = mb.MAUB(matroid)
        observe(policy, rng)
        delta = float(rng.choice([0.45, 0.1, 0.001]))
        compare(policy, ask, family, delta=delta, threshold=threshold)


@each_family
@each_threshold
def test_compositions(family: str, threshold: str) -> None:
    for seed in seeds(80):
        rng = np.random.default_rng([seed, 32])
        recipe = recipes.random_recipe(rng, int(rng.integers(0, 9)), depth=3)
        policy = mb.OMM(recipe.build())
        observe(policy, rng)
        compare(policy, recipe.is_independent, family, threshold=threshold)


@each_family
@pytest.mark.parametrize("disguise", recipes.DISGUISES)
def test_matroids_written_in_python(disguise: str, family: str) -> None:
    for seed in seeds(10):
        rng = np.random.default_rng([seed, 33])
        recipe = recipes.random_recipe(rng, int(rng.integers(1, 8)), depth=1)
        policy = mb.MAUB(recipes.disguised(recipe, disguise).build())
        observe(policy, rng)
        compare(policy, recipe.is_independent, family)


@each_threshold
def test_bernoulli_pairs_are_all_bases(threshold: str) -> None:
    """The statistic, once more by brute force over the bases."""
    for seed in seeds(40):
        rng = np.random.default_rng([seed, 34])
        recipe = recipes.random_recipe(rng, int(rng.integers(1, 8)), depth=2)
        policy = mb.MAUB(recipe.build(), noise=NOISE)
        observe(policy, rng)
        for arguments, family in FAMILIES.values():
            means = np.nan_to_num(policy.mean_rewards).tolist()
            expected = reference.statistic_of_all_bases(
                recipe.size, recipe.is_independent, policy.counts.tolist(), means, family
            )
            answer = policy.confidence(threshold=threshold, **arguments)
            if not answer.n_unobserved:
                assert answer.statistic == pytest.approx(expected, rel=1e-8, abs=1e-11)


# --- costs and labels ----------------------------------------------------------------------------


def _tree_problem(sense: str = "max", cls: type[mb.Policy] = mb.MAUB, **parameters: Any) -> Any:
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 1), (0, 1)]
    problem = mb.Problem(mb.GraphicMatroid(edges), labels=list("abcdefg"), sense=sense)
    return cls(problem, **parameters), cache(textbook.graphic(edges))


@each_family
@each_threshold
def test_costs_and_labels(family: str, threshold: str) -> None:
    for seed in seeds(30):
        rng = np.random.default_rng([seed, 35])
        policy, ask = _tree_problem("min", index="kl")
        observe(policy, rng)
        answer = compare(policy, ask, family, threshold=threshold)
        assert all(type(label) is str for label in (*answer.basis, *answer.pair))
        # The costs of the basis are the smallest.
        costs = dict(zip("abcdefg", np.nan_to_num(policy.means), strict=True))
        x, e = answer.pair
        assert x in answer.basis
        assert costs[x] <= costs[e]


@each_family
def test_costs_of_a_policy_for_any_costs(family: str) -> None:
    """Its gains are the costs with a minus; Bernoulli ones are 1 minus the costs."""
    for seed in seeds(20):
        rng = np.random.default_rng([seed, 36])
        policy, ask = _tree_problem("min", noise=NOISE)
        observe(policy, rng)
        gains = None if family == "gaussian" else 1 - policy.means
        compare(policy, ask, family, gains=gains)


@each_family
def test_costs_say_the_same_as_rewards(family: str) -> None:
    for seed in seeds(20):
        rng = np.random.default_rng([seed, 37])
        # Multiples of 1/64: one minus the mean is exact.
        means, counts = rng.integers(0, 65, 7) / 64, rng.integers(1, 50, 7)
        arguments, _ = FAMILIES[family]
        answers = []
        for sense, own in (("max", means), ("min", 1 - means)):
            policy, _ = _tree_problem(sense, index="kl")
            seen = zip("abcdefg", zip(own.tolist(), counts.tolist(), strict=True), strict=True)
            policy.observe(dict(seen))
            answers.append(asdict(policy.confidence(**arguments)))
        assert answers[0] == answers[1]


def test_means_of_observations_one_by_one() -> None:
    """Means that the test computes itself, to the last bit."""
    policy, ask = _tree_problem(noise=NOISE)
    counts, means = [0] * 7, [0.0] * 7
    rng = np.random.default_rng(38)
    for _ in range(100):
        elements = np.flatnonzero(rng.random(7) < 0.5)
        rewards = rng.normal(0, 1, len(elements))
        policy.update(["abcdefg"[e] for e in elements], rewards)
        for e, reward in zip(elements.tolist(), rewards.tolist(), strict=True):
            means[e] = reference.mean_after(means[e], counts[e], reward)
            counts[e] += 1
        assert policy.counts.tolist() == counts
        compare(policy, ask, "gaussian", gains=means)


# --- what changes from round to round ------------------------------------------------------------


@each_family
@pytest.mark.parametrize("kind", ["values", "ties"])
def test_circuits_follow_the_best_basis(family: str, kind: str) -> None:
    """The best basis changes back and forth; asked after every update, or after some."""
    changes = 0
    for seed in seeds(6):
        rng = np.random.default_rng([seed, 39])
        recipe = recipes.random_recipe(rng, 7, depth=2)
        if seed % 2:
            recipe = recipes.Graphic(((0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 3), (0, 1)))
        policy, seldom = mb.MAUB(recipe.build()), mb.MAUB(recipe.build())
        before: Any = None
        for t in range(120):
            elements = np.flatnonzero(rng.random(7) < 0.4)
            rewards = rng.random(7) if kind == "values" else rng.integers(0, 2, 7)
            for one in (policy, seldom):
                one.update(elements, rewards[elements])
            answer = compare(policy, recipe.is_independent, family)
            basis = None if answer.basis is None else answer.basis.tolist()
            changes += basis != before
            before = basis
            if t % 17 == 0:
                other = compare(seldom, recipe.is_independent, family)
                assert str(other) == str(answer)
    assert changes > 5 * len(seeds(6))


def test_two_bases_in_turn() -> None:
    policy, ask = _tree_problem(noise=NOISE)
    policy.observe(dict.fromkeys("abcdefg", (0.5, 3)))
    bases = set()
    for t in range(60):
        # One observation moves e above all, or below all.
        policy.update(["e", "b"], [20.0, -20.0] if t % 2 else [-20.0 - t, 20.0 + t])
        bases.add(tuple(compare(policy, ask, "gaussian").basis))
    assert len(bases) > 1


def test_it_changes_nothing() -> None:
    """A policy that is asked plays like one that is not, also with an open selection."""
    for name, cls in catalog.POLICIES.items():
        if cls._confidence_refusal:
            continue
        asked, left_alone = (cls(mb.GraphicMatroid.complete(4)) for _ in range(2))
        rng = np.random.default_rng(40)
        for t in range(80):
            asked.confidence(noise=NOISE)
            basis = asked.select()
            assert basis.tolist() == left_alone.select().tolist(), name
            asked.confidence(noise=NOISE, threshold="customary")
            assert asked.select().tolist() == basis.tolist()
            rewards = rng.random(3)
            if t % 3:
                asked.update(basis, rewards)
                left_alone.update(basis, rewards)
            else:
                for one in (asked, left_alone):
                    one.learn(one.decide(), rewards)
        assert asked.oracle_calls == left_alone.oracle_calls, name
        assert asked.greedy_calls == left_alone.greedy_calls, name


def test_open_decisions_do_not_count() -> None:
    policy, ask = _tree_problem(noise=NOISE)
    policy.observe({label: (0.1 * k, 5) for k, label in enumerate("abcdefg")})
    before = policy.confidence()
    decision = policy.decide()
    assert policy.confidence().pair_statistic == before.pair_statistic
    policy.learn(decision, [0.9, 0.9, 0.9])
    assert compare(policy, ask, "gaussian").pair_statistic != before.pair_statistic


# --- special cases -------------------------------------------------------------------------------


@each_family
@each_threshold
def test_ties(family: str, threshold: str) -> None:
    for counts in ([5] * 5, [1, 2, 3, 4, 5], [7, 7, 1, 1, 1]):
        policy = mb.MAUB(mb.UniformMatroid(2, 5))
        policy.observe({e: (0.1, n) for e, n in enumerate(counts)})
        answer = compare(policy, cache(textbook.uniform(2)), family, threshold=threshold)
        assert answer.basis.tolist() == [0, 1]
        assert answer.statistic == 0
        assert answer.more_observations is None
        assert not answer.settled
        assert "nothing tells them apart" in str(answer)


def test_the_first_of_equally_hard_pairs() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 6), noise=NOISE)
    policy.observe({e: (mean, 9) for e, mean in enumerate([0.2, 0.7, 0.5, 0.5, 0.7, 0.5])})
    answer = compare(policy, cache(textbook.uniform(2)), "gaussian")
    assert answer.pair == (1, 2)


@each_family
@each_threshold
def test_unobserved_elements(family: str, threshold: str) -> None:
    for seed in seeds(40):
        rng = np.random.default_rng([seed, 41])
        recipe = recipes.random_recipe(rng, 6, depth=2)
        policy = mb.MAUB(recipe.build())
        observe(policy, rng, np.flatnonzero(rng.random(6) < 0.8).tolist())
        answer = compare(policy, recipe.is_independent, family, threshold=threshold)
        if answer.settled:
            assert answer.pair is not None or str(answer) == "There is only one basis."
        elif answer.n_unobserved == 1:
            assert "1 element was never observed" in str(answer)
        elif answer.n_unobserved:
            assert f"{answer.n_unobserved} elements were never observed" in str(answer)


@each_family
@each_threshold
@pytest.mark.parametrize("limit, size", [(0, 0), (0, 3), (1, 1), (3, 3)])
def test_a_single_basis(limit: int, size: int, family: str, threshold: str) -> None:
    policy = mb.MAUB(mb.UniformMatroid(limit, size))
    policy.observe(dict.fromkeys(range(size), (0.5, 1)))
    answer = compare(policy, cache(textbook.uniform(limit)), family, threshold=threshold)
    assert answer.statistic == math.inf
    assert answer.basis.tolist() == list(range(limit))
    assert "only one basis" in str(answer)


def test_coloops_and_loops_are_in_no_pair() -> None:
    # c is a bridge, d a self-loop; loops may have been observed and may be better than all.
    edges = [(0, 1), (0, 1), (1, 2), (2, 2)]
    policy = mb.MAUB(mb.Problem(mb.GraphicMatroid(edges), labels=list("abcd")), noise=NOISE)
    policy.observe({"a": (0.3, 9), "b": (0.4, 9), "c": (-5.0, 1)})
    answer = compare(policy, cache(textbook.graphic(edges)), "gaussian")
    assert answer.pair == ("b", "a")
    policy.observe({"d": (100.0, 1)})
    assert compare(policy, cache(textbook.graphic(edges)), "gaussian") == answer


@each_family
@each_threshold
def test_extreme_numbers(family: str, threshold: str) -> None:
    ask = cache(textbook.uniform(2))
    for delta in (1e-300, 1e-12, 0.3, 0.4, 0.499):
        for counts in ([1, 1, 1, 1], [10**9, 1, 10**12, 3], [10**15] * 4):
            policy = mb.MAUB(mb.UniformMatroid(2, 4))
            means = [0.0, 1.0, 1e-9, 0.5]
            policy.observe({e: (means[e], counts[e]) for e in range(4)})
            compare(policy, ask, family, delta=delta, threshold=threshold)


def test_the_smallest_delta_has_a_finite_threshold() -> None:
    policy = mb.MAUB(mb.UniformMatroid(1, 3), noise=NOISE)
    policy.observe({e: (0.1 * e, 5) for e in range(3)})
    assert policy.confidence(5e-324).threshold < 1000
    assert policy.confidence(5e-324, threshold="customary").threshold < 1000


def test_little_noise_overflows_without_a_warning() -> None:
    policy = mb.MAUB(mb.UniformMatroid(1, 2))
    policy.observe({0: (0.1, 5), 1: (0.2, 5)})
    assert policy.confidence(noise=1e-200).settled


def test_settled_is_strictly_above() -> None:
    """It becomes settled exactly when the statistic passes the threshold, and stays in words."""
    ask = _tree_problem()[1]
    seen = []
    for n in range(1, 120):
        fresh, _ = _tree_problem(noise=NOISE)
        fresh.observe({label: (0.5 * k, n) for k, label in enumerate("abcdefg")})
        answer = compare(fresh, ask, "gaussian")
        assert answer.settled == (answer.pair_statistic > answer.threshold)
        assert ("is settled" in str(answer)) == answer.settled
        assert ("is not settled" in str(answer)) != answer.settled
        seen.append(answer.settled)
    assert seen == sorted(seen)
    assert set(seen) == {False, True}


# --- copies --------------------------------------------------------------------------------------


def _problem(labels: str, rank: int = 2, sense: str = "max") -> Any:
    return mb.Problem(mb.UniformMatroid(rank, len(labels)), labels=list(labels), sense=sense)


def _copies(policy: Any, folder: Path) -> dict[str, Any]:
    policy.save(folder / "policy")
    return {
        "load": mb.load(folder / "policy"),
        "fork": policy.fork(3),
        "pickle": pickle.loads(pickle.dumps(policy)),
        "copy": copy.copy(policy),
        "deepcopy": copy.deepcopy(policy),
    }


@pytest.mark.parametrize("sense", ["max", "min"])
def test_copies_say_the_same_and_go_their_own_way(sense: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(42)
    policy = mb.MAUB(_problem("abcdef", sense=sense), noise=NOISE)
    ask = cache(textbook.uniform(2))
    observe(policy, rng)
    # Asked before and not asked before.
    for _ in range(2):
        before = compare(policy, ask, "gaussian")
        twins = _copies(policy, tmp_path)
        for name, twin in twins.items():
            assert compare(twin, ask, "gaussian") == before, name
            # Another best basis in the copy.
            best = "f" if "f" not in before.basis else "a"
            twin.observe({best: (50.0 if sense == "max" else -50.0, 10**6)})
            assert best in compare(twin, ask, "gaussian").basis, name
            assert compare(policy, ask, "gaussian") == before, name
        fresh = policy.clone()
        assert fresh.confidence().n_unobserved == 6
        assert not fresh.confidence().caveat
        observe(policy, rng)


@each_family
def test_moving_keeps_statistics_and_says_what_was_dropped(family: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(43)
    policy = mb.MAUB(_problem("abcdef"))
    ask = cache(textbook.uniform(2))
    observe(policy, rng)
    assert not compare(policy, ask, family).caveat
    # Another order, and new elements: nothing is dropped.
    for labels in ("fedcba", "abcdefgh"):
        moved = policy.moved_to(_problem(labels), {x: (0.1, 4) for x in labels if x > "f"})
        assert not compare(moved, ask, family).caveat
    moved = policy.moved_to(_problem("bdacx"), {"x": (0.3, 7)})
    answer = compare(moved, ask, family)
    assert "not valid: 2 elements were dropped" in answer.caveat
    assert answer.caveat in str(answer)
    assert not compare(policy, ask, family).caveat
    for name, twin in _copies(moved, tmp_path).items():
        assert compare(twin, ask, family) == answer, name
        # Once more, with and without dropping something, and back to all.
        for labels, count in (("xcadb", 2), ("abcdx", 2), ("abx", 4)):
            again = twin.moved_to(_problem(labels))
            assert f"{count} elements were dropped" in compare(again, ask, family).caveat, name
        # Those that come back were dropped all the same.
        back = again.moved_to(_problem("abcdx"), dict.fromkeys("cd", (0.5, 1)))
        assert "4 elements were dropped" in compare(back, ask, family).caveat, name
    # A fresh policy has dropped nothing.
    for fresh in (moved.clone(), mb.clone(moved), mb.policy_from_spec(moved.to_spec())):
        fresh.observe(dict.fromkeys("bdacx", (0.3, 5)))
        assert not fresh.confidence(noise=NOISE).caveat


def test_a_single_element_was_dropped(tmp_path: Path) -> None:
    moved = mb.OMM(_problem("abc", 1)).moved_to(_problem("ab", 1))
    assert "1 element was dropped" in moved.confidence().caveat
    moved.save(tmp_path / "one")
    again = mb.load(tmp_path / "one")
    again.save(tmp_path / "two")
    twice = mb.load(tmp_path / "two").fork(1)
    assert "1 element was dropped" in twice.confidence().caveat


# --- policies ------------------------------------------------------------------------------------

# What each of them assumes about rewards by itself: a standard deviation, or the family.
ASSUMED = {
    "CTS": "bernoulli",
    "CUCB": 1.0,
    "ESCB": 0.5,
    "EpsilonGreedy": None,
    "FasterCUCB": None,
    "FollowTheLeader": None,
    "KLOSM": "bernoulli",
    "MAUB": 1.0,
    "OMM": 1.0,
    "OSUB": "bernoulli",
    "RandomBasis": None,
}


def _policy_names() -> list[str]:
    classes = [getattr(mb.policies, name) for name in mb.policies.__all__]
    return [
        cls.__name__
        for cls in classes
        if isinstance(cls, type) and issubclass(cls, mb.Policy) and cls is not mb.Policy
        # Not those that learn elements together.
        if not cls._confidence_refusal
    ]


@pytest.mark.parametrize("name", _policy_names())
@pytest.mark.parametrize("sense", ["max", "min"])
def test_every_policy(name: str, sense: str) -> None:
    policy, ask = _tree_problem(sense, cls=getattr(mb.policies, name))
    rng = np.random.default_rng(44)
    for t in range(150):
        basis = policy.select()
        policy.update(basis, rng.integers(0, 2, 3))
        if t in {0, 5, 60, 149}:
            for threshold in ("proven", "customary"):
                compare(policy, ask, "gaussian", threshold=threshold)
                gains = policy.means if sense == "max" else 1 - policy.means
                if np.nanmin(policy.mean_rewards) >= 0:
                    gains = policy.mean_rewards
                compare(policy, ask, "bernoulli", threshold=threshold, gains=gains)
    assumed = ASSUMED[name]
    if assumed is None:
        with pytest.raises(ValueError, match=f"{name} assumes nothing about the noise"):
            policy.confidence()
    elif assumed == "bernoulli":
        compare(policy, ask, "bernoulli", own_family=True)
    else:
        answer = policy.confidence()
        assert (answer.family, answer.noise) == ("gaussian", assumed)


@pytest.mark.parametrize(
    "index, family, noise",
    [
        ("kl", "bernoulli", None),
        ("ucbv", "bernoulli", None),
        ("beta", "bernoulli", None),
        ("ucb", "gaussian", 1.0),
        ("gaussian", "gaussian", 1.0),
        ({"type": "ucb", "noise": 0.3}, "gaussian", 0.3),
        (mb.UCB(noise=0.7), "gaussian", 0.7),
        (mb.GaussianThompson(noise=0.2), "gaussian", 0.2),
    ],
)
@pytest.mark.parametrize("cls", [mb.MAUB, mb.OMM])
def test_an_index_says_what_is_assumed(cls: Any, index: Any, family: str, noise: Any) -> None:
    policy = cls(mb.UniformMatroid(1, 2), index=index)
    policy.update([0, 1], [0.0, 1.0])
    answer = policy.confidence()
    assert (answer.family, answer.noise) == (family, noise)


def test_the_noise_of_the_policy_and_the_one_given() -> None:
    policy = mb.MAUB(mb.UniformMatroid(1, 2), noise=0.3)
    policy.update([0, 1], [0.0, 1.0])
    assert policy.confidence().noise == 0.3
    assert policy.confidence(family="gaussian").noise == 0.3
    assert policy.confidence(noise=2).noise == 2.0
    ratio = policy.confidence(noise=0.3).statistic / policy.confidence(noise=0.6).statistic
    assert ratio == pytest.approx(4)


def test_a_policy_of_ones_own() -> None:
    class Own(mb.Policy):
        def _select(self) -> Any:
            return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))

    policy = Own(mb.UniformMatroid(2, 4))
    with pytest.raises(ValueError, match="Own assumes nothing about the noise"):
        policy.confidence()
    observe(policy, np.random.default_rng(45))
    compare(policy, cache(textbook.uniform(2)), "gaussian")
    compare(policy, cache(textbook.uniform(2)), "bernoulli")


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"delta": 0}, "delta must be between 0 and 1"),
        ({"delta": 1}, "delta must be between 0 and 1"),
        ({"delta": 0.95}, "must be below 0.5, got 0.95; to be right with .* 0.95, pass 0.05"),
        ({"delta": 0.5}, "delta is the probability of a wrong answer and must be below 0.5"),
        ({"delta": -0.1}, "delta must be a number from 0 to 1, got -0.1"),
        ({"delta": 5}, "delta must be a number from 0 to 1, got 5"),
        ({"delta": math.nan}, "delta must be a number from 0 to 1, got nan"),
        ({"delta": "5 %"}, "delta must be a number from 0 to 1, got '5 %'"),
        ({"delta": None}, "delta must be a number from 0 to 1, got None"),
        ({"noise": 0}, "noise must be above 0"),
        ({"noise": -1}, "noise must be a number from 0 to"),
        ({"noise": math.inf}, "noise must be a number from 0 to"),
        ({"noise": math.nan}, "noise must be a number from 0 to"),
        ({"noise": "loud"}, "noise must be a number from 0 to"),
        ({"family": "poisson"}, "unknown family 'poisson'; allowed are gaussian, bernoulli"),
        ({"family": 3}, "unknown family 3"),
        ({"threshold": "own"}, "unknown threshold 'own'; allowed are proven, customary"),
        ({"threshold": None}, "unknown threshold None"),
        ({"family": "bernoulli", "noise": 1.0}, 'noise is for family="gaussian"'),
    ],
    ids=str,
)
def test_mistakes(arguments: dict[str, Any], message: str) -> None:
    unobserved, observed = (mb.MAUB(mb.UniformMatroid(1, 2)) for _ in range(2))
    observed.update([0, 1], [0.0, 1.0])
    for policy in (unobserved, observed):
        with pytest.raises(ValueError, match=message):
            policy.confidence(**arguments)


@pytest.mark.parametrize("sense", ["max", "min"])
def test_bernoulli_rewards_are_between_0_and_1(sense: str) -> None:
    policy = mb.MAUB(_problem("abc", 1, sense))
    policy.observe({"a": (0.5, 2), "b": (1.5, 3), "c": (0.2, 1)})
    with pytest.raises(ValueError, match=r"between 0 and 1, but 'b' has the mean 1\.5"):
        policy.confidence(family="bernoulli")
    assert policy.confidence(noise=0.5).statistic > 0


def test_answers_cannot_be_changed_and_can_be_compared() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 4))
    policy.observe({e: (0.1 * e, 5) for e in range(4)})
    answer = policy.confidence()
    with pytest.raises(AttributeError):
        answer.settled = True
    assert answer.basis.tolist() == [2, 3]
    # Without labels the basis is an array.
    assert (answer == policy.confidence()) is True
    assert (answer == policy.confidence(0.1)) is False


def test_from_inside_a_matroid() -> None:
    """A call from inside another one is refused, and changes nothing."""
    inside: list[str] = []

    def at_most_two(elements: frozenset[int]) -> bool:
        if inside is not None and policies and len(inside) < 3:
            try:
                policies[0].confidence()
            except RuntimeError as error:
                inside.append(str(error))
        return len(elements) <= 2

    policies: list[mb.Policy] = []
    matroid = mb.OracleMatroid(4, at_most_two)
    policies.append(mb.MAUB(matroid, noise=NOISE))
    policies[0].select()
    assert inside
    observe(policies[0], np.random.default_rng(46))
    compare(policies[0], cache(textbook.uniform(2)), "gaussian")
