"""What people look at: representations, HTML, figures, data frames."""

import builtins
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import matroid_bandits as mb
from matroid_bandits import _frames, _html, _plots
from matroid_bandits.identification import LUCBExchange

from ..well_formed import shown

mpl.use("Agg")

LABELS = [f"<b>{'long ' * 30}{e}" for e in range(300)]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def run() -> mb.Simulation:
    return mb.simulate(
        mb.MAUB(mb.UniformMatroid(2, 4)),
        mb.GaussianEnvironment([0.9, 0.8, 0.3, 0.2], std=0.2),
        500,
        confidence=0.05,
    )


@pytest.fixture(scope="module")
def policy() -> mb.MAUB:
    problem = mb.Problem(mb.UniformMatroid(40, 300), labels=LABELS)
    policy = mb.MAUB(problem, noise=0.5)
    policy.observe(dict.fromkeys(LABELS, (0.5, 40)))
    return policy


def _is_missing(monkeypatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)


# ---- representations ----


def test_representations_are_short(run, policy) -> None:
    environment = mb.BernoulliEnvironment(np.linspace(0, 1, 300))
    things = [
        *(run, run.confidence, policy.explain(), policy.confidence(), policy.statistics),
        mb.gaps(policy.problem, environment.means),
        mb.identify(LUCBExchange(policy.problem), environment, limit=50),
    ]
    for _ in range(3):
        policy.update(dict.fromkeys(LABELS[:9], 5.0))
    drifted = mb.OMM(mb.Problem(mb.UniformMatroid(5, 5), labels=list("abcde")), noise=0.2)
    for round_ in range(64):
        drifted.update(list("abcde"), [float(round_ >= 32)] * 5)
    drift = drifted.drift()
    assert len(drift) == 5
    assert repr(drift) == "Drift(delta=0.05, 5 of 5 changed, 'a', 'b', 'c', ... 2 more)"
    assert "0 of 5 changed" in repr(mb.Drift(0.05, (), 5))
    for thing in things:
        text = repr(thing)
        assert len(text) <= 300, text
        assert "\n" not in text
        assert " object at 0x" not in text
        if hasattr(thing, "_repr_html_"):
            assert shown(thing)
    assert "before" in shown(drift)
    assert "No mean seems to have changed" in shown(mb.Drift(0.05, (), 5))


def test_html_of_a_run(run) -> None:
    text = shown(run)
    assert "rounds 500" in text
    assert f"oracle calls {run.counters['oracle_calls']}" in text
    assert "The best basis is settled" in text
    assert "<polyline" in run._repr_html_()
    short = mb.simulate(
        mb.OMM(mb.UniformMatroid(1, 1)), mb.BernoulliEnvironment([1.0]), 1, checkpoints=[1]
    )
    assert "regret 0" in shown(short)


def test_html_of_gaps() -> None:
    found = mb.gaps(mb.UniformMatroid(2, 30), np.arange(30) / 30)
    assert "best basis" in shown(found)
    assert "18 more" in shown(found)


def test_numbers_in_html() -> None:
    written = [_html.number(x) for x in (3, 1234567, 0.123456, 12345.6, np.nan, np.inf, -np.inf)]
    assert written[:4] == ["3", "1,234,567", "0.1235", "12,346"]
    assert [len(text) for text in written[4:]] == [1, 1, 2]
    assert _html.shown("a\x00b\n") == "a b "
    assert len(_html.shown("x" * 1000)) == 60


# ---- figures ----


def test_plot_of_a_run(run) -> None:
    ax = run.plot()
    (line,) = ax.lines
    assert line.get_xdata()[0] == line.get_ydata()[0] == 0
    assert line.get_ydata()[-1] == run.total_regret
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("round", "cumulative regret")
    assert ax.get_legend() is None
    other = run.plot(ax=ax, label="again", measure="regret")
    assert other is ax
    assert len(ax.lines) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["again"]
    # A new figure each time.
    calls = run.plot(measure="oracle_calls")
    assert calls.figure is not ax.figure
    assert calls.get_ylabel() == "oracle calls"
    assert calls.lines[0].get_ydata()[-1] == run.counters["oracle_calls"]


def test_mistakes_in_plots(run) -> None:
    with pytest.raises(ValueError, match=r"unknown measure 'regrets'; did you mean regret"):
        run.plot(measure="regrets")
    with pytest.raises(TypeError, match=r"ax must be Axes of matplotlib, .*got Figure"):
        run.plot(ax=plt.figure())


def test_plots_without_matplotlib(run, monkeypatch) -> None:
    _is_missing(monkeypatch, "matplotlib.pyplot")
    with pytest.raises(ImportError, match=r"matroid-bandits\[plots\]"):
        run.plot()


def test_units_of_axes() -> None:
    assert [_plots.with_unit(x) for x in (0, 500, 5000, 2.5e6)] == ["0", "500", "5k", "2.5M"]


# ---- data frames ----


def test_frame_of_a_run(run) -> None:
    frame = run.to_frame()
    assert list(frame) == ["round", "regret", *run.counter_curves]
    assert frame["round"].tolist() == run.rounds.tolist()
    frame["regret"] = 0.0
    assert run.regret[-1] > 0


def test_frames_of_other_answers(policy) -> None:
    explanation = policy.explain()
    frame = explanation.to_frame()
    assert list(frame) == ["element", "selected", "mean", "count", "index", "partner"]
    assert len(frame) == 40 + 20
    assert frame["selected"].sum() == 40
    assert frame["selected"].dtype == bool
    links = [("a", "b"), ("b", "c"), ("c", "a")]
    network = mb.Problem(mb.GraphicMatroid(links), labels=links)
    gaps = mb.gaps(network, [0.9, 0.7, 0.2]).to_frame()
    assert gaps["element"].tolist() == [("c", "a")]
    assert gaps["partner"].tolist() == [("b", "c")]
    assert gaps["gap"].iloc[0] == pytest.approx(0.5)
    learner = mb.OMM(network, noise=0.1)
    learner.update({("a", "b"): 1.0, ("b", "c"): 0.5})
    statistics = learner.statistics.to_frame()
    assert statistics["element"].tolist() == links[:2]
    assert statistics["count"].tolist() == [1, 1]
    empty = learner.drift().to_frame()
    assert list(empty) == ["element", "before", "after", "statistic", "threshold"]
    assert empty.empty
    answer = mb.identify(LUCBExchange(network), mb.GaussianEnvironment([3, 2, 1.0], std=0.1))
    assert answer.to_frame()["round"].iloc[-1] <= answer.rounds
    assert "settled yes" in shown(answer)


def test_frame_with_features() -> None:
    features = mb.LinearFeatures(np.eye(3))
    learner = mb.CombLinUCB(mb.UniformMatroid(1, 3), features=features)
    learner.update([0], [0.5])
    frame = learner.explain().to_frame()
    assert {"estimate", "features"} <= set(frame)
    assert "estimate" in shown(learner.explain())


def test_labels_keep_their_types() -> None:
    frame = _frames.data_frame({"a": [1, "x", (2, 3)], "b": np.arange(3), "c": [1, 2, 3]})
    assert frame["a"].tolist() == [1, "x", (2, 3)]
    assert frame["c"].dtype == np.int64
    assert isinstance(frame, pd.DataFrame)


def test_frames_without_pandas(run, monkeypatch) -> None:
    _is_missing(monkeypatch, "pandas")
    with pytest.raises(ImportError, match=r"matroid-bandits\[experiments\]"):
        run.to_frame()
    # Everything else works.
    assert shown(run)
    assert builtins.repr(run)
