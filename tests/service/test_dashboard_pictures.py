"""The pictures of the dashboard: charts, intervals and drawings."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matroid_bandits.service.dashboard.axes import count_axis, time_ticks, value_axis
from matroid_bandits.service.dashboard.bars import IntervalScale, outcome_bar
from matroid_bandits.service.dashboard.charts import decisions_chart, mean_chart
from matroid_bandits.service.dashboard.drawing import graph_drawing
from matroid_bandits.service.dashboard.views import (
    Bucket,
    EdgeView,
    ElementView,
    GraphView,
    Series,
)

from .dashboard_views import NOW, TRIANGLE, empty, series
from .html_tree import Node, parse


def charts(what: Series, now: float = NOW) -> tuple[Node, Node]:
    return (
        parse(decisions_chart(what, now=now)),
        parse(mean_chart(what, now=now, word="reward")),
    )


def lengths(nodes: list[Node], *names: str) -> list[float]:
    """The attributes as numbers; all of them are finite, in percent or not."""
    values = [float((node.attributes[name] or "").rstrip("%")) for node in nodes for name in names]
    assert all(map(math.isfinite, values))
    return values


def labels(chart: Node) -> list[str]:
    return [text.text for text in chart.all("text")]


def test_without_intervals_there_is_no_chart() -> None:
    assert decisions_chart(Series(1.0), now=NOW) is None
    assert mean_chart(Series(1.0), now=NOW, word="cost") is None


@pytest.mark.parametrize("n", [1, 2, 5, 120])
def test_charts_of_any_number_of_intervals(n: int) -> None:
    decisions, means = charts(series(n))
    bars = decisions.all("rect", class_="bar")
    assert len(bars) == len(decisions.all("rect", class_="hit")) == n
    assert len(means.all("line", class_="line")) == n - 1
    assert len(means.all("circle")) == (n if n <= 40 else 0)
    for chart in (decisions, means):
        places = lengths(chart.all("rect"), "x", "width", "y", "height")
        assert min(places) >= 0
        assert all(x + w < 100.1 for x, w in zip(places[::4], places[1::4], strict=True))
        ticks = [text for text in chart.all("text") if ":" in text.text]
        assert 1 <= len(ticks) <= 6
        assert all(0 <= x <= 100 for x in lengths(ticks, "x"))
    assert f"{3 * n} decisions" in decisions.one("desc").text
    # A single interval is a bar, not a wall.
    assert max(lengths(bars, "width")) < 10


@pytest.mark.parametrize("mean", [0.0, 0.25, -3.0, 1e-12, 1e12, -1e299])
def test_a_constant_mean_is_in_the_middle(mean: float) -> None:
    _, chart = charts(series(120, mean))
    heights = set(lengths(chart.all("line", class_="line"), "y1", "y2"))
    assert len(heights) == 1
    assert 40 <= heights.pop() <= 120
    assert len(set(labels(chart))) > 2


def test_gaps() -> None:
    decisions, means = charts(series(60, without=range(20, 30)))
    assert len(decisions.all("rect", class_="bar")) == 50
    assert len(means.all("line", class_="line")) == 48
    few = [Bucket(NOW - 640 + 64 * k, 2, 1 - k % 2, 1.0, 0) for k in range(9)]
    decisions, means = charts(Series(64.0, few))
    assert len(decisions.all("rect", class_="bar")) == 9
    assert not means.all("line", class_="line")
    assert len(means.all("circle", class_="dot")) == 5


def test_means_that_have_no_place_are_left_out() -> None:
    rewards = [1.0, math.inf, math.nan, 2.0, -math.inf, 1e301]
    what = Series(1.0, [Bucket(NOW - 10 + k, 1, 1, reward, 0) for k, reward in enumerate(rewards)])
    _, chart = charts(what)
    assert len(chart.all("circle")) == 2
    what = Series(1.0, [Bucket(NOW, 1, 1, math.nan, 0)])
    assert mean_chart(what, now=NOW, word="reward") is None


def test_the_present_interval_is_not_finished() -> None:
    decisions, _ = charts(series(5), now=NOW - 10)
    assert len(decisions.all("rect", class_="unfinished")) == 1
    assert "so far" in decisions.all("rect", class_="hit")[-1].text
    assert not charts(series(5))[0].all("rect", class_="unfinished")


def test_silence_is_shown_unless_it_is_very_long() -> None:
    def last(now: float) -> float:
        hits = charts(series(60), now=now)[0].all("rect", class_="hit")
        x, width = lengths(hits[-1:], "x", "width")
        return x + width

    assert last(NOW) == pytest.approx(100, abs=0.1)
    assert last(NOW + 60 * 64) == pytest.approx(50, abs=0.1)
    assert last(NOW + 1e6) == pytest.approx(100, abs=0.1)


def test_time_labels() -> None:
    midnight = 1_790_035_200.0
    assert [text for _, text in time_ticks(midnight - 3600, midnight + 3600)] == [
        *("23:00", "23:30", "Sep 22", "00:30", "01:00"),
    ]
    assert [text for _, text in time_ticks(midnight + 1, midnight + 13)] == [
        *("00:00:05", "00:00:10"),
    ]
    assert time_ticks(midnight, midnight + 5e8)[0][1] == "Jan 2027"
    assert len(time_ticks(0, 1e11)) <= 6


@given(st.floats(0, 4e9), st.floats(1, 1e9))
def test_times_are_round_and_few(start: float, length: float) -> None:
    ticks = time_ticks(start, start + length)
    assert len(ticks) <= 6
    assert all(start <= time <= start + length for time, _ in ticks)
    assert all(label for _, label in ticks)


@given(st.floats(-1e299, 1e299), st.floats(-1e299, 1e299))
def test_axes_have_all_values(a: float, b: float) -> None:
    axis = value_axis(min(a, b), max(a, b))
    assert axis.low < axis.high
    assert 2 <= len(axis.ticks) <= 7
    assert all(-1e-6 <= axis.place(x) <= 1 + 1e-6 for x in (a, b, *(x for x, _ in axis.ticks)))


@pytest.mark.parametrize("largest", [0, 1, 3, 4, 7, 99, 12_345, 3_000_001])
def test_axes_of_counts(largest: int) -> None:
    axis = count_axis(largest)
    assert axis.low == 0
    assert axis.high >= max(largest, 1)
    assert all(value == int(value) for value, _ in axis.ticks)
    assert len({label for _, label in axis.ticks}) == len(axis.ticks) <= 6


def row(low: float | None, mean: float | None, high: float | None) -> ElementView:
    return ElementView("e", mean, low, high, 1, 1, 0, 0.5, None, is_in_leader=False)


def test_intervals_share_a_scale() -> None:
    both = [row(-1.0, 0.0, 1.0), row(0.0, 2.0, 3.0), row(None, None, None)]
    scale = IntervalScale.of(both)
    assert (scale.low, scale.high) == (-1, 3)
    picture = parse(scale.picture(both[0]))
    assert lengths(picture.all("line", class_="reach")[:1], "x1", "x2") == [0, 50]
    assert lengths(picture.all("circle"), "cx") == [25]


def test_intervals_without_ends() -> None:
    assert IntervalScale.of([row(None, None, None), row(-math.inf, math.nan, math.inf)]) is None
    assert IntervalScale.of([]) is None
    scale = IntervalScale.of([row(-math.inf, 0.5, math.inf)])
    picture = parse(scale.picture(row(-math.inf, 0.5, math.inf)))
    assert lengths(picture.all("line", class_="reach")[:1], "x1", "x2") == [0, 100]
    assert lengths(picture.all("circle"), "cx") == [50]


def test_the_bar_of_outcomes() -> None:
    view = replace(empty(), decided=10, rewarded=5, pending=2, expired=1)
    bar = parse(outcome_bar(view))
    parts = bar.all("rect")[1:]
    assert [part.text for part in parts] == [
        *("5 rewarded", "2 pending", "1 expired", "2 closed early"),
    ]
    assert lengths(parts, "x", "width") == [0, 50, 50, 20, 70, 10, 80, 20]
    # Counters that are read one after the other may not add up.
    bar = parse(outcome_bar(replace(view, decided=1)))
    assert sum(lengths(bar.all("rect")[1:], "width")) == pytest.approx(100, abs=0.1)
    assert len(parse(outcome_bar(empty())).all("rect")) == 1


def points(drawing: Node) -> list[tuple[float, float]]:
    values = lengths(drawing.all("circle", class_="vertex"), "cx", "cy")
    return list(zip(values[::2], values[1::2], strict=True))


def frame(drawing: Node) -> tuple[float, float]:
    [svg] = drawing.all("svg")
    _, _, width, height = map(float, (svg.attributes["viewbox"] or "").split())
    return width, height


def drawn(*vertices: tuple[float, float], edges: list[tuple[int, int]] | None = None) -> Node:
    n = len(vertices)
    edges = [(i, j) for i in range(n) for j in range(i)] if edges is None else edges
    graph = GraphView(
        [(f"v{k}", x, y) for k, (x, y) in enumerate(vertices)],
        [EdgeView(i, j, f"{i}-{j}", is_in_leader=False, mean=None) for i, j in edges],
    )
    drawing = parse(graph_drawing(graph))
    width, height = frame(drawing)
    assert all(0 <= x <= width and 0 <= y <= height for x, y in points(drawing))
    assert not re.search("nan|inf", " ".join(p.attributes["d"] or "" for p in drawing.all("path")))
    assert len(points(drawing)) == n
    return drawing


def plain(text: str) -> str:
    """Without the signs that isolate labels from the direction of the text around them."""
    assert text.count("\u2068") == text.count("\u2069") > 0
    return text.replace("\u2068", "").replace("\u2069", "")


def test_a_drawing() -> None:
    drawing = parse(graph_drawing(TRIANGLE, word="cost"))
    oslo, rome, cork = points(drawing)
    # The aspect ratio stays, and y points upwards.
    assert rome[0] - oslo[0] == pytest.approx(2 * (oslo[1] - cork[1]), abs=0.1)
    assert oslo[1] == rome[1] > cork[1]
    assert [plain(g.one("title").text) for g in drawing.all("g", class_="leading")] == [
        "Oslo - Rome (Oslo to Rome): mean cost 12.50, in the leader",
        "Cork - Oslo (Cork to Oslo): mean cost 7.250, in the leader",
    ]
    assert "never observed" in drawing.text
    for size in ("on-desk", "on-phone"):
        assert labels(drawing.one("g", class_=size)) == ["Oslo", "Rome", "Cork"]
    assert "3 vertices and 3 edges, 2 of them in the leader" in drawing.one("desc").text


@pytest.mark.parametrize("at", [(0.0, 0.0), (3.5, -7.0), (math.nan, 0.0), (math.inf, 1.0)])
def test_vertices_at_one_point_are_on_a_circle(at: tuple[float, float]) -> None:
    drawing = drawn(at, at, at, at)
    assert len(set(points(drawing))) == 4
    assert "on a circle" in drawing.one("desc").text


@pytest.mark.parametrize("far", [1e-320, 1e-200, 1e200, 1.7e308])
def test_extreme_coordinates(far: float) -> None:
    assert len(set(points(drawn((0.0, 0.0), (far, far), (-far, far))))) == 3


def test_small_graphs() -> None:
    drawn()
    drawn((1.0, 1.0))
    drawn((1.0, 1.0), (2.0, 1.0))


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0)])
def test_edges_along_a_line_do_not_hide_each_other(direction: tuple[float, float]) -> None:
    x, y = direction
    drawing = drawn(*((k * x, k * y) for k in range(5)))
    assert all("Q" in (path.attributes["d"] or "") for path in drawing.all("path"))


def test_parallel_edges_and_loops_are_seen() -> None:
    drawing = drawn((0.0, 0.0), (1.0, 1.0), edges=[(0, 1), (1, 0), (0, 1), (0, 0), (0, 0)])
    paths = {path.attributes["d"] for path in drawing.all("path", class_="edge")}
    assert len(paths) == 5


def test_labels_do_not_cover_each_other() -> None:
    drawing = drawn(*((math.sin(k), math.cos(7 * k)) for k in range(100)), edges=[])
    boxes = []
    for text in drawing.one("g", class_="on-desk").all("text"):
        x, y = lengths([text], "x", "y")
        shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.attributes["text-anchor"]]
        boxes.append((x - shift * 6.5 * len(text.text), y, 6.5 * len(text.text)))
    assert 20 < len(boxes) <= 100
    for i, (x, y, width) in enumerate(boxes):
        for u, v, other in boxes[:i]:
            assert abs(y - v) > 12 or x + width <= u or u + other <= x


def test_large_graphs_are_drawn_in_part() -> None:
    n = 200
    graph = GraphView(
        [(f"v{k}", math.cos(k), math.sin(k)) for k in range(n)],
        [
            EdgeView(k % n, (k * k + 1) % n, str(k), is_in_leader=k < 50, mean=1.0)
            for k in range(3001)
        ],
    )
    drawing = parse(graph_drawing(graph))
    assert len(drawing.all("path", class_="edge")) == 50
    assert "Only the leader is drawn" in drawing.one("desc").text
    assert not drawing.all("text")
