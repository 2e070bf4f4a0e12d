"""Wrong arguments of decide, learn and expire: refused in words, and nothing has changed."""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb

K4 = mb.GraphicMatroid.complete(4)
LABELS = ["ab", "ac", "ad", "bc", "bd", "cd"]
every_policy = pytest.mark.parametrize("name", sorted(mb.catalog.POLICIES))


class Site:
    """A policy with one decision of every kind."""

    def __init__(self, name: str, sense: Any = "max") -> None:
        self.policy: Any = mb.catalog.POLICIES[name]._example(mb.Problem(K4, LABELS, sense=sense))
        for _ in range(8):
            decision = self.policy.decide()
            self.policy.learn(decision, [0.25, 0.5, 0.75])
        self.open = self.policy.decide()
        self.partial = self.policy.decide(id="partial")
        self.policy.learn("partial", {self.partial.elements[0]: 0.5})
        self.closed = self.policy.decide()
        self.policy.learn(self.closed, {self.closed.elements[0]: 0.5}, final=True)
        self.expired = self.policy.decide()
        self.policy.expire(self.expired)

    def outside(self, decision: Any) -> str:
        return next(label for label in LABELS if label not in decision.elements)


def _learn(decision: str, rewards: Callable[[Site, Any], Any]) -> Callable[[Site], object]:
    def call(site: Site) -> object:
        one = getattr(site, decision)
        return site.policy.learn(one, rewards(site, one))

    return call


MISTAKES: dict[str, Callable[[Site], object]] = {
    # learn: the decision
    "unknown number": lambda site: site.policy.learn(10**6, {}),
    "unknown text": lambda site: site.policy.learn("nobody", {}),
    "negative number": lambda site: site.policy.learn(-1, {}),
    "huge number": lambda site: site.policy.learn(10**30, {}),
    "number as text": lambda site: site.policy.learn(str(site.open.id), {}),
    "none": lambda site: site.policy.learn(None, {}),
    "float": lambda site: site.policy.learn(9.5, {}),
    "list": lambda site: site.policy.learn([site.open.id], {}),
    "the elements": lambda site: site.policy.learn(site.open.elements, [0.5] * 3),
    # learn: the elements
    "element outside": _learn("open", lambda site, one: {site.outside(one): 0.5}),
    "one element outside": _learn(
        "open", lambda site, one: {one.elements[0]: 0.5, site.outside(one): 0.5}
    ),
    "no such label": _learn("open", lambda _, one: {one.elements[0]: 0.5, "zz": 0.5}),
    "number instead of label": _learn("open", lambda *_: {0: 0.5}),
    "too few rewards": _learn("open", lambda *_: [0.5, 0.5]),
    "too many rewards": _learn("open", lambda *_: [0.5] * 4),
    "no rewards in a list": _learn("open", lambda *_: []),
    "rewards in a table": _learn("open", lambda *_: [[0.5, 0.5, 0.5]]),
    # learn: the rewards
    "nan": _learn("open", lambda _, one: {one.elements[0]: 0.5, one.elements[1]: math.nan}),
    "infinite": _learn("open", lambda *_: [0.5, 0.5, math.inf]),
    "text": _learn("open", lambda *_: [0.5, 0.5, "x"]),
    "nothing": _learn("open", lambda *_: [0.5, 0.5, None]),
    "no rewards at all": _learn("open", lambda *_: None),
    "a number": _learn("open", lambda *_: 0.5),
    "complex": _learn("open", lambda *_: [0.5, 0.5, 1j]),
    # what contradicts earlier feedback
    "another value": _learn("partial", lambda _, one: {one.elements[0]: 0.75}),
    "another value with new ones": _learn("partial", lambda *_: [0.75, 0.5, 0.5]),
    "late for a closed one": _learn("closed", lambda _, one: {one.elements[1]: 0.5}),
    "late with what is known": _learn("closed", lambda *_: [0.5, 0.5, 0.5]),
    "another value for a closed one": _learn("closed", lambda _, one: {one.elements[0]: 0.25}),
    "late for an expired one": _learn("expired", lambda _, one: {one.elements[0]: 0.5}),
    "outside a closed one": _learn("closed", lambda site, one: {site.outside(one): 0.5}),
    # expire
    "expire unknown": lambda site: site.policy.expire("nobody"),
    "expire one unknown": lambda site: site.policy.expire([site.open.id, 10**6]),
    "expire one unknown with reward": lambda site: site.policy.expire([site.open, "no"], reward=0),
    "expire none": lambda site: site.policy.expire(None),
    "expire float": lambda site: site.policy.expire(1.5),
    "expire nan": lambda site: site.policy.expire(site.open, reward=math.nan),
    "expire infinite": lambda site: site.policy.expire(site.open, reward=-math.inf),
    "expire text": lambda site: site.policy.expire([site.open], reward="x"),
    # decide
    "id of an open one": lambda site: site.policy.decide(id=site.open.id),
    "text of an open one": lambda site: site.policy.decide(id="partial"),
    "id of a closed one": lambda site: site.policy.decide(id=site.closed.id),
    "id is a float": lambda site: site.policy.decide(id=1.5),
    "id is a list": lambda site: site.policy.decide(id=["a"]),
    "id is a tuple": lambda site: site.policy.decide(id=("a", 1)),
    "id is bytes": lambda site: site.policy.decide(id=b"a"),
    "id is a truth value": lambda site: site.policy.decide(id=True),
    "available: no such label": lambda site: site.policy.decide([*LABELS, "zz"]),
    "available: numbers": lambda site: site.policy.decide([0, 1, 2, 3, 4]),
    "available: one number": lambda site: site.policy.decide(3),
    "available: short mask": lambda site: site.policy.decide(np.ones(5, dtype=bool)),
    "available: long mask": lambda site: site.policy.decide(np.ones(7, dtype=bool)),
    "available: table": lambda site: site.policy.decide(np.ones((6, 1), dtype=bool)),
    "available: no basis": lambda site: site.policy.decide(["ab", "ac"]),
    "available: nothing": lambda site: site.policy.decide([]),
    "available: empty mask": lambda site: site.policy.decide(np.zeros(6, dtype=bool)),
}
# Not ids, elements or rewards at all.
OF_WRONG_TYPE = (ValueError, TypeError)


def _state(policy: Any) -> list[Any]:
    return [
        policy.rounds,
        policy.counts.tolist(),
        str(policy.means.tolist()),
        policy.n_pending.tolist(),
        [(key, str(one.elements), one.round) for key, one in policy.open_decisions.items()],
        getattr(policy, "leader", None),
        policy.oracle_calls,
        policy.greedy_calls,
        len(repr(policy)),
    ]


@every_policy
def test_a_mistake_changes_nothing(name: str) -> None:
    site = Site(name)
    before = _state(site.policy)
    twin = copy.deepcopy(site.policy)
    for what, mistake in MISTAKES.items():
        with pytest.raises(OF_WRONG_TYPE) as error:
            mistake(site)
        # In words.
        assert len(str(error.value)) > 20, what
        assert _state(site.policy) == before, what
    # Hidden state has not changed either: both go on alike.
    for t in range(10):
        decision, other = site.policy.decide(), twin.decide()
        assert (decision.id, decision.elements) == (other.id, other.elements), t
        for policy in (site.policy, twin):
            policy.learn(decision.id, dict.fromkeys(decision.elements[:2], 0.5))


@pytest.mark.parametrize(
    "what, words",
    [
        ("unknown number", "1000000"),
        ("unknown text", "'nobody'"),
        ("element outside", "(?i)element|'[a-d][a-d]'"),
        ("another value", r"0\.5.*0\.75|0\.75.*0\.5"),
        ("late for a closed one", "closed|final|over"),
        ("late for an expired one", "expired|closed"),
        ("expire one unknown", "1000000"),
        ("text of an open one", "'partial'"),
        ("too few rewards", "2.*3|3.*2"),
    ],
)
def test_messages_name_what_is_wrong(what: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        MISTAKES[what](Site("MAUB"))


@pytest.mark.parametrize(
    "what",
    [
        "unknown number",
        "unknown text",
        "another value",
        "late for a closed one",
        "late for an expired one",
        "expire one unknown",
        "id of an open one",
        "id of a closed one",
    ],
)
def test_ids_and_conflicts_have_an_error_of_their_own(what: str) -> None:
    with pytest.raises(mb.DecisionError):
        MISTAKES[what](Site("OMM"))
    assert issubclass(mb.DecisionError, ValueError)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_rewards_out_of_range(sense: str) -> None:
    site = Site("KLOSM", sense)
    before = _state(site.policy)
    for wrong in (-0.01, 1.01):
        with pytest.raises(ValueError, match=str(wrong)):
            site.policy.learn(site.open, [0.5, 0.5, wrong])
        with pytest.raises(ValueError, match=str(wrong)):
            site.policy.expire(site.open, reward=wrong)
        assert _state(site.policy) == before


def test_numbers_that_are_no_elements() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 4))
    decision, empty = policy.decide(), policy.decide([], allow_smaller=True)
    before = _state(policy)
    for one in (decision, empty):
        for element in (-1, -2, 4, 10**6, -(10**6), 10**30):
            with pytest.raises(ValueError, match=str(abs(element))):
                policy.learn(one, {element: 0.5})
            assert _state(policy) == before


def test_an_element_given_twice() -> None:
    pandas = pytest.importorskip("pandas")
    policy = mb.MAUB(mb.UniformMatroid(2, 4))
    decision = policy.decide()
    before = _state(policy)
    with pytest.raises(ValueError, match="element 1 is given twice"):
        policy.learn(decision, pandas.Series([0.5, 0.5, 0.5], index=[1, 0, 1]))
    assert _state(policy) == before


@every_policy
def test_a_refused_call_leaves_the_selection_as_it_is(name: str) -> None:
    policy = mb.catalog.POLICIES[name]._example(mb.Problem(K4, LABELS))
    selected = policy.select(available=LABELS[1:])
    for call in (
        lambda: policy.decide(["ab", "ac"]),
        lambda: policy.decide(id=1.5),
        lambda: policy.select(available=["ab", "ac"]),
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            call()
        assert (policy.rounds, policy.n_pending.sum(), len(policy.open_decisions)) == (0, 0, 0)
        assert policy.select(available=LABELS[1:]) == selected
    # It becomes a decision of its own, next to one with the id that it would have had.
    policy.decide(id=1)
    assert list(policy.open_decisions) == [2, 1]
    assert policy.n_pending.sum() == 6
    with pytest.raises(mb.NoBasisError):
        policy.select(available=["ab", "ac"])
    assert list(policy.open_decisions) == [2, 1]
    assert policy.select(available=LABELS[1:]) == selected


@every_policy
def test_what_is_selected_stays_so_if_another_set_is_refused(name: str) -> None:
    policy = mb.catalog.POLICIES[name]._example(mb.Problem(K4, LABELS))
    selected = policy.select(available=LABELS[1:])
    with pytest.raises(mb.NoBasisError):
        policy.select(available=["ab", "ac"])
    policy.decide()
    assert list(policy.open_decisions) == [1, 2]
    assert policy.open_decisions[1].elements == selected


def test_a_look_is_no_selection() -> None:
    # What explain() has shown is decided again if something was learned since.
    policy = mb.OMM(mb.UniformMatroid(1, 3))
    policy.update([0, 1, 2], [0.5, 0.5, 0.5])
    first = policy.decide()
    assert policy.explain().selected[0].element == 0
    policy.learn(first, [-5.0])
    assert policy.rounds == 2
    assert policy.decide().elements.tolist() == [1]
    assert list(policy.open_decisions) == [3]


def test_a_mean_that_would_overflow_is_refused() -> None:
    policy = mb.OMM(mb.UniformMatroid(2, 2), noise=1e100)
    first, second = policy.decide(), policy.decide()
    policy.learn(first, [0.0, 1.7e308])
    before = _state(policy)
    with pytest.raises(ValueError, match=r"overflow|too large|finite"):
        policy.learn(second, [0.5, 1.7e308])
    assert _state(policy) == before
    with pytest.raises(ValueError, match=r"overflow|too large|finite"):
        policy.expire(second, reward=1.7e308)
    assert _state(policy) == before


def test_expire_is_all_or_nothing_in_python_too() -> None:
    class Moody(mb.Policy):
        heard = 0

        def _select(self) -> Any:
            return self.greedy_basis(np.zeros(self.matroid.size))

        def _observe(self, elements: Any, rewards: Any) -> None:
            self.heard += 1
            if self.heard == 2:
                raise OSError("the disk is full")

    policy = Moody(mb.UniformMatroid(2, 4))
    first, second = policy.decide(), policy.decide()
    policy.learn(first, {0: 1.0})
    before = _state(policy)
    with pytest.raises(OSError, match="disk"):
        policy.learn(first, {1: 1.0})
    assert _state(policy) == before
    policy.learn(first, {1: 1.0})
    policy.expire(second, reward=0.0)
    assert policy.counts.tolist() == [2, 2, 0, 0]


def test_feedback_may_be_repeated_for_ten_thousand_closed_decisions() -> None:
    policy = mb.FollowTheLeader(mb.UniformMatroid(1, 2))
    for _ in range(10_001):
        policy.learn(policy.decide(), [0.5])
    counts = policy.counts.tolist()
    policy.learn(2, [0.5])
    policy.expire(2, reward=0.0)
    assert policy.counts.tolist() == counts
    with pytest.raises(mb.DecisionError):
        policy.learn(1, [0.5])
    with pytest.raises(mb.DecisionError):
        policy.expire(1)
