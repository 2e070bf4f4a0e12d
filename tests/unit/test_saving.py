"""Saving, loading and forking policies: what is refused, and what is kept."""

import copy
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits._snapshots import read_snapshot, write_snapshot
from matroid_bandits.policies.contract.saving import saved_content
from matroid_bandits.specs.loading import policy_from_content

from ..differential import continuing
from ..states import assert_same

every_policy = pytest.mark.parametrize("name", continuing.POLICIES)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policy.snapshot"


def experienced(name: str, problem: str = "graph with labels", calls: int = 60) -> Any:
    """A policy after some calls, with open decisions."""
    policy = continuing.POLICIES[name](continuing.PROBLEMS[problem](), 1)
    rng = np.random.default_rng(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(calls):
            continuing.act(policy, rng)
    policy.decide(**continuing.context(policy, rng))
    return policy


def loaded(path: Path, problem: str = "graph with labels") -> Any:
    return mb.load(path, continuing.matroid_for(problem), classes=continuing.CLASSES)


# ---- what comes back ----


@every_policy
def test_parameters_and_problem_come_back(name: str, path: Path) -> None:
    policy = experienced(name)
    policy.save(path)
    again = loaded(path)
    assert type(again) is type(policy)
    assert again.to_spec() == policy.to_spec()
    assert again.problem == policy.problem
    assert list(again.open_decisions) == list(policy.open_decisions)


def test_an_open_selection_comes_back(path: Path) -> None:
    for name in continuing.POLICIES:
        policy = experienced(name)
        selected = policy.select(**continuing.context(policy, np.random.default_rng(3)))
        policy.save(path)
        again = loaded(path)
        assert again.select() == selected
        assert again.rounds == policy.rounds


def test_a_path_may_be_a_text(path: Path) -> None:
    mb.OMM(mb.UniformMatroid(1, 2)).save(str(path))
    assert repr(mb.load(str(path))) == "OMM(UniformMatroid(rank=1, size=2))"


# ---- classes and matroids of one's own ----


def test_squares_of_the_largest_rewards_come_back(path: Path) -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 2), index="normal")
    for reward in (1e200, -1e200, 1.0):
        policy.update([0, 1], [reward, 0.5])
    policy.save(path)
    again = mb.load(path)
    assert_same(policy._kernel.state(), again._kernel.state())
    assert again.select().tolist() == policy.select().tolist()


def test_classes_of_ones_own_are_passed(path: Path) -> None:
    policy = experienced("own")
    policy.save(path)
    with pytest.raises(
        mb.SnapshotError, match=r"policy.snapshot: policy.type: pass the class '.*:W"
    ):
        mb.load(path)
    assert mb.load(path, classes=[continuing.Window])._seen == policy._seen  # type: ignore[attr-defined]


def test_matroids_of_ones_own_are_passed(path: Path) -> None:
    experienced("MAUB kl", "Python").save(path)
    with pytest.raises(mb.SnapshotError, match=r"Forests, of size 10 and rank 4, is written in Py"):
        mb.load(path)
    with pytest.raises(mb.SnapshotError, match=r"is needed; matroid= is .*, of size 10 and rank 2"):
        mb.load(path, mb.UniformMatroid(2, 10))
    assert mb.load(path, continuing.Forests()).rounds > 0


class Remembering(mb.Policy):
    """Keeps what it observes, and does not say so."""

    seen = 0

    def _observe(self, elements: Any, rewards: Any) -> None:
        self.seen += len(elements)

    def _select(self) -> Any:
        return self.greedy_basis(np.zeros(self.matroid.size))


class Half(Remembering):
    """Says what it keeps, and does not take it back."""

    def _get_state(self) -> Any:
        return self.seen


class Whole(Half):
    """Can be saved, and cannot be forked with another seed."""

    def __init__(self, matroid: Any, seed: int = 0) -> None:
        super().__init__(matroid)
        self.seed = seed

    def _set_state(self, state: Any) -> None:
        if not isinstance(state, int):
            raise ValueError(f"seen must be an integer, got {state!r}")
        self.seen = state


class Odd(Whole):
    """Keeps something that no file can hold."""

    def _get_state(self) -> Any:
        return {1, 2}


class Renewed(mb.OMM):
    """A class of the package that learns differently."""

    def update(self, *arguments: Any) -> None:
        super().update(*arguments)


def test_a_policy_with_a_state_of_its_own_says_what_it_is(path: Path) -> None:
    matroid = mb.UniformMatroid(1, 3)
    for policy, message in (
        (
            Remembering(matroid),
            "Remembering cannot be saved: it defines _observe, but it does not define _get_state",
        ),
        (
            Half(matroid),
            "Half cannot be saved: it defines _get_state, but it does not define _set_state;",
        ),
        (
            Renewed(matroid),
            "Renewed cannot be saved: it defines update, but it does not define _get_state and",
        ),
        (Odd(matroid), r"a snapshot cannot hold \{1, 2\}"),
    ):
        with pytest.raises(ValueError, match=message):
            policy.save(path)
        assert not path.exists()
    with pytest.raises(ValueError, match="Remembering cannot be forked"):
        Remembering(matroid).fork(1)
    policy = Whole(matroid)
    policy.update([0], [1.0])
    policy.save(path)
    assert mb.load(path, classes=[Whole]).seen == 1  # type: ignore[attr-defined]
    content = read_snapshot(path)
    write_snapshot(path, content | {"own": "one"})
    with pytest.raises(mb.SnapshotError, match="seen must be an integer, got 'one'"):
        mb.load(path, classes=[Whole])


def test_labels_that_cannot_be_written_are_refused(path: Path) -> None:
    policy = mb.OMM(mb.Problem(mb.UniformMatroid(1, 1), labels=[frozenset("a")]))
    with pytest.raises(ValueError, match=r"labels: frozenset\({'a'}\) cannot be written"):
        policy.save(path)
    assert not path.exists()


# ---- files that do not fit ----


def test_other_files(path: Path) -> None:
    path.write_text("hello")
    with pytest.raises(mb.SnapshotError, match=r"policy.snapshot: not a snapshot: save one by"):
        mb.load(path)
    write_snapshot(path, {"a": 1})
    with pytest.raises(
        mb.SnapshotError, match=r"policy.snapshot: the snapshot is not one of a pol"
    ):
        mb.load(path)
    with pytest.raises(FileNotFoundError):
        mb.load(path.with_name("other"))


Change = Callable[[Any], Any]
# What may be in the place of a value, by its type.
CHANGES: dict[type, list[Change]] = {
    int: [lambda _: "a", lambda _: None, lambda v: -v - 1, lambda _: 2**80, lambda _: 0.5],
    float: [lambda _: float("nan"), lambda _: None, lambda _: "a", lambda _: float("inf")],
    bool: [lambda _: 7, lambda v: not v],
    str: [lambda _: 3, lambda v: v + "x"],
    bytes: [lambda v: v + b"x", lambda _: 5, lambda _: b""],
    type(None): [lambda _: 3, lambda _: [1], lambda _: np.zeros(3)],
    list: [lambda v: [*v, 3], lambda v: v[1:], lambda _: None],
    tuple: [lambda v: (*v, 3), lambda v: v[1:], lambda _: None],
    dict: [lambda v: v | {"other": 3}, lambda v: dict(list(v.items())[1:]), lambda _: None],
    np.ndarray: [
        lambda v: v[1:],
        lambda v: np.append(v, v[-1:] if v.size else [0]).astype(v.dtype),
        lambda v: v.astype(float) if v.dtype.kind != "f" else v.astype(int),
        lambda v: v.reshape(1, *v.shape),
        lambda v: np.full_like(v, -5 if v.dtype.kind == "i" else 1),
        lambda v: np.full_like(v, 10**6 if v.dtype.itemsize > 2 else 1),
        lambda v: np.full_like(v, np.nan) if v.dtype.kind == "f" else v[:0],
        lambda _: 3,
    ],
}


def changed(value: Any) -> Iterator[Any]:
    """Every value that differs from `value` in one place."""
    for change in CHANGES[type(value)]:
        if isinstance(value, np.ndarray) and not value.ndim:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield change(copy.deepcopy(value))
    if isinstance(value, dict):
        for key in value:
            for inner in changed(value[key]):
                yield value | {key: inner}
    elif isinstance(value, (list, tuple)):
        for i in range(min(len(value), 3)):
            for inner in changed(value[i]):
                yield type(value)([*value[:i], inner, *value[i + 1 :]])


@every_policy
def test_a_state_that_does_not_fit_is_refused_or_harmless(name: str, path: Path) -> None:
    """The checksum is right, so only the checks of the state are between a file and a kernel."""
    experienced(name, calls=40).save(path)
    content = read_snapshot(path)
    n_refused = n_states = 0
    for state in changed(content["state"]):
        n_states += 1
        try:
            policy = policy_from_content(content | {"state": state}, None, continuing.CLASSES)
        except Exception:  # noqa: BLE001  (`load` makes a SnapshotError of it)
            n_refused += 1
        else:
            # It may be a state, if another one.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                continuing.continued(policy, 1)
    assert n_refused > 0.7 * n_states


@every_policy
def test_the_state_of_another_problem_is_refused(name: str, path: Path) -> None:
    experienced(name).save(path)
    content = read_snapshot(path)
    experienced(name, "uniform").save(path)
    write_snapshot(path, read_snapshot(path) | {"state": content["state"]})
    with pytest.raises(mb.SnapshotError):
        loaded(path)


def test_tallies_that_do_not_cover_the_window_are_refused(path: Path) -> None:
    """A posterior without a success and without a failure cannot be drawn from."""
    policy = mb.CTS(mb.UniformMatroid(2, 5), window=5)
    for _ in range(8):
        policy.update(policy.select(), [1.0, 0.0])
    policy.save(path)
    content = read_snapshot(path)
    for column in (0, 1):
        state = copy.deepcopy(content["state"])
        state["index"]["tallies"][:, column] = 1.0
        with pytest.raises(ValueError, match="credit must be successes and failures that the ind"):
            policy_from_content(content | {"state": state}, None, ())


# ---- forks ----


@every_policy
def test_a_fork_has_learned_the_same(name: str) -> None:
    policy = experienced(name)
    before = continuing.statistics(policy)
    fork = policy.fork(seed=9)
    assert type(fork) is type(policy)
    assert continuing.statistics(fork) == before
    seed = {"seed": 9} if catalog.takes_seed(type(policy)) else {}
    assert fork.to_spec() == policy.to_spec() | seed
    continuing.continued(fork, 4)
    assert continuing.statistics(policy) == before


@every_policy
def test_a_fork_draws_the_numbers_of_its_seed(name: str) -> None:
    policy = experienced(name)
    first, second, third = policy.fork(8), policy.fork(8), policy.fork(9)
    done = [continuing.continued(fork, 4) for fork in (first, second, third)]
    assert done[0] == done[1]
    if name in ("RandomBasis", "CTS", "CTS gaussian", "MAUB beta", "OMM gaussian", "own"):
        assert done[0] != done[2]
    if not catalog.takes_seed(type(policy)):
        assert done[0] == continuing.continued(policy, 4)


def test_a_fork_of_a_fresh_policy_is_a_policy_with_that_seed() -> None:
    matroid = mb.GraphicMatroid.complete(5)
    for make in (mb.RandomBasis, mb.CTS, mb.EpsilonGreedy):
        fork, fresh = make(matroid, seed=1).fork(2), make(matroid, seed=2)
        assert continuing.continued(fork, 1) == continuing.continued(fresh, 1)


def test_seeds_of_forks_are_checked() -> None:
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        mb.OMM(mb.UniformMatroid(1, 2)).fork(-1)
    with pytest.raises(ValueError, match="Whole cannot be forked: it has a seed, but no _reseed"):
        Whole(mb.UniformMatroid(1, 2)).fork(1)


class Drawing(mb.Policy):
    """Draws at random from a generator of its own, about which it says nothing."""

    def __init__(self, matroid: Any, *, seed: int = 0) -> None:
        super().__init__(matroid)
        self.seed = seed
        self.rng = np.random.default_rng(seed)

    def _select(self) -> Any:
        return self.greedy_basis(self.rng.random(self.problem.size))


def test_an_attribute_that_has_changed_is_a_state_of_its_own(path: Path) -> None:
    policy = Drawing(mb.Problem(mb.UniformMatroid(1, 3), ["a", "b", "c"]))
    policy.save(path)  # nothing was drawn
    policy.decide()
    for call, what in (
        (lambda: policy.save(path), "cannot be saved"),
        (lambda: policy.fork(1), "cannot be forked"),
        (lambda: policy.moved_to(policy.problem), "keeps more than means and counts"),
    ):
        with pytest.raises(
            ValueError, match=rf"{what}.*its attribute 'rng' is not that of a fresh"
        ):
            call()


def test_a_hook_of_the_object_is_a_state_of_its_own(path: Path) -> None:
    policy = mb.OMM(mb.UniformMatroid(1, 3))
    policy._observe = lambda elements, rewards: None  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="OMM cannot be saved: it defines _observe"):
        policy.save(path)


def test_what_is_saved_is_of_one_moment(path: Path) -> None:
    policy = Whole(mb.UniformMatroid(1, 3))
    policy.update([0], [0.5])
    content = saved_content(policy)
    before = copy.deepcopy(content["own"])
    policy.update([1], [0.25])
    assert content["own"] == before


@pytest.mark.parametrize("name", ["MAUB", "ESCB", "FasterCUCB"])
@pytest.mark.parametrize("slot", [-1, 6, 2**31 - 1, -(2**31)])
def test_cached_answers_that_do_not_fit_are_refused(name: str, slot: int, path: Path) -> None:
    matroid = mb.OracleMatroid(6, lambda elements: len(elements) <= 3)
    policy = mb.catalog.POLICIES[name]._example(matroid)
    rng = np.random.default_rng(0)
    for _ in range(20):
        policy.update(policy.select(), rng.random(3))
    policy.save(path)
    content = read_snapshot(path)
    content["state"]["cached"][-1][1][0] = slot
    write_snapshot(path, content)
    with pytest.raises(mb.SnapshotError, match="cached answers are those of another matroid"):
        mb.load(path, matroid=matroid)


def test_local_times_that_cannot_be_undone_are_refused(path: Path) -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 5))
    rng = np.random.default_rng(0)
    for t in range(30):
        policy.update(policy.select([0, 1, 2, 3] if t > 5 else None), rng.random(2))
    policy.select([e for e in range(5) if e != policy.leader[0]])
    policy.save(path)
    content = read_snapshot(path)
    assert len(content["state"]["former_times"])
    for key, value in (("former_times", 0), ("former_leaders", 3)):
        wrong = copy.deepcopy(content)
        wrong["state"][key][:] = value
        write_snapshot(path, wrong)
        with pytest.raises(mb.SnapshotError, match=r"decided_key|former_leaders"):
            mb.load(path)


def test_a_file_about_a_huge_problem_is_refused_at_once(path: Path) -> None:
    mb.OMM(mb.UniformMatroid(1, 3)).save(path)
    content = read_snapshot(path)
    content["policy"]["problem"]["matroid"]["size"] = 2**31 - 1
    write_snapshot(path, content)
    with pytest.raises(mb.SnapshotError, match="for 3 elements, the problem has 2147483647"):
        mb.load(path)


def test_the_bound_of_escb_comes_back(path: Path) -> None:
    policy = mb.ESCB(mb.GraphicMatroid.complete(4))
    rng = np.random.default_rng(0)
    for _ in range(10):
        policy.update(policy.select(), rng.random(3))
    policy.select()
    policy.save(path)
    again = mb.load(path)
    for one in (policy, again):
        one.select([0, 1, 2], allow_smaller=True)
    assert again.bound == policy.bound  # type: ignore[attr-defined]


class Wrapping(mb.Policy):
    """Asks a policy of the package, which it keeps."""

    def __init__(self, matroid: Any) -> None:
        super().__init__(matroid)
        self.inner = mb.OMM(matroid)

    def _select(self) -> Any:
        selected = self.inner.select()
        self.inner.update(selected, [0.5] * len(selected))
        return selected


def test_a_policy_inside_a_policy_is_a_state_of_its_own(path: Path) -> None:
    policy = Wrapping(mb.UniformMatroid(1, 3))
    policy.save(path)
    policy.decide()
    with pytest.raises(ValueError, match="its attribute 'inner' is not that of a fresh one"):
        policy.save(path)
