"""Problems from graphs and sparse matrices: what they say, and what is refused."""

import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import matroid_bandits as mb
from matroid_bandits.adapters import scipy_sparse

from ..seeds import seeds

# ---- networkx ----


def test_edges_are_in_the_order_of_the_graph() -> None:
    graph = nx.Graph([("b", "c"), ("a", "b"), ("c", "a")])
    problem = mb.from_networkx(graph, sense="min")
    assert problem.labels == tuple(graph.edges())
    assert problem.sense == "min"
    assert isinstance(problem.matroid, mb.GraphicMatroid)
    assert problem.matroid.edges == list(graph.edges())


@pytest.mark.parametrize("seed", seeds(3))
def test_cheapest_tree_is_that_of_networkx(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(15, 0.4, seed=seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = rng.random()
    costs = [data["weight"] for _, _, data in graph.edges(data=True)]
    tree = mb.from_networkx(graph, sense="min").best_basis(costs)
    assert {frozenset(e) for e in tree} == {
        frozenset(e) for e in nx.minimum_spanning_edges(graph, data=False)
    }


def test_parallel_edges_have_their_keys() -> None:
    graph = nx.MultiGraph([("a", "b"), ("a", "b")])
    graph.add_edge("b", "b", key="self")
    problem = mb.from_networkx(graph)
    assert problem.labels == (("a", "b", 0), ("a", "b", 1), ("b", "b", "self"))
    assert problem.rank == 1
    assert problem.names(problem.matroid.loops) == [("b", "b", "self")]


def test_what_can_fail_while_the_network_stays_connected() -> None:
    # A triangle with a bridge.
    graph = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    problem = mb.from_networkx(graph, kind="cographic")
    assert problem.rank == 1
    assert problem.names(problem.matroid.loops) == [(2, 3)]
    assert not problem.is_independent([(0, 1), (1, 2)])


@pytest.mark.parametrize(
    "graph, error, message",
    [
        (nx.DiGraph([(0, 1)]), ValueError, r"directed; pass graph\.to_undirected\(\)"),
        (nx.MultiDiGraph([(0, 1)]), ValueError, r"graph\.to_undirected\(\)"),
        (nx.empty_graph(3), ValueError, "3 nodes and no edges"),
        ([(0, 1)], TypeError, r"got \[\(0, 1\)\]; make one by networkx\.Graph\(edges\)"),
        (nx.Graph, TypeError, r"matroid-bandits\[graphs\]"),
        (None, TypeError, "needs a networkx.Graph, got None"),
    ],
)
def test_what_is_no_graph(graph, error, message: str) -> None:
    with pytest.raises(error, match=message):
        mb.from_networkx(graph)


def test_unknown_kind_of_graph_problem() -> None:
    with pytest.raises(ValueError, match="unknown kind 'graph'; did you mean graphic"):
        mb.from_networkx(nx.path_graph(2), kind="graph")


# ---- scipy.sparse ----

FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
VECTORS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 2]])


def _circuits_agree(one: mb.Matroid, other: mb.Matroid) -> None:
    """Equal rank, loops, and best bases for every way to prefer one element."""
    assert (one.size, one.rank) == (other.size, other.rank)
    rng = np.random.default_rng(0)
    for weights in rng.random((50, one.size)):
        assert one.max_weight_basis(weights).tolist() == other.max_weight_basis(weights).tolist()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", [np.int8, np.uint64, float, bool])
def test_rows_are_vectors_in_every_format(form: str, kind) -> None:
    dense = VECTORS.astype(kind)
    matrix = sp.coo_array(dense).asformat(form)
    problem = mb.from_scipy_sparse(matrix)
    assert "over the rationals" in repr(problem.matroid)
    assert problem.labels is None
    _circuits_agree(problem.matroid, mb.LinearMatroid(dense.astype(int)))


def test_stored_zeros_and_doubled_places() -> None:
    # 100 + 100 would leave the range of these integers, 1 - 1 is no entry at all.
    rows, columns, data = [0, 0, 1, 1, 2], [0, 0, 1, 1, 1], [100, 100, 1, -1, 0]
    matrix = sp.coo_matrix((np.array(data, dtype=np.int8), (rows, columns)), shape=(3, 2))
    assert mb.from_scipy_sparse(matrix).matroid.loops.tolist() == [1, 2]
    assert mb.from_scipy_sparse(matrix, field=2).matroid.loops.tolist() == [0, 1, 2]
    assert mb.from_scipy_sparse(matrix, kind="transversal").matroid.neighbors == [[0], [], []]
    assert matrix.nnz == 5  # as it was


def test_floats_have_a_tolerance() -> None:
    dense = np.array([[0.5, 0.5], [0.5, 0.5 + 1e-12], [0.0, 0.3]])
    matroid = mb.from_scipy_sparse(sp.csr_array(dense)).matroid
    assert not matroid.is_independent([0, 1])
    assert mb.from_scipy_sparse(sp.csr_array(dense), tolerance=0).is_independent([0, 1])
    # Equal columns count for how far vectors are apart, so they stay.
    wide = np.column_stack([dense[:, 0], dense[:, 0], dense[:, 1]])
    _circuits_agree(mb.from_scipy_sparse(sp.csr_array(wide)).matroid, mb.LinearMatroid(wide))


def test_wide_matrices_with_few_columns_that_differ() -> None:
    columns = np.random.default_rng(0).integers(0, 3, 10**5)
    block = sp.csc_array(VECTORS)[:, columns].tocoo()
    # By rows, since every column takes memory otherwise.
    wide = sp.coo_array((block.data, block.coords), shape=(5, 10**9)).tocsr()
    _circuits_agree(mb.from_scipy_sparse(wide).matroid, mb.LinearMatroid(VECTORS))


def test_matrices_too_large_to_write_out() -> None:
    diagonal = sp.eye_array(10_000, dtype=int).tocsr()
    with pytest.raises(
        ValueError, match=r"10,000 x 10,000 numbers, in all 100,000,000.*allowed; take fewer rows"
    ):
        mb.from_scipy_sparse(diagonal)
    assert mb.from_scipy_sparse(diagonal, kind="transversal").rank == 10_000


def test_high_ranks_need_more_primes(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(rng.integers(0, 9, (60, 40)))
    needed = len(mb.from_scipy_sparse(matrix).matroid._primes)
    assert needed > 1
    monkeypatch.setattr(scipy_sparse, "_MAX_ENTRIES", 60 * 40 * needed - 1)
    with pytest.raises(ValueError, match=rf"modulo each of {needed} primes.*field=1000000007"):
        mb.from_scipy_sparse(matrix)
    assert mb.from_scipy_sparse(matrix, field=1000000007).rank == 40


@pytest.mark.parametrize("form", FORMATS)
def test_rows_are_matched_with_columns(form: str) -> None:
    matrix = sp.coo_array([[0.0, 2.0], [0.0, -1.0], [0.0, 0.0], [1.0, 1.0]]).asformat(form)
    problem = mb.from_scipy_sparse(matrix, kind="transversal", labels=list("abcd"))
    assert problem.matroid.neighbors == [[1], [1], [], [0, 1]]
    assert problem.best_basis([1, 2, 3, 4]) == ["b", "d"]


@pytest.mark.parametrize("form", FORMATS)
def test_adjacency(form: str) -> None:
    graph = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)])
    matrix = nx.to_scipy_sparse_array(graph, format="coo").asformat(form)
    problem = mb.from_scipy_sparse(matrix, kind="graphic", sense="min")
    assert problem.labels == ((0, 1), (0, 2), (1, 2), (2, 3), (3, 3))
    assert problem.best_basis([1, 2, 3, 4, 5]) == [(0, 1), (0, 2), (2, 3)]
    named = mb.from_scipy_sparse(matrix, kind="graphic", labels=["Oslo", "Rome", "Cork", "Wien"])
    assert named.labels[:2] == (("Oslo", "Rome"), ("Oslo", "Cork"))


@pytest.mark.parametrize(
    "matrix, options, error, message",
    [
        (np.eye(2), {}, TypeError, r"sparse matrix of SciPy, got array"),
        (sp.csr_array, {}, TypeError, r"matroid-bandits\[sparse\]"),
        (sp.coo_array(np.ones(3)), {}, ValueError, r"rows and columns, got the shape \(3,\)"),
        (sp.csr_array([[1j]]), {}, ValueError, "real numbers, got complex128"),
        (
            sp.csr_array([[0, 1], [0, np.nan]]),
            {},
            ValueError,
            "row 1 has the entry nan in column 1",
        ),
        (sp.csr_array([[1]]), {"kind": "lineal"}, ValueError, "did you mean linear"),
        (
            sp.csr_array([[1]]),
            {"labels": [["a"]]},
            ValueError,
            r"row 0 must be hashable, got \['a'",
        ),
        (sp.csr_array([[1]]), {"labels": ["a", "b"]}, ValueError, "per row is needed: 1, got 2"),
        (
            sp.csr_array([[1], [1]]),
            {"labels": ["a", "a"], "kind": "transversal"},
            ValueError,
            "same label 'a'",
        ),
        (sp.csr_array([[1]]), {"kind": "graphic", "field": 2}, ValueError, "field is for kind"),
        (sp.csr_array([[0.5]]), {"field": 2}, ValueError, r"over GF\(2\) entries must be integers"),
        (sp.csr_array([[1, 2]]), {"kind": "graphic"}, ValueError, r"got the shape \(1, 2\)"),
        (
            sp.csr_array([[0, 1], [0, 0]]),
            {"kind": "graphic"},
            ValueError,
            r"entry at \(0, 1\) and none at \(1, 0\).*matrix \+ matrix\.T",
        ),
        (
            sp.csr_array([[0, 1], [1, 0]]),
            {"kind": "graphic", "labels": ["a", "a"]},
            ValueError,
            "rows 0 and 1 have the same label 'a'",
        ),
    ],
)
def test_unfit_matrices(matrix, options, error, message: str) -> None:
    with pytest.raises(error, match=message):
        mb.from_scipy_sparse(matrix, **options)


# ---- all of them ----


def test_no_adapter_imports_what_it_adapts() -> None:
    code = """
import sys
import matroid_bandits as mb
for adapt in (mb.from_networkx, mb.from_scipy_sparse, mb.from_dataframe):
    try:
        adapt({}, **({"at_most": 1} if adapt is mb.from_dataframe else {}))
    except TypeError:
        print(adapt.__name__)
print({"networkx", "scipy", "pandas", "polars", "pyarrow", "narwhals"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "from_networkx", "from_scipy_sparse", "from_dataframe", "set()",
    ]  # fmt: skip
