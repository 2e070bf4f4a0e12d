"""Ground sets that change, and statistics from elsewhere."""

import copy

import numpy as np
import pytest

import matroid_bandits as mb

from ..states import assert_same, local_times

LABELS = list("abcdefgh")
POLICIES = {
    "MAUB": mb.MAUB,
    "MAUB kl": lambda m: mb.MAUB(m, index="kl", pending="count"),
    "MAUB beta": lambda m: mb.MAUB(m, index="beta"),
    "OMM normal": lambda m: mb.OMM(m, index="normal"),
    "OMM ucbv": lambda m: mb.OMM(m, index="ucbv"),
    "CTS": mb.CTS,
    "ESCB": mb.ESCB,
    "FasterCUCB": mb.FasterCUCB,
    "OSUB": mb.OSUB,
    "EpsilonGreedy": mb.EpsilonGreedy,
}
every_policy = pytest.mark.parametrize("name", POLICIES)


def problem_of(labels, rank: int = 3, sense: str = "max") -> mb.Problem:
    return mb.Problem(mb.UniformMatroid(rank, len(labels)), labels=labels, sense=sense)


def played(policy: mb.Policy, rounds: int = 80, seed: int = 0) -> mb.Policy:
    """Feedback comes late, and some of it never."""
    rng = np.random.default_rng(seed)
    waiting = []
    for _ in range(rounds):
        decision = policy.decide()
        waiting.append((decision.id, {e: float(rng.random() < 0.5) for e in decision.elements}))
        if len(waiting) > 5:
            identifier, rewards = waiting.pop(int(rng.integers(len(waiting))))
            policy.learn(identifier, rewards)
    return policy


@every_policy
def test_statistics_and_open_decisions_follow_the_labels(name: str) -> None:
    policy = played(POLICIES[name](problem_of(LABELS)))
    before = copy.deepcopy(policy._kernel.state())
    labels = ["x", *reversed(LABELS[2:]), "y"]
    moved = policy.moved_to(problem_of(labels, 4))
    assert_same(before, policy._kernel.state())
    old = {e: k for k, e in enumerate(LABELS)}
    for e, label in enumerate(labels):
        known = label in old
        assert moved.counts[e] == (policy.counts[old[label]] if known else 0)
        assert moved.n_pending[e] == (policy.n_pending[old[label]] if known else 0)
        if known:
            assert np.array_equal(moved.means[e], policy.means[old[label]], equal_nan=True)
    assert moved.rounds == policy.rounds
    assert list(moved.open_decisions) == list(policy.open_decisions)
    for identifier, decision in policy.open_decisions.items():
        assert set(moved.open_decisions[identifier].elements) == set(decision.elements)
    # Feedback comes in the new policy, also for elements that it has no more.
    total = moved.counts.sum() + sum(
        e in labels for d in moved.open_decisions.values() for e in d.elements
    )
    for identifier, decision in list(moved.open_decisions.items()):
        moved.learn(identifier, dict.fromkeys(decision.elements, 1.0))
    assert moved.counts.sum() == total
    assert not moved.n_pending.any()
    assert not moved.open_decisions
    played(moved, seed=1)


@every_policy
def test_a_policy_that_moves_back_goes_on_as_before(name: str) -> None:
    """There and back: only what belongs to the leader, or to an order, is found anew."""
    policy = played(POLICIES[name](problem_of(LABELS)))
    back = policy.moved_to(problem_of(LABELS[::-1])).moved_to(problem_of(LABELS))
    assert dict(back.statistics) == dict(policy.statistics)
    assert back.n_pending.tolist() == policy.n_pending.tolist()
    for one in ("index", "stream", "decisions"):
        before, after = policy._kernel.state()[one], back._kernel.state()[one]
        if one == "decisions":
            # Whoever has kept a decision may have kept it in the order in between.
            assert after.pop("is_reordered").all()
            assert not before.pop("is_reordered").any()
        assert_same(before, after, one)
    if name == "MAUB":
        assert local_times(back) == local_times(policy)
    if name not in {"FasterCUCB", "ESCB", "MAUB", "MAUB kl", "MAUB beta"}:
        assert [back.decide().elements for _ in range(20)] == [
            policy.decide().elements for _ in range(20)
        ]


def test_an_element_that_comes_back_gets_its_feedback() -> None:
    policy = mb.OMM(problem_of(["a", "b", "c"], 1))
    decision = policy.decide()
    assert decision.elements == ["a"]
    without = policy.moved_to(problem_of(["b", "c"], 1))
    assert without.open_decisions[decision.id].elements == ["a"]
    again = without.moved_to(problem_of(["c", "a"], 1))
    again.learn(decision.id, {"a": 1.0})
    assert dict(again.statistics) == {"a": (1.0, 1)}
    without.learn(decision.id, {"a": 1.0})
    assert not without.open_decisions
    assert not without.counts.any()


@every_policy
def test_a_policy_that_has_moved_can_be_saved_and_forked(name: str, tmp_path) -> None:
    moved = played(POLICIES[name](problem_of(LABELS))).moved_to(problem_of([*LABELS[2:], "x"]))
    moved.save(tmp_path / "policy")
    for twin in (mb.load(tmp_path / "policy"), moved.fork(0), copy.deepcopy(moved)):
        assert_same(moved._kernel.state()["decisions"], twin._kernel.state()["decisions"])
        for identifier, decision in moved.open_decisions.items():
            assert twin.open_decisions[identifier].elements == decision.elements
            twin.learn(identifier, dict.fromkeys(decision.elements, 0.0))
        assert not twin.open_decisions


def test_a_prior_is_for_new_elements() -> None:
    policy = mb.MAUB(problem_of(["a", "b"], 1, sense="min"))
    policy.update({"a": 3.0})
    new = problem_of(["b", "a", "c"], 1, sense="min")
    moved = policy.moved_to(new, prior={"c": (2.0, 5)})
    assert dict(moved.statistics) == {"a": (3.0, 1), "c": (2.0, 5)}
    with pytest.raises(ValueError, match="'a' is not new"):
        policy.moved_to(new, prior={"a": (2.0, 5)})
    with pytest.raises(ValueError, match="unknown label 'z'"):
        policy.moved_to(new, prior={"z": (2.0, 5)})
    with pytest.raises(ValueError, match="needs labels"):
        policy.moved_to(mb.UniformMatroid(1, 3))
    with pytest.raises(ValueError, match="rewards and costs cannot be mixed"):
        policy.moved_to(problem_of(["b", "a", "c"], 1))


@pytest.mark.parametrize("index", sorted(mb.catalog.INDICES))
def test_two_halves_merged_equal_the_whole(index: str) -> None:
    problem = problem_of(LABELS)
    rng = np.random.default_rng(2)
    cls = mb.MAUB if index == "imed" else mb.OMM
    whole, first, second = (cls(problem, index=index, seed=s) for s in (0, 0, 1))
    # A common past, which must not be counted twice.
    for one in (whole, first, second):
        one.update(LABELS, np.linspace(0, 1, 8))
    past = second.statistics
    for t in range(200):
        chosen = rng.permutation(LABELS)[:3].tolist()
        rewards = (rng.random(3) < 0.4).astype(float)
        for one in (whole, first if t % 2 else second):
            one.update(chosen, rewards)
    first.observe(second.statistics - past)
    assert first.rounds == whole.rounds
    assert first.counts.tolist() == whole.counts.tolist()
    assert np.allclose(first.means, whole.means, rtol=1e-12, atol=1e-14)
    merged, expected = first._kernel.state()["index"], whole._kernel.state()["index"]
    for name in expected:
        # Tallies of the rewards between 0 and 1 are tosses, and each policy has its own coin.
        assert np.allclose(merged[name], expected[name], rtol=1e-9, atol=2.0 * (index == "beta"))
    assert dict((first.statistics - second.statistics) + second.statistics).keys() == set(LABELS)


@pytest.mark.parametrize("name", ["MAUB", "MAUB kl", "FasterCUCB", "ESCB", "OMM ucbv"])
def test_statistics_can_be_added_at_any_time(name: str) -> None:
    """After the same additions, a fresh policy of the same statistics sees the same values."""
    policy = played(POLICIES[name](problem_of(LABELS)))
    rng = np.random.default_rng(3)
    for _ in range(30):
        given = {e: (rng.random(), int(rng.integers(0, 9))) for e in rng.permutation(LABELS)[:3]}
        before = dict(policy.statistics)
        policy.observe(given)
        for e, (mean, count) in given.items():
            known_mean, known = before.get(e, (0.0, 0))
            if count + known:
                expected = (known * known_mean + count * mean) / (count + known)
                assert policy.statistics[e] == pytest.approx((expected, count + known))
        played(policy, 3)


def test_bad_statistics_change_nothing() -> None:
    policy = played(mb.MAUB(problem_of(LABELS), index="kl"))
    before = policy._kernel.state()
    for given, message in [
        ({"a": 0.5}, "must be a mean and a count, such as"),
        ({"a": (0.5,)}, "must be a mean and a count"),
        ({"a": (1.5, 3)}, "the mean 1.5 of 'a' is not between 0 and 1"),
        ({"a": (float("nan"), 3)}, "the mean of 'a' must be a number"),
        ({"a": (0.5, -1)}, "the count of 'a' must be at least 0"),
        ({"a": (0.5, 2.5)}, "the count of 'a' must be an integer"),
        ({"nobody": (0.5, 2)}, "unknown label 'nobody'"),
        ([("a", 0.5)], "observe needs a mapping"),
    ]:
        with pytest.raises(ValueError, match=message):
            policy.observe(given)
    with pytest.raises(ValueError, match="OSUB learns about arms"):
        mb.OSUB(problem_of(LABELS)).observe({"a": (0.5, 2)})
    large = mb.OMM(problem_of(LABELS))
    with pytest.raises(ValueError, match="the mean of 'a' overflows"):
        large.observe({"a": (1e308, 100)})
    assert_same(before, policy._kernel.state())


def test_a_window_of_ones_own() -> None:
    class Window(mb.Policy):
        """Greedy on the means of the last ten rewards."""

        def _observe(self, elements, rewards):
            for e, reward in zip(elements.tolist(), rewards.tolist(), strict=True):
                self.__dict__.setdefault("seen", {}).setdefault(e, []).append(reward)

        def _select(self):
            seen = self.__dict__.get("seen", {})
            return self.greedy_basis(
                [np.mean(seen[e][-10:]) if e in seen else np.inf for e in range(8)]
            )

    policy = Window(problem_of(LABELS, sense="min"))
    for _ in range(3):
        decision = policy.decide()
        policy.learn(decision, {decision.elements[0]: 2.0})
        policy.expire(decision, reward=1.0)
        policy.expire(decision, reward=1.0)
    policy.update({"a": 5.0})
    # The third decision is g and h, and b, which ties with others and is the lowest.
    assert policy.seen == {
        0: [-2.0, -5.0],
        1: [-1.0, -2.0],
        2: [-1.0],
        3: [-2.0],
        4: [-1.0],
        5: [-1.0],
        6: [-1.0],
        7: [-1.0],
    }
    assert policy.counts.sum() == 10
    for method in (
        lambda: policy.observe({"a": (1.0, 1)}),
        lambda: policy.moved_to(policy.problem),
    ):
        with pytest.raises(ValueError, match="it defines _observe"):
            method()


def test_a_hook_that_raises_leaves_nothing_behind() -> None:
    class Broken(mb.MAUB):
        def _observe(self, elements, rewards):
            raise OSError("no disk")

    policy = Broken(mb.UniformMatroid(2, 4))
    decision = policy.decide()
    before = policy._kernel.state()
    for call in (
        lambda: policy.learn(decision, [1.0, 0.0]),
        lambda: policy.expire(decision, reward=0.0),
        lambda: policy.update([0], [1.0]),
    ):
        with pytest.raises(OSError, match="no disk"):
            call()
    assert_same(before, policy._kernel.state())
    policy.expire(decision)
    assert not policy.open_decisions


def test_rewards_without_names_after_the_order_has_changed() -> None:
    """The order is that in which the decision was made, or the rewards are refused."""
    policy = mb.MAUB(problem_of(["a", "b", "c", "d"]))
    made = policy.decide(id="visit")
    same = policy.moved_to(problem_of(["a", "b", "c", "d", "e"]))
    same.learn("visit", np.arange(len(made.elements), dtype=float))
    other = policy.moved_to(problem_of(["e", "d", "c", "b", "a"]))
    with pytest.raises(ValueError, match="changed the order of its elements; pass a mapping"):
        other.learn("visit", [0.0] * len(made.elements))
    other.learn(made, np.arange(len(made.elements), dtype=float))
    for moved in (same, other):
        assert dict(moved.statistics) == {e: (float(k), 1) for k, e in enumerate(made.elements)}


def test_a_policy_that_has_moved_to_a_smaller_rank_can_be_saved(tmp_path) -> None:
    policy = played(mb.MAUB(mb.Problem(mb.UniformMatroid(3, 5), list("abcde"))), 20)
    moved = policy.moved_to(mb.Problem(mb.UniformMatroid(2, 5), list("abcde")))
    moved.save(tmp_path / "moved.mb")
    assert mb.load(tmp_path / "moved.mb").decide() == moved.decide()


def test_a_difference_of_statistics_may_be_outside_the_range_by_rounding() -> None:
    problem = mb.Problem(mb.UniformMatroid(1, 2), ["a", "b"])
    rng = np.random.default_rng(0)
    for _ in range(200):
        policy = mb.MAUB(problem, index="kl")
        for reward in rng.random(30):
            policy.update({"a": float(reward)})
        before = policy.statistics
        last = float(rng.integers(2))
        for _ in range(8):
            policy.update({"a": last})
        other = mb.MAUB(problem, index="kl")
        other.observe(policy.statistics - before)
        assert other.statistics["a"] == pytest.approx((last, 8))


def test_rewards_and_costs_are_not_mixed() -> None:
    rewards = played(mb.OMM(mb.Problem(mb.UniformMatroid(1, 2), ["a", "b"])))
    costs = played(mb.OMM(mb.Problem(mb.UniformMatroid(1, 2), ["a", "b"], sense="min")))
    with pytest.raises(ValueError, match="rewards and costs cannot be mixed"):
        costs.observe(rewards.statistics)
    with pytest.raises(ValueError, match="rewards and costs cannot be mixed"):
        rewards.statistics + costs.statistics


@pytest.mark.parametrize("arguments", [{"window": 10}, {"restart": "glr"}])
def test_what_was_forgotten_is_not_subtracted(arguments: dict) -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 1), noise=0.5, **arguments)
    past = policy.statistics
    for _ in range(20):
        policy.update([0], [0.5])
    assert dict(policy.statistics) == {0: (0.5, 10 if "window" in arguments else 20)}
    with pytest.raises(ValueError, match="window= or restart= cannot be subtracted"):
        policy.statistics - past
    with pytest.raises(ValueError, match="window= or restart= cannot be subtracted"):
        (policy.statistics + policy.statistics) - policy.statistics


def test_discounted_statistics_are_refused() -> None:
    policy = mb.CTS(mb.UniformMatroid(1, 1), discount=0.9)
    with pytest.raises(ValueError, match=r"discount= has no statistics .* effective_counts"):
        _ = policy.statistics


def test_statistics_are_a_mapping() -> None:
    statistics = mb.OMM(problem_of(LABELS)).statistics
    assert "nobody" not in statistics
    assert statistics.get("nobody") is None
    with pytest.raises(KeyError):
        statistics["nobody"]


def test_closed_decisions_of_a_wider_problem_take_little_memory() -> None:
    labels = [f"e{k}" for k in range(4000)]
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(1, 4000), labels))
    for _ in range(3000):
        policy.learn(policy.decide(), [0.5])
    first, last = policy.decide(id="first"), policy.decide(id="last")
    moved = policy.moved_to(mb.Problem(mb.UniformMatroid(4000, 4000), labels))
    state = moved._kernel.decisions.state()
    assert len(state["closed"]) == 1000  # of 4,000 elements each
    assert [state["ids"][k] for k in state["closed"][[0, -1]]] == [2001, 3000]
    assert list(moved.open_decisions.values()) == [first, last]
    moved.learn(3000, [0.5])
    with pytest.raises(mb.DecisionError, match="no decision with the id 2000"):
        moved.learn(2000, [0.5])
