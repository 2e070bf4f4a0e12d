"""Specifications of matroids and problems: as plain data, and back."""

import contextlib
import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matroid_bandits as mb
from matroid_bandits import catalog

SCALARS = (
    st.text()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.none()
)
LABELS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3).map(tuple))


def through_json(spec: Any) -> Any:
    return json.loads(json.dumps(spec, allow_nan=False))


# ---- labels ----


@given(st.lists(LABELS, max_size=8, unique=True), st.sampled_from(["max", "min"]))
def test_problems_with_labels_of_every_kind(labels: list[Any], sense: Any) -> None:
    problem = mb.Problem(mb.UniformMatroid(0, len(labels)), labels, sense=sense)
    again = mb.problem_from_spec(through_json(problem.to_spec()))
    assert again == problem
    assert hash(again) == hash(problem)
    # Equality does not distinguish 1, 1.0 and True.
    assert repr(again.labels) == repr(problem.labels)


@given(st.lists(st.tuples(LABELS, LABELS), max_size=6))
def test_vertices_of_every_kind(edges: list[tuple[Any, Any]]) -> None:
    for matroid in (
        mb.GraphicMatroid(edges),
        mb.CographicMatroid(edges),
        mb.TransversalMatroid(edges),
        mb.GammoidMatroid(edges, [edges[0][1]] if edges else []),
        mb.PartitionMatroid([tail for tail, _ in edges], 1),
    ):
        assert mb.matroid_from_spec(through_json(matroid.to_spec())) == matroid


def test_numbers_of_numpy_become_numbers_of_python() -> None:
    labels = [np.int32(3), np.float64(0.5), np.str_("a"), np.bool_(False), (np.int64(1), "b")]
    spec = mb.Problem(mb.UniformMatroid(2, 5), labels).to_spec()
    assert spec["labels"] == [3, 0.5, "a", False, [1, "b"]]
    kinds = [type(label) for label in spec["labels"]]
    assert kinds == [int, float, str, bool, list]


def test_other_labels_are_refused() -> None:
    day = dt.date(2026, 11, 16)
    problem = mb.Problem(mb.UniformMatroid(1, 2), [day, "b"])
    with pytest.raises(ValueError, match=r"labels: datetime.date\(2026, 11, 16\) cannot be writ"):
        problem.to_spec()
    with pytest.raises(ValueError, match=r"edges: datetime.date\(.* use texts, finite numbers"):
        mb.GraphicMatroid([(day, 2)]).to_spec()
    with pytest.raises(ValueError, match="labels: inf cannot be written"):
        mb.Problem(mb.UniformMatroid(1, 1), [np.inf]).to_spec()


def test_names_of_groups_and_sets_are_kept_if_they_are_texts() -> None:
    groups = mb.PartitionMatroid(["hat", "shoe", "hat"], {"hat": 1, "shoe": 2}).to_spec()
    assert groups["groups"] == ["hat", "shoe", "hat"]
    assert groups["capacities"] == {"hat": 1, "shoe": 2}
    sets = mb.LaminarMatroid({"all": [0, 1, 2], "first": [0]}, 2, 3).to_spec()
    assert sets["sets"] == {"all": [0, 1, 2], "first": [0]}


@pytest.mark.parametrize("order", ["C", "F"])
def test_floats_are_exact(order: Any) -> None:
    rng = np.random.default_rng(5)
    for width in (1, 2, 3, 8, 9, 50, 200):
        rows = np.array(rng.normal(size=(40, width)) * 10.0 ** rng.integers(-200, 200), order=order)
        matroid = mb.LinearMatroid(rows, tolerance=1e-7)
        for part in (matroid, matroid.restrict(range(0, 40, 3)), matroid.contract([3])):
            assert mb.matroid_from_spec(through_json(part.to_spec())) == part


def test_vectors_without_entries() -> None:
    for vectors in ([], np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((3, 0), dtype=int)):
        for field in (None, 5):
            matroid = mb.LinearMatroid(vectors, field=field)
            assert mb.matroid_from_spec(matroid.to_spec()) == matroid
    for rows in (np.eye(3), np.eye(3, dtype=int)):
        nothing = mb.LinearMatroid(rows).restrict([])
        assert mb.matroid_from_spec(nothing.to_spec()) == nothing


# ---- what is not to_spec's own notation ----


def test_names_and_compositions_as_in_studies() -> None:
    read = mb.matroid_from_spec
    k4, pairs = catalog.matroid("K4"), mb.UniformMatroid(2, 6)
    assert read("K4") == k4
    assert read({"dual": "K4"}) == k4.dual()
    assert read({"truncate": {"type": "graphic", "edges": k4.edges}, "rank": 2}) == k4.truncate(2)  # type: ignore[attr-defined]
    assert read({"restrict": "K4", "elements": [0, 1, 5]}) == k4.restrict([0, 1, 5])
    assert read({"delete": "K4", "elements": [0]}) == k4.delete([0])
    assert read({"contract": "K4", "elements": [0]}) == k4.contract([0])
    assert read({"sum": ["K4", "U(2,6)"]}) == k4 + pairs
    assert read({"union": ["K4", "U(2,6)"]}) == k4 | pairs
    assert read({"type": "DirectSum", "matroids": ["K4", {"dual": "U(2,6)"}]}) == k4 + pairs.dual()


# ---- mistakes ----

UNIFORM = {"type": "uniform", "rank": 1, "size": 2}
MISTAKES: dict[str, tuple[Any, str]] = {
    "no table": (3, r"matroid: must be a table such as .*, got 3"),
    "no type": ({"rank": 1}, r"matroid: type is missing; for example"),
    "unknown type": ({"type": "unifrom"}, r"matroid.type: unknown matroid 'unifrom'; did you mean"),
    "type of another kind": ({"type": [1]}, r"matroid.type: unknown matroid \[1\]"),
    "unknown name": ("K", r"matroid: unknown matroid 'K'; did you mean K20"),
    "missing key": ({"type": "uniform", "rank": 1}, r"matroid: size is missing; UniformMatroid"),
    "unknown key": (
        {**UNIFORM, "siz": 3},
        r"matroid.siz: unknown key with the value 3; did you mean size",
    ),
    "key of another kind": ({1: 2}, r"matroid: keys must be texts, got 1"),
    "value of another kind": ({**UNIFORM, "size": "2"}, r"matroid: size must be an integer, got"),
    "list of another kind": (
        {"type": "graphic", "edges": 3},
        r"matroid: edges must be a list",
    ),
    "inside": (
        {"type": "directsum", "matroids": [UNIFORM, {"dual": {"type": "graphic", "edges": [[1]]}}]},
        r"matroid.matroids\[1\].dual: edge 0 must be a pair of vertices, got \(1,\)",
    ),
    "missing inside": (
        {"type": "union", "matroids": [UNIFORM, {"type": "graphic"}]},
        r"matroid.matroids\[1\]: edges is missing",
    ),
    "parts of another kind": ({"sum": "K5"}, r"matroid.sum: sum must be a list, got 'K5'; for ex"),
    "no parts": ({"sum": []}, r"matroid: DirectSumMatroid needs at least one matroid"),
    "parts that do not fit": ({"union": ["K4", "K5"]}, r"matroid: a union is of matroids on the"),
    "missing argument": ({"truncate": "K5"}, r"matroid: rank is missing; for example rank = 2"),
    "two operations": ({"dual": "K5", "rank": 2}, r"matroid.rank: unknown key with the value 2"),
    "Python inside": (
        {"dual": {"type": "python", "name": "x", "size": 2, "rank": 1}},
        r"matroid.dual.type: 'python' is a matroid written in Python, which cannot be a part",
    ),
    "an oracle": ({"type": "oracle", "size": 3}, r"matroid.type: 'oracle' is a matroid written in"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_refused_with_their_place(mistake: str) -> None:
    spec, message = MISTAKES[mistake]
    with pytest.raises(ValueError, match=message):
        mb.matroid_from_spec(spec)


JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner)
)


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A specification of a random matroid, one value of which is replaced by something else."""
    family = draw(st.sampled_from(sorted(catalog.MATROIDS)))
    spec = catalog.MATROIDS[family].random(np.random.default_rng(draw(st.integers(0, 99))), 5)
    whole = spec.to_spec()
    place = whole
    while True:
        key = draw(st.sampled_from(sorted(place))) if isinstance(place, dict) else 0
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner or draw(st.booleans()):
            place[key] = draw(JSON)
            return whole
        place = inner


@given(damaged() | JSON)
def test_whatever_is_wrong_is_a_value_error(spec: Any) -> None:
    with contextlib.suppress(ValueError):
        mb.matroid_from_spec(spec)


def nested(depth: int, wrap: Callable[[Any], Any], inner: Any) -> Any:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


def test_deep_specifications_are_refused() -> None:
    deep = nested(100_000, lambda inner: {"dual": inner}, "K4")
    with pytest.raises(ValueError, match="nested 100 levels deep"):
        mb.matroid_from_spec(deep)
    deep = nested(100_000, lambda inner: {"type": "directsum", "matroids": [inner]}, "K4")
    with pytest.raises(ValueError, match="nested 100 levels deep"):
        mb.matroid_from_spec(deep)
    edges = [[nested(100_000, lambda inner: [inner], 1), 2]]
    with pytest.raises(ValueError, match=r"matroid.edges: it is nested more than 100 levels"):
        mb.matroid_from_spec({"type": "graphic", "edges": edges})
    label = nested(200, lambda inner: (inner,), 1)
    with pytest.raises(ValueError, match=r"edges: nested more than 100 levels"):
        mb.GraphicMatroid([(label, 2)]).to_spec()
    turned = nested(100, mb.DualMatroid, catalog.matroid("K4"))
    assert mb.matroid_from_spec(turned.to_spec()) == turned


# ---- matroids written in Python ----


class Pairs(mb.Matroid):
    """At most two of them."""

    def __init__(self, size: int = 4) -> None:
        super().__init__(size)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2


class Renamed(mb.UniformMatroid):
    """Another name for a class of the package."""


def test_matroids_in_python_are_named_and_handed_in() -> None:
    spec = Pairs().to_spec()
    assert spec == {"type": "python", "name": f"{__name__}:Pairs", "size": 4, "rank": 2}
    assert Renamed(2, 4).to_spec()["name"] == f"{__name__}:Renamed"
    matroid = Pairs()
    assert mb.matroid_from_spec(spec, matroid) is matroid
    with pytest.raises(ValueError, match=r"Pairs, of size 4 and rank 2, is written in Python: pas"):
        mb.matroid_from_spec(spec)
    with pytest.raises(ValueError, match=r"Pairs, of size 4 and rank 2, is needed; matroid= is"):
        mb.matroid_from_spec(spec, Pairs(5))
    with pytest.raises(ValueError, match=r"is needed; matroid= is Unif.*, of size 4 and rank 3"):
        mb.matroid_from_spec(spec, mb.UniformMatroid(3, 4))
    with pytest.raises(ValueError, match="matroid= takes a matroid, got 5"):
        mb.matroid_from_spec(spec, 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="got a problem; labels and sense are in"):
        mb.matroid_from_spec(spec, mb.Problem(Pairs()))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="matroid: rank is missing"):
        mb.matroid_from_spec({"type": "python", "size": 4}, Pairs())


def test_a_composition_with_python_code_is_python_code() -> None:
    matroid = Pairs() + mb.UniformMatroid(1, 2)
    spec = matroid.to_spec()
    assert spec["type"] == "python"
    assert spec["name"] == "DirectSumMatroid(Pairs(size=4), UniformMatroid(rank=1, size=2))"
    problem = mb.Problem(matroid, labels=list("abcdef"))
    assert mb.problem_from_spec(problem.to_spec(), matroid) == problem
    with pytest.raises(ValueError, match=r"problem.matroid: Direct.*is written in Python"):
        mb.problem_from_spec(problem.to_spec())


def test_a_matroid_handed_in_for_nothing_must_be_the_same() -> None:
    matroid = mb.UniformMatroid(1, 3)
    assert mb.matroid_from_spec(matroid.to_spec(), mb.UniformMatroid(1, 3)) == matroid
    with pytest.raises(ValueError, match=r"but matroid= is UniformMatroid\(rank=2.* leave matroid"):
        mb.matroid_from_spec(matroid.to_spec(), mb.UniformMatroid(2, 3))


# ---- problems ----


def test_problems_are_equal_by_content() -> None:
    def problem(rank: int = 1, labels: Any = "ab", sense: Any = "max") -> mb.Problem[Any]:
        return mb.Problem(mb.UniformMatroid(rank, 2), labels and list(labels), sense=sense)

    assert problem() == problem()
    assert len({problem(), problem(), problem(sense="min")}) == 2
    for other in (problem(2), problem(labels="ba"), problem(labels=None), problem(sense="min"), 1):
        assert problem() != other


def test_mistakes_in_problems() -> None:
    read = mb.problem_from_spec
    for spec, message in (
        ("K5", r"problem: must be a table such as .*, got 'K5'"),
        ({"labels": []}, r"problem: matroid is missing"),
        ({"matroid": "K5", "lables": []}, r"problem.lables: unknown key .* did you mean labels"),
        (
            {"matroid": "K5", "labels": "abc"},
            r"problem.labels: must be a list of labels",
        ),
        ({"matroid": "U(1,2)", "labels": ["a"]}, r"problem: one label per element is needed: 2"),
        ({"matroid": "U(1,2)", "labels": ["a", "a"]}, r"elements 0 and 1 have the same label 'a'"),
        ({"matroid": "U(1,2)", "labels": [{}, 1]}, r"label of element 0 must be hashable, got {}"),
        ({"matroid": "K5", "sense": "mx"}, r"problem: unknown sense 'mx'; did you mean max"),
        ({"matroid": {"type": "grafic"}}, r"problem.matroid.type: .* did you mean graphic"),
    ):
        with pytest.raises(ValueError, match=message):
            read(spec)
