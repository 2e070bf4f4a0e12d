"""A graph as a drawing in SVG: the leader in thick lines, all other edges thin."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from matroid_bandits._graph_drawing import EdgeLine, Point, circle, edge_lines
from matroid_bandits.service.dashboard.formatting import count, isolated, number, short
from matroid_bandits.service.dashboard.placing import Box, placed_labels
from matroid_bandits.service.dashboard.svg import described, element
from matroid_bandits.service.dashboard.views import EdgeView, GraphView

__all__ = ["graph_drawing"]

_WIDTH, _MOST_HEIGHT, _LEAST_HEIGHT = 440.0, 400.0, 200.0
_MARGIN = 44.0
_LONGEST_LABEL = 18
# The sizes of letters in the style sheet. On a telephone the drawing is smaller, and its letters
# are larger in proportion; there, other labels have room.
_SIZES = {"on-desk": 12.0, "on-phone": 16.0}
# Labels of more vertices would hide the graph, and take long to place.
_MOST_LABELS = 100
# Of larger graphs, only the leader is drawn.
_MOST_EDGES = 3000


@dataclass(frozen=True)
class _Layout:
    """Where the vertices are, in the units of the drawing.

    Attributes
    ----------
    points : list of Point
    height : float
        Of the drawing.
    is_line : bool
        All vertices are on one line.
    is_circle : bool
        The coordinates say nothing, so the vertices stand on a circle.
    """

    points: list[Point]
    height: float
    is_line: bool
    is_circle: bool


def graph_drawing(graph: GraphView, *, word: str = "reward") -> Markup:
    """The drawing of a graph; coordinates keep their aspect ratio.

    If all vertices have the same point, or a coordinate is not a number, they are drawn on a
    circle.

    Parameters
    ----------
    graph : GraphView
    word : str
        "reward" or "cost".
    """
    layout = _layout([(x, y) for _, x, y in graph.vertices])
    is_large = len(graph.edges) > _MOST_EDGES
    edges = [edge for edge in graph.edges if edge.is_in_leader or not is_large]
    # What is drawn last lies on top.
    drawn = sorted(zip(edges, _lines(edges, layout), strict=True), key=lambda e: e[0].is_in_leader)
    leading = [line for edge, line in drawn if edge.is_in_leader]
    description = (
        f"{count(len(graph.vertices))} vertices and {count(len(graph.edges))} edges, "
        f"{count(len(leading))} of them in the leader, drawn thick."
    )
    if is_large:
        description += " Only the leader is drawn, as there are so many edges."
    if layout.is_circle:
        description += " The coordinates do not tell the vertices apart, so they are on a circle."
    return described(
        "drawing",
        "The graph and its leader",
        description,
        *(_edge(graph, edge, line, word) for edge, line in drawn),
        *_labels(graph, layout, leading),
        *_vertices(graph, layout.points),
        class_="drawing",
        viewBox=f"0 0 {_WIDTH:g} {layout.height:.0f}",
        preserveAspectRatio="xMidYMid meet",
    )


def _layout(points: list[Point]) -> _Layout:
    is_finite = all(abs(c) < 1e300 for point in points for c in point)
    low_x, high_x = _ends([x for x, _ in points]) if is_finite else (0.0, 0.0)
    low_y, high_y = _ends([y for _, y in points]) if is_finite else (0.0, 0.0)
    wide, tall = high_x - low_x, high_y - low_y
    room, most = _WIDTH - 2 * _MARGIN, _MOST_HEIGHT - 2 * _MARGIN
    scale = min(room / wide if wide else math.inf, most / tall if tall else math.inf)
    # A quotient may also be too large for a number: then the points are as good as one.
    if not math.isfinite(scale):
        return _circle(len(points))
    height = max(_LEAST_HEIGHT, scale * tall + 2 * _MARGIN)
    middle_x, middle_y = low_x + wide / 2, low_y + tall / 2
    placed = [
        (_WIDTH / 2 + scale * (x - middle_x), height / 2 - scale * (y - middle_y))
        for x, y in points
    ]
    is_line = min(wide, tall) <= 0.01 * max(wide, tall) and len(points) > 2
    return _Layout(placed, height, is_line, is_circle=False)


def _ends(values: list[float]) -> tuple[float, float]:
    return (min(values), max(values)) if values else (0.0, 0.0)


def _circle(n: int) -> _Layout:
    """Vertices on a circle, the first at the top; a single one in the middle."""
    height = _MOST_HEIGHT if n > 1 else _LEAST_HEIGHT
    radius = (height / 2 - _MARGIN) if n > 1 else 0.0
    points = circle(n, (_WIDTH / 2, height / 2), radius)
    return _Layout(points, height, is_line=False, is_circle=n > 1)


def _lines(edges: list[EdgeView], layout: _Layout) -> list[EdgeLine]:
    ends = [(edge.tail, edge.head) for edge in edges]
    return edge_lines(ends, layout.points, is_line=layout.is_line)


def _edge(graph: GraphView, edge: EdgeView, line: EdgeLine, word: str) -> Markup:
    """An edge with a broad line for the mouse around it, which nobody sees."""
    ends = f"{_name(graph, edge.tail)} to {_name(graph, edge.head)}"
    known = "never observed" if edge.mean is None else f"mean {word} {number(edge.mean)}"
    leads = ", in the leader" if edge.is_in_leader else ""
    return element(
        "g",
        element("title", f"{isolated(edge.label)} ({ends}): {known}{leads}"),
        element("path", d=line.path, class_="near"),
        element("path", d=line.path, class_="edge"),
        class_="leading" if edge.is_in_leader else None,
    )


def _name(graph: GraphView, vertex: int) -> str:
    return isolated(graph.vertices[vertex][0], _LONGEST_LABEL)


def _vertices(graph: GraphView, points: list[Point]) -> Iterator[Markup]:
    for (label, _, _), (x, y) in zip(graph.vertices, points, strict=True):
        title = element("title", isolated(label))
        yield element("circle", title, cx=x, cy=y, r=4.5, class_="vertex")


def _labels(graph: GraphView, layout: _Layout, leading: list[EdgeLine]) -> Iterator[Markup]:
    """The labels that have room, once for every size of letters."""
    if len(graph.vertices) > _MOST_LABELS:
        return
    names = tuple(short(label, _LONGEST_LABEL) for label, _, _ in graph.vertices)
    frame = Box(0, 0, _WIDTH, layout.height)
    middles = tuple(line.middle for line in leading)
    for kind, size in _SIZES.items():
        places = placed_labels(names, tuple(layout.points), middles, frame, size=size)
        texts = [
            element("text", name, x=place.x, y=place.y, text_anchor=place.anchor)
            for name, place in zip(names, places, strict=True)
            if place is not None
        ]
        yield element("g", *texts, class_=kind)
