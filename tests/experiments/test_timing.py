"""What a report says about the time that a study took."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import matroid_bandits as mb
from matroid_bandits.cli import main
from matroid_bandits.experiments import (
    Results,
    RunsFailedError,
    load_study,
    read_results,
    run_shard,
)
from matroid_bandits.experiments.analysis.timing import time_taken
from matroid_bandits.experiments.reporting import report


def session(started: int, elapsed: float, workers: dict[str, float], **about) -> dict:
    return {
        "started": f"2026-11-18T05:{started:02}:00+00:00",
        "elapsed": elapsed,
        "host": "here",
        "shard": None,
        "workers": {name: {"runs": 10, "seconds": value} for name, value in workers.items()},
        **about,
    }


def told(*sessions: dict) -> str:
    empty = pd.DataFrame()
    return time_taken(Results(empty, empty, study={}, sessions=[*sessions], folder=Path()))


def test_one_session() -> None:
    assert told(session(0, 60, {"here": 30.0})) == (
        "The runs took 1 min in 1 session; 0.5 were under way at the same time, on average."
    )


def test_workers_of_one_session() -> None:
    assert told(session(0, 60, {"a": 60.0, "b": 30.0})).endswith(
        "The 2 workers computed for 30 s to 1 min and made 10 runs each; on average 75 % as "
        "long as the longest."
    )


def test_time_between_sessions_does_not_count() -> None:
    """From 5:00 to 5:01, and from 5:30 to 5:32; two of them overlap."""
    text = told(
        session(0, 60, {"here": 60.0}),
        session(30, 120, {"here": 120.0}),
        session(31, 60, {"here": 60.0}, host="there"),
    )
    assert text == (
        "The runs took 3 min in 3 sessions on 2 hosts; 1.3 were under way at the same time, on "
        "average."
    )


def test_a_shard_that_was_started_again_counts_once() -> None:
    text = told(
        session(0, 60, {"here": 10.0}, shard="1/2"),
        session(0, 60, {"here": 40.0}, shard="2/2"),
        session(5, 60, {"here": 10.0}, shard="1/2"),
    )
    assert text.endswith(
        "The 2 shards computed for 20 s to 40 s and made 10 to 20 runs each; on average 75 % as "
        "long as the longest."
    )


def test_folders_of_earlier_versions_do_not_say() -> None:
    assert told({"started": "2026-01-01T00:00:00+00:00", "elapsed": 7.0}) == ""


def test_many_sessions_are_one_line(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(report, "FORMATS", ("svg",))
    study = load_study({"horizon": 20, "runs": 30, "policies": ["OMM"], "instances": ["K4"]})
    for number in range(1, 31):
        run_shard(study, tmp_path, f"{number}/30", jobs=1)
    assert len(read_results(tmp_path).sessions) == 30
    assert main(["report", str(tmp_path)]) == 0
    assert "The 30 shards computed for" in " ".join(capsys.readouterr().out.split())
    text = (tmp_path / "report.md").read_text()
    assert "(the first of 30 sessions)" in text
    assert text.count("matroid\\-bandits") + text.count("matroid-bandits") < 20


@pytest.mark.parametrize("what", ["ended", "elapsed"])
def test_sessions_that_were_cut_off(tmp_path, what) -> None:
    study = load_study({"horizon": 20, "runs": 1, "policies": ["OMM"], "instances": ["K4"]})
    run_shard(study, tmp_path, "1/1", jobs=1)
    results = read_results(tmp_path)
    (only,) = results.sessions
    cut = replace(results, sessions=[{k: v for k, v in only.items() if k != what}])
    assert report._sessions(cut)[0]["took"].startswith("cut off")


def test_a_session_that_was_killed_counts_with_its_runs(tmp_path) -> None:
    study = load_study({"horizon": 20, "runs": 4, "policies": ["OMM"], "instances": ["K4"]})
    run_shard(study, tmp_path, "1/2", jobs=1)
    run_shard(study, tmp_path, "2/2", jobs=1)
    (path, _) = sorted((tmp_path / "sessions").glob("*.json"))
    # As it was written at its beginning.
    content = json.loads(path.read_text()) | {"elapsed": 0.0, "workers": {}, "state": "running"}
    del content["ended"]
    path.write_text(json.dumps(content | {"pid": 2**30}))
    results = read_results(tmp_path)
    (cut,) = [s for s in results.sessions if "ended" not in s]
    assert cut["last_run"] >= 0
    text = time_taken(results)
    assert " in 2 sessions" in text
    assert "The 2 shards computed for" in text
    assert "made 2 runs each" in text


def test_runs_that_failed_are_in_the_report(tmp_path, monkeypatch) -> None:
    class Fragile(mb.OMM):
        name = "Fragile"

        def _select(self):
            if self.rounds == 3:
                raise ValueError("my own bug")
            return super()._select()

    monkeypatch.setattr(report, "FORMATS", ("svg",))
    policies = ["OMM", Fragile]
    study = load_study({"horizon": 9, "runs": 2, "policies": policies, "instances": ["K4"]})
    with pytest.raises(RunsFailedError) as failed:
        run_shard(study, tmp_path, "1/1", jobs=1)
    assert [failure.task.policy for failure in failed.value.failures] == ["Fragile"] * 2
    assert "my own bug" in failed.value.failures[0].trace
    told = report.write_report(tmp_path).findings[0]
    assert "2 of 4 runs are there" in told
    assert "2 runs have failed, the first one K4 Fragile seed 0: ValueError: my own bug" in told
