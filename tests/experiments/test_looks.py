"""Results and studies as people look at them."""

import sys
from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from matroid_bandits.experiments import (
    Report,
    Results,
    StudyError,
    load_study,
    plan_study,
    run_study,
    summarize,
    write_report,
)

from ..well_formed import shown

mpl.use("Agg")

STUDY = {
    "title": "<i>small",
    "instances": ["K4", "U(2,4)"],
    "policies": ["MAUB", "OMM"],
    "runs": 2,
    "horizon": 200,
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Results:
    folder = tmp_path_factory.mktemp("results")
    return run_study(load_study(STUDY), folder, jobs=1, quiet=True)


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> Results:
    study = {
        "kind": "identification",
        "delta": 0.1,
        "instances": ["U(1,3)"],
        "rules": ["LUCBExchange"],
        "runs": 2,
    }
    folder = tmp_path_factory.mktemp("answers")
    return run_study(load_study(study), folder, jobs=1, quiet=True)


def test_representations(results, answers) -> None:
    study = load_study(STUDY)
    assert repr(study) == f"Study({study.name!r}, 2 instances, 2 policies, 2 runs each)"
    assert repr(study.instances[0]) == "Instance('K4', GraphicMatroid, horizon=200)"
    assert repr(study.policies[0]) == "PolicySpec('MAUB')"
    folder = repr(str(results.folder))
    assert repr(results) == f"Results(8 runs, 2 instances, 2 policies, folder={folder})"
    assert repr(answers).startswith("Results(2 runs, 1 instance, 1 rule, ")
    part = replace(results, runs=results.runs.iloc[:3])
    assert repr(part).startswith("Results(3 of 8 runs, ")
    assert repr(plan_study(study, quiet=True)).startswith("Plan(4 pairs, 8 of 8 runs left)")
    many = load_study(STUDY | {"instances": [f"K{n}" for n in range(4, 12)]})
    assert len(repr(many)) < 200


def test_representation_of_a_report(results) -> None:
    report: Report = write_report(results.folder)
    n_files, n_findings = len(report.files), len(report.findings)
    assert repr(report).startswith(f"Report({n_files} files, {n_findings} finding")
    assert repr(report).endswith(f"folder={str(results.folder)!r})")


def test_html(results, answers) -> None:
    text = shown(results)
    for name in ("K4", "U(2,4)", "MAUB", "OMM", "mean regret", "oracle calls", "8 runs"):
        assert name in text
    assert "median rounds" in shown(answers)
    noticed = replace(results, warnings=["<b>damaged"])
    assert "Warning: <b>damaged" in shown(noticed)
    # Nothing is finished yet.
    nothing = replace(results, runs=results.runs.iloc[:0], curves=results.curves.iloc[:0])
    assert "0 of 8 runs" in shown(nothing)


def test_plot_of_one_instance(results) -> None:
    ax = results.plot("K4")
    assert ax.get_title() == "K4"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["MAUB", "OMM", "lower bound"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("round", "cumulative regret")
    _, mine = plt.subplots()
    assert results.plot("U(2,4)", measure="oracle_calls", ax=mine) is mine
    assert mine.get_ylabel() == "oracle calls"
    for counter in ("greedy_calls", "neighborhood_updates"):
        ax = results.plot("K4", measure=counter)
        assert ax.get_ylabel() == counter.replace("_", " ")
        line, *_ = ax.lines
        mean = results.curves.query("instance == 'K4' and policy == 'MAUB'").groupby("round")
        assert line.get_ydata().tolist() == mean[counter].mean().tolist()
    # No policy has counted anything.
    none = results.curves.assign(neighborhood_updates=0)
    assert len(replace(results, curves=none).plot(measure="neighborhood_updates")) == 2


def test_plot_of_all_instances(results, answers) -> None:
    panels = results.plot()
    assert [ax.get_title() for ax in panels] == ["(a) K4", "(b) U(2,4)"]
    assert panels[0].figure is panels[1].figure
    # Notebooks show the figures of pyplot.
    assert panels[0].figure.number in plt.get_fignums()
    (rounds,) = answers.plot()
    assert rounds.get_ylabel() == "runs with an answer"


def test_mistakes(results) -> None:
    with pytest.raises(ValueError, match=r"unknown instance 'K44'; did you mean K4"):
        results.plot("K44")
    with pytest.raises(ValueError, match=r"ax has room for one instance, but there are 2: name"):
        results.plot(ax=plt.subplots()[1])
    with pytest.raises(ValueError, match=r"unknown measure 'rounds'"):
        results.plot(measure="rounds")
    with pytest.raises(ValueError, match=r"unknown table 'run'"):
        results.to_frame("run")
    nothing = replace(results, runs=results.runs.iloc[:0], curves=results.curves.iloc[:0])
    with pytest.raises(StudyError, match="has no finished run yet"):
        nothing.plot()


def test_without_matplotlib(results, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"matroid-bandits\[plots\]"):
        results.plot("K4")


def test_frames(results) -> None:
    runs = results.to_frame()
    assert runs.equals(results.runs)
    runs["regret"] = 0.0
    assert (results.runs["regret"] > 0).any()
    assert results.to_frame("curves").equals(results.curves)
    assert results.to_frame("summary").equals(summarize(results))
