"""Decisions as users meet them: what they hold, the ways to call, and the hook of one's own."""

import copy
import json
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.policies.contract.decision import names_of

ADS = mb.Problem(mb.UniformMatroid(2, 4), labels=["car", ("tea", 1), "book", 7])


def test_a_decision_is_plain_data() -> None:
    policy = mb.MAUB(ADS)
    first = policy.decide(["car", ("tea", 1), 7])
    assert first.to_dict() == {
        "id": 1,
        "elements": ["car", ["tea", 1]],
        "round": 1,
        "available": ["car", ["tea", 1], 7],
    }
    assert json.loads(json.dumps(first.to_dict())) == first.to_dict()
    second = policy.decide(id="visitor")
    assert (second.id, second.round, second.available) == ("visitor", 2, None)
    numbers = mb.MAUB(mb.UniformMatroid(2, 4)).decide(np.array([True, True, True, False]))
    assert numbers.elements.tolist() == [0, 1]
    assert numbers.available.tolist() == [0, 1, 2]
    assert json.loads(json.dumps(numbers.to_dict()))["available"] == [0, 1, 2]
    assert "visitor" in repr(second)


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))]
)
def test_copies_of_a_decision(make: Any) -> None:
    policy = mb.OMM(ADS)
    decision = policy.decide(["car", "book", 7])
    assert make(decision).to_dict() == decision.to_dict()
    policy.learn(make(decision), [0.5, 0.5])
    assert not policy.open_decisions


def test_open_decisions_are_a_view() -> None:
    policy = mb.OMM(ADS)
    view = policy.open_decisions
    assert len(view) == 0
    one, two = policy.decide(["car", "book"]), policy.decide(id="b")
    assert list(view) == [1, "b"]
    assert [decision.elements for decision in view.values()] == [one.elements, two.elements]
    assert view[1].available is None
    assert "b" in view
    assert 2 not in view
    assert ["b"] not in view.values()
    with pytest.raises(KeyError):
        view["c"]
    with pytest.raises(TypeError):
        view["c"] = one
    policy.learn("b", {two.elements[0]: 1.0})
    assert list(view) == [1, "b"]
    policy.expire(view)
    assert list(view) == []
    assert "b" not in view


def test_ways_to_say_what_is_available() -> None:
    kept = ["car", "book", 7]
    ways = [
        kept,
        tuple(kept),
        set(kept),
        iter(kept),
        np.array([True, False, True, True]),
    ]
    for way in ways:
        assert mb.RandomBasis(ADS).decide(way).available == kept
    numbers = [[0, 2, 3], (3, 2, 0), np.array([3, 0, 2]), range(0, 4, 1), {0, 2, 3}]
    for way in numbers:
        available = mb.RandomBasis(mb.UniformMatroid(2, 4)).decide(way).available
        assert available is None if len(way) == 4 else available.tolist() == [0, 2, 3]


def test_ways_to_give_feedback() -> None:
    pandas = pytest.importorskip("pandas")
    ways: list[Any] = [
        {"car": 0.25, ("tea", 1): 0.75},
        {("tea", 1): np.float32(0.75), "car": np.float64(0.25)},
        [0.25, 0.75],
        (0.25, 0.75),
        np.array([0.25, 0.75]),
        pandas.Series([0.75, 0.25], index=pandas.Index([("tea", 1), "car"], tupleize_cols=False)),
    ]
    for way in ways:
        policy = mb.OMM(ADS)
        policy.learn(policy.decide(), way)
        assert policy.means[:2].tolist() == [0.25, 0.75]
        assert policy.counts.tolist() == [1, 1, 0, 0]


def test_ways_to_name_decisions() -> None:
    policy = mb.OMM(ADS)
    made = [policy.decide(id=n) for n in (None, None, None, None, None, None, 7.0, None)]
    assert policy.open_decisions[7.0].id == 7
    policy.expire(made[0])
    policy.expire(2.0)
    policy.expire([made[2], 4])
    policy.expire(made[k] for k in (4,))
    policy.expire(np.array([6.0, 7.0]))
    policy.expire([])
    assert list(policy.open_decisions) == [8]
    policy.learn(np.int64(8), {}, final=True)
    assert not policy.open_decisions
    assert policy.counts.sum() == 0


def test_costs_that_never_come() -> None:
    policy = mb.KLOSM(mb.Problem(mb.UniformMatroid(1, 2), labels=["a", "b"], sense="min"))
    first, second = policy.decide(), policy.decide()
    policy.learn(second, {"b": 0.25})
    policy.expire(first, reward=1.0)
    assert policy.means.tolist() == [1.0, 0.25]
    assert policy.mean_rewards.tolist() == [0.0, 0.75]


class Window(mb.Policy):
    """Greedy on the last three rewards of every element."""

    def __init__(self, matroid: Any) -> None:
        super().__init__(matroid)
        self.last: list[list[float]] = [[] for _ in range(self.matroid.size)]
        self.calls: list[tuple[list[int], list[float]]] = []

    def _observe(self, elements: Any, rewards: Any) -> None:
        self.calls.append((elements.tolist(), rewards.tolist()))
        for e, reward in zip(elements.tolist(), rewards.tolist(), strict=True):
            self.last[e] = [*self.last[e][-2:], reward]

    def _select(self) -> Any:
        return self.greedy_basis([np.mean(seen) if seen else np.inf for seen in self.last])


def test_the_hook_hears_what_is_new() -> None:
    policy = Window(mb.Problem(mb.UniformMatroid(2, 4), labels=list("abcd"), sense="min"))
    first, second, third = (policy.decide(["a", "b", "c"]) for _ in range(3))
    policy.learn(first, {"b": 1.0})
    policy.learn(first, {"a": 2.0, "b": 1.0})
    policy.learn(first, {"a": 2.0})
    policy.expire([second, third], reward=3.0)
    policy.expire(third, reward=4.0)
    assert policy.calls == [
        ([1], [-1.0]),
        ([0], [-2.0]),
        ([0, 1], [-3.0, -3.0]),
        ([0, 1], [-3.0, -3.0]),
    ]
    policy.update(["d", "a"], [5.0, 6.0])
    assert policy.calls[-1] == ([3, 0], [-5.0, -6.0])
    assert policy.counts.tolist() == [4, 3, 0, 1]


def test_a_window_forgets() -> None:
    mb.check_policy(
        type("Checked", (Window,), {"_check_exemptions": {"relabeling": "rewards may tie"}})
    )
    policy = Window(mb.UniformMatroid(1, 2))
    for reward in (0.0, 0.0, 0.0):
        policy.update([0], [reward])
    policy.update([1], [0.5])
    for _ in range(3):
        policy.update([0], [1.0])
    assert policy.means.tolist() == [0.5, 0.5]
    assert policy.decide().elements.tolist() == [0]


def test_open_decisions_may_close_while_they_are_listed() -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 4))
    for _ in range(4):
        policy.decide()
    seen = []
    for identifier, decision in policy.open_decisions.items():
        assert decision.id == identifier
        seen.append(identifier)
        policy.expire([identifier, identifier + 1])
    assert seen == [1, 3]
    assert list(policy.open_decisions.values()) == []


def _closing(policy: mb.Policy[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Close every decision but the first as soon as that is read, as another thread may do."""

    def names(*arguments: Any) -> Any:
        policy.expire(list(policy.open_decisions)[1:])
        return names_of(*arguments)

    monkeypatch.setattr("matroid_bandits.policies.contract.decision.names_of", names)


@pytest.mark.parametrize(
    "copied",
    [
        dict,
        lambda view: {**view},
        lambda view: {key: view[key] for key in view.keys()},  # noqa: SIM118
        lambda view: dict(view.items()),
    ],
)
def test_open_decisions_may_close_while_they_are_copied(
    copied: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 4))
    made = [policy.decide() for _ in range(4)]
    assert copied(policy.open_decisions) == {decision.id: decision for decision in made}
    _closing(policy, monkeypatch)
    assert copied(policy.open_decisions) == {1: made[0]}


def test_keys_that_were_listed_can_be_looked_up() -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 4))
    made = [policy.decide() for _ in range(4)]
    view = policy.open_decisions
    listed = list(view.keys())
    policy.expire(made)
    assert [view[key] for key in listed] == made
    # Once. The next look is at what is open then.
    for key in listed:
        assert key not in view
        with pytest.raises(KeyError):
            view[key]
    with pytest.raises(KeyError):
        policy.open_decisions[1]


def test_open_decisions_may_close_while_one_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 4))
    made = [policy.decide() for _ in range(4)]
    view = policy.open_decisions
    assert made[3] in view.values()
    assert (1, made[0]) in view.items()
    _closing(policy, monkeypatch)
    assert made[3] not in view.values()
    assert made[0] in view.values()


@pytest.mark.parametrize("name", sorted(mb.catalog.POLICIES))
def test_explanations_change_nothing(name: str) -> None:
    """Late feedback, a selection, decisions with some elements: with `explain` and without."""
    matroid = mb.GraphicMatroid.complete(4)
    plays = []
    for explains in (False, True):
        policy = mb.catalog.POLICIES[name]._example(matroid)
        rng = np.random.default_rng(5)
        seen, waiting = [], []
        for t in range(60):
            if explains:
                policy.explain()
            if t % 7 == 3:
                seen.append(policy.select().tolist())
            decision = policy.decide(available=[0, 1, 2, 3, 5] if t % 5 == 0 else None)
            seen.append(decision.elements.tolist())
            waiting.append(decision)
            if explains:
                policy.explain()
            if t % 7 == 5:
                policy.update([t % 6], [float(rng.random())])
            if len(waiting) > 4:
                policy.learn(waiting.pop(int(rng.integers(4))), rng.random(3))
        plays.append(seen)
    assert plays[0] == plays[1]


@pytest.mark.parametrize("pending", ["ignore", "count"])
@pytest.mark.parametrize("name", ["MAUB", "CTS", "ESCB", "OSUB", "FasterCUCB"])
def test_explanations_are_of_the_next_set_while_feedback_is_late(name: str, pending: str) -> None:
    cls = mb.catalog.POLICIES[name]
    matroid = mb.GraphicMatroid.complete(4)
    if "pending" not in cls.__signature__.parameters:
        pytest.skip("it takes no notice of them")
    policy = cls(matroid, pending=pending)
    rng = np.random.default_rng(5)
    waiting = []
    for _ in range(60):
        explained = [one.element for one in policy.explain().selected]
        waiting.append(policy.decide())
        assert waiting[-1].elements.tolist() == explained
        if len(waiting) > 9:
            policy.learn(waiting.pop(int(rng.integers(9))), rng.random(3))


def test_an_explanation_copies_no_decisions() -> None:
    policy = mb.MAUB(mb.UniformMatroid(500, 1_000), index="kl")
    for _ in range(500):
        policy.decide()
    # For each element of a decision, its number and its reward.
    n_bytes = 500 * 500 * (4 + 8)
    policy.explain()
    tracemalloc.start()
    policy.explain()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < n_bytes / 2
    assert len(policy.open_decisions) == 500


def test_an_explanation_before_the_update_is_not_a_selection() -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 3))
    for e, reward in enumerate([0.5, 0.6, 0.4]):
        policy.update([e], [reward])
    selected = policy.select()
    policy.decide()
    policy.explain()
    policy.update(selected, [-50.0])
    assert policy.decide().elements.tolist() == [0]


def test_a_decision_of_another_policy_is_refused() -> None:
    first, second = mb.OMM(ADS), mb.OMM(ADS)
    foreign, own = first.decide(["car", "book"]), second.decide()
    assert foreign.id == own.id
    for call in (second.expire, lambda d: second.learn(d, {"car": 0.5})):
        with pytest.raises(mb.DecisionError, match="decision 1 of this policy is another one"):
            call(foreign)
    assert own.id in second.open_decisions
    # The same decision in another life of the policy.
    again = copy.deepcopy(first)
    again.learn(foreign, [0.5] * len(foreign.elements))
    assert not again.open_decisions


def test_a_decision_is_recognized_after_a_move() -> None:
    policy = mb.OMM(ADS)
    decision = policy.decide()
    labels = [*reversed(ADS.labels or ()), "new"]
    moved = policy.moved_to(mb.Problem(mb.UniformMatroid(ADS.rank, len(labels)), labels))
    moved.learn(decision, {decision.elements[0]: 0.5}, final=True)
    assert not moved.open_decisions


def test_decisions_are_equal_by_content() -> None:
    policy = mb.OMM(ADS)
    decision = policy.decide()
    assert decision == policy.open_decisions[decision.id] == copy.copy(decision)
    assert decision != policy.decide()
    assert len({decision, copy.copy(decision)}) == 1
    assert decision != decision.id


def test_keys_of_open_decisions() -> None:
    policy = mb.OMM(ADS)
    policy.decide()
    for same in (np.int64(1), 1.0):
        assert same in policy.open_decisions
    for other in (True, 1.5, 2.0**60, "1", None, [1]):
        assert other not in policy.open_decisions
        with pytest.raises(KeyError):
            policy.open_decisions[other]  # type: ignore[index]


def test_greedy_after_a_smaller_round() -> None:
    policy = mb.OMM(mb.UniformMatroid(2, 4))
    policy.decide(available=[0], allow_smaller=True)
    assert policy.greedy_basis([1, 2, 3, 4]).tolist() == [2, 3]


def test_closed_decisions_of_large_sets_take_little_memory() -> None:
    policy = mb.OMM(mb.PartitionMatroid([e % 2000 for e in range(4000)], 1))
    for _ in range(2500):
        policy.learn(policy.decide(), np.zeros(2000))
    assert len(policy._kernel.decisions.state()["ids"]) == 2000  # of 2,000 elements each


def test_answers_within_a_round_take_little_memory() -> None:
    policy = mb.CTS(mb.UniformMatroid(2, 12))
    policy.update(range(12), [0.5] * 12)
    sets = [[a, b, c] for a in range(10) for b in range(a + 1, 11) for c in range(b + 1, 12)]
    answers = [policy.select(available=some).tolist() for some in sets]
    assert len(policy._kernel.state()["answers"]) == 100
    # Those that were forgotten are decided again, with the same random numbers.
    assert [policy.select(available=some).tolist() for some in sets] == answers


class Greedy(mb.Policy):
    """Greedy on the means, unobserved elements first, in Python."""

    def _select(self) -> Any:
        return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))


def test_an_explanation_in_python_is_no_answer() -> None:
    """What was only explained is not kept beside other sets of the round."""
    plays = []
    for explains in (False, True):
        policy = Greedy(mb.UniformMatroid(1, 3))
        policy.update([0, 1, 2], [0.5, 0.4, 0.3])
        decision = policy.decide()
        if explains:
            policy.explain()
        policy.select([1, 2])
        policy.learn(decision, {0: 0.0})
        plays.append(policy.select().tolist())
    assert plays == [[1], [1]]


def test_random_numbers_after_a_refused_selection() -> None:
    """Learning may draw, too: what it has drawn is not drawn again."""
    for seed in range(50):
        plays = []
        for is_refused in (False, True):
            policy = mb.CTS(mb.UniformMatroid(1, 4), seed=seed)
            policy.update([0, 1, 2, 3], [0.5] * 4)
            decision = policy.decide()
            if is_refused:
                with pytest.raises(mb.NoBasisError):
                    policy.select([])
            policy.learn(decision, [0.5])
            policy.select([0, 1, 2])
            plays.append(policy.select().tolist())
        assert plays[0] == plays[1]


def test_a_hook_that_changes_the_arrays_of_the_caller() -> None:
    elements = np.array([0, 1])

    class Hooked(Greedy):
        def _observe(self, observed: Any, rewards: Any) -> None:
            elements[:] = 10**9

    policy = Hooked(mb.UniformMatroid(2, 3))
    policy.update(elements, np.array([0.5, 0.25]))
    assert policy.counts.tolist() == [1, 1, 0]


@pytest.mark.parametrize("make", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_a_copy_of_a_policy_refuses_and_says_the_same(make: Any) -> None:
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(1, 2), ["a", "b"], sense="min"))
    decision = policy.decide()
    policy.learn(decision, [0.25])
    twin = make(policy)
    for call in (
        lambda p: p.learn(decision.id, [0.5]),
        lambda p: p.update({"b": float("inf")}),
        lambda p: p.decide([]),
    ):
        messages = []
        for one in (policy, twin):
            with pytest.raises(ValueError, match=r"'a'|'b'|instance a") as error:
                call(one)
            messages.append(str(error.value))
        assert messages[0] == messages[1]
    for one in (policy, twin):
        with pytest.warns(UserWarning, match="'a' had a mean of 0.25"):
            one.update({"a": 1e6})


def test_initial_rounds_are_remembered_as_such(tmp_path: Any) -> None:
    """MAUB: an initial round has no local time, also if learning ends the initial rounds."""
    for make in (lambda p: p, copy.deepcopy):
        policy = mb.MAUB(mb.UniformMatroid(1, 3))
        policy.update([0, 1], [0.5, 0.5])
        decision = policy.decide()
        policy.select()
        policy.learn(decision, [0.5])
        policy = make(policy)
        policy.select([0, 1])
        policy.save(tmp_path / "policy")
        assert (
            mb.load(tmp_path / "policy").select([0, 1]).tolist() == policy.select([0, 1]).tolist()
        )


# ---- what is shown in place of the policy's set ----


def test_shown_in_place_of_the_proposed_set() -> None:
    ads = mb.Problem(mb.UniformMatroid(2, 4), labels=["car", "tea", "book", "hat"])
    policy, other = mb.MAUB(ads), mb.MAUB(ads)
    made = policy.decide(shown=["hat", "tea"])
    assert made.elements == ["tea", "hat"]
    assert made.proposed == other.decide().elements == ["car", "tea"]
    assert policy.n_pending.tolist() == [0, 1, 0, 1]
    policy.learn(made, [0.5, 1.0])
    assert policy.counts.tolist() == [0, 1, 0, 1]
    assert not policy.open_decisions
    # Without shown, the two are the same.
    assert (again := policy.decide()).proposed == again.elements


def test_nothing_shown_is_closed_at_once() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 4))
    made = policy.decide(shown=[])
    assert (len(made.elements), made.proposed.tolist()) == (0, [0, 1])
    assert (policy.rounds, len(policy.open_decisions)) == (1, 0)


@pytest.mark.parametrize(
    "shown, message",
    [
        ([0, 1, 2], "shown has 3 elements; a set that may be played has at most 2"),
        ([7], "7"),
        ([1, 1], "twice"),
        (3, "shown"),
    ],
)
def test_mistakes_in_what_is_shown(shown, message: str) -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 4))
    with pytest.raises(ValueError, match=message):
        policy.decide(shown=shown)
    assert policy.rounds == 0
