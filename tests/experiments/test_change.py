"""Studies whose means change: how they are written, run and reported."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import matroid_bandits as mb
from matroid_bandits.experiments import (
    StudyError,
    load_study,
    run_study,
    shipped_study,
    write_report,
)
from matroid_bandits.experiments.analysis.losses import losses
from matroid_bandits.experiments.changes import rounds_of, stretches

CODE = """
import matroid_bandits as mb

class Rising(mb.ChangingEnvironment):
    def __init__(self, size, *, slope=0.001, std=0.2):
        super().__init__(size, std=std)
        self.slope = slope

    def _means_at(self, round):
        return [0.1 * e + self.slope * round * (e % 2) for e in range(self.size)]

def waves(t, elements):
    return (elements + t) % 3 / 3

def bad(t):
    return t

def text(t, elements):
    return "x"
"""


def study_of(folder: Path, *environments: dict[str, Any], **more: Any) -> Any:
    """A study with one instance for each environment."""
    (folder / "mine.py").write_text(CODE)
    lines = [
        f"{key} = {json.dumps(value)}"
        for key, value in {"horizon": 200, "runs": 2, "policies": ["MAUB"], **more}.items()
    ]
    for i, environment in enumerate(environments):
        inside = ", ".join(f"{key} = {_toml(value)}" for key, value in environment.items())
        lines += ["[[instances]]", f'name = "i{i}"', 'matroid = "K4"']
        lines += [f"environment = {{ {inside} }}"]
    (folder / "study.toml").write_text("\n".join(lines))
    return load_study(folder / "study.toml")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(v)}" for key, v in value.items()) + " }"
    return json.dumps(value)


EVERY = [
    {"type": "piecewise", "changes": [101]},
    {"type": "piecewise", "changes": 3, "kind": "bernoulli"},
    {"type": "drifting", "step": 0.01},
    {"type": "seasonal", "amplitude": 0.1, "period": 0.5, "std": 0.1},
    {"type": "function", "function": "mine.py:waves", "kind": "bernoulli"},
    {"type": "mine.py:Rising", "slope": 0.01},
    {"type": "piecewise", "changes": [5], "means": [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.5] * 6]},
]


# ---- reading ----


def test_environments_of_runs(tmp_path: Path) -> None:
    study = study_of(tmp_path, *EVERY)
    one, three, drift, seasons, waves, rising, given = (
        i.environment_for(5) for i in study.instances
    )
    rows = mb.random_means(6, 5, pieces=2)
    assert one.means_at([100, 101]).tolist() == rows.tolist()
    assert three.changes.tolist() == [51, 101, 151]
    assert three.kind == "bernoulli"
    # The walk has the seed of the run.
    expected = mb.DriftingEnvironment(mb.random_means(6, 5), step=0.01, seed=5)
    assert drift.means_at(50).tolist() == expected.means_at(50).tolist()
    expected = mb.SeasonalEnvironment(mb.random_means(6, 5), amplitude=0.1, period=100)
    assert seasons.means_at(30).tolist() == expected.means_at(30).tolist()
    assert seasons.std.tolist() == [0.1] * 6
    assert waves.means_at(1).tolist() == [1 / 3, 2 / 3, 0, 1 / 3, 2 / 3, 0]
    assert rising.means_at(10)[1] == 0.1 + 0.01 * 10
    assert given.means_at(4).tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    fixed = study_of(tmp_path, {"type": "drifting", "step": 0.01, "seed": 9}).instances[0]
    assert fixed.environment_for(1).means_at(9)[0] != fixed.environment_for(2).means_at(9)[0]
    walks = [
        fixed.environment_for(s).means_at(9) - fixed.environment_for(s).means_at(1) for s in (1, 2)
    ]
    assert np.allclose(*walks)


def test_changes_are_part_of_the_study(tmp_path: Path) -> None:
    others = [
        {"type": "piecewise", "changes": [102]},
        {"type": "piecewise", "changes": 2},
        {"type": "drifting", "step": 0.02},
        {"type": "mine.py:Rising"},
        {"type": "gaussian"},
    ]
    origins = [json.dumps(i.origin) for i in study_of(tmp_path, *EVERY, *others).instances]
    assert len(set(origins)) == len(origins)
    again = [json.dumps(i.origin) for i in study_of(tmp_path, *EVERY, *others).instances]
    assert again == origins
    (tmp_path / "mine.py").write_text(CODE.replace("/ 3", "/ 4"))
    other = load_study(tmp_path / "study.toml")
    assert json.dumps(other.instances[4].origin) != origins[4]
    settles = {
        study_of(tmp_path, EVERY[0], settle=s).identity()["instances"]["i0"]["settle"]
        for s in (5, 6)
    }
    assert settles == {5, 6}
    # Where means stay, nothing has changed since older versions.
    assert "settle" not in study_of(tmp_path, {"type": "gaussian"}).identity()["instances"]["i0"]


@pytest.mark.parametrize(
    "environment, message",
    [
        (
            {"type": "piecewise"},
            "changes is missing; PiecewiseEnvironment takes changes, std, kind",
        ),
        (
            {"type": "piecewise", "changes": [201]},
            "the change in round 201 is after the last round",
        ),
        ({"type": "piecewise", "changes": 200}, "200 changes are too many for 200 rounds"),
        ({"type": "function", "function": "mine.py:bad"}, r"function must take the round and the"),
        ({"type": "function", "function": "mine.py:text"}, "one per element, got 'x'"),
        ({"type": "piecewise", "changes": -1}, "changes: must be a list of rounds.*got -1"),
        ({"type": "piecewise", "changes": 0.5}, "changes: must be a list of rounds.*got 0.5"),
        ({"type": "piecewise", "changes": True}, "changes: must be a list of rounds.*got True"),
        ({"type": "piecewise", "changes": "5"}, "changes: must be a list of rounds.*got '5'"),
        ({"type": "piecewise", "changes": [7, 7]}, "changes must ascend"),
        ({"type": "piecewise", "changes": [1]}, "changes must be rounds from 2 on"),
        (
            {"type": "piecewise", "changes": [7], "means": [0.1] * 6},
            "means: must be 2 rows of means, one for each piece",
        ),
        (
            {"type": "piecewise", "changes": [7], "means": [[0.1] * 5] * 2},
            "means: 5 means in a row for the 6 elements of K4",
        ),
        (
            {"type": "piecewise", "changes": [7], "means": [[0.1] * 6, [0.1] * 5]},
            "means: must be rows of the same length, got 6, 5 means",
        ),
        (
            {"type": "piecewise", "changes": [7], "means": {"column": "x"}},
            "means: must be 2 rows of means",
        ),
        (
            {"type": "piecewise", "changes": 1, "kind": "bernoulli", "means": {"uniform": [0, 2]}},
            "must be from 0 to 1, got 2",
        ),
        ({"type": "drifting"}, "step is missing"),
        ({"type": "drifting", "step": 0.1, "means": [0.1] * 5}, "means: 5 means for the 6"),
        ({"type": "seasonal", "amplitude": 0.1}, "period is missing"),
        ({"type": "function", "function": "waves"}, "such as \"mine.py:means\", got 'waves'"),
        ({"type": "function", "function": "mine.py:wave"}, "mine.py has no function 'wave'"),
        (
            {"type": "function", "function": "mine.py:waves", "means": [0.1] * 6},
            "FunctionEnvironment has means of its own; leave them out",
        ),
        ({"type": "seasonl", "amplitude": 0.1}, "did you mean seasonal"),
    ],
)
def test_mistakes(tmp_path: Path, environment: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        study_of(tmp_path, environment)


def test_where_means_must_stay(tmp_path: Path) -> None:
    changing = {"matroid": "K4", "environment": {"type": "piecewise", "changes": 1}}
    with pytest.raises(StudyError, match="identification is for means that stay as they are"):
        load_study({"kind": "identification", "rules": ["CLUCB"], "instances": [changing]})
    with pytest.raises(StudyError, match="settle: is for means that change, and these do not"):
        load_study({"policies": ["MAUB"], "instances": [{"matroid": "K4", "settle": 5}]})


def test_parts_of_a_study(tmp_path: Path) -> None:
    study = study_of(tmp_path, *EVERY[:4], horizon=1000, settle=100)
    quick = study.part(quick=True)
    assert [i.horizon for i in quick.instances] == [100] * 4
    assert [i.settle for i in quick.instances] == [10] * 4
    # Changes given by their number move with the horizon, others do not.
    assert quick.instances[0].changes == [101]
    assert quick.instances[1].changes == [26, 51, 76]
    shorter = study.part(horizon=400).instances
    assert shorter[1].changes == [101, 201, 301]
    assert shorter[3].environment_for(0).means_at(201).tolist() == pytest.approx(
        shorter[3].environment_for(0).means_at(1).tolist()
    )
    assert shorter[1].settle == 100


# ---- stretches ----


def test_rounds_of_changes() -> None:
    assert rounds_of(1, 20_000) == [10_001]
    assert rounds_of(10, 33_000) == list(range(3001, 33_000, 3000))
    assert rounds_of(0, 5) == []
    # More changes than rounds still ascend.
    assert rounds_of(4, 2) == [2, 3, 4, 5]
    assert rounds_of([7, 9], 5) == [7, 9]


def test_stretches() -> None:
    before, right_after, later = stretches([101, 151], 300, 20)
    assert (before.starts, before.ends) == ([20], [100])
    assert (right_after.starts, right_after.ends) == ([100, 150], [120, 170])
    assert (later.starts, later.ends) == ([120, 170], [150, 300])
    assert (before.length, right_after.length, later.length) == (80, 40, 160)
    # No change, changes after the end, and pieces that are too short.
    assert [s.length for s in stretches([], 300, 20)] == [280, 0, 0]
    assert [s.length for s in stretches([301], 300, 20)] == [280, 0, 0]
    assert [s.length for s in stretches([11, 21], 30, 50)] == [0, 20, 0]


# ---- runs and reports ----


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was run and reported."""
    place = tmp_path_factory.mktemp("change")
    study = study_of(
        place, *EVERY, {"type": "gaussian"}, settle=30, policies=["MAUB", "OMM"], runs=3
    )
    run_study(study, place / "out", jobs=1)
    write_report(place / "out")
    return place


def test_runs_are_those_of_simulate(folder: Path) -> None:
    curves = pd.read_parquet(folder / "out" / "curves.parquet")
    study = load_study(folder / "study.toml")
    for name in ("i0", "i1", "i2", "i5"):
        instance = study.instance(name)
        one = curves.query("instance == @name and policy == 'OMM' and seed == 1")
        result = mb.simulate(
            mb.OMM(instance.matroid),
            instance.environment_for(1),
            200,
            seed=1,
            checkpoints=one["round"].tolist(),
        )
        assert one["regret"].tolist() == result.regret.tolist()
    # The first and the last rounds of all stretches are there.
    rounds = set(curves.query("instance == 'i0'")["round"])
    assert {30, 100, 130, 200} <= rounds


def test_losses(folder: Path) -> None:
    table = pd.read_csv(folder / "out" / "table-losses.csv").set_index(["instance", "policy"])
    assert {name for name, _ in table.index} == {f"i{i}" for i in range(7)}
    curves = pd.read_parquet(folder / "out" / "curves.parquet")
    one = curves.query("instance == 'i0' and policy == 'MAUB'")
    regret = one.pivot_table(index="seed", columns="round", values="regret", observed=True)
    before = (regret[100] - regret[30]) / 70
    later = (regret[200] - regret[130]) / 70
    row = table.loc["i0", "MAUB"]
    assert row["before"] == pytest.approx(before.mean())
    assert row["right_after"] == pytest.approx(((regret[130] - regret[100]) / 30).mean())
    assert row["later"] == pytest.approx(later.mean())
    assert row["factor"] == pytest.approx(later.mean() / before.mean())
    # Student's interval of three runs has 4.303 standard errors on each side.
    assert row["before_ci"] == pytest.approx(4.3027 * before.std(ddof=1) / np.sqrt(3), rel=1e-4)
    spread = (later - row["factor"] * before).std(ddof=1) / np.sqrt(3) / before.mean()
    assert row["factor_ci"] == pytest.approx(4.3027 * spread, rel=1e-4)
    # Without a change there is no later.
    assert np.isnan(table.loc["i2", "MAUB"]["later"])


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_report(folder: Path, name: str) -> None:
    text = (folder / "out" / name).read_text()
    assert "On i0, i1, i2, i3, i4, i5 and i6 the regret is dynamic" in text
    assert "Vertical lines: rounds in which means change." in text
    assert "Loss per round" in text
    assert "from 30 rounds after it" in text
    assert "From 30 rounds after a change on, the loss per round is" in text
    for change in (
        *("change in round 101", "change 3 times", "drift, step 0.01", "seasons of 100 rounds"),
        *("function", "rising", "stay"),
    ):
        assert change in text


def test_changes_are_lines_in_the_figure(folder: Path) -> None:
    text = (folder / "out" / "figure-regret.svg").read_text()
    # One group for each panel; the first has one line, the second three.
    groups = re.findall(r'<g id="change[^"]*">(.*?)</g>', text, flags=re.DOTALL)
    assert [group.count("<path") for group in groups][:2] == [1, 3]


def test_a_study_without_changes_says_nothing_of_them(tmp_path: Path) -> None:
    run_study(study_of(tmp_path, {"type": "gaussian"}), tmp_path / "out", jobs=1)
    report = write_report(tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text()
    assert "dynamic" not in text
    assert "Loss per round" not in text
    assert "means over time" not in text
    assert not (tmp_path / "out" / "table-losses.csv").exists()
    assert report.findings


# ---- the study that ships ----


def test_the_shipped_study_reaches_its_goals(tmp_path: Path) -> None:
    """After one change, policies that forget recover, and MAUB as it is does not.

    Three seeds that the study does not use. In its 20 runs the mean factors of policies that forget
    were 0.96 to 1.07, with standard deviations of a run of at most 0.65, and those of MAUB 37 to
    233. A mean of three is above 2 only if it is more than two standard errors too large, at the
    widest; the seeds are fixed. Restarts cost 1 % without a change; the goal is at most 10 %.
    """
    names = ["K15", "partition", "U(15,30)"]
    only = [f"{name}, {change}" for name in names for change in ("one change", "no change")]
    study = load_study(shipped_study("change"), only=only, seed=1000)
    wanted = ("MAUB", "MAUB window", "MAUB discount", "MAUB restart")
    study = study.part(runs=3, policies=[p for p in study.policies if p.name in wanted])
    results = run_study(study, tmp_path, jobs=1)
    table = losses(results).set_index(["instance", "policy"])
    regret = results.runs.groupby(["instance", "policy"], observed=True)["regret"].mean()
    for name in names:
        for policy in wanted:
            factor = table.loc[(f"{name}, one change", policy), "factor"]
            assert (factor > 2) == (policy == "MAUB")
        stays = f"{name}, no change"
        assert regret[stays, "MAUB restart"] <= 1.1 * regret[stays, "MAUB"]
