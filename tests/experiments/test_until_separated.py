"""Studies that go on until all policies are told apart; an interruption changes nothing."""

import numpy as np
import pandas as pd
import pytest

import matroid_bandits as mb
from matroid_bandits.cli import main
from matroid_bandits.experiments import (
    Results,
    Study,
    StudyError,
    load_study,
    open_pairs,
    read_results,
    run_study,
    write_report,
)
from matroid_bandits.experiments.running import runner, worker

LIMIT = 20


class Dice(mb.Policy):
    """Plays at random: two of them are never told apart, but from all others early."""

    name = "Dice"

    def __init__(self, matroid: mb.Matroid, seed: int, other: int = 0) -> None:
        super().__init__(matroid)
        self._rng = np.random.default_rng([seed, other])

    def _select(self):
        return self.greedy_basis(self._rng.random(self.matroid.size))


@pytest.fixture(scope="module")
def study() -> Study:
    policies = [Dice, {"type": Dice, "label": "Other", "other": 1}, "MAUB"]
    return load_study(
        {"horizon": 200, "runs": 2, "seed": 4, "policies": policies, "instances": ["K4"]}
    )


@pytest.fixture(scope="module")
def expected(study: Study, tmp_path_factory) -> Results:
    out = tmp_path_factory.mktemp("separated")
    return run_study(study, out, jobs=1, until_separated=True, limit=LIMIT)


def assert_same_numbers(one: Results, other: Results) -> None:
    own = ["seconds", "session"]  # of the machine and the moment
    pd.testing.assert_frame_equal(one.runs.drop(columns=own), other.runs.drop(columns=own))
    pd.testing.assert_frame_equal(one.curves, other.curves)


def counts(found: Results) -> dict[str, int]:
    return found.runs["policy"].value_counts().to_dict()


def test_only_open_pairs_go_on_up_to_the_limit(expected: Results) -> None:
    found = counts(expected)
    assert found["Dice"] == found["Other"] == LIMIT
    assert 2 < found["MAUB"] < LIMIT
    assert [(p.policy, p.other) for p in open_pairs(expected)] == [("Dice", "Other")]
    for _, runs in expected.runs.groupby("policy"):
        assert sorted(runs["seed"]) == list(range(4, 4 + len(runs)))


def test_it_ends_when_all_are_told_apart(tmp_path) -> None:
    study = load_study(
        {"horizon": 200, "runs": 2, "policies": ["MAUB", Dice], "instances": ["K4", "K5"]}
    )
    found = run_study(study, tmp_path, jobs=1, until_separated=True, limit=1000)
    assert open_pairs(found, sequential=True) == []
    assert max(counts(found).values()) < 200
    again = run_study(study, tmp_path, jobs=1, until_separated=True, limit=1000)
    assert len(again.sessions) == 1  # nothing was left to do


def test_the_report_says_so(expected: Results) -> None:
    text = " ".join(write_report(expected.folder).findings)
    assert "at every number of runs at once, since the number of runs was not fixed" in text
    assert "1 of 3 pairs of policies is not told apart yet." in text


@pytest.mark.parametrize("at", [3, 7, 12, 25, 40])
@pytest.mark.parametrize("twice", [False, True])
def test_an_interruption_changes_nothing(
    study, expected, tmp_path, monkeypatch, at: int, twice: bool
) -> None:
    simulate = worker.simulate

    def interrupt(last: int) -> None:
        left = iter(range(last))

        def tired(*arguments, **options):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return simulate(*arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(worker, "simulate", tired)
            with pytest.raises(KeyboardInterrupt):
                run_study(study, tmp_path, jobs=1, until_separated=True, limit=LIMIT)

    interrupt(at)
    if twice:
        interrupt(1)
    assert len(read_results(tmp_path).runs) == at + twice
    found = run_study(study, tmp_path, jobs=1, until_separated=True, limit=LIMIT)
    assert_same_numbers(found, expected)
    assert len(found.sessions) == 2 + twice


def test_processes_make_the_same_batches(study, expected, tmp_path) -> None:
    found = run_study(study, tmp_path, jobs=2, until_separated=True, limit=LIMIT)
    assert_same_numbers(found, expected)
    assert [session["jobs"] for session in found.sessions] == [2]


def test_batches_follow_from_the_results_alone(study, expected, tmp_path, monkeypatch) -> None:
    batches = []
    run_batch = runner._Work._run_batch

    def watched(self, pairs: set, total: int) -> None:
        batches.append((sorted(policy for _, policy in pairs), total))
        run_batch(self, pairs, total)

    monkeypatch.setattr(runner._Work, "_run_batch", watched)
    run_study(study, tmp_path, jobs=1, until_separated=True, limit=LIMIT)
    totals = [total for _, total in batches]
    assert totals == sorted(set(totals))
    assert totals[-1] == LIMIT
    assert len(totals) > 2
    assert batches[0][0] == ["Dice", "MAUB", "Other"]
    assert batches[-1][0] == ["Dice", "Other"]
    (session,) = read_results(tmp_path).sessions
    assert session["until_separated"] is True
    assert (session["runs"], session["batch"]["total"]) == (LIMIT, LIMIT)


def test_a_higher_limit_goes_on(study, expected, tmp_path) -> None:
    run_study(study, tmp_path, jobs=1)
    run_study(study, tmp_path, jobs=1, until_separated=True, limit=10)
    assert counts(read_results(tmp_path))["Dice"] == 10
    found = run_study(study, tmp_path, jobs=1, until_separated=True, limit=LIMIT)
    assert counts(found)["Dice"] == LIMIT
    # A lower one takes nothing away.
    assert counts(run_study(study, tmp_path, jobs=1, until_separated=True, limit=5)) == counts(
        found
    )


def test_a_run_that_fails_in_a_batch_stops_there(tmp_path) -> None:
    class Fragile(mb.OMM):
        name = "Fragile"

        def __init__(self, matroid: mb.Matroid, seed: int) -> None:
            super().__init__(matroid)
            if seed == 3:
                raise ValueError("not this one")

    study = load_study(
        {"horizon": 50, "runs": 2, "policies": ["OMM", Fragile, Dice], "instances": ["K4"]}
    )
    with pytest.raises(StudyError, match=r"1 of \d runs failed, the first one K4 Fragile seed 3"):
        run_study(study, tmp_path, jobs=1, until_separated=True, limit=50)
    (session,) = read_results(tmp_path).sessions
    assert [failure["seed"] for failure in session["failures"]] == [3]
    assert "not this one" in session["failures"][0]["traceback"]


def test_limits(study, tmp_path, monkeypatch, capsys) -> None:
    with pytest.raises(ValueError, match="limit is for until_separated=True"):
        run_study(study, tmp_path / "out", limit=9)
    with pytest.raises(ValueError, match="limit must be at least 2, got 1"):
        run_study(study, tmp_path / "out", until_separated=True, limit=1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(
        'horizon = 50\nruns = 3\npolicies = ["OMM"]\ninstances = ["K4"]'
    )
    for options, message in (
        (["--limit=9"], "--limit goes with --until-separated"),
        (["--until-separated", "--limit=2"], "argument --limit: must be at least the runs, 3"),
        (["--until-separated", "--shard=1/2"], "--until-separated needs the results of all shards"),
    ):
        with pytest.raises(SystemExit):
            main(["run", "s.toml", "--jobs=1", *options])
        assert message in capsys.readouterr().err


def test_the_limit_is_told(study, tmp_path) -> None:
    results = run_study(study, tmp_path, jobs=1, until_separated=True, limit=study.runs)
    text = " ".join(write_report(results.folder).findings)
    assert f"The limit of {study.runs} runs is reached; a larger --limit goes on." in text


def test_later_batches_have_all_workers(study, tmp_path, monkeypatch) -> None:
    """Though a single run was missing when they were started."""
    run_study(study, tmp_path, jobs=1)
    (part,) = tmp_path.glob("parts/*.jsonl")
    for table in ("runs.parquet", "curves.parquet"):
        (tmp_path / table).unlink()
    part.write_bytes(b"".join(part.read_bytes().splitlines(keepends=True)[1:]))
    found = run_study(study, tmp_path, jobs=2, until_separated=True, limit=2 * study.runs)
    assert [s["jobs"] for s in found.sessions if s["until_separated"]] == [2]
