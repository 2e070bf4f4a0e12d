"""Bandits for the tests of the pages."""

import math
from dataclasses import replace

from matroid_bandits.service.dashboard.views import (
    BanditView,
    Bucket,
    DecisionView,
    EdgeView,
    ElementView,
    GraphView,
    Series,
)

__all__ = ["EVIL", "NOW", "TRIANGLE", "backbone", "empty", "evil", "news", "series"]

NOW = 1_790_007_700.0

EVIL = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)> ' `",
    "x" * 5000,
    "\u05e9\u05dc\u05d5\u05dd \u202e abc",
    "{{ 7 * 7 }} {% raw %} &amp; &lt;",
    "two\nlines",
    "",
    "  ",
    "\ud800 half, \x00 nothing",
    "javascript:alert(1)",
    "http://evil.example/",
]

TRIANGLE = GraphView(
    [("Oslo", 0.0, 0.0), ("Rome", 2.0, 0.0), ("Cork", 0.0, 1.0)],
    [
        EdgeView(0, 1, "Oslo - Rome", is_in_leader=True, mean=12.5),
        EdgeView(1, 2, "Rome - Cork", is_in_leader=False, mean=None),
        EdgeView(2, 0, "Cork - Oslo", is_in_leader=True, mean=7.25),
    ],
)


def series(n: int, mean: float = 0.5, *, without: range = range(0)) -> Series:
    """`n` intervals of 64 s that end before `NOW`, some of them left out."""
    start = NOW - 64 * n
    return Series(
        64.0,
        [Bucket(start + 64 * k, 3, 6, 6 * mean, 1) for k in range(n) if k not in without],
    )


def empty() -> BanditView:
    """A bandit that has done nothing."""
    return BanditView("fresh", "OMM", "uniform matroid", "max", "active", 5, 2, *(0,) * 5, None)


def news() -> BanditView:
    """A bandit with rewards and without a graph."""
    rows = [
        ElementView("flood", 0.25, 0.125, 0.5, 1200, 1300, 3, 0.75, "summit", is_in_leader=True),
        ElementView("summit", 0.0625, 0.0, 0.5, 40, 41, 1, 0.0001, "flood", is_in_leader=False),
        ElementView("comet", None, None, None, 0, 0, 0, 0.0, None, is_in_leader=False),
    ]
    latest = [
        DecisionView("visit-2", NOW - 3, 52_311, ["summit"], "explores summit", "open"),
        DecisionView("visit-1", NOW - 7500, 52_310, ["flood"], "the leader", "rewarded"),
    ]
    return replace(
        empty(),
        name="news",
        rounds=52_311,
        decided=52_311,
        rewarded=50_000,
        pending=1_000,
        expired=1_111,
        seconds_since_learned=125.0,
        warnings=["Feedback is late.", "One element was never observed."],
        leader=["flood"],
        may_stop="The best basis is not settled. Two elements are hard to tell apart.",
        elements=rows,
        series=series(120, without=range(40, 50)),
        latest=latest,
    )


def backbone() -> BanditView:
    """A bandit with costs and a graph."""
    rows = [
        ElementView(edge.label, edge.mean, 5.0, 20.0, 9, 9, 0, 0.5, None, edge.is_in_leader)
        for edge in TRIANGLE.edges
    ]
    leader = [edge.label for edge in TRIANGLE.edges if edge.is_in_leader]
    return replace(
        news(), name="backbone", sense="min", elements=rows, leader=leader, graph=TRIANGLE
    )


def evil() -> BanditView:
    """A bandit all of whose texts are hostile, and whose numbers are extreme."""
    rows = [
        ElementView(label, math.nan, -math.inf, math.inf, 10**18, -1, 0, math.nan, label, k < 4)
        for k, label in enumerate(EVIL)
    ]
    edges = [EdgeView(k, k // 2, label, k < 4, None) for k, label in enumerate(EVIL)]
    return BanditView(
        *EVIL[:3],
        sense="max",
        status=EVIL[1],
        size=1,
        rank=1,
        rounds=1,
        decided=1,
        rewarded=5,
        pending=6,
        expired=7,
        seconds_since_learned=math.inf,
        warnings=EVIL,
        leader=EVIL,
        may_stop=f"{EVIL[0]} {EVIL[1]} {EVIL[4]}",
        elements=rows,
        n_elements_left_out=1234,
        series=Series(1.0, [Bucket(NOW, 1, 1, math.inf, 0)]),
        latest=[DecisionView(e, 1e30, 1, EVIL, e, EVIL[1]) for e in EVIL],
        graph=GraphView([(label, k % 3, k // 3) for k, label in enumerate(EVIL)], edges),
    )
