"""How long a study will take. Time is faked where it matters: no test measures any."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matroid_bandits.cli import main
from matroid_bandits.experiments import (
    Instance,
    PairPlan,
    Plan,
    PolicySpec,
    Study,
    StudyError,
    load_study,
    plan_study,
    read_results,
    run_study,
)
from matroid_bandits.experiments.analysis.formatting import duration
from matroid_bandits.experiments.running import plan
from matroid_bandits.experiments.running.plan import makespan

STUDY = """\
title = "Two graphs"
horizon = 500
runs = 3
policies = ["MAUB", "OMM"]
instances = ["K4", "K5"]
"""


@pytest.mark.parametrize(
    "seconds, words",
    [
        (0, "0 s"),
        (1e-9, "< 0.01 s"),
        (0.0099, "< 0.01 s"),
        (0.01, "0.01 s"),
        (0.094, "0.09 s"),
        (0.096, "0.1 s"),
        (0.4, "0.4 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (12.3, "12 s"),
        (59.4, "59 s"),
        (59.7, "1 min"),
        (61, "1 min 1 s"),
        (200, "3 min 20 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h"),
        (3629, "1 h"),
        (7500, "2 h 5 min"),
        (86_369, "23 h 59 min"),
        (86_371, "1 day"),
        (90_000, "1 day 1 h"),
        (2 * 86_400 - 1000, "2 days"),
        (3 * 86_400 + 4 * 3600, "3 days 4 h"),
        (4000 * 86_400, "4,000 days"),
        (float("nan"), "-"),
        (float("inf"), "-"),
    ],
)
def test_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words


# ---- workers ----


def simulated_step_by_step(durations: list[int], workers: int) -> int:
    """The same in small steps of time, as anyone would do it by hand."""
    waiting = list(durations)
    running: list[int] = []
    now = 0
    while waiting or running:
        while waiting and len(running) < workers:
            running.append(waiting.pop(0))
        running = [left - 1 for left in running if left > 1]
        now += 1
    return now


DURATIONS = st.lists(st.integers(1, 9), min_size=1, max_size=25)


@given(durations=DURATIONS, workers=st.integers(1, 8))
def test_makespan_is_that_of_workers_who_take_the_next_task(
    durations: list[int], workers: int
) -> None:
    assert makespan(durations, workers) == simulated_step_by_step(durations, workers)


@given(durations=DURATIONS, workers=st.integers(1, 30))
def test_bounds_of_the_makespan(durations: list[int], workers: int) -> None:
    time, total, longest = makespan(durations, workers), sum(durations), max(durations)
    assert max(total / workers, longest) <= time <= total / workers + longest
    assert makespan(durations, 1) == total
    # Independent tasks in a fixed order: one more worker never makes it longer.
    assert makespan(durations, workers + 1) <= time
    if workers >= len(durations):
        assert time == longest


def test_no_tasks() -> None:
    assert makespan([], 8) == 0


@given(durations=DURATIONS, workers=st.integers(1, 30))
def test_many_tasks_are_bounded(durations: list[int], workers: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        exact = makespan(durations, workers)
        patch.setattr(plan, "_MOST_SIMULATED", 0)
        bound = makespan(durations, workers)
    assert exact <= bound + 1e-9
    assert bound <= sum(durations) / workers + max(durations)
    assert makespan(durations, 1) == sum(durations)


# ---- trials on a machine whose times are known ----

# Seconds of so many rounds of a policy with a seed, without what precedes them.
Cost = Callable[[int, int], float]


class Machine:
    """Fakes the clock and the runs; notes what was run."""

    def __init__(self, costs: dict[str, Cost | Exception], setup: float = 0.0) -> None:
        self.costs = costs
        self.setup = setup
        self.now = 0.0
        self.trials: list[tuple[str, str, int, int]] = []

    def simulated(self, instance: Instance, policy: PolicySpec, seed: int) -> SimpleNamespace:
        self.trials.append((instance.name, policy.name, seed, instance.horizon))
        cost = self.costs[policy.name]
        if isinstance(cost, Exception):
            raise cost
        seconds = cost(instance.horizon, seed)
        self.now += self.setup + seconds
        return SimpleNamespace(seconds=seconds)


@pytest.fixture
def machine(monkeypatch) -> Callable[..., Machine]:
    def make(costs: dict[str, Cost | Exception], setup: float = 0.0) -> Machine:
        made = Machine(costs, setup)
        monkeypatch.setattr(plan, "simulated", made.simulated)
        monkeypatch.setattr(plan, "time", SimpleNamespace(perf_counter=lambda: made.now))
        return made

    return make


def study_of(horizon: int = 100_000, runs: int = 20, **other) -> Study:
    source = {"horizon": horizon, "runs": runs, "policies": ["OMM"], "instances": ["K4"]}
    return load_study({**source, **other})


def the_pair(study: Study) -> PairPlan:
    (pair,) = plan_study(study).pairs
    return pair


def test_short_runs_are_tried_with_three_seeds(machine) -> None:
    made = machine({"OMM": lambda rounds, seed: rounds * 1e-7 * (1 + seed)}, setup=0.001)
    pair = the_pair(study_of(seed=0))
    assert pair.how == "trial"
    assert pair.runs == 20
    whole = [seed for *_, seed, rounds in made.trials if rounds == 100_000]
    assert whole == [0, 1, 2]
    assert pair.seconds == pytest.approx(0.021)
    assert (pair.fastest, pair.slowest) == (pytest.approx(0.011), pytest.approx(0.031))
    assert pair.total == pytest.approx(20 * 0.021)


def test_no_more_seeds_than_runs(machine) -> None:
    made = machine({"OMM": lambda rounds, _: rounds * 1e-7})
    the_pair(study_of(runs=2, seed=7))
    assert {seed for *_, seed, _ in made.trials} == {7, 8}


def test_one_round(machine) -> None:
    made = machine({"OMM": lambda rounds, _: rounds * 1e-3})
    assert the_pair(study_of(horizon=1, runs=1)).seconds == pytest.approx(1e-3)
    assert len(made.trials) == 1


def test_long_runs_are_extrapolated(machine) -> None:
    """At the speed of the last rounds: the first ones are expensive."""

    def cost(rounds: int, _: int) -> float:
        return 0.01 * min(rounds, 10) + 1e-4 * rounds

    made = machine({"OMM": cost}, setup=0.02)
    pair = the_pair(study_of())
    longest = max(rounds for *_, rounds in made.trials)
    assert pair.how == f"extrapolated from {longest:,} rounds"
    assert 10 < longest < 100_000
    assert pair.seconds == pytest.approx(0.02 + cost(100_000, 0))
    assert pair.fastest == pair.slowest == pair.seconds


def test_the_budget_of_one_pair(machine) -> None:
    made = machine({"OMM": lambda rounds, _: 1e-4 * rounds})
    the_pair(study_of())
    # All of it is used, but not more.
    assert 0.25 < made.now <= 0.5 + 1e-9


def test_the_budget_of_many_pairs(machine) -> None:
    names = [f"instance {i}" for i in range(200)]
    made = machine({"OMM": lambda rounds, _: 1e-4 * rounds})
    study = study_of(instances=[{"name": name, "matroid": "U(1,2)"} for name in names])
    assert len(plan_study(study).pairs) == 200
    assert 10 < made.now <= 20


def test_what_short_trials_leave_is_for_the_others(machine) -> None:
    names = [f"instance {i}" for i in range(99)]
    costs = {"MAUB": lambda rounds, _: 1e-9 * rounds, "OMM": lambda rounds, _: 1e-4 * rounds}
    made = machine(costs)
    instances = [{"name": name, "matroid": "U(1,2)", "policies": ["MAUB"]} for name in names]
    instances.append({"name": "last", "matroid": "U(1,2)", "policies": ["OMM"]})
    plan_study(study_of(policies=["MAUB", "OMM"], instances=instances))
    last = sum(1e-4 * rounds for _, policy, _, rounds in made.trials if policy == "OMM")
    assert 0.25 < last <= 0.5 + 1e-9


def test_rounds_that_cost_nothing_beside_the_first(machine) -> None:
    """Trials go on, but not forever."""
    made = machine({"OMM": lambda rounds, _: 0.3 + 1e-6 * rounds})
    pair = the_pair(study_of(horizon=10**9))
    assert pair.seconds == pytest.approx(0.3 + 1000)
    assert made.trials[-1][-1] > 1000
    assert made.now < 4 * 0.5
    made = machine({"OMM": lambda _rounds, _: 3.0})
    pair = the_pair(study_of(horizon=10**9))
    assert pair.seconds == pytest.approx(3.0)
    assert len(made.trials) == 2


def test_a_slow_pair_has_two_trials_only(machine) -> None:
    made = machine({"OMM": lambda rounds, _: 5.0 * rounds})
    assert the_pair(study_of(horizon=1000)).seconds == pytest.approx(5000)
    assert [rounds for *_, rounds in made.trials] == [1, 2]


def test_a_trial_that_is_faster_than_a_shorter_one(machine) -> None:
    made = machine({"OMM": lambda rounds, _: 10.0 if rounds == 1 else 9.0})
    assert the_pair(study_of()).seconds == pytest.approx(9.0)
    assert len(made.trials) == 2


def test_a_pair_that_fails(machine) -> None:
    made = machine({"MAUB": RuntimeError("no\n  luck"), "OMM": lambda rounds, _: rounds * 1e-7})
    found = plan_study(study_of(policies=["MAUB", "OMM"]))
    failed, fine = found.pairs
    assert failed.how == "failed: RuntimeError: no luck"
    assert failed.failed
    assert not fine.failed
    assert failed.runs == fine.runs == found.runs == 20
    assert found.seconds == pytest.approx(fine.total)
    assert found.by_workers[1] == pytest.approx(fine.total)
    assert len([trial for trial in made.trials if trial[1] == "MAUB"]) == 1
    text = str(found)
    assert "40 of 40 runs left. Expected computing time: 0.2 s." in text
    assert "Trials of 1 pair failed; their 20 runs are not in these times." in text


def test_all_pairs_fail(machine) -> None:
    machine({"OMM": SystemExit(3)})
    found = plan_study(study_of())
    assert found.runs == found.seconds == found.by_workers[8] == 0
    assert found.lines()[-1].startswith("Trials of 1 pair failed")


def test_a_class_that_fails_in_its_last_round() -> None:
    """Nothing is faked here."""

    class Tired:
        def __init__(self, matroid) -> None:
            self.matroid = matroid
            self.rounds = 0

        def select(self) -> list[int]:
            self.rounds += 1
            if self.rounds == 40:
                raise RuntimeError("enough")
            return [0, 1]

        def update(self, elements, rewards) -> None:
            pass

    study = load_study(
        {"horizon": 40, "runs": 2, "policies": ["OMM", Tired], "instances": ["U(2,4)"]}
    )
    assert [p.how for p in plan_study(study).pairs] == ["trial", "failed: RuntimeError: enough"]


# ---- with workers, and with finished runs ----


def test_workers(machine) -> None:
    costs = {"MAUB": lambda rounds, _: rounds * 1e-6, "OMM": lambda rounds, _: rounds * 3e-6}
    machine(costs)
    found = plan_study(study_of(policies=["MAUB", "OMM"], runs=5), jobs=3)
    assert list(found.by_workers) == [1, 3, 8, 64]
    assert found.by_workers[1] == pytest.approx(2.0)
    assert found.by_workers[3] == pytest.approx(makespan([0.1, 0.3] * 5, 3))
    assert found.by_workers[64] == pytest.approx(0.3)
    assert not found.is_bound
    line = next(line for line in found.lines() if line.startswith("1 worker"))
    assert line.startswith("1 worker: 2.0 s; 3 workers: ")
    assert line.endswith("; 8 workers: 0.4 s; 64 workers (only 10 runs): 0.3 s")


def test_very_many_runs(machine) -> None:
    machine({"OMM": lambda rounds, _: rounds * 1e-6})
    found = plan_study(study_of(runs=200_001), jobs=8)
    assert found.is_bound
    assert found.by_workers[1] == pytest.approx(20_000.1)
    assert found.by_workers[8] == pytest.approx(20_000.1 / 8, rel=1e-3)
    assert "1 worker: 5 h 33 min; 8 workers: at most 41 min 40 s; 64 workers: at most" in str(found)


def test_finished_runs_count(machine, tmp_path: Path) -> None:
    study = study_of(horizon=50, runs=2, policies=["MAUB", "OMM"])
    results = run_study(study.part(policies=study.policies[:1]), tmp_path / "out", jobs=1)
    made = machine({"MAUB": lambda rounds, _: rounds, "OMM": lambda rounds, _: rounds}, setup=0.25)
    more = study.part(runs=4)
    found = plan_study(more, tmp_path / "out", extend=True)
    maub, omm = found.pairs
    assert (maub.runs, maub.how) == (2, "measured")
    seconds = results.runs["seconds"]
    # What precedes the rounds is not in the seconds of the results.
    assert maub.seconds == pytest.approx(seconds.mean() + 0.25)
    assert maub.slowest == pytest.approx(seconds.max() + 0.25)
    assert (omm.runs, omm.how) == (4, "extrapolated from 2 rounds")
    assert (found.runs, found.n_tasks) == (6, 8)
    # One round tells what precedes the rounds; only seeds that are left are tried.
    tried = {(seed, rounds) for _, policy, seed, rounds in made.trials if policy == "MAUB"}
    assert tried == {(2, 1)}
    assert "6 of 8 runs left" in str(found)


def test_a_finished_study(machine, tmp_path: Path) -> None:
    study = study_of(horizon=50, runs=2)
    run_study(study, tmp_path / "out", jobs=1)
    made = machine({})
    found = plan_study(study, tmp_path / "out")
    assert not made.trials
    assert (found.runs, found.seconds, found.pairs[0].how) == (0, 0, "finished")
    assert found.lines()[-1] == "All 2 runs are finished."


def test_the_folder_of_another_study(tmp_path: Path) -> None:
    run_study(study_of(horizon=50, runs=1), tmp_path / "out", jobs=1)
    with pytest.raises(StudyError, match="belongs to another study"):
        plan_study(study_of(horizon=60, runs=1), tmp_path / "out")
    with pytest.raises(StudyError, match="--extend"):
        plan_study(study_of(horizon=50, runs=2), tmp_path / "out")


@pytest.mark.parametrize("jobs", [0, -1, 1.5, "two"])
def test_jobs_that_cannot_be(jobs) -> None:
    with pytest.raises((TypeError, ValueError), match="jobs"):
        plan_study(study_of(), jobs=jobs)


def test_nothing_is_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = plan_study(study_of(horizon=50, runs=1), "out")
    assert isinstance(found, Plan)
    assert list(tmp_path.iterdir()) == []


# ---- the command ----


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MATROID_BANDITS_CACHE", str(tmp_path / "cache"))
    Path("study.toml").write_text(STUDY)
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_option(elsewhere: Path, capsys) -> None:
    before = contents(elsewhere)
    assert main(["run", "study.toml", "--plan", "--jobs=3"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert lines[0] == "Two graphs: 2 instances, MAUB, OMM, 3 runs each, into results/study"
    assert re.split("  +", lines[1].strip()) == [
        "instance",
        "policy",
        "runs left",
        "seconds per run",
        "range",
        "total",
        "from",
    ]
    assert Counter(tuple(line.split()[:3]) for line in lines[2:6]) == Counter(
        (instance, policy, "3") for instance in ("K4", "K5") for policy in ("MAUB", "OMM")
    )
    assert re.fullmatch(r"12 of 12 runs left\. Expected computing time: .* s\.", lines[6])
    workers = r"1 worker: .*; 3 workers: .*; 8 workers: .*; 64 workers \(only 12 runs\): .*"
    assert re.fullmatch(workers, lines[7])
    assert lines[8].startswith("Each worker has a core to itself; this machine has ")
    assert len(lines) == 9
    assert contents(elsewhere) == before
    assert not Path("results").exists()


def test_the_option_and_a_folder(elsewhere: Path, capsys) -> None:
    main(["run", "study.toml", "--only=K4", "--out=out", "--jobs=1", "--quiet"])
    assert len(read_results("out").runs) == 6
    capsys.readouterr()
    before = contents(elsewhere)
    assert main(["run", "study.toml", "--plan", "--extend", "--out=out"]) == 0
    assert "6 of 12 runs left" in capsys.readouterr().out
    assert main(["run", "study.toml", "--plan", "--only=K4", "--out=out"]) == 0
    assert "All 6 runs are finished." in capsys.readouterr().out
    assert main(["run", "study.toml", "--plan", "--out=out"]) == 2
    assert "out belongs to another study" in capsys.readouterr().err
    assert main(["run", "study.toml", "--plan", "--out=study.toml"]) == 2
    assert "results cannot be written to study.toml" in capsys.readouterr().err
    assert contents(elsewhere) == before


def test_a_plan_downloads_nothing(elsewhere: Path, capsys) -> None:
    options = ["--only=linear", "--policy=OMM", "--horizon=20", "--runs=1", "--plan"]
    note = "MovieLens is not downloaded for a plan; the times are those of invented movies."
    assert main(["reproduce", *options]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == note
    assert main(["reproduce", *options, "--movielens=synthetic"]) == 0
    assert note not in capsys.readouterr().out
    assert not Path("cache").exists()
