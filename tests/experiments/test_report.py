"""Reports: from stored results alone, the same every time, and right."""

import csv
import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import matroid_bandits as mb
from matroid_bandits.experiments import (
    Results,
    StudyError,
    compare,
    load_study,
    read_results,
    run_study,
    shipped_study,
    summarize,
    write_report,
)
from matroid_bandits.experiments.analysis.formatting import as_printed, number, ratio
from matroid_bandits.experiments.analysis.summary import band, growth, half_width, leading_policy
from matroid_bandits.experiments.reporting import plots
from matroid_bandits.experiments.reporting.findings import findings
from matroid_bandits.experiments.reporting.plots import spread_of_regrets

FILES = {
    "report.html",
    "report.md",
    "table.csv",
    "table-instances.tex",
    "table.tex",
    *(
        f"figure-{what}.{kind}"
        for what in ("regret", "oracle-calls")
        for kind in ("png", "svg", "pdf")
    ),
}
SOURCES = ("study.json", "sessions", "runs.parquet", "curves.parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A small part of the reproduction, at the paper's horizon, with awkward names."""
    study = load_study(shipped_study("reproduce"), movielens="synthetic")
    out = tmp_path_factory.mktemp("reproduced")
    run_study(study.part(only=["K5", "U(7,10)"], runs=4), out, jobs=2)
    write_report(out)
    return out


def copy_sources(folder: Path, to: Path) -> None:
    """What a report is made of."""
    for name in SOURCES:
        copy = shutil.copytree if (folder / name).is_dir() else shutil.copy
        copy(folder / name, to / name)


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


# ---- what is written ----


def test_a_report_is_rebuilt_from_results_alone(folder: Path, tmp_path, monkeypatch) -> None:
    copy_sources(folder, tmp_path)

    def refuse(*arguments, **options):
        raise AssertionError("a report runs nothing")

    monkeypatch.setattr("matroid_bandits.experiments.running.worker.simulate", refuse)
    written = write_report(tmp_path)
    assert {path.name for path in written.files} == FILES
    assert {path.name for path in tmp_path.iterdir()} == FILES | set(SOURCES)
    # To the last byte, figures included.
    assert contents(tmp_path) == contents(folder)


class Resources(HTMLParser):
    """Whatever a page would load, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs) -> None:
        if tag not in {"meta", "img"}:
            self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in {"src", "href"}]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_stands_alone(folder: Path) -> None:
    page = Resources((folder / "report.html").read_text())
    assert page.open == []
    assert len(page.addresses) == 2
    assert all(address.startswith("data:image/svg+xml;base64,") for address in page.addresses)
    assert "url(" not in page.text
    for told in ("U(7,10)", "another machine", "2.2 GHz Xeon", "Seeds 0 to 3", "497.25", "commit"):
        assert told in page.text


def test_the_table_has_the_papers_figures_and_ratios(folder: Path) -> None:
    with (folder / "table.csv").open() as file:
        rows = {(row["instance"], row["policy"]): row for row in csv.DictReader(file)}
    assert len(rows) == 6
    runs = read_results(folder).runs
    row = rows["U(7,10)", "MAUB (paper)"]
    mine = runs.query("instance == 'U(7,10)' and policy == 'MAUB (paper)'")
    for measure, paper in {
        "seconds": 1.92,
        "oracle_calls": 497.25,
        "greedy_calls": 13.8,
        "neighborhood_updates": 121.75,
    }.items():
        assert float(row[measure]) == pytest.approx(float(mine[measure].mean()))
        assert float(row[f"published_{measure}"]) == paper
        assert float(row[f"ratio_{measure}"]) == pytest.approx(float(row[measure]) / paper)
    assert rows["K5", "OMM"]["published_greedy_calls"] == ""  # not in the paper
    markdown = (folder / "report.md").read_text()
    assert re.search(
        r"\| U\(7,10\) \| MAUB \(paper\) \| 100,000 \| 4 \| .* \| 497\.25 \| \d\.\d\d \|", markdown
    )
    tex = (folder / "table.tex").read_text()
    assert tex.count(r"\\") == 8
    cells = [line.count("&") for line in tex.splitlines() if line.endswith(r"\\")]
    assert cells == [9, *[17] * 7]  # the first heading has four wide cells
    assert "497.25" in tex


def test_another_horizon_is_not_compared(tmp_path) -> None:
    study = load_study(shipped_study("reproduce"), movielens="synthetic")
    run_study(study.part(only=["K5"], runs=2, horizon=500), tmp_path, jobs=1)
    written = write_report(tmp_path)
    assert written.table["published_seconds"].isna().all()
    assert (
        "for other horizons or instances and are not compared"
        in (tmp_path / "report.md").read_text()
    )
    assert not any("published" in paragraph for paragraph in written.findings)


def test_names_from_users_are_escaped(tmp_path) -> None:
    study = load_study(
        {
            "title": "<b>50 % & more</b>",
            "horizon": 100,
            "runs": 2,
            "policies": [{"type": "OMM", "label": "a|b_{c} <i>"}],
            "instances": [{"name": "x & y", "matroid": "K5", "note": "see <a href='x'>"}],
        }
    )
    run_study(study, tmp_path, jobs=1)
    write_report(tmp_path)
    page = Resources((tmp_path / "report.html").read_text())
    assert "<b>50 % & more</b>" in page.text
    assert len(page.addresses) == 2
    markdown = (tmp_path / "report.md").read_text()
    assert markdown.startswith("# &lt;b&gt;50 % &amp; more&lt;/b&gt;\n")
    assert r"a\|b\_{c} &lt;i&gt;" in markdown
    assert "see &lt;a href='x'&gt;" in markdown
    assert r"x \& y & a|b\_\{c\} <i>" in (tmp_path / "table.tex").read_text()


def test_an_unfinished_study_has_a_report_that_says_so(folder: Path, tmp_path) -> None:
    copy_sources(folder, tmp_path)
    runs = pd.read_parquet(folder / "runs.parquet")
    runs.drop(index=[0, 1]).to_parquet(tmp_path / "runs.parquet")
    written = write_report(tmp_path)
    assert "not finished: 22 of 24 runs are there" in written.findings[0]
    runs.head(0).to_parquet(tmp_path / "runs.parquet")
    with pytest.raises(StudyError, match="has no finished run yet"):
        write_report(tmp_path)
    with pytest.raises(StudyError, match="holds no study"):
        write_report(tmp_path / "nowhere")


def test_one_run_has_no_spread(tmp_path) -> None:
    study = load_study({"horizon": 100, "runs": 1, "policies": ["OMM"], "instances": ["K5"]})
    run_study(study, tmp_path, jobs=1)
    written = write_report(tmp_path)
    assert np.isnan(written.table["regret_ci"]).all()
    row = (tmp_path / "report.md").read_text().split("| OMM |")[1].split("|")
    assert "±" not in row[2]


def test_figures_have_a_panel_and_a_band_for_each(folder: Path) -> None:
    found = read_results(folder)
    for draw in (plots.regret_figure, plots.oracle_calls_figure):
        figure = draw(found)
        panels = [axes for axes in figure.axes if axes.lines]
        assert [axes.get_title() for axes in panels] == ["(a) U(7,10)", "(b) K5"]
        bounds = draw is plots.regret_figure
        for axes in panels:
            assert len(axes.collections) == 3
            assert len(axes.lines) == 3 + bounds
            assert len({line.get_color() for line in axes.lines}) == 3 + bounds
            assert len({str(line._unscaled_dash_pattern) for line in axes.lines}) == 3 + bounds
        (legend,) = figure.legends
        entries = ["OMM", "MAUB", "MAUB (paper)", *["lower bound"] * bounds]
        assert [text.get_text() for text in legend.get_texts()] == entries
    assert {axes.get_xscale() for axes in panels} == {"log"}
    assert {axes.get_yscale() for axes in panels} == {"log"}
    # What is drawn is the mean.
    line = plots.regret_figure(found).axes[1].lines[0]
    mean = found.runs.query("instance == 'K5' and policy == 'OMM'")["regret"].mean()
    assert line.get_ydata()[-1] == pytest.approx(mean)
    assert line.get_xdata()[-1] == 100_000


# ---- lower bounds ----


def test_the_bound_is_drawn_and_is_in_the_tables(folder: Path) -> None:
    found = read_results(folder)
    matroid = mb.GraphicMatroid.complete(5)
    bounds = [
        mb.regret_lower_bound(matroid, mb.GaussianEnvironment(mb.random_means(10, s)), 100_000)
        for s in range(4)
    ]
    line = plots.regret_figure(found).axes[1].lines[-1]
    assert line.get_xdata()[-1] == 100_000
    assert line.get_ydata()[-1] == pytest.approx(np.median(bounds))
    middle = np.flatnonzero(line.get_xdata() >= 1000)[0]
    share = np.log(line.get_xdata()[middle]) / np.log(100_000)
    assert line.get_ydata()[middle] == pytest.approx(share * np.median(bounds))
    with (folder / "table.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["instance"] == "K5"]
    for row in rows:
        assert float(row["lower_bound"]) == pytest.approx(np.median(bounds))
        runs = found.runs.query("instance == 'K5' and policy == @row['policy']")
        factor = np.median(runs.sort_values("seed")["regret"] / bounds)
        assert float(row["regret_over_bound"]) == pytest.approx(factor)
    shown = f"| {number(np.median(bounds))} | {number(factor)} |"
    assert shown in (folder / "report.md").read_text()
    page = Resources((folder / "report.html").read_text()).text
    assert "regret / bound" in page
    assert number(factor) in page
    text = " ".join(findings(found, summarize(found)))
    assert "as a multiple of the lower bound" in text


def test_without_bounds_nothing_is_said_of_them(folder: Path, tmp_path) -> None:
    """As in folders of versions that did not know them."""
    copy_sources(folder, tmp_path)
    runs = pd.read_parquet(folder / "runs.parquet")
    runs.drop(columns="lower_bound").to_parquet(tmp_path / "runs.parquet")
    written = write_report(tmp_path)
    assert written.table["regret_over_bound"].isna().all()
    for name in ("report.md", "report.html", "table.tex"):
        assert not re.search("(lower| /|/|&) bound", (tmp_path / name).read_text())
    figure = plots.regret_figure(read_results(tmp_path))
    assert len(figure.axes[0].lines) == 3
    # Nor of an instance some of whose runs have none.
    here = (runs["instance"] == "K5") & (runs["seed"] == 2)
    runs.assign(lower_bound=runs["lower_bound"].mask(here)).to_parquet(tmp_path / "runs.parquet")
    found = read_results(tmp_path)
    table = summarize(found).set_index("instance")
    assert table.loc["K5", "lower_bound"].isna().all()
    assert table.loc["U(7,10)", "lower_bound"].notna().all()
    lines = [len(axes.lines) for axes in plots.regret_figure(found).axes[:2]]
    assert lines == [4, 3]
    write_report(tmp_path)
    tex = (tmp_path / "table.tex").read_text()
    assert len({line.count("&") for line in tex.splitlines() if line.endswith(r"\\")} - {9}) == 1


# ---- many policies, not all of them everywhere ----

MANY = [f"P{k:02}" for k in range(16)]


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Results:
    """Sixteen policies, two of them on one instance only; P15 is 40 times as bad as P00."""
    study = load_study(
        {
            "horizon": 300,
            "runs": 3,
            "policies": [{"type": "OMM", "label": name} for name in MANY],
            "instances": [
                {"matroid": "K4", "policies": [name for name in MANY if name != "P00"]},
                {"matroid": "K5", "policies": [name for name in MANY if name != "P03"]},
            ],
        }
    )
    results = run_study(study, tmp_path_factory.mktemp("many"), jobs=1)
    factors = {name: 40 ** (k / 15) for k, name in enumerate(MANY)}
    results.curves["regret"] *= results.curves["policy"].map(factors).astype(float)
    results.runs["regret"] = results.runs["policy"].map(factors) * (1 + results.runs["seed"] / 1000)
    results.runs["oracle_calls"] += 100 * results.runs["policy"].map(MANY.index)
    return results


def test_sixteen_policies_can_be_told_apart(many: Results) -> None:
    for draw in (plots.regret_figure, plots.oracle_calls_figure):
        figure = draw(many)
        (legend,) = figure.legends
        handles = legend.get_lines()[:16]
        assert [text.get_text() for text in legend.get_texts()][:16] == MANY
        assert len({line.get_color() for line in handles}) == 16
        assert len({str(line._unscaled_dash_pattern) for line in handles}) == 5
        # Above the panels.
        box = legend.get_window_extent()
        for axes in figure.axes:
            assert axes.get_window_extent().y1 < box.y0
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
    assert not any(axes.get_legend() for axes in figure.axes)


def test_only_what_ran_is_drawn_and_listed(many: Results) -> None:
    table = summarize(many)
    assert len(table) == 30
    assert table.drop(columns=[c for c in table if "publ" in c or "ratio" in c]).notna().all().all()
    figure = plots.regret_figure(many)
    assert [len(axes.lines) for axes in figure.axes[:2]] == [16, 16]  # with the bound
    first = figure.axes[0].lines[0]
    assert first.get_color() == plots.regret_figure(many).legends[0].get_lines()[1].get_color()


def test_words_about_many_policies(many: Results) -> None:
    paragraphs = findings(many, summarize(many))
    text = " ".join(paragraphs)
    assert "not finished" not in text
    assert re.search(r"Least mean regret: P0\d on 1 and P0\d on 1 of 2 instances\.", text)
    assert "K4: P01, P02, P03, P04, ..., last P15; K5: P00, P01, P02, P04, ..., last P15." in text
    assert "P01 calls the oracle" not in text
    assert "P15 calls the oracle" in text
    assert "times as often as P01" in text  # of those that are on both
    assert "; the others more. Over" in text
    assert text.index("for P00") < text.index("for P01") < text.index("for P15")
    assert "Seconds of a run, median of the instances: " in text
    assert max(map(len, paragraphs)) < 1200


def test_ranks_that_noise_can_explain(tmp_path) -> None:
    noise = np.random.default_rng(1).normal(0, 1, (4, 8))
    regrets = {
        "x": {name: list(10 * (k // 2) + 50 + noise[k]) for k, name in enumerate("ABCD")},
    }
    results = made_up(regrets, tmp_path)
    text = " ".join(findings(results, summarize(results)))
    first, second = (sorted(pair, key=lambda n: np.mean(regrets["x"][n])) for pair in ("AB", "CD"))
    almost = " \N{ALMOST EQUAL TO} "
    assert f"x: {almost.join(first)}, {almost.join(second)}. (The best first" in text


def test_pairs_only_where_both_ran(many: Results) -> None:
    assert [c.instance for c in compare(many, "P00", "P01")] == ["K5"]
    assert [c.instance for c in compare(many, "P03", "P01")] == ["K4"]
    assert compare(many, "P00", "P03") == []
    assert leading_policy(summarize(many)) == "P01"  # of those that run on most


def test_axes_are_logarithmic_where_regrets_are_far_apart(many: Results, folder: Path) -> None:
    assert spread_of_regrets(many) == pytest.approx(40, rel=0.01)
    figure = plots.regret_figure(many)
    for axes in figure.axes[:2]:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        # All lines are inside where it matters.
        last = [line.get_ydata()[-1] for line in axes.lines]
        assert axes.get_ylim()[0] < min(last)
        assert axes.get_ylim()[1] > max(last)
    near = replace(many, runs=many.runs[many.runs["policy"] < "P12"])
    for found in (near, read_results(folder)):
        axes = plots.regret_figure(found).axes[0]
        assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
        assert axes.get_ylim()[0] == 0
    nothing = replace(many, runs=many.runs.assign(regret=0.0))
    assert spread_of_regrets(nothing) == 1


def test_a_report_on_many_policies(many: Results) -> None:
    written = write_report(many.folder)
    assert len(written.table) == 30
    markdown = (many.folder / "report.md").read_text()
    assert "nan" not in markdown.lower().replace("finance", "")
    assert markdown.count("| P00 |") == markdown.count("| P03 |") == 1


# ---- numbers ----


def test_intervals_are_students() -> None:
    values = np.random.default_rng(0).normal(3, 2, 12)
    expected = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert values.mean() + half_width(values) == pytest.approx(expected[1])
    assert np.isnan(half_width(values[:1]))
    curves = pd.DataFrame({"round": [5] * 12, "regret": values})
    assert band(curves, "regret")["ci"][0] == pytest.approx(half_width(values))


def made_up(regrets: dict[str, dict[str, list[float]]], tmp_path: Path) -> Results:
    """Results with these regrets: instance, policy, one per seed."""
    study = load_study(
        {
            "horizon": 10,
            "runs": len(next(iter(next(iter(regrets.values())).values()))),
            "policies": [{"type": "OMM", "label": p} for p in next(iter(regrets.values()))],
            "instances": [{"name": name, "matroid": "K4"} for name in regrets],
        }
    )
    results = run_study(study, tmp_path, jobs=1)
    for instance, policies in regrets.items():
        for policy, values in policies.items():
            for seed, value in enumerate(values):
                runs = results.runs
                here = (runs["instance"] == instance) & (runs["policy"] == policy)
                runs.loc[here & (runs["seed"] == seed), "regret"] = value
    return results


def test_policies_are_compared_in_pairs(tmp_path) -> None:
    noise = np.random.default_rng(1).normal(0, 30, 8)
    shift = np.array([1, -1, 0.5, -0.5, 1, -1, 0.5, -0.5])
    results = made_up(
        {
            "better": {"A": list(100 + noise + shift), "B": list(110 + noise)},
            "same": {"A": list(100 + noise + shift), "B": list(100 + noise)},
            "worse": {"A": list(120 + noise + shift), "B": list(100 + noise)},
        },
        tmp_path,
    )
    found = {c.instance: c for c in compare(results, "A", "B")}
    assert {name: c.verdict for name, c in found.items()} == {
        "better": "lower",
        "same": "undecided",
        "worse": "higher",
    }
    # Bonferroni over the three instances, by SciPy's own test.
    differences = -10 + shift
    interval = stats.ttest_1samp(differences, 0).confidence_interval(1 - 0.05 / 3)
    assert found["better"].low == pytest.approx(interval.low)
    assert found["better"].high == pytest.approx(interval.high)
    table = summarize(results)
    assert leading_policy(table) == "B"
    (text,) = [p for p in findings(results, table) if p.startswith("At the horizon")]
    assert "regret of B is below that of A on worse" in text
    assert "not distinguishable from it on same" in text
    assert "above it on better" in text
    # Words follow the numbers.
    results.runs.loc[results.runs["policy"] == "A", "regret"] = 50.0
    text = " ".join(findings(results, summarize(results)))
    assert "regret of A is below that of B on better" in text
    assert text.count("It is higher on no instance.") == 1


def test_only_runs_that_both_have_are_compared(tmp_path) -> None:
    results = made_up(
        {
            "z": {"A": [1.0, 2.0, 3.0, 9.0], "B": [2.0, 4.0, 6.0, 0.0]},
            "a": {"A": [1.0, 2.0, 3.0, 9.0], "B": [2.0, 4.0, 6.0, 0.0]},
        },
        tmp_path,
    )
    whole = compare(results, "A", "B")
    assert [c.instance for c in whole] == ["z", "a"]  # as the study has them
    assert whole[0].other_regret == 3.0
    runs = results.runs
    last_of_b = (runs["policy"] == "B") & (runs["seed"] == 3)
    fewer = replace(results, runs=runs[~last_of_b])
    for comparison in compare(fewer, "A", "B"):
        assert comparison.regret == 2.0
        assert comparison.other_regret == 4.0


def test_growth_over_the_last_nine_tenths() -> None:
    curves = pd.DataFrame({"round": [1, 10, 50, 100] * 2, "calls": [1, 2, 6, 8, 3, 4, 8, 10]})
    assert growth(curves, "calls") == 9 / 3
    assert np.isnan(growth(curves.assign(calls=0), "calls"))


def test_agreement_in_words_follows_the_numbers(folder: Path) -> None:
    found = read_results(folder)
    table = summarize(found)
    text = " ".join(findings(found, table))
    assert "Oracle calls: 4 of 4 means lie within a factor of 2 of the published ones" in text
    found.runs.loc[found.runs["policy"] == "MAUB (paper)", "oracle_calls"] *= 10
    text = " ".join(findings(found, summarize(found)))
    assert "Oracle calls: 2 of 4 means lie within a factor of 2" in text
    assert re.search(
        r"outside: MAUB \(paper\) on U\(7,10\) \([\d,]+ ± .*?, published 497\) and MAUB \(paper\)",
        text,
    )


def test_words_about_far_too_few_calls(folder: Path) -> None:
    found = read_results(folder)
    found.runs.loc[found.runs["policy"] == "OMM", "oracle_calls"] //= 10
    text = " ".join(findings(found, summarize(found)))
    assert "Oracle calls: 2 of 4 means lie within a factor of 2" in text
    assert "outside: OMM on U(7,10) (70,000, published 700,000) and OMM on K5" in text


def test_words_about_calls_and_times(folder: Path) -> None:
    found = read_results(folder)
    runs = found.runs
    for policy, instance, calls, seconds in (
        ("OMM", "K5", 600, 3.0),
        ("OMM", "U(7,10)", 500, 2.0),
        ("MAUB", "K5", 100, 1.0),
        ("MAUB", "U(7,10)", 100, 1.0),
        ("MAUB (paper)", "K5", 300, 1.0),
        ("MAUB (paper)", "U(7,10)", 200, 1.0),
    ):
        here = (runs["policy"] == policy) & (runs["instance"] == instance)
        runs.loc[here, "oracle_calls"] = calls
        runs.loc[here, "seconds"] = seconds
    text = " ".join(findings(found, summarize(found)))
    assert "OMM calls the oracle 5 times as often as MAUB on U(7,10), 6 times on K5; MAUB (" in text
    assert "MAUB (paper) 2 to 3 times. Over" in text
    assert "MAUB and MAUB (paper) have the same regret in every run." in text
    assert "All runs together took 36 seconds of computing. OMM took 2 to 3 times as long" in text
    runs.loc[runs["policy"] == "MAUB (paper)", "seconds"] = 0.5
    text = " ".join(findings(found, summarize(found)))
    assert "(published: 1.44 to 1.8 times; the published seconds are from another machine" in text
    runs["oracle_calls"] = 100
    assert "calls the oracle" not in " ".join(findings(found, summarize(found)))
    runs.loc[runs["policy"] == "OMM", "oracle_calls"] = 300
    text = " ".join(findings(found, summarize(found)))
    assert "3 times as often as MAUB on every instance; MAUB (paper) as often as MAUB." in text


def test_names_stay_as_they_are_in_words(tmp_path) -> None:
    regrets = {"ml-1m-a": {"A": [1.0, 2.0, 3.0], "B": [11.0, 12.5, 13.0]}}
    results = made_up(regrets, tmp_path)
    text = " ".join(findings(results, summarize(results)))
    assert "of A is below that of B on ml-1m-a (\N{MINUS SIGN}83.6 %). It is higher on no" in text


def test_a_leader_that_is_nowhere_lower_names_the_other(tmp_path) -> None:
    regrets = {
        "x": {"A": [10.0, 10.1, 10.2, 10.1], "B": [9.0, 9.1, 9.2, 9.0]},
        "y": {"A": [10.0, 30.0, 20.0, 40.0], "B": [60.0, 0.1, 70.0, 0.1]},
    }
    results = made_up(regrets, tmp_path)
    text = " ".join(findings(results, summarize(results)))
    assert "of A is not distinguishable from that of B on y" in text
    assert "above it on x (+" in text


def test_runs_of_different_versions_are_pointed_out(folder: Path, tmp_path) -> None:
    copy_sources(folder, tmp_path)
    (session,) = (tmp_path / "sessions").iterdir()
    later = json.loads(session.read_text()) | {"numpy": "99.0"}
    (tmp_path / "sessions" / "later.json").write_text(json.dumps(later))
    runs = pd.read_parquet(folder / "runs.parquet")
    runs["session"] = np.where(np.arange(len(runs)) % 2, session.stem, "later")
    runs.to_parquet(tmp_path / "runs.parquet")
    (warning,) = [w for w in write_report(tmp_path).warnings if "different versions" in w]
    assert "NumPy 99.0" in warning
    assert "different versions" in (tmp_path / "report.html").read_text()


def test_odd_names_in_figures_and_tex(tmp_path) -> None:
    study = load_study(
        {
            "horizon": 1,
            "runs": 2,
            "policies": [{"type": "OMM", "label": "_$a_{$"}, "MAUB"],
            "instances": [
                {"name": "$x_{$ costs $5", "matroid": "K4"},
                {"name": "[K5] back\\slash", "matroid": "K5"},
                {"name": "long " * 20, "matroid": "K5"},
            ],
        }
    )
    found = run_study(study, tmp_path, jobs=1)
    write_report(tmp_path)
    figure = plots.regret_figure(found)
    assert figure.axes[0].get_title() == "(a) $x_{$ costs $5"
    assert len(figure.axes[2].get_title()) < 30
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["_$a_{$", "MAUB"]
    assert len(figure.axes[0].lines) == 2  # after one round the bound is nothing
    assert figure.axes[0].lines[0].get_marker() == "o"  # one point makes no line
    tex = (tmp_path / "table.tex").read_text()
    assert r"{}[K5] back\textbackslash{}slash & " in tex


def test_the_band_of_calls_holds_the_middle_of_the_runs(folder: Path) -> None:
    found = read_results(folder)
    axes = plots.oracle_calls_figure(found).axes[0]
    last = found.runs.query("instance == 'U(7,10)' and policy == 'MAUB'")["oracle_calls"]
    heights = axes.collections[1].get_paths()[0].vertices
    ends = heights[heights[:, 0] == 100_000][:, 1]
    assert ends.min() == pytest.approx(last.astype(float).quantile(0.1))
    assert ends.max() == pytest.approx(last.astype(float).quantile(0.9))


def test_numbers_as_people_write_them() -> None:
    values = (12308.4, 38.13, 0.03123, 0, float("nan"))
    assert [number(x) for x in values] == ["12,308", "38.1", "0.0312", "0", "-"]
    ratios = (1.2167, 0.5, 0.0097, 250, np.nan)
    assert [ratio(x) for x in ratios] == ["1.22", "0.50", "1/103", "250", "-"]
    assert [as_printed(x) for x in (8836943.45, 700000, 13.8)] == [
        "8,836,943.45",
        "700,000",
        "13.8",
    ]
