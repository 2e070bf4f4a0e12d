"""Where the labels of a drawing stand, so that they hide each other as little as possible."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from matroid_bandits._graph_drawing import Point

__all__ = ["Box", "Place", "placed_labels"]

_GAP = 8.0
# The height of a line and the width of a letter, as parts of the size of letters.
_LINE, _LETTER = 1.1, 0.62
# Prices of what a label may cover. A label that would cover another one is rather left out.
# That of a vertex is per unit of area.
_OUTSIDE, _OTHER_LABEL, _VERTEX, _EDGE = 1000.0, 100.0, 0.1, 2.0
# How often every label looks for a better place among the others.
_ROUNDS = 3
# Among good places: to the right, left, above, below, then the corners.
_SIDES = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))


@dataclass(frozen=True)
class Box:
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def common_area(self, other: "Box") -> float:
        """The area of what the two have in common."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, tall)

    def is_inside(self, other: "Box") -> bool:
        """Whether no part of it is outside of `other`."""
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )

    def meets(self, a: Point, b: Point) -> bool:
        """Whether the line from `a` to `b` passes through it."""
        enter, leave = 0.0, 1.0
        for start, end, low, high in (
            (a[0], b[0], self.left, self.right),
            (a[1], b[1], self.top, self.bottom),
        ):
            way = end - start
            if way == 0:
                if not low < start < high:
                    return False
                continue
            times = sorted(((low - start) / way, (high - start) / way))
            enter, leave = max(enter, times[0]), min(leave, times[1])
        return enter < leave


@dataclass(frozen=True)
class Place:
    """Where a text begins, ends or has its middle (`anchor`), and its base line."""

    x: float
    y: float
    anchor: str


@dataclass(frozen=True)
class _Offer:
    """A place for a label, what it covers, and what that costs apart from other labels."""

    place: Place
    box: Box
    price: float


# Pages are shown every other second, and the leader rarely changes.
@lru_cache(maxsize=32)
def placed_labels(
    names: tuple[str, ...],
    points: tuple[Point, ...],
    edges: tuple[tuple[Point, Point, Point], ...],
    frame: Box,
    *,
    size: float,
) -> tuple[Place | None, ...]:
    """A place for the label of every point, or None where it would cover another label.

    Parameters
    ----------
    names : tuple of str
        The labels.
    points : tuple of Point
        What they belong to.
    edges : tuple of three Points
        Beginning, middle and end of lines that labels should not cover.
    frame : Box
        What they must not leave.
    size : float
        Of the letters.
    """
    reaches = [_reach(name, point, size) for name, point in zip(names, points, strict=True)]
    near = [
        [i for i, other in enumerate(reaches) if i != k and reach.common_area(other) > 0]
        for k, reach in enumerate(reaches)
    ]
    offers = [
        _offers(
            names[k],
            points[k],
            [_around(points[i]) for i in near[k]],
            [edge for edge in edges if _is_met(reaches[k], edge)],
            frame,
            size,
        )
        for k in range(len(names))
    ]
    # Those with the most neighbors have the fewest places, and choose first.
    order = sorted(range(len(names)), key=lambda k: -len(near[k]))
    chosen: dict[int, _Offer] = {}
    for _ in range(_ROUNDS):
        for k in order:
            taken = [chosen[i].box for i in near[k] if i in chosen]
            chosen[k] = min(offers[k], key=lambda offer: _total(offer, taken))
    places: list[Place | None] = [None] * len(names)
    kept: set[int] = set()
    for k in order:
        taken = [chosen[i].box for i in near[k] if i in kept]
        if _total(chosen[k], taken) < _OTHER_LABEL:
            places[k] = chosen[k].place
            kept.add(k)
    return tuple(places)


def _total(offer: _Offer, taken: list[Box]) -> float:
    return offer.price + _OTHER_LABEL * sum(offer.box.common_area(other) > 0 for other in taken)


def _reach(name: str, point: Point, size: float) -> Box:
    """All that a label could cover on any side of its point, and the point."""
    x, y = point
    width, height = _LETTER * size * len(name) + _GAP, _LINE * size + _GAP
    return Box(x - width, y - height, x + width, y + height)


def _around(point: Point) -> Box:
    """What the picture of a vertex covers."""
    x, y = point
    return Box(x - 6, y - 6, x + 6, y + 6)


def _is_met(box: Box, edge: tuple[Point, Point, Point]) -> bool:
    return any(box.meets(*ends) for ends in pairwise(edge))


def _offers(
    name: str,
    point: Point,
    vertices: list[Box],
    edges: list[tuple[Point, Point, Point]],
    frame: Box,
    size: float,
) -> list[_Offer]:
    """The label on every side of its point."""
    offers = []
    for rank, (dx, dy) in enumerate(_SIDES):
        box, place = _offer(name, point, dx, dy, size)
        price = (
            0.1 * rank
            + _OUTSIDE * (not box.is_inside(frame))
            + _VERTEX * sum(box.common_area(other) for other in vertices)
            + _EDGE * sum(_is_met(box, edge) for edge in edges)
        )
        offers.append(_Offer(place, box, price))
    return offers


def _offer(name: str, point: Point, dx: int, dy: int, size: float) -> tuple[Box, Place]:
    """The label on one side of its point."""
    x, y = point
    width, height = _LETTER * size * len(name), _LINE * size
    slant = 0.7 if dx and dy else 1.0
    middle = y + dy * slant * (_GAP + height / 2)
    start = x + dx * slant * _GAP
    left = start - width * (0.5 - dx / 2)
    anchor = {1: "start", 0: "middle", -1: "end"}[dx]
    box = Box(left, middle - height / 2, left + width, middle + height / 2)
    return box, Place(start, middle + 0.35 * size, anchor)
