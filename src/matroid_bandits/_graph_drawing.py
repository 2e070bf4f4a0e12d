"""Drawings of small graphs: vertices on a circle, edges as lines that can all be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matroid_bandits._html import ACCENT, Html, element, picture, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = ["EdgeLine", "Point", "circle", "edge_lines", "graph_picture"]

Point = tuple[float, float]

# Edges along a line would hide each other; they become arcs of this height for their length.
_BEND = 0.22

# The circle of a picture, and the room for labels beside it.
_RADIUS, _ASIDE, _ABOVE = 84.0, 92.0, 24.0
_LONGEST_LABEL = 13


@dataclass(frozen=True)
class EdgeLine:
    """How an edge is drawn: the path, and the points that labels keep away from."""

    path: str
    middle: tuple[Point, Point, Point]


def circle(n: int, middle: Point, radius: float) -> list[Point]:
    """Points on a circle, the first at the top; a single one in the middle."""
    if n == 1:
        return [middle]
    turns = [2 * math.pi * k / n for k in range(n)]
    return [
        (middle[0] + radius * math.sin(turn), middle[1] - radius * math.cos(turn)) for turn in turns
    ]


def edge_lines(
    edges: Iterable[tuple[int, int]], points: Sequence[Point], *, is_line: bool = False
) -> list[EdgeLine]:
    """A line for every edge; parallel edges and loops are bent, so that each can be seen.

    Parameters
    ----------
    edges : iterable of pairs of int
        The numbers of the ends of each edge.
    points : sequence of Point
        Where the vertices are.
    is_line : bool, default False
        Whether all vertices are on one line.
    """
    drawn: dict[tuple[int, int], int] = {}
    lines = []
    for tail, head in edges:
        ends = min(tail, head), max(tail, head)
        parallel = drawn.get(ends, 0)
        drawn[ends] = parallel + 1
        a, b = points[ends[0]], points[ends[1]]
        if math.dist(a, b) < 0.5:
            lines.append(_loop(a, parallel))
        else:
            lines.append(_arc(a, b, _bend(parallel) + (2 * _BEND if is_line else 0.0)))
    return lines


def _bend(parallel: int) -> float:
    """0, then to one side, to the other side, further to the one side, ..."""
    amount = _BEND * ((parallel + 1) // 2)
    return amount if parallel % 2 else -amount


def _arc(a: Point, b: Point, bend: float) -> EdgeLine:
    (x1, y1), (x2, y2) = a, b
    control = ((x1 + x2) / 2 + bend * (y2 - y1), (y1 + y2) / 2 - bend * (x2 - x1))
    top = ((x1 + x2) / 4 + control[0] / 2, (y1 + y2) / 4 + control[1] / 2)
    curve = f"Q{_pair(control)} {_pair(b)}" if bend else f"L{_pair(b)}"
    return EdgeLine(f"M{_pair(a)}{curve}", (a, top, b))


def _loop(at: Point, parallel: int) -> EdgeLine:
    """A loop above its vertex; the next ones are larger."""
    x, y = at
    size = 12.0 + 6.0 * parallel
    left, right = (x - size, y - 2 * size), (x + size, y - 2 * size)
    path = f"M{_pair(at)}C{_pair(left)} {_pair(right)} {_pair(at)}"
    return EdgeLine(path, (at, (x, y - 1.5 * size), at))


def _pair(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def graph_picture(
    vertices: Sequence[Any],
    edges: Sequence[tuple[int, int]],
    titles: Sequence[str],
    marked: Collection[int] = (),
) -> Html:
    """A small graph on a circle.

    Parameters
    ----------
    vertices : sequence
        Names of the vertices.
    edges : sequence of pairs of int
        The numbers of the ends of each edge.
    titles : sequence of str
        What the mouse shows at each edge.
    marked : collection of int
        Edges in thick lines.
    """
    width, height = 2 * (_RADIUS + _ASIDE), 2 * (_RADIUS + _ABOVE)
    middle = (width / 2, height / 2)
    points = circle(len(vertices), middle, _RADIUS)
    drawn = list(zip(edge_lines(edges, points), titles, range(len(edges)), strict=True))
    # What is drawn last lies on top.
    drawn.sort(key=lambda entry: entry[2] in marked)
    text = f"{len(vertices)} vertices and {len(edges)} edges"
    if marked:
        text += f", {len(marked)} of them in thick lines"
    return picture(
        width,
        height,
        text,
        *(_edge(line, title, is_marked=e in marked) for line, title, e in drawn),
        *(_vertex(name, point, middle) for name, point in zip(vertices, points, strict=True)),
    )


def _edge(line: EdgeLine, title: str, *, is_marked: bool) -> Html:
    look = (
        {"stroke": ACCENT, "stroke_width": "3.5"}
        if is_marked
        else {"stroke": "currentColor", "stroke_width": "1", "stroke_opacity": "0.45"}
    )
    return element("path", element("title", shown(title)), d=line.path, fill="none", **look)


def _vertex(name: Any, point: Point, middle: Point) -> Html:
    """A dot, and its label on the outer side."""
    x, y = point
    dx, dy = (x - middle[0]) / _RADIUS, (y - middle[1]) / _RADIUS
    anchor = "middle" if abs(dx) < 0.3 else "start" if dx > 0 else "end"
    return element(
        "g",
        element("circle", cx=x, cy=y, r="3.5", fill="currentColor"),
        element(
            "text",
            shown(name, _LONGEST_LABEL),
            x=x + 9 * dx,
            y=y + 4 + 13 * dy,
            text_anchor=anchor,
            font_size="11",
            fill="currentColor",
        ),
    )
