"""Folders of earlier versions: numbered sessions in one file, and a file for each new run."""

import json
from collections.abc import Collection
from pathlib import Path

import pytest

from matroid_bandits.experiments import (
    Results,
    Study,
    StudyError,
    gather,
    load_study,
    read_results,
    run_shard,
    run_study,
    write_report,
)
from matroid_bandits.experiments.study import Task

from .folders import SMALL, assert_same_numbers, content_of, times_finished

SESSION = {
    "started": "2026-01-01T10:00:00+00:00",
    "command": "matroid-bandits run small.toml",
    "jobs": 1,
    "matroid-bandits": "0.1.0",
    "commit": None,
    "python": "3.11.7",
    "numpy": "2.0.0",
    "system": "Linux 6.1",
    "processor": "a processor",
    "cores": 2,
}
ENDED = {"ended": "2026-01-01T10:00:09+00:00", "elapsed": 9.5}


@pytest.fixture(scope="module")
def small() -> Study:
    return load_study(SMALL)


@pytest.fixture(scope="module")
def expected(small: Study, tmp_path_factory) -> Results:
    return run_study(small, tmp_path_factory.mktemp("whole"), jobs=1)


def write_old_folder(
    folder: Path, results: Results, *, gathered: Collection[Task], single: Collection[Task] = ()
) -> None:
    """Write runs as the first version did: `gathered` in tables, and `single` in a file each."""
    (folder / "parts").mkdir(parents=True)
    (folder / ".lock").touch()
    (folder / "study.json").write_bytes((results.folder / "study.json").read_bytes())
    sessions = [SESSION | ENDED, SESSION | {"started": "2026-01-02T10:00:00+00:00"}]
    (folder / "sessions.json").write_text(json.dumps(sessions, indent=1))
    key = list(Task._fields)
    runs, curves = results.runs.set_index(key), results.curves.astype({"instance": str})
    curves = curves.astype({"policy": str}).set_index(key).sort_index()
    if gathered:
        old = runs.loc[list(gathered)].reset_index().assign(session=0)
        old.astype({"session": "int64"}).to_parquet(folder / "runs.parquet", index=False)
        of_runs = curves.loc[list(gathered)].reset_index()
        of_runs.to_parquet(folder / "curves.parquet", index=False)
    for number, task in enumerate(single):
        numbers = json.loads(runs.loc[[task]].drop(columns="session").to_json(orient="records"))[0]
        curve = curves.loc[[task]].to_dict("list")
        # Written anew, so that no digit is lost.
        numbers |= {name: runs.loc[task, name] for name in ("regret", "lower_bound", "seconds")}
        content = {**task._asdict(), **numbers, "session": 1, "curve": curve}
        (folder / "parts" / f"run-{number}.json").write_text(json.dumps(content, indent=1))


@pytest.fixture(params=["finished", "interrupted", "never gathered", "gathered, not removed"])
def old(request, small: Study, expected: Results, tmp_path: Path) -> Path:
    """A folder of the first version; all but the first kind lack runs."""
    tasks = small.tasks()
    gathered, single = {
        "finished": (tasks, []),
        "interrupted": (tasks[:4], tasks[4:9]),
        "never gathered": ([], tasks[:5]),
        # Cut off after the tables were written, and before the files were removed.
        "gathered, not removed": (tasks[:8], tasks[5:8]),
    }[request.param]
    write_old_folder(tmp_path / "old", expected, gathered=gathered, single=single)
    return tmp_path / "old"


def n_runs(folder: Path) -> int:
    return len(read_results(folder).runs)


def test_they_are_read(old: Path, expected: Results) -> None:
    before = content_of(old)
    found = read_results(old)
    assert 5 <= len(found.runs) <= 12
    assert set(found.runs["session"]) <= {"0", "1"}
    assert [session["name"] for session in found.sessions] == ["0", "1"]
    assert found.warnings == []
    assert content_of(old) == before
    theirs = expected.runs.set_index(list(Task._fields))["regret"]
    for run in found.runs.itertuples():
        assert run.regret == theirs[run.instance, run.policy, run.seed]


def test_they_are_gathered_and_reported(old: Path) -> None:
    before = read_results(old)
    gathered = gather(old)
    assert_same_numbers(gathered, before)
    assert gathered.runs["session"].tolist() == before.runs["session"].tolist()
    # The files of single runs stay, and are no new runs.
    tables = content_of(old)
    assert_same_numbers(gather(old), before)
    assert content_of(old) == tables
    report = write_report(old)
    assert report.table["runs"].sum() == len(before.runs)


@pytest.mark.parametrize("gathers", [False, True])
def test_they_are_continued(old: Path, small, expected, gathers: bool) -> None:
    n_before = n_runs(old)
    if gathers:
        gather(old)
    found = run_study(small, old, jobs=1)
    assert_same_numbers(found, expected)
    assert found.warnings == []
    # Only what was missing was run.
    assert times_finished(old).total() == 12 - n_before
    assert set(found.runs["session"]) <= {session["name"] for session in found.sessions}
    assert (found.runs["session"].isin(["0", "1"])).sum() == n_before


def test_they_are_continued_in_shards(old: Path, small, expected) -> None:
    n_before = n_runs(old)
    for number in (1, 2, 3):
        run_shard(small, old, f"{number}/3", jobs=1)
    assert_same_numbers(gather(old), expected)
    assert times_finished(old).total() == 12 - n_before


def test_they_are_extended(old: Path, tmp_path: Path) -> None:
    n_before = n_runs(old)
    grown = load_study(SMALL | {"runs": 4, "instances": [*SMALL["instances"], "K4"]})
    with pytest.raises(StudyError, match="--extend"):
        run_study(grown, old, jobs=1)
    found = run_study(grown, old, jobs=1, extend=True)
    assert_same_numbers(found, run_study(grown, tmp_path / "anew", jobs=1))
    assert times_finished(old).total() == 24 - n_before


def test_damage_in_them_is_reported(small, expected, tmp_path: Path) -> None:
    write_old_folder(tmp_path, expected, gathered=[], single=small.tasks()[:2])
    part = tmp_path / "parts" / "run-0.json"
    part.write_bytes(part.read_bytes()[:-40])
    with pytest.raises(StudyError, match=r"run-0.json cannot be read"):
        read_results(tmp_path)
