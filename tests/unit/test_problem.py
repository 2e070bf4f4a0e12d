"""Labels, costs, available elements and explanations."""

import copy
import pickle

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.checks.policies import exemptions_of
from matroid_bandits.policies.contract import explanation as explanation_file

from ..reference import matroids as reference
from ..states import local_times

LINKS = [("Oslo", "Rome"), ("Rome", "Cork"), ("Cork", "Oslo"), ("Cork", "Wien")]
TRIANGLE = mb.GraphicMatroid(LINKS)


def network(sense: str = "min") -> mb.Problem:
    return mb.Problem(TRIANGLE, labels=LINKS, sense=sense)


# ---- what a problem is ----


def test_it_tells_what_it_was_made_of() -> None:
    problem = network()
    assert problem.matroid is TRIANGLE
    assert problem.labels == tuple(LINKS)
    assert (problem.sense, problem.size, problem.rank) == ("min", 4, 3)
    assert "sense='min'" in repr(problem)
    assert mb.Problem(TRIANGLE).labels is None


def test_names_and_numbers() -> None:
    problem = network()
    assert problem.elements([("Cork", "Wien"), ("Oslo", "Rome")]).tolist() == [3, 0]
    assert problem.names(np.array([1, 2])) == [LINKS[1], LINKS[2]]
    assert problem.elements([]).tolist() == []
    plain = mb.Problem(TRIANGLE)
    assert plain.elements({2, 0}).tolist() == [0, 2]
    assert plain.names(np.array([1, 2])).tolist() == [1, 2]


def test_labels_may_be_arrays_of_any_kind() -> None:
    words = mb.Problem(mb.UniformMatroid(1, 2), labels=np.array(["a", "b"]))
    assert words.labels == ("a", "b")
    numbers = mb.Problem(mb.UniformMatroid(1, 2), labels=np.array([318, 296]))
    policy = mb.OMM(numbers)
    assert policy.select() == [318]
    policy.update(np.array([318]), [0.5])
    assert policy.counts.tolist() == [1, 0]


def test_the_best_basis_by_sense() -> None:
    values = [20.0, 35.0, 18.0, 9.0]
    assert network("min").best_basis(values) == [LINKS[0], LINKS[2], LINKS[3]]
    assert network("max").best_basis(dict(zip(LINKS, values, strict=True))) == [
        LINKS[0],
        LINKS[1],
        LINKS[3],
    ]


def test_questions_by_name() -> None:
    problem = network()
    assert not problem.is_independent(LINKS[:3])
    assert problem.is_independent(LINKS[1:])
    circuit = problem.fundamental_circuit([LINKS[0], LINKS[1], LINKS[3]], LINKS[2])
    assert circuit == LINKS[:3]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mb.Problem(TRIANGLE, labels=["a"]), "one label per element is needed: 4, got 1"),
        (
            lambda: mb.Problem(TRIANGLE, labels=["a", "b", "a", "c"]),
            "elements 0 and 2 have the same label 'a'",
        ),
        (
            lambda: mb.Problem(TRIANGLE, labels=[["a"], "b", "c", "d"]),
            r"the label of element 0 must be hashable, got \['a'\]",
        ),
        (
            lambda: mb.Problem(TRIANGLE, labels=[("a", []), "b", "c", "d"]),
            "the label of element 0 must be hashable",
        ),
        (
            lambda: mb.Problem(TRIANGLE, labels=[float("nan"), "b", "c", "d"]),
            "the label of element 0 must be hashable, got nan",
        ),
        (lambda: mb.Problem(TRIANGLE, labels="abcd"), "labels must be a list, got 'abcd'"),
        (
            lambda: mb.Problem(TRIANGLE, sense="maximum"),
            "unknown sense 'maximum'; did you mean max",
        ),
        (lambda: network("mim"), "unknown sense 'mim'; did you mean min"),
        (
            lambda: network().elements([("Oslo", "Rom")]),
            r"unknown label \('Oslo', 'Rom'\); did you mean \('Oslo', 'Rome'\)",
        ),
        (
            lambda: network().elements([("Rome", "Oslo")]),
            r"unknown label \('Rome', 'Oslo'\); did you mean its reverse, \('Oslo', 'Rome'\)\?",
        ),
        (lambda: network().elements([["Oslo"]]), r"unknown label \['Oslo'\]"),
        (lambda: network().elements("Oslo"), "names must be a list, got 'Oslo'"),
        (lambda: network().elements([LINKS[0], LINKS[0]]), r"\('Oslo', 'Rome'\) is given twice"),
        (lambda: mb.Problem(TRIANGLE).elements([7]), "element 7 is not in the ground set"),
        (
            lambda: network().best_basis({LINKS[0]: 1.0}),
            r"one value per element is needed; \('Rome', 'Cork'\) has none",
        ),
        (
            lambda: network().fundamental_circuit(LINKS[:3], LINKS[3]),
            r"\[\('Oslo', 'Rome'\), .*\] is not a basis: it is dependent",
        ),
        (
            lambda: network().fundamental_circuit(LINKS[:2], LINKS[3]),
            "is not a basis: it has 2 elements, the rank is 3",
        ),
    ],
)
def test_mistakes_have_messages(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_no_matroid_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a problem needs a matroid, got 3; .*OracleMatroid"):
        mb.Problem(3)
    with pytest.raises(TypeError, match="MAUB needs a matroid"):
        mb.MAUB("K5")


def test_parts_and_sums_take_their_labels_along() -> None:
    problem = network()
    assert problem.restrict([LINKS[2], LINKS[0]]).labels == (LINKS[0], LINKS[2])
    assert problem.delete([LINKS[3]]).labels == tuple(LINKS[:3])
    left = problem.contract([LINKS[0]])
    assert left.labels == tuple(LINKS[1:])
    assert left.is_independent([LINKS[1]])
    assert not left.is_independent([LINKS[1], LINKS[2]])
    assert problem.truncate(2).best_basis([4, 3, 2, 1]) == [LINKS[2], LINKS[3]]
    assert problem.dual().rank == 1
    colors = mb.Problem(mb.UniformMatroid(1, 2), ["red", "blue"], sense="min")
    both = problem + colors
    assert both.labels == (*LINKS, "red", "blue")
    assert both.sense == "min"
    assert (problem | problem).rank == 4
    assert (mb.Problem(TRIANGLE) + mb.Problem(TRIANGLE)).size == 8


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: network() + network(), r"both problems have a label \('Oslo', 'Rome'\)"),
        (lambda: network("min") + network("max"), "one problem has sense='min', the other 'max'"),
        (lambda: network("min") | network("max"), "one problem has sense='min', the other 'max'"),
        (lambda: network("max") + mb.Problem(TRIANGLE), "has labels, the other has none"),
        (
            lambda: network("max") | mb.Problem(TRIANGLE, labels=list("abcd")),
            "the same labels in the same order",
        ),
        (lambda: network().restrict(["Wien"]), "unknown label 'Wien'"),
        (lambda: network().truncate(-1), "rank must be at least 0, got -1"),
    ],
)
def test_parts_that_do_not_fit(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_only_problems_are_added() -> None:
    for wrong in (TRIANGLE, 3):
        with pytest.raises(TypeError, match="unsupported operand"):
            network() + wrong
        with pytest.raises(TypeError, match="unsupported operand"):
            network() | wrong


def test_names_are_the_users_own_objects() -> None:
    class Thing:
        pass

    things = [Thing(), Thing()]
    policy = mb.MAUB(mb.Problem(mb.UniformMatroid(1, 2), labels=things))
    twin = copy.deepcopy(policy)
    assert twin.select()[0] is things[0]
    twin.update({things[0]: 1.0})
    assert twin.counts.tolist() == [1, 0]
    assert policy.counts.tolist() == [0, 0]


# ---- policies speak its language ----


def test_policies_select_and_accept_names() -> None:
    policy = mb.MAUB(network())
    tree = policy.select()
    assert tree == [LINKS[0], LINKS[1], LINKS[3]]
    policy.update(dict.fromkeys(tree, 10.0))
    policy.update([LINKS[2]], [30.0])
    assert policy.means.tolist() == [10.0, 10.0, 30.0, 10.0]
    policy.select()
    assert policy.leader == tree
    assert policy.problem.labels == tuple(LINKS)
    assert "sense='min'" in repr(policy)


@pytest.mark.parametrize(
    ("elements", "costs", "message"),
    [
        ({("Oslo", "Rom"): 1.0}, None, r"unknown label \('Oslo', 'Rom'\)"),
        (LINKS[:1], [float("nan")], r"the cost of \('Oslo', 'Rome'\) is nan; it must be finite"),
        (LINKS[:2], [1.0], "one cost per element is needed, got 2 elements and 1 costs"),
        (LINKS[:1], ["x"], r"costs must be numbers, got \['x'\]"),
        (LINKS[:1], None, r"rewards are missing; write update\(elements, rewards\)"),
        ({LINKS[0]: 1.0}, [1.0], "rewards are given twice"),
        ([LINKS[0], LINKS[0]], [1.0, 2.0], "is given twice"),
    ],
)
def test_refused_feedback_changes_nothing(elements, costs, message: str) -> None:
    policy = mb.MAUB(network())
    before = policy.select()
    with pytest.raises(ValueError, match=message):
        policy.update(elements, costs)
    assert policy.select() == before
    assert (policy.rounds, policy.counts.sum()) == (0, 0)


def test_costs_with_bounds_stay_within_them() -> None:
    # kl-UCB is for rewards from 0 to 1; a cost of 0.2 is a reward of 0.8.
    problem = mb.Problem(mb.UniformMatroid(1, 2), labels=["x", "y"], sense="min")
    policy = mb.KLOSM(problem)
    assert policy.reward_range == (0, 1)
    policy.update({"x": 0.25})
    policy.update({"y": 0.75})
    assert policy.means.tolist() == [0.25, 0.75]
    assert policy.mean_rewards.tolist() == [0.75, 0.25]
    assert policy.select() == ["x"]
    with pytest.raises(ValueError, match=r"the cost of 'x' is 1.5, but KLUCB is for costs from 0"):
        policy.update({"x": 1.5})


def test_costs_need_two_bounds_or_none() -> None:
    class Positive(mb.Index):
        low = 0.0

        def values(self, means, counts, time):
            return means

    with pytest.raises(ValueError, match="costs cannot be turned into such rewards"):
        mb.OMM(mb.Problem(TRIANGLE, sense="min"), index=Positive())
    mb.OMM(TRIANGLE, index=Positive())


def test_costs_are_minimized_in_simulations() -> None:
    latency = np.array([20.0, 35.0, 18.0, 9.0])
    environment = mb.GaussianEnvironment(latency, std=2.0)
    policy = mb.MAUB(network(), noise=2.0)
    result = mb.simulate(policy, environment, 2000)
    assert policy.leader == [LINKS[0], LINKS[2], LINKS[3]]
    # Five standard deviations of each mean.
    assert np.all(np.abs(policy.means - latency) < 5 * 2.0 / np.sqrt(policy.counts))
    # The same plays as with rewards -latency, and the same regret.
    mirrored = mb.simulate(
        mb.MAUB(TRIANGLE, noise=2.0), mb.GaussianEnvironment(-latency, std=2.0), 2000
    )
    assert 0 < result.total_regret < 50 * mirrored.total_regret
    # What is lost is what was played above the best: 15 for every round with the slow link.
    slow = policy.counts[1]
    assert result.total_regret >= 15 * slow * (1 - 1e-12)


@pytest.mark.parametrize(
    ("index", "environment"),
    [
        ("ucb(noise=2.0)", mb.GaussianEnvironment([20.0, 35.0, 18.0, 9.0], std=2.0)),
        # Bounded: a cost becomes its distance from 1.
        ("kl", mb.BernoulliEnvironment([0.2, 0.35, 0.18, 0.09])),
    ],
)
def test_costs_in_python_and_compiled_cost_the_same(index: str, environment) -> None:
    class InPython(mb.MAUB):
        def update(self, elements, rewards=None):
            super().update(elements, rewards)

    compiled = mb.simulate(mb.MAUB(network(), index=index), environment, 500)
    python = mb.simulate(InPython(network(), index=index), environment, 500)
    assert compiled.regret.tolist() == python.regret.tolist()
    assert compiled.counters == python.counters
    assert compiled.total_regret > 0


def test_gaps_of_costs_by_name() -> None:
    found = mb.gaps(network(), dict(zip(LINKS, [20.0, 35.0, 18.0, 9.0], strict=True)))
    assert found.gaps.tolist() == [15.0]
    assert found.partners.tolist() == [0]
    assert "('Rome', 'Cork')    35  ('Oslo', 'Rome')    20   15" in str(found)
    environment = mb.GaussianEnvironment([20.0, 35.0, 18.0, 9.0], std=2.0)
    bound = mb.regret_lower_bound(network(), environment, 1000)
    assert bound == pytest.approx(2 * 2.0**2 / 15 * np.log(1000))


# ---- available elements ----


def test_available_elements_restrict_the_matroid() -> None:
    policy = mb.OMM(network())
    assert policy.select(available=LINKS[1:]) == LINKS[1:]
    # Filtering the answer of the whole would have left two.
    assert policy.select() == [LINKS[0], LINKS[1], LINKS[3]]


def test_without_a_full_basis_it_says_so() -> None:
    policy = mb.MAUB(network())
    with pytest.raises(mb.NoBasisError, match="no full basis is available") as error:
        policy.select(available=LINKS[:3])
    assert "at most 2 can be played together" in str(error.value)
    assert "('Cork', 'Wien')" in str(error.value)
    assert policy.rounds == policy.oracle_calls == 0
    assert policy.select(available=LINKS[:3], allow_smaller=True) == LINKS[:2]
    assert policy.select(available=[], allow_smaller=True) == []


def test_an_unknown_available_label_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown label 'Oslo'"):
        mb.MAUB(network()).select(available=["Oslo"])


def test_a_basis_has_one_local_time_whatever_else_is_available() -> None:
    matroid = mb.UniformMatroid(1, 3)
    whole, now_and_then = mb.MAUB(matroid), mb.MAUB(matroid)
    rng = np.random.default_rng(0)
    for t in range(60):
        # Element 2 is hopeless: whether it is available makes no difference to the leader.
        rewards = rng.normal([0.5, 0.4, -9.0], 0.1)
        restricted = [0, 1] if t > 5 and t % 3 else None
        for policy, available in ((whole, None), (now_and_then, restricted)):
            chosen = policy.select(available=available)
            policy.update(chosen, rewards[chosen])
    saved = pickle.loads(pickle.dumps(now_and_then))
    assert saved.select().tolist() == now_and_then.select().tolist()
    # Every round after the first three had some leader, counted once.
    assert sum(local_times(now_and_then).values()) == now_and_then.rounds + 1 - 3


@pytest.mark.parametrize("name", sorted(mb.catalog.POLICIES))
def test_a_restricted_round_is_a_round_on_the_restriction(name: str) -> None:
    """The same statistics on the restricted matroid decide alike."""
    cls = mb.catalog.POLICIES[name]
    rng = np.random.default_rng(5)
    matroid = mb.GraphicMatroid.complete(5)
    for _ in range(20):
        restricted = np.sort(rng.permutation(matroid.size)[:7])
        inside = reference.graphic([matroid.edges[e] for e in restricted])
        if reference.rank(7, inside) < matroid.rank:
            continue
        history = [(e, float(r)) for e in range(10) for r in rng.random(3)]
        policy, other = cls._example(matroid), cls._example(mb.OracleMatroid(7, inside))
        for e, reward in history:
            policy.update([e], [reward])
            known = np.flatnonzero(restricted == e)
            other.update(known, [reward] * len(known))
        if "relabeling" in exemptions_of(cls) and cls is not mb.FasterCUCB:
            # Draws or ties differ with the numbers: what is left is a basis of the restriction.
            chosen = np.searchsorted(restricted, policy.select(available=restricted))
            assert inside(frozenset(chosen.tolist()))
        else:
            chosen = policy.select(available=restricted)
            assert chosen.tolist() == restricted[other.select()].tolist()


def test_osub_near_the_best_available_arm() -> None:
    line = [(0, 1), (1, 2), (2, 3), (3, 4)]
    policy = mb.OSUB(mb.UniformMatroid(1, 5), graph=line)
    for _ in range(5):
        for arm, reward in enumerate([0.1, 0.3, 0.5, 0.9, 0.6]):
            policy.update([arm], [reward])
    # Of the available arms, 4 has the largest mean; by force it is played first.
    assert policy.select(available=[0, 1, 2, 4]).tolist() == [4]
    policy.update([4], [0.6])
    # Its only neighbor, 3, is not available.
    assert policy.select(available=[0, 1, 2, 4]).tolist() == [4]
    with pytest.raises(ValueError, match="whole bases"):
        policy.select(available=[], allow_smaller=True)


def test_an_available_loop_is_never_played() -> None:
    matroid = mb.GraphicMatroid([(0, 0), (0, 1), (0, 1), (1, 2)])
    for cls in mb.catalog.POLICIES.values():
        policy = cls._example(matroid)
        for _ in range(20):
            chosen = policy.select(available=[0, 1, 3])
            assert chosen.tolist() == [1, 3]
            assert [line.element for line in policy.explain().others] == []
            policy.update(chosen, [0.5, 0.5])
        # Once all available elements were observed, the initial rounds are over.
        assert policy._kernel.n_undersampled <= 1


def test_all_elements_available_again() -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 3))
    assert policy.select(available=[2]).tolist() == [2]
    assert policy.select().tolist() == [0]
    assert policy.explain().selected[0].element == 0
    assert policy.select(available=[2]).tolist() == [2]
    assert policy.explain().selected[0].element == 2
    assert policy.select(available=[0, 1, 2]).tolist() == [0]


@pytest.mark.parametrize("index", ["ucb", "kl", "ucbv", "normal", "beta", "gaussian"])
def test_a_copy_goes_on_alike_after_restricted_rounds(index: str) -> None:
    matroid = mb.GraphicMatroid.complete(4)
    policy = mb.MAUB(matroid, index=index)
    rng = np.random.default_rng(2)
    twins: list[mb.Policy] = []
    for t in range(60):
        restricted = [0, 1, 2, 3, 5] if t % 3 else None
        chosen = policy.select(available=restricted).tolist()
        why = str(policy.explain())
        for twin in twins:
            assert twin.select(available=restricted).tolist() == chosen, t
            assert str(twin.explain()) == why, t
        # Whether the next round is one with all elements available or not.
        if t in {10, 11}:
            twins += [pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)]
        rewards = rng.random(3)
        for one in (policy, *twins):
            one.update(chosen, rewards)


def test_saved_between_select_and_update_of_a_restricted_round() -> None:
    policy = mb.MAUB(mb.GraphicMatroid.complete(4), index="gaussian")
    rng = np.random.default_rng(1)
    for _ in range(12):
        restricted = [0, 1, 2, 3, 5]
        chosen = policy.select(available=restricted)
        twins = [pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)]
        rewards = rng.random(len(chosen))
        explained = str(policy.explain())
        for one in (policy, *twins):
            assert one.select(available=restricted).tolist() == chosen.tolist()
            assert str(one.explain()) == explained
            one.update(chosen, rewards)
        follow = [one.select().tolist() for one in (policy, *twins)]
        assert follow[0] == follow[1] == follow[2]


def test_a_policy_in_python_selects_among_available_elements() -> None:
    class Impatient(mb.Policy):
        def _select(self):
            return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))

    policy = Impatient(network())
    for link, cost in zip(LINKS, [5.0, 1.0, 3.0, 9.0], strict=True):
        policy.update({link: cost})
    assert policy.select() == LINKS[1:]
    assert policy.select(available=[LINKS[0], *LINKS[2:]]) == [LINKS[0], *LINKS[2:]]

    class Stubborn(mb.Policy):
        def _select(self):
            return [0, 1, 3]

    with pytest.raises(ValueError, match=r"Stubborn selected .* use self.greedy_basis"):
        Stubborn(network()).select(available=LINKS[1:])


def test_the_check_finds_policies_that_take_costs_for_rewards() -> None:
    class Confused(mb.Policy):
        def _select(self):
            return self.greedy_basis(np.where(self.counts == 0, np.inf, self.means))

    with pytest.raises(AssertionError, match="in _select use mean_rewards"):
        mb.check_policy(Confused)


# ---- explanations ----


def test_the_explanation_of_a_leader() -> None:
    policy = mb.MAUB(network(), noise=2.0)
    for _ in range(50):
        for link, cost in zip(LINKS, [20.0, 35.0, 18.0, 9.0], strict=True):
            policy.update({link: cost})
    explanation = policy.explain()
    assert explanation.why == "The leader: the set that looks best so far."
    assert [line.element for line in explanation.selected] == [LINKS[0], LINKS[2], LINKS[3]]
    first, second, last = explanation.selected
    assert (first.mean, first.count, first.partner) == (20.0, 50, LINKS[1])
    assert second.partner == LINKS[1]
    assert last.partner is None  # Wien has one link only
    (other,) = explanation.others
    assert (other.element, other.partner) == (LINKS[1], LINKS[0])
    # Costs: optimism is below the mean.
    assert first.index <= first.mean
    assert "would be replaced by" in str(explanation)


def test_the_explanation_of_an_exchange_and_of_first_rounds() -> None:
    policy = mb.MAUB(mb.UniformMatroid(1, 2))
    assert policy.explain().why.startswith("Initial rounds")
    policy.update([0], [0.5])
    policy.update([1], [0.4])
    whys = set()
    for _ in range(20):
        chosen = policy.select()
        explanation = policy.explain()
        whys.add(explanation.why)
        (line,) = explanation.selected
        assert line.element == chosen[0]
        assert line.partner == 1 - chosen[0]
        policy.update(chosen, [0.5 - 0.1 * chosen[0]])
    assert "The leader with 1 in place of 0, to learn about it." in whys
    assert "The leader: the set that looks best so far." in whys


@pytest.mark.parametrize("name", sorted(mb.catalog.POLICIES))
def test_every_policy_explains(name: str) -> None:
    policy = mb.catalog.POLICIES[name]._example(mb.GraphicMatroid.complete(4))
    rng = np.random.default_rng(0)
    for t in range(30):
        restricted = None if t % 2 else [0, 1, 2, 3, 4]
        chosen = policy.select(available=restricted)
        explanation = policy.explain()
        assert [line.element for line in explanation.selected] == chosen.tolist()
        assert len(explanation.others) == (3 if t % 2 else 2)
        assert policy.select(available=restricted).tolist() == chosen.tolist()
        policy.update(chosen, rng.random(3))


def test_the_index_explained_is_the_one_that_decided() -> None:
    for index in ("ucb", "kl", "ucbv", "beta", "gaussian"):
        policy = mb.OMM(mb.UniformMatroid(2, 6), index=index, seed=3)
        rng = np.random.default_rng(0)
        for _ in range(40):
            chosen = policy.select()
            values = policy._kernel.index_values()
            if not np.isnan(values).any():
                assert sorted(np.argsort(-values, kind="stable")[:2]) == chosen.tolist()
            policy.update(chosen, rng.random(2))
        assert not np.isnan(values).any()


def test_partners_are_the_nearest_in_rank() -> None:
    policy = mb.OMM(mb.UniformMatroid(2, 5), noise=0.1)
    policy.update(range(5), [0.9, 0.1, 0.8, 0.3, 0.2])
    explanation = policy.explain()
    assert [(line.element, line.partner) for line in explanation.selected] == [(0, 3), (2, 3)]
    # The best first; each would take the place of the weakest, 2.
    assert [(line.element, line.partner) for line in explanation.others] == [(3, 2), (4, 2), (1, 2)]
    assert [line.mean for line in explanation.others] == [0.3, 0.2, 0.1]
    # What was seen less often is more promising than its mean says.
    for _ in range(50):
        policy.update([3, 4], [0.3, 0.2])
    policy.update([1], [0.29])
    assert policy.explain().others[0].element == 1


def test_a_long_explanation_is_cut() -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 100))
    explanation = policy.explain()
    assert len(explanation.others) == 20
    assert explanation.n_others == 99
    text, answer = str(explanation).split("\n\n")[-2:]
    assert text.endswith("... and 79 more")
    assert answer == str(explanation.confidence) == str(policy.confidence())
    assert answer.endswith("100 elements were never observed.")


def test_an_explanation_says_whether_one_may_stop() -> None:
    policy = mb.MAUB(network(), noise=2.0)
    for link, cost in zip(LINKS, [20.0, 35.0, 18.0, 9.0], strict=True):
        policy.observe({link: (cost, 50)})
    explanation = policy.explain()
    assert explanation.confidence == policy.confidence(0.05)
    assert explanation.confidence.settled
    assert str(explanation).endswith(f"\n\n{policy.confidence()}")
    # Of the whole problem, also if fewer links are available.
    policy.select(available=LINKS[:3], allow_smaller=True)
    assert policy.explain().confidence == explanation.confidence
    assert [line.element for line in policy.explain().selected] == [LINKS[0], LINKS[2]]


def test_an_explanation_without_an_answer(monkeypatch) -> None:
    for policy in (mb.FollowTheLeader(network()), mb.MAUB(network(), noise=0)):
        policy.observe(dict.fromkeys(LINKS, (5.0, 2)))
        assert policy.explain().confidence is None
        assert "settled" not in str(policy.explain())
    policy = mb.OMM(mb.UniformMatroid(5, 300), noise=0.1)
    policy.update(range(300), np.linspace(0, 1, 300))
    assert policy.explain().confidence == policy.confidence()
    monkeypatch.setattr(explanation_file, "_MOST_PAIRS", 1474)
    assert policy.explain().confidence is None
    monkeypatch.setattr(explanation_file, "_MOST_PAIRS", 1475)
    assert policy.explain().confidence is not None
    # Circuits that are shorter than a basis: of two elements here.
    groups = mb.OMM(mb.PartitionMatroid(np.arange(300) % 5, 1), noise=0.1)
    groups.update(range(300), np.linspace(0, 1, 300))
    monkeypatch.setattr(explanation_file, "_MOST_PAIRS", 295)
    assert groups.explain().confidence is not None
    monkeypatch.setattr(explanation_file, "_MOST_PAIRS", 294)
    assert groups.explain().confidence is None


def test_few_exchanges_are_compared_by_an_oracle_in_python(monkeypatch) -> None:
    class Pairs(mb.Matroid):
        def __init__(self) -> None:
            super().__init__(6)

        def _is_independent(self, elements) -> bool:
            return len(elements) <= 2

    policy = mb.OMM(Pairs(), noise=0.1)
    policy.update(range(6), np.linspace(0, 1, 6))
    calls = policy.oracle_calls
    assert policy.explain().confidence == policy.confidence()
    assert policy.oracle_calls == calls
    monkeypatch.setattr(explanation_file, "_MOST_PAIRS_IN_PYTHON", 7)
    assert policy.explain().confidence is None


def test_explaining_changes_nothing() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 5), noise=0.1)
    policy.update(range(5), [0.9, 0.1, 0.8, 0.3, 0.2])
    before = pickle.dumps(policy)
    policy.explain()
    assert pickle.dumps(policy) == before

    class Sure(mb.OMM):
        """It has a parameter of that name."""

        def __init__(self, matroid, confidence=0.9) -> None:
            self.confidence = confidence
            super().__init__(matroid, noise=0.1)

    own = Sure(mb.UniformMatroid(1, 2))
    own.update([0, 1], [0.2, 0.3])
    assert own.explain().confidence.pair == (1, 0)


def test_rank_closure_and_bases_by_name() -> None:
    links = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
    network = mb.Problem(mb.GraphicMatroid(links), labels=links)
    assert network.rank_of(links[:3]) == 2
    assert network.closure(links[:2]) == links[:3]
    assert network.is_basis([links[3], links[0], links[2]])
    assert not network.is_basis(links[:3])
    numbered = mb.Problem(mb.GraphicMatroid(links))
    assert numbered.closure([0, 1]).tolist() == [0, 1, 2]
