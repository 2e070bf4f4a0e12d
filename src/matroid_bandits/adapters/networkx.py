"""Graphs of NetworkX: the elements are edges."""

from typing import Any, Literal

from matroid_bandits._arguments import abbreviated, choice
from matroid_bandits.matroids import CographicMatroid, GraphicMatroid
from matroid_bandits.problem import Problem

__all__ = ["from_networkx"]

_KINDS = {"graphic": GraphicMatroid, "cographic": CographicMatroid}


def from_networkx(
    graph: Any,
    *,
    kind: Literal["graphic", "cographic"] = "graphic",
    sense: Literal["max", "min"] = "max",
) -> Problem:
    """Spanning trees of a graph, or sets of edges whose removal keeps it connected.

    Parameters
    ----------
    graph : networkx.Graph or networkx.MultiGraph
        Its edges are the elements, in the order of ``graph.edges``. Attributes are ignored.
    kind : {"graphic", "cographic"}, default "graphic"
        Sets of edges without a cycle, whose bases are the spanning trees (forests, if the graph is
        not connected); or sets of edges whose removal leaves the number of components as it is.
    sense : {"max", "min"}, default "max"
        Whether rewards are maximized or costs minimized.

    Returns
    -------
    Problem
        Labels are the edges as the graph lists them, ``(u, v)``, in a multigraph
        ``(u, v, key)``. A self-loop is a loop of the matroid: it is never played.

    Examples
    --------
    >>> import networkx as nx
    >>> import matroid_bandits as mb
    >>> graph = nx.Graph([("Oslo", "Rome"), ("Rome", "Cork"), ("Cork", "Oslo")])
    >>> network = mb.from_networkx(graph, sense="min")
    >>> network.best_basis({("Oslo", "Rome"): 20, ("Oslo", "Cork"): 18, ("Rome", "Cork"): 35})
    [('Oslo', 'Rome'), ('Oslo', 'Cork')]
    """
    choice(kind, "kind", _KINDS)
    _check_graph(graph)
    labels = list(graph.edges(keys=True) if graph.is_multigraph() else graph.edges())
    if not labels:
        raise ValueError(
            f"the graph has {graph.number_of_nodes()} nodes and no edges, so there is nothing to "
            "play; add the edges first: graph.add_edge(u, v)"
        )
    return Problem(_KINDS[kind]([(u, v) for u, v, *_ in labels]), labels=labels, sense=sense)


def _check_graph(graph: Any) -> None:
    # Recognized by its methods, so that networkx need not be imported.
    needed = ("edges", "is_directed", "is_multigraph", "number_of_nodes")
    if isinstance(graph, type) or not all(hasattr(graph, name) for name in needed):
        raise TypeError(
            f"from_networkx needs a networkx.Graph, got {abbreviated(graph)}; make one by "
            "networkx.Graph(edges) (pip install 'matroid-bandits[graphs]'), or pass a list of "
            "pairs to GraphicMatroid"
        )
    if graph.is_directed():
        raise ValueError(
            "spanning trees are those of an undirected graph, this one is directed; pass "
            "graph.to_undirected(), or networkx.MultiGraph(graph) if the two directions of a link "
            "are two elements"
        )
