"""Studies of kind identification: how they are written, run, stored and reported."""

import json
import shutil
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import matroid_bandits as mb
from matroid_bandits.cli import main
from matroid_bandits.experiments import (
    Instance,
    Results,
    RunsFailedError,
    StudyError,
    compare,
    gather,
    load_study,
    open_pairs,
    plan_study,
    read_results,
    run_shard,
    run_study,
    shipped_study,
    summarize,
    write_report,
)
from matroid_bandits.experiments.analysis.stopping_times import quantile, share_interval
from matroid_bandits.experiments.reading.rules import RULES
from matroid_bandits.experiments.reporting import report as reporting
from matroid_bandits.experiments.reporting.identification_findings import (
    findings_of_identification,
)
from matroid_bandits.experiments.reporting.stopping_time_plots import stopping_time_figure
from matroid_bandits.experiments.storing.tables import KEY
from tests.experiments.folders import assert_same_numbers

STUDY: dict[str, Any] = {
    "kind": "identification",
    "delta": 0.1,
    "threshold": "customary",
    "limit": 5000,
    "runs": 3,
    "rules": ["LUCBExchange", "FrankWolfe", "UniformSampling"],
    "instances": ["K4", {"matroid": "U(2,5)", "delta": 0.2}],
}

CODE = """
import matroid_bandits as mb
from matroid_bandits.identification import SamplingRule

class Hardest(SamplingRule):
    def __init__(self, matroid, *, seed=0):
        super().__init__(matroid)
        self.seed = seed

    def _targets(self, known):
        k = known.statistics.argmin()
        return [known.inside[k], known.outside[k]]

class Forgetful(SamplingRule):
    def __init__(self, problem):
        super().__init__(problem.matroid if isinstance(problem, mb.Problem) else problem)

    def _targets(self, known):
        return []

class Broken(SamplingRule):
    def _targets(self, known):
        if known.rounds > 5:
            raise RuntimeError("out of order")
        return []

class Other:
    def __init__(self, matroid):
        pass

class Odd(mb.Environment):
    def _sample(self, rng, element, count):
        return rng.exponential(self.means[element], count)
"""


@pytest.fixture(autouse=True)
def light_figures(monkeypatch) -> None:
    monkeypatch.setattr(reporting, "FORMATS", ("svg",))


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Results:
    return run_study(load_study(STUDY), tmp_path_factory.mktemp("identified"), jobs=1)


def written(folder: Path, text: str) -> Path:
    (folder / "mine.py").write_text(CODE)
    path = folder / "study.toml"
    path.write_text(text)
    return path


# ---- reading ----


def test_what_is_read() -> None:
    study = load_study(STUDY)
    assert study.kind == "identification"
    assert [rule.name for rule in study.policies] == STUDY["rules"]
    assert [i.horizon for i in study.instances] == [5000, 5000]
    assert [i.stopping.delta for i in study.instances] == [0.1, 0.2]
    assert {i.stopping.threshold for i in study.instances} == {"customary"}
    identity = study.identity()
    assert identity["kind"] == "identification"
    assert identity["instances"]["U(2,5)"]["delta"] == 0.2


def test_defaults_are_those_of_identify() -> None:
    bare = {"kind": "identification", "rules": ["CLUCB"], "instances": ["K4"]}
    (instance,) = load_study(bare).instances
    assert instance.horizon == 10_000_000
    assert instance.stopping.delta == 0.05
    assert instance.stopping.threshold == "proven"


def test_a_study_of_regret_is_as_before() -> None:
    plain: dict[str, Any] = {"policies": ["MAUB"], "instances": ["K4"]}
    study = load_study(plain)
    assert study.identity() == load_study(plain | {"kind": "regret"}).identity()
    assert "kind" not in study.identity()
    assert study.instances[0].stopping is None
    with pytest.raises(ValueError, match="K4 is not an instance of identification"):
        study.instances[0].rounds_lower_bound(0, "basis")


def test_all_rules_of_the_package_can_be_named() -> None:
    with_budget = [f"{name}(budget=50)" if name == "CSAR" else name.lower() for name in RULES]
    study = load_study(STUDY | {"rules": with_budget})
    names = [rule.name for rule in study.policies]
    assert names == ["CSAR(budget=50)" if name == "CSAR" else name for name in RULES]


@pytest.mark.parametrize(
    "more, message",
    [
        ({"horizon": 100}, 'horizon: is for studies of kind "regret".*; write limit'),
        ({"policies": ["MAUB"]}, 'policies: is for studies of kind "regret".*; write rules'),
        ({"delay": 3}, "delay: is for studies of kind .regret.*leave it out"),
        ({"reference": {}}, "reference: is for studies of kind"),
        ({"kind": "identify"}, "kind: unknown kind 'identify'; did you mean identification"),
        ({"delta": 0}, r"delta: delta must be between 0 and 1, such as 0.05, got 0"),
        ({"delta": "small"}, "delta: delta must be a number"),
        ({"threshold": "own"}, "threshold: unknown threshold 'own'; allowed are proven, customary"),
        ({"limit": 0}, "limit: limit must be at least 1, got 0"),
        ({"rules": []}, r'rules: is empty; for example \["LUCBExchange", "UniformSampling"\]'),
        ({"rules": ["LUCBExchnge"]}, r"rules\[0\].type: unknown rule.*did you mean LUCBExchange"),
        ({"rules": ["CLUCB", "CLUCB"]}, r"rules\[1\]: 'CLUCB' is there twice"),
        ({"rules": ["CSAR"]}, r"rules\[0\]: budget is missing"),
        ({"rules": ["CSAR(budget=2)"]}, r"rules\[0\]: on K4: budget must be at least 6, got 2"),
        (
            {"rules": [{"type": "LUCBExchange", "threshold": "own"}]},
            r"rules\[0\]: on K4: LUCBExchange does not stop by itself",
        ),
        (
            {"instances": [{"matroid": "K4", "horizon": 5}]},
            r"instances\[0\].horizon: is for.*limit",
        ),
        ({"instances": [{"matroid": "K4", "delta": 1}]}, r"instances\[0\].delta: delta must be"),
        ({"instances": ["U(3,3)"]}, r"rules\[0\]: on U\(3,3\): the matroid has only one basis"),
        ({"environment": {"std": 0.0}}, "Gaussian rewards with a std above 0, or Bernoulli"),
        (
            {"instances": [{"matroid": "K4", "rules": ["CLUCB"]}]},
            r"instances\[0\].rules\[0\]: 'CLUCB' is not among the rules of the study",
        ),
    ],
)
def test_mistakes(more: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        load_study(STUDY | more)


def test_rules_need_a_kind() -> None:
    with pytest.raises(StudyError, match=r'rules: is for.*or write kind = "identification"'):
        load_study({"rules": ["CLUCB"], "instances": ["K4"]})


def test_mistakes_in_files_have_lines(tmp_path: Path) -> None:
    text = 'kind = "identification"\nrules = ["CLUCB"]\ninstances = ["K4"]\ndelta = 2.0\n'
    with pytest.raises(StudyError, match=r"study.toml, line 4, delta: delta must be"):
        load_study(written(tmp_path, text))


def test_rules_of_ones_own(tmp_path: Path) -> None:
    head = 'kind = "identification"\nruns = 2\nlimit = 3000\nthreshold = "customary"\n'
    study = load_study(written(tmp_path, head + 'rules = ["mine.py:Hardest"]\ninstances = ["K4"]'))
    results = run_study(study, tmp_path / "out", jobs=1)
    assert results.runs["policy"].unique().tolist() == ["Hardest"]
    assert results.runs["correct"].all()
    assert "source" in study.identity()["policies"]["Hardest"]
    for rule, message in (
        ("Other", "Other is not a sampling rule: derive it from SamplingRule"),
        ("Nothing", "has no class 'Nothing'"),
    ):
        with pytest.raises(StudyError, match=message):
            load_study(written(tmp_path, f'{head}rules = ["mine.py:{rule}"]\ninstances = ["K4"]'))
    costs = f'{head}sense = "min"\nrules = ["mine.py:Forgetful"]\ninstances = ["K4"]'
    with pytest.raises(StudyError, match="let it keep the problem"):
        load_study(written(tmp_path, costs))
    odd = f'{head}rules = ["CLUCB"]\ninstances = ["K4"]\n[environment]\ntype = "mine.py:Odd"'
    with pytest.raises(StudyError, match="or Bernoulli rewards, got Odd"):
        load_study(written(tmp_path, odd))


def test_a_rule_that_fails_is_reported_and_the_others_are_kept(tmp_path: Path) -> None:
    head = 'kind = "identification"\nruns = 2\nlimit = 3000\n'
    rest = 'rules = ["CLUCB", "mine.py:Broken"]\ninstances = ["K4"]'
    study = load_study(written(tmp_path, head + rest))
    with pytest.raises(RunsFailedError, match=r"2 of 4 runs failed.*out of order"):
        run_study(study, tmp_path / "out", jobs=1)
    assert len(read_results(tmp_path / "out").runs) == 2
    assert "2 of 4 runs are there" in write_report(tmp_path / "out").findings[0]


# ---- running ----


def test_runs_are_those_of_identify(done: Results) -> None:
    study = load_study(STUDY)
    for row in done.runs.itertuples():
        instance = study.instance(row.instance)
        environment = instance.environment_for(row.seed)
        found = mb.identify(
            RULES[row.policy](instance.matroid),
            environment,
            delta=instance.stopping.delta,
            limit=5000,
            seed=row.seed,
            threshold="customary",
        )
        assert (row.rounds, row.observations) == (found.rounds, found.observations)
        assert (row.settled, row.correct) == (found.settled, found.is_correct)
        assert row.statistic == found.statistic
        bound = mb.identification_lower_bound(
            instance.matroid, environment, instance.stopping.delta, tolerance=1e-3
        )
        assert row.lower_bound == pytest.approx(bound.rounds, rel=0.02)
        curve = done.curves[(done.curves[KEY] == [getattr(row, name) for name in KEY]).all(axis=1)]
        assert curve["round"].iloc[-1] == row.rounds
        shared = np.isin(curve["round"], found.curve_rounds)
        assert curve["statistic"][shared].tolist() == found.curve_statistics.tolist()


def test_columns(done: Results) -> None:
    assert done.kind == "identification"
    assert list(done.runs.columns) == [
        *("instance", "policy", "seed", "horizon", "rounds", "observations", "settled"),
        *("correct", "statistic", "lower_bound", "seconds", "session"),
    ]
    assert list(done.curves.columns) == ["instance", "policy", "seed", "round", "statistic"]
    stored = pd.read_parquet(done.folder / "runs.parquet")
    assert stored["settled"].tolist() == done.runs["settled"].tolist()
    assert_same_numbers(read_results(done.folder), done)


def test_processes_and_shards_give_the_same_numbers(tmp_path: Path, done: Results) -> None:
    study = load_study(STUDY)
    assert_same_numbers(run_study(study, tmp_path / "two", jobs=2), done)
    for shard in ("2/3", "1/3", "3/3"):
        run_shard(study, tmp_path / "shards", shard, jobs=1)
    assert_same_numbers(gather(tmp_path / "shards"), done)


def test_an_interrupted_study_goes_on(tmp_path: Path, done: Results) -> None:
    folder = tmp_path / "cut"
    shutil.copytree(done.folder, folder)
    (folder / "runs.parquet").unlink()
    (folder / "curves.parquet").unlink()
    (part,) = folder.glob("parts/*.jsonl")
    lines = part.read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join(lines[:7]) + lines[7][:40])
    assert len(read_results(folder).runs) == 7
    assert_same_numbers(run_study(load_study(STUDY), folder, jobs=1), done)


def test_a_study_grows(tmp_path: Path, done: Results) -> None:
    small = load_study(STUDY | {"runs": 2, "rules": STUDY["rules"][:2]})
    run_study(small, tmp_path / "out", jobs=1)
    with pytest.raises(StudyError, match="belongs to another study"):
        run_study(load_study(STUDY), tmp_path / "out", jobs=1)
    assert_same_numbers(run_study(load_study(STUDY), tmp_path / "out", jobs=1, extend=True), done)


@pytest.mark.parametrize(
    "more", [{"delta": 0.01}, {"threshold": "proven"}, {"limit": 6000}], ids=str
)
def test_another_study_is_refused(done: Results, more: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match="belongs to another study"):
        run_study(load_study(STUDY | more), done.folder, jobs=1, extend=True)


def test_a_study_of_regret_is_another_study(tmp_path: Path) -> None:
    regret = load_study({"horizon": 50, "runs": 1, "policies": ["MAUB"], "instances": ["K4"]})
    run_study(regret, tmp_path, jobs=1)
    with pytest.raises(StudyError, match='study:\n  kind: there "regret", here "identification"'):
        run_study(load_study(STUDY), tmp_path, jobs=1, extend=True)


def test_the_limit_is_kept_and_its_curve_ends_there(tmp_path: Path) -> None:
    results = run_study(load_study(STUDY | {"limit": 2}), tmp_path, jobs=1)
    assert (results.runs["rounds"] == 2).all()
    assert not results.runs["settled"].any()
    assert (results.curves.groupby(KEY, observed=True)["round"].last() == 2).all()
    table = summarize(results)
    assert np.isinf(table["rounds"]).all()
    assert table["error_rate"].isna().all()
    found = write_report(tmp_path)
    assert found.findings[0].startswith("18 of 18 runs reached the limit without an answer")
    text = (tmp_path / "report.md").read_text()
    assert "&gt; 2 |" in text
    assert "Wrong answers: 0" not in text


def test_two_best_bases_have_no_bound(tmp_path: Path) -> None:
    tied = {"matroid": "U(1,3)", "environment": {"means": [0.9, 0.9, 0.1]}}
    results = run_study(load_study(STUDY | {"limit": 50, "instances": [tied]}), tmp_path, jobs=1)
    assert results.runs["lower_bound"].isna().all()
    assert load_study(STUDY | {"instances": [tied]}).instances[0].rounds_lower_bound(
        0, "basis"
    ) == float("inf")
    write_report(tmp_path)
    assert "rounds / bound" not in (tmp_path / "report.html").read_text()


def test_bounds_are_those_of_what_a_rule_observes(tmp_path: Path) -> None:
    rules = ["LUCBExchange", "LUCBExchange(model=element)"]
    study = load_study(STUDY | {"limit": 10**6, "rules": rules, "instances": ["U(2,5)"]})
    results = run_study(study, tmp_path, jobs=1)
    bounds = results.runs.pivot_table(index="seed", columns="policy", values="lower_bound")
    assert (bounds[rules[1]] > 1.5 * bounds[rules[0]]).all()


def test_costs_and_bernoulli_rewards(tmp_path: Path) -> None:
    means = {"type": "bernoulli", "means": [0.1, 0.5, 0.9, 0.8]}
    instance = {"matroid": "U(2,4)", "sense": "min", "environment": means}
    results = run_study(load_study(STUDY | {"instances": [instance]}), tmp_path, jobs=1)
    assert results.runs["correct"].all()
    assert results.runs["settled"].all()
    findings = write_report(tmp_path).findings
    assert "Means are costs, and the best basis is the one of least cost." in findings


def test_thresholds_of_single_rules(tmp_path: Path) -> None:
    rules = ["CLUCB", {"type": "CLUCB", "threshold": "own", "label": "own"}, "ExactExpGap"]
    study = load_study(STUDY | {"rules": rules, "instances": ["U(1,2)"], "limit": 10**6})
    results = run_study(study, tmp_path, jobs=1)
    assert study.identity()["policies"]["own"]["threshold"] == "own"
    rounds = results.runs.pivot_table(index="seed", columns="policy", values="rounds")
    assert (rounds["CLUCB"] < rounds["own"]).all()
    assert results.runs["settled"].all()


@pytest.mark.parametrize(
    "column, value, message",
    [
        ("rounds", 6000, "rounds that are not between 1 and the limit"),
        ("observations", 1, "fewer observations than rounds"),
        ("statistic", -1.0, "a statistic that is negative or not finite"),
        ("settled", None, "no word on whether it is settled and correct"),
        ("horizon", 7, "a horizon that is not the study's"),
        ("lower_bound", -1.0, "a negative lower bound"),
    ],
)
def test_impossible_numbers_are_refused(
    tmp_path: Path, done: Results, column: str, value: Any, message: str
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(done.folder, folder)
    (folder / "runs.parquet").unlink()
    (folder / "curves.parquet").unlink()
    (part,) = folder.glob("parts/*.jsonl")
    first, *others = part.read_bytes().splitlines(keepends=True)
    numbers, curve = first.partition(b" ")[2][:-1].split(b"\t")
    changed = json.dumps(json.loads(numbers) | {column: value}).encode() + b"\t" + curve
    part.write_bytes(b"%08x %s\n" % (crc32(changed), changed) + b"".join(others))
    with pytest.raises(StudyError, match=message):
        read_results(folder)


def test_a_folder_of_an_unknown_kind_is_refused(tmp_path: Path, done: Results) -> None:
    folder = tmp_path / "later"
    shutil.copytree(done.folder, folder)
    content = json.loads((folder / "study.json").read_text())
    content["identity"]["kind"] = "tasting"
    (folder / "study.json").write_text(json.dumps(content))
    with pytest.raises(StudyError, match="regret and identification, got one of kind 'tasting'"):
        read_results(folder)


def test_a_plan(tmp_path: Path, done: Results) -> None:
    plan = plan_study(load_study(STUDY), tmp_path / "none")
    assert plan.runs == 18
    assert {pair.how for pair in plan.pairs} == {"trial"}
    assert not any(pair.failed for pair in plan.pairs)
    assert plan_study(load_study(STUDY), done.folder).runs == 0


def test_a_plan_predicts_the_rounds() -> None:
    """A tiny gap: the trials end long before the run would."""
    tight = {"matroid": "U(1,2)", "environment": {"std": 0.2, "means": [0.5, 0.5001]}}
    more = {"limit": 10**12, "instances": [tight], "rules": ["UniformSampling"]}
    (pair,) = plan_study(load_study(STUDY | more | {"runs": 1, "threshold": "proven"})).pairs
    assert pair.how.startswith("extrapolated from")
    # Some 10^8 rounds at less than a microsecond, not 10^12.
    assert 0.1 < pair.seconds < 3600 * 6


def test_until_separated(tmp_path: Path) -> None:
    more = {"rules": ["LUCBExchange", "UniformSampling"], "instances": ["K4"], "limit": 10**5}
    study = load_study(STUDY | more)
    results = run_study(study, tmp_path, jobs=1, until_separated=True, limit=30)
    assert results.runs["seed"].nunique() > 3
    n_runs = results.runs["seed"].nunique()
    assert not open_pairs(results) or n_runs == 30


# ---- numbers ----


def test_the_summary(done: Results) -> None:
    table = summarize(done).set_index(["instance", "policy"])
    for (instance, policy), row in table.iterrows():
        runs = done.runs[(done.runs["instance"] == instance) & (done.runs["policy"] == policy)]
        assert row["runs"] == 3
        assert row["settled"] == runs["settled"].astype(float).mean()
        rounds = np.where(runs["settled"], runs["rounds"], np.inf)
        assert row["rounds"] == np.sort(rounds)[1]
        assert row["errors"] == (runs["settled"] & ~runs["correct"]).sum()
        assert row["delta"] == (0.1 if instance == "K4" else 0.2)
        assert row["rounds_over_bound"] == pytest.approx(
            np.sort(rounds / runs["lower_bound"].to_numpy())[1]
        )


def test_intervals_of_shares_are_those_of_scipy() -> None:
    for count, total in ((0, 20), (1, 20), (7, 20), (20, 20), (3, 1000)):
        expected = binomtest(count, total).proportion_ci(0.95, method="exact")
        assert share_interval(count, total) == pytest.approx((expected.low, expected.high))


def test_quantiles() -> None:
    values = np.array([4.0, 1.0, 3.0, 2.0])
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert quantile(values, share) == pytest.approx(np.quantile(values, share))
    cut = np.array([1.0, 2.0, np.inf])
    assert quantile(cut, 0.5) == 2.0
    assert quantile(cut, 0.6) == np.inf
    assert quantile(np.array([np.inf, np.inf]), 0.3) == np.inf
    assert np.isnan(quantile(np.array([1.0, np.nan]), 0.5))


def with_runs(done: Results, **columns: Any) -> Results:
    """The same results with other numbers, in 40 runs of each rule on K4."""
    runs = pd.concat([done.runs[done.runs["instance"] == "K4"].iloc[[0, 3, 6]]] * 40)
    runs["seed"] = np.repeat(np.arange(40), 3)
    study = json.loads(json.dumps(done.study))
    study["identity"]["runs"] = 40
    del study["identity"]["instances"]["U(2,5)"]
    return Results(
        runs=runs.assign(**columns).reset_index(drop=True),
        curves=done.curves,
        study=study,
        sessions=done.sessions,
        folder=done.folder,
    )


def test_comparisons_are_of_logarithms(done: Results) -> None:
    rng = np.random.default_rng(0)
    rounds = np.exp(rng.normal(5, 1, 40)[:, np.newaxis] + [0.0, 0.01, 1.0])
    rounds = np.round(rounds * rng.uniform(0.9, 1.1, (40, 3))).astype(int).ravel()
    results = with_runs(done, rounds=rounds, settled=True, correct=True)
    (found,) = compare(results, "LUCBExchange", "UniformSampling")
    assert found.verdict == "lower"
    assert found.regret - found.other_regret == pytest.approx(-1, abs=0.1)
    text = " ".join(findings_of_identification(results, summarize(results)))
    assert "K4: FrankWolfe \N{ALMOST EQUAL TO} LUCBExchange, UniformSampling" in text
    assert "All 120 runs ended before the limit." in text
    assert "1 of 3 pairs of rules is not told apart yet" in text


def test_errors_above_delta_are_named(done: Results) -> None:
    correct = np.ones((40, 3), dtype=bool)
    # Six of 40 are no contradiction of 10 %, twenty are.
    correct[:6, 0] = False
    correct[:20, 2] = False
    results = with_runs(done, rounds=100, settled=True, correct=correct.ravel())
    text = " ".join(findings_of_identification(results, summarize(results)))
    assert "Wrong answers: 26 of 120 runs (21.7 %), and delta accepts 10 %." in text
    assert "by more than chance explains: UniformSampling on K4 (20 of 40 runs)." in text
    fine = with_runs(done, rounds=100, settled=True, correct=True)
    text = " ".join(findings_of_identification(fine, summarize(fine)))
    assert "On no instance a rule exceeds delta" in text


def test_a_budget_is_not_ranked(tmp_path: Path) -> None:
    rules = ["LUCBExchange", "UniformSampling", "CSAR(budget=30)"]
    results = run_study(load_study(STUDY | {"rules": rules}), tmp_path, jobs=1)
    table = summarize(results).set_index("policy").loc["CSAR(budget=30)"]
    assert (table["settled"] == 0).all()
    assert (table["rounds"] <= 30).all()
    assert table["error_rate"].notna().all()
    text = " ".join(write_report(tmp_path).findings)
    assert "CSAR(budget=30): a budget, not ranked." in text


# ---- the report ----


def test_the_report(done: Results) -> None:
    report = write_report(done.folder)
    assert report.kind == "identification"
    names = {path.name for path in report.files}
    assert names == {
        *("figure-stopping-times.svg", "report.html", "report.md"),
        *("table.csv", "table.tex", "table-instances.tex"),
    }
    html, text = (done.folder / "report.html").read_text(), (done.folder / "report.md").read_text()
    for page in (html, text):
        assert "wrong answers" in page
        assert "rounds / bound" in page
        assert "runs with an answer" in page or "have an answer" in page
        assert "regret" not in page.partition("Where the numbers come from")[0]
        assert "the same for every rule" in page
        assert "customary" in page
    assert "data:image/svg+xml" in html
    tex = (done.folder / "table.tex").read_text()
    assert tex.count("\\\\") == 7
    assert "UniformSampling" in tex
    assert "limit & $\\delta$ & threshold" in (done.folder / "table-instances.tex").read_text()
    table = pd.read_csv(done.folder / "table.csv")
    assert len(table) == 6
    assert {"rounds_10", "rounds_90", "error_low", "error_high", "rounds_over_bound"} <= set(table)


def test_the_figure(done: Results) -> None:
    figure = stopping_time_figure(done)
    assert [axes.get_title() for axes in figure.axes] == ["(a) K4", "(b) U(2,5)"]
    for axes in figure.axes:
        # Three rules and the lower bound.
        assert len(axes.lines) == 4
        assert axes.get_xscale() == "log"
        for line in axes.lines:
            shares = np.asarray(line.get_ydata())
            assert shares[0] == 0
            assert (np.diff(shares) >= 0).all()
            assert shares[-1] <= 1
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [*STUDY["rules"], "lower bound"]


def test_pages_of_figures(tmp_path: Path) -> None:
    figures = [{"name": "good ones", "rules": ["LUCBExchange", "FrankWolfe"]}]
    run_study(load_study(STUDY | {"figures": figures}), tmp_path, jobs=1)
    names = {path.name for path in write_report(tmp_path).files}
    assert "figure-stopping-times-good-ones.svg" in names
    assert "figure-stopping-times-other-rules.svg" in names


# ---- the command line ----


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command(elsewhere: Path, capsys) -> None:
    command = "identify --quick --only K5 --rule lucbexchange --policy FrankWolfe --jobs 1"
    assert main(command.split()) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(
        "Identification of the best basis: 1 instance, LUCBExchange, FrankWolfe, 3 runs each, into "
        "results/identify-quick-K5-lucbexchange-FrankWolfe\n"
    )
    header = printed.splitlines()[1]
    for word in ("rule", "settled", "rounds", "10 % to 90 %", "/ bound", "wrong", "95 % interval"):
        assert word in header
    assert main(command.split()) == 0
    assert capsys.readouterr().out == printed


def test_rules_that_are_not_in_the_study(elsewhere: Path, capsys) -> None:
    assert main(["identify", "--only", "K5", "--rule", "CSAR(budget=20)", "--list"]) == 0
    assert "CSAR(budget=20)" in capsys.readouterr().out
    for rule, message in (
        ("MAUB", "argument --rule: unknown rule 'MAUB'"),
        ("CSAR(size=20)", "CSAR has no parameter size"),
        ("CSAR(budget=2)", "CSAR(budget=2) on K5: budget must be at least 10"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["identify", "--only", "K5", "--rule", rule, "--list"])
        assert ended.value.code == 2
        assert message in capsys.readouterr().err


def test_list_plan_shard_and_extend(elsewhere: Path, capsys) -> None:
    part = ["identify", "--only", "K5", "--only", "20 edges", "--rule", "CLUCB", "--horizon=2000"]
    assert main([*part, "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[1].split() == ["instance", "elements", "rank", "limit", "delta", "threshold"]
    assert listed[2].split() == ["K5", "10", "4", "2,000", "0.1", "customary"]
    assert main([*part, "--runs=2", "--plan"]) == 0
    assert "4 of 4 runs left" in capsys.readouterr().out
    for shard in ("1/2", "2/2"):
        assert main([*part, "--runs=2", "--out=out", "--quiet", f"--shard={shard}"]) == 0
    assert main([*part, "--runs=3", "--out=out", "--quiet", "--extend", "--jobs=1"]) == 0
    assert len(read_results("out").runs) == 6
    assert main(["report", "out"]) == 0
    assert "Wrong answers" in capsys.readouterr().out


def test_the_shipped_study() -> None:
    study = load_study(shipped_study("identify"), movielens="synthetic")
    assert study.kind == "identification"
    assert [i.name for i in study.instances] == [
        *("K5", "K7", "20 edges", "U(5,20)", "partition", "movies"),
    ]
    assert {i.stopping.delta for i in study.instances} == {0.1}
    graph: Instance = study.instance("20 edges")
    assert (graph.matroid.size, graph.matroid.rank) == (20, 7)
    environment = graph.environment_for(0)
    assert np.all(environment.std == 1.0)
    smallest = mb.gaps(graph.matroid, environment.means).gaps.min()
    assert smallest == pytest.approx(0.0989, abs=1e-4)


def test_a_quick_run_of_the_shipped_study(elsewhere: Path, capsys) -> None:
    command = "identify --quick --horizon 3000 --movielens synthetic --jobs 2 --quiet --out out"
    assert main(command.split()) == 0
    results = read_results("out")
    assert len(results.runs) == 6 * 5 * 3
    assert (results.runs["rounds"] <= 3000).all()
    assert Path("out/report.html").exists()
