"""Running studies: the same numbers after every interruption, nothing run twice or lost."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import types
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import matroid_bandits as mb
from matroid_bandits.experiments import (
    Results,
    Study,
    StudyError,
    load_study,
    read_results,
    run_study,
)
from matroid_bandits.experiments.running import runner, worker
from matroid_bandits.experiments.running.pools import available_cores
from matroid_bandits.experiments.storing import results
from matroid_bandits.experiments.storing.parts import PartReading, read_part
from matroid_bandits.experiments.storing.provenance import SESSION_KEYS
from matroid_bandits.experiments.study import Task

from ..seeds import seeds

SMALL = {
    "horizon": 400,
    "runs": 3,
    "policies": ["MAUB", "OMM"],
    "instances": ["K5", "U(2,5)", {"matroid": "partition(8)", "horizon": 300}],
}


@pytest.fixture(scope="module")
def small() -> Study:
    return load_study(SMALL)


@pytest.fixture(scope="module")
def expected(small: Study, tmp_path_factory) -> Results:
    return run_study(small, tmp_path_factory.mktemp("whole"), jobs=1)


def assert_same_numbers(one: Results, other: Results) -> None:
    own = ["seconds", "session"]  # of the machine and the moment
    pd.testing.assert_frame_equal(one.runs.drop(columns=own), other.runs.drop(columns=own))
    pd.testing.assert_frame_equal(one.curves, other.curves)


# ---- what comes out ----


def test_results_are_those_of_simulate(small: Study, expected: Results) -> None:
    assert len(expected.runs) == 18
    for run in expected.runs.to_dict("records"):
        instance = small.instance(run["instance"])
        policy = {"MAUB": mb.MAUB, "OMM": mb.OMM}[run["policy"]](instance.matroid)
        means = mb.random_means(instance.matroid.size, run["seed"])
        environment = mb.GaussianEnvironment(means, 0.2)
        result = mb.simulate(policy, environment, instance.horizon, seed=run["seed"])
        assert run["regret"] == result.total_regret  # to the last bit, through the disk
        assert run["horizon"] == instance.horizon
        for name, value in result.counters.items():
            assert run[name] == value
        curve = expected.curves.query(
            "instance == @run['instance'] and policy == @run['policy'] and seed == @run['seed']"
        )
        assert curve["round"].tolist() == result.rounds.tolist()
        assert curve["regret"].tolist() == result.regret.tolist()
        for name, values in result.counter_curves.items():
            assert curve[name].tolist() == values.tolist()


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_numbers_do_not_depend_on_jobs(small: Study, expected: Results, tmp_path, jobs) -> None:
    assert_same_numbers(run_study(small, tmp_path, jobs=jobs), expected)
    assert read_results(tmp_path).sessions[0]["jobs"] == jobs


def test_tables_are_plain_parquet(expected: Results) -> None:
    runs = pq.read_schema(expected.folder / "runs.parquet")
    assert runs.names == [
        *("instance", "policy", "seed", "horizon", "regret", "lower_bound", "seconds"),
        *("oracle_calls", "greedy_calls", "neighborhood_updates", "session"),
    ]
    curves = pq.read_schema(expected.folder / "curves.parquet")
    assert curves.names == [
        *("instance", "policy", "seed", "round", "regret"),
        *("oracle_calls", "greedy_calls", "neighborhood_updates"),
    ]
    for schema in (runs, curves):
        kinds = {str(field.type) for field in schema}
        assert kinds <= {"string", "large_string", "int64", "double"}
    assert len(pq.read_table(expected.folder / "runs.parquet")) == 18


def test_sessions_record_command_and_versions(small: Study, tmp_path: Path) -> None:
    found = run_study(small, tmp_path, jobs=1, command=["somebody", "typed this"])
    (session,) = found.sessions
    assert session["command"] == "somebody 'typed this'"
    assert session["matroid-bandits"] == mb.__version__
    assert session["numpy"] == np.__version__
    assert session["processor"]
    assert session.keys() >= SESSION_KEYS | {"name", "host", "pid", "ended", "elapsed", "workers"}
    assert session["started"] <= session["ended"]
    assert set(found.runs["session"]) == {session["name"]}
    assert [path.stem for path in tmp_path.glob("sessions/*")] == [session["name"]]
    assert [path.stem for path in tmp_path.glob("parts/*")] == [session["name"]]
    assert [done["runs"] for done in session["workers"].values()] == [18]
    assert (found.runs["seconds"] > 0).all()
    identity = json.loads((tmp_path / "study.json").read_text())["identity"]
    assert (identity["seed"], identity["runs"]) == (0, 3)
    assert identity["instances"]["K5"]["horizon"] == 400


def test_a_policy_without_counters(tmp_path: Path) -> None:
    class Plain:
        """Not even a Policy; local, so that workers must get it by value."""

        def __init__(self, matroid: mb.Matroid) -> None:
            self._basis = matroid.max_weight_basis(range(matroid.size))

        def select(self) -> list[int]:
            return self._basis.tolist()

        def update(self, elements: np.ndarray, rewards: np.ndarray) -> None:
            pass

    study = load_study({"horizon": 50, "runs": 2, "policies": [Plain, "OMM"], "instances": ["K5"]})
    found = run_study(study, tmp_path, jobs=2)
    plain = found.runs.query("policy == 'Plain'")
    assert plain["oracle_calls"].isna().all()
    assert found.curves.query("policy == 'Plain'")["greedy_calls"].isna().all()
    assert (plain["regret"] > 0).all()
    assert found.runs.query("policy == 'OMM'")["greedy_calls"].tolist() == [50, 50]


class Dice(mb.Policy):
    """Plays at random; what it draws depends on its seed."""

    name = "dice"

    def __init__(self, matroid: mb.Matroid, seed: int) -> None:
        super().__init__(matroid)
        self.seed = seed
        self._rng = np.random.default_rng(seed)

    def _select(self):
        return self.greedy_basis(self._rng.random(self.matroid.size))


def test_policies_that_draw_get_the_seed_of_the_run(tmp_path: Path) -> None:
    study = load_study(
        {
            "horizon": 60,
            "runs": 3,
            "seed": 5,
            "policies": [Dice, {"type": Dice, "label": "fixed", "seed": 9}, "OMM"],
            "instances": ["K5"],
        }
    )
    # The seed of the run is not part of the identity.
    origins = study.identity()["policies"]
    assert [origins[name]["parameters"] for name in origins] == [{}, {"seed": 9}, {}]
    found = run_study(study, tmp_path, jobs=2).runs
    matroid = study.instances[0].matroid
    for seed in (5, 6, 7):
        environment = mb.GaussianEnvironment(mb.random_means(10, seed))
        for name, own in (("dice", seed), ("fixed", 9)):
            expected = mb.simulate(Dice(matroid, own), environment, 60, seed=seed).total_regret
            here = found[(found["policy"] == name) & (found["seed"] == seed)]
            assert here["regret"].tolist() == [expected]


def test_every_run_has_its_lower_bound(small: Study, expected: Results) -> None:
    for run in expected.runs.to_dict("records"):
        instance = small.instance(run["instance"])
        environment = mb.GaussianEnvironment(mb.random_means(instance.matroid.size, run["seed"]))
        bound = mb.regret_lower_bound(instance.matroid, environment, run["horizon"])
        assert run["lower_bound"] == bound > 0


def test_where_there_is_no_lower_bound(tmp_path: Path) -> None:
    class Constant(mb.Environment):
        def _sample(self, rng, element, count):
            return np.full(count, self.means[element])

    allowed = [set(), {0}, {1}, {2}, {3}, {0, 1}, {2, 3}]
    odd = mb.OracleMatroid(4, lambda chosen: set(chosen) in allowed)
    instances = [
        {"name": "constant", "matroid": "K4", "environment": {"type": Constant}},
        {"name": "odd", "matroid": odd, "environment": {"means": [0.5, 0.6, 0.1, 0.1]}},
    ]
    study = load_study({"horizon": 9, "runs": 2, "policies": ["OMM"], "instances": instances})
    assert run_study(study, tmp_path, jobs=1).runs["lower_bound"].isna().all()


def test_folders_from_before_lower_bounds(small, expected, taken, tmp_path) -> None:
    shutil.copytree(taken, tmp_path / "old")
    runs = pd.read_parquet(taken / "runs.parquet").drop(columns="lower_bound")
    runs.to_parquet(tmp_path / "old" / "runs.parquet")
    found = read_results(tmp_path / "old")
    assert found.runs["lower_bound"].isna().all()
    assert found.runs["regret"].tolist() == expected.runs["regret"].tolist()
    assert len(run_study(small, tmp_path / "old", jobs=1).sessions) == 1  # nothing is run again


# ---- not every policy on every instance ----

PARTLY = {
    "horizon": 100,
    "runs": 2,
    "policies": ["MAUB", "OMM", "MAUB(neighborhood=paper)"],
    "instances": [
        {"matroid": "K4", "policies": ["omm", "MAUB( neighborhood='paper' )"]},
        {"matroid": "K5", "policies": ["MAUB"]},
        "U(2,4)",
    ],
}


def test_only_the_policies_of_an_instance_run(tmp_path: Path) -> None:
    study = load_study(PARTLY)
    found = run_study(study, tmp_path, jobs=1)
    pairs = {(run["instance"], run["policy"]) for run in found.runs.to_dict("records")}
    paper = "MAUB(neighborhood=paper)"
    assert pairs == {
        *(("K4", "OMM"), ("K4", paper), ("K5", "MAUB")),
        *(("U(2,4)", "MAUB"), ("U(2,4)", "OMM"), ("U(2,4)", paper)),
    }
    assert len(study.tasks()) == len(found.runs) == 12
    identity = study.identity()["instances"]
    assert identity["K4"]["policies"] == ["OMM", paper]
    assert "policies" not in identity["U(2,4)"]


def test_an_instance_may_get_more_policies(tmp_path: Path, monkeypatch) -> None:
    run_study(load_study(PARTLY), tmp_path, jobs=1)
    more = [PARTLY["instances"][0], {"matroid": "K5", "policies": ["OMM", "MAUB"]}, "U(2,4)"]
    grown = load_study(PARTLY | {"instances": more})
    with pytest.raises(StudyError, match=r'K5.policies: there \["MAUB"\], here \["MAUB", "OMM"\]'):
        run_study(grown, tmp_path, jobs=1)
    ran = count_runs(monkeypatch)
    run_study(grown, tmp_path, jobs=1, extend=True)
    assert {(task.instance, task.policy) for task in ran} == {("K5", "OMM")}
    with pytest.raises(StudyError, match="belongs to another study"):
        run_study(load_study(PARTLY), tmp_path, jobs=1, extend=True)


# ---- nothing is run twice, nothing is lost ----


def count_runs(monkeypatch) -> list[Task]:
    ran: list[Task] = []
    run = worker.Worker.run

    def counted(self, task: Task) -> bytes:
        line = run(self, task)
        ran.append(task)
        return line

    monkeypatch.setattr(worker.Worker, "run", counted)
    return ran


def test_a_finished_study_is_not_run_again(small: Study, tmp_path, monkeypatch) -> None:
    first = run_study(small, tmp_path, jobs=1)
    ran = count_runs(monkeypatch)
    again = run_study(small, tmp_path, jobs=1)
    assert ran == []
    pd.testing.assert_frame_equal(first.runs, again.runs)  # seconds and all
    assert len(again.sessions) == 1


def test_ctrl_c_loses_nothing(small: Study, expected: Results, tmp_path, monkeypatch) -> None:
    simulate = mb.simulate
    calls = 0

    def tired(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == 8:
            raise KeyboardInterrupt
        return simulate(*arguments, **options)

    monkeypatch.setattr("matroid_bandits.experiments.running.worker.simulate", tired)
    with pytest.raises(KeyboardInterrupt):
        run_study(small, tmp_path, jobs=1)
    kept = read_results(tmp_path)
    assert len(kept.runs) == 7
    assert (tmp_path / "runs.parquet").exists()
    ran = count_runs(monkeypatch)
    finished = run_study(small, tmp_path, jobs=1)
    assert len(ran) == 11
    assert_same_numbers(finished, expected)
    assert sorted(finished.runs["session"].value_counts()) == [7, 11]


@pytest.mark.parametrize("at", ["curves.parquet", "runs.parquet"])
def test_a_crash_while_gathering(small, expected, tmp_path, monkeypatch, at: str) -> None:
    """An interruption between two writes does no harm."""
    write = results.write_table

    def crash(path: Path, table) -> None:
        if path.name == at:
            raise RuntimeError("power cut")
        write(path, table)

    with monkeypatch.context() as patch:
        patch.setattr(results, "write_table", crash)
        with pytest.raises(RuntimeError, match="power cut"):
            run_study(small, tmp_path, jobs=1)
    assert_same_numbers(read_results(tmp_path), expected)
    ran = count_runs(monkeypatch)
    assert_same_numbers(run_study(small, tmp_path, jobs=1), expected)
    assert ran == []


def test_tables_can_be_made_again(small, expected, tmp_path, monkeypatch) -> None:
    run_study(small, tmp_path, jobs=1)
    for name in ("runs.parquet", "curves.parquet"):
        (tmp_path / name).unlink()
    ran = count_runs(monkeypatch)
    assert_same_numbers(run_study(small, tmp_path, jobs=1), expected)
    assert ran == []
    assert (tmp_path / "runs.parquet").exists()


def test_parts_are_not_needed_once_there_are_tables(small, expected, tmp_path) -> None:
    run_study(small, tmp_path, jobs=1)
    shutil.rmtree(tmp_path / "parts")
    assert_same_numbers(run_study(small, tmp_path, jobs=1), expected)


def test_unfinished_files_are_ignored(small, expected, tmp_path) -> None:
    run_study(small, tmp_path, jobs=1)
    # They may be another process's, which is writing.
    leftovers = [tmp_path / ".study.json.1.unfinished", tmp_path / "sessions" / ".x.1.unfinished"]
    for path in leftovers:
        path.write_text("{")
    assert_same_numbers(run_study(small, tmp_path, jobs=1), expected)
    assert all(path.exists() for path in leftovers)


STUDY = """\
horizon = 30_000
runs = 14
policies = ["MAUB", "OMM"]
instances = ["K12", "U(15,30)"]
"""


@pytest.fixture(scope="module")
def study_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("studies") / "long.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def uninterrupted(study_file: Path, tmp_path_factory) -> Results:
    return run_study(load_study(study_file), tmp_path_factory.mktemp("long"), jobs=2)


def start(study_file: Path, out: Path, jobs: int) -> subprocess.Popen:
    # Where the tests run in the background, Ctrl-C is switched off for them and their children.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from matroid_bandits.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, "run", str(study_file)]
    command += ["--out", str(out), "--jobs", str(jobs)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finished_runs(out: Path) -> dict[Task, float]:
    """Which runs are in the parts, and their seconds."""
    return {
        run.task: run.numbers["seconds"]
        for path in out.glob("parts/*.jsonl")
        for run in read_part(path, PartReading(0))
    }


def wait_for_parts(process: subprocess.Popen, out: Path, number: int) -> None:
    for _ in range(6000):
        if len(finished_runs(out)) >= number:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("no results came")


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("jobs, parts", [(2, 1), (1, 9)])
def test_kill_and_resume(study_file, uninterrupted, tmp_path, jobs: int, parts: int) -> None:
    out = tmp_path / "out"
    process = start(study_file, out, jobs)
    wait_for_parts(process, out, parts)
    # The first process only: its workers must notice by themselves.
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    time.sleep(1.5)
    finished = finished_runs(out)
    assert parts <= len(finished) < 56
    time.sleep(0.5)
    assert finished_runs(out) == finished  # no worker is still running
    process = start(study_file, out, jobs)
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert errors == ""  # quiet when piped
    assert "report.html" in output
    found = read_results(out)
    assert_same_numbers(found, uninterrupted)
    # Not run again: their seconds are those of the first time, and so is their session.
    for run in found.runs.to_dict("records"):
        task = Task(run["instance"], run["policy"], run["seed"])
        assert run["session"] == found.sessions[0 if task in finished else 1]["name"]
        if task in finished:
            assert run["seconds"] == finished[task]


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_and_resume(study_file, uninterrupted, tmp_path, jobs: int) -> None:
    out = tmp_path / "out"
    process = start(study_file, out, jobs)
    wait_for_parts(process, out, 5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == (
        f"interrupted: what was finished is kept in {out}, and the same command goes on from "
        "there\n"
    )
    kept = len(read_results(out).runs)
    assert 5 <= kept < 56
    process = start(study_file, out, jobs)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    found = read_results(out)
    assert_same_numbers(found, uninterrupted)
    assert (found.runs["session"] == found.sessions[0]["name"]).sum() == kept


def test_a_second_process_in_the_same_folder_is_refused(study_file, tmp_path) -> None:
    out = tmp_path / "out"
    process = start(study_file, out, 2)
    try:
        wait_for_parts(process, out, 1)
        with pytest.raises(StudyError, match=r"something is running in .* already"):
            run_study(load_study(study_file), out)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_sigterm_is_like_ctrl_c(study_file, tmp_path) -> None:
    out = tmp_path / "out"
    process = start(study_file, out, 2)
    wait_for_parts(process, out, 3)
    process.terminate()
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.startswith("interrupted: what was finished is kept")
    assert len(read_results(out).runs) >= 3


def test_ctrl_c_ends_long_runs_at_once(tmp_path) -> None:
    path = tmp_path / "endless.toml"
    path.write_text(
        'horizon = 9_000_000_000\npolicies = ["OMM"]\nruns = 2\n'
        'instances = [{ name = "short", matroid = "K4", horizon = 10 }, "K20"]\n'
    )
    process = start(path, tmp_path / "out", 2)
    try:
        wait_for_parts(process, tmp_path / "out", 1)
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=20)  # its workers do not finish what they are at
        assert process.returncode == 130
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_a_run_whose_curve_is_gone_is_run_again(small, expected, tmp_path, monkeypatch) -> None:
    run_study(small, tmp_path, jobs=1)
    (tmp_path / "curves.parquet").unlink()
    shutil.rmtree(tmp_path / "parts")
    ran = count_runs(monkeypatch)
    assert_same_numbers(run_study(small, tmp_path, jobs=1), expected)
    assert len(ran) == 18


def test_tasks_are_ordered_by_seed(small: Study) -> None:
    tasks = small.tasks()
    assert [task.seed for task in tasks] == sorted(task.seed for task in tasks)
    assert {(t.instance, t.policy) for t in tasks[:6]} == {(t.instance, t.policy) for t in tasks}


def test_progress_counts_runs_from_before(small, tmp_path, monkeypatch) -> None:
    shown: list[tuple[int, int]] = []

    class Watched(runner.Progress):
        def __init__(self, total: int, **options) -> None:
            shown.append((total, options["done_before"]))
            super().__init__(total, **options)

    monkeypatch.setattr(runner, "Progress", Watched)
    run_study(load_study(SMALL | {"runs": 2}), tmp_path, jobs=1)
    run_study(small, tmp_path, jobs=1, extend=True)
    assert shown == [(12, 0), (18, 12)]


# ---- failures ----


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_bad_run_does_not_stop_the_others(tmp_path, jobs: int) -> None:
    class Fragile(mb.OMM):
        name = "Fragile"

        def _select(self):
            if self.rounds == 20 and self.means[0] > 0.75:
                raise ValueError("I do not like this instance")
            return super()._select()

    study = load_study(
        {"horizon": 50, "runs": 6, "policies": ["OMM", Fragile], "instances": ["K5"]}
    )
    with pytest.raises(
        StudyError, match=r"runs failed, the first one K5 Fragile seed .*: ValueErr"
    ):
        run_study(study, tmp_path, jobs=jobs)
    kept = read_results(tmp_path).runs["policy"].value_counts()
    assert kept["OMM"] == 6
    assert 0 < kept["Fragile"] < 6


def test_a_policy_that_exits(tmp_path) -> None:
    class Quitter(mb.OMM):
        name = "Quitter"

        def _select(self):
            sys.exit(3)

    study = load_study({"horizon": 9, "runs": 2, "policies": [Quitter, "OMM"], "instances": ["K4"]})
    with pytest.raises(StudyError, match="2 of 4 runs failed, the first one K4 Quitter seed 0"):
        run_study(study, tmp_path, jobs=1)


def test_names_of_any_length_and_kind(tmp_path) -> None:
    names = ["\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 100, "a/b", "a-b", "../x", "K5", "k5"]
    study = load_study(
        {
            "horizon": 9,
            "runs": 2,
            "policies": ["OMM"],
            "instances": [{"name": name, "matroid": "K4"} for name in names],
        }
    )
    assert len(run_study(study, tmp_path / "out", jobs=1).runs) == 12
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert study.part(only=["k5"]).instances[0].name == "k5"


@pytest.mark.filterwarnings("ignore::UserWarning")  # loky's own, about the process that died
def test_a_worker_that_is_killed(tmp_path) -> None:
    class Fatal(mb.OMM):
        name = "Fatal"

        def _select(self):
            os.kill(os.getpid(), signal.SIGKILL)

    study = load_study({"horizon": 50, "runs": 3, "policies": ["OMM", Fatal], "instances": ["K5"]})
    with pytest.raises(
        StudyError, match=r"3 of 6 runs failed, the first one K5 Fatal .*process ended suddenly"
    ):
        run_study(study, tmp_path, jobs=2)
    # The others are finished, whoever shared a process with them.
    assert read_results(tmp_path).runs["policy"].tolist() == ["OMM"] * 3


def test_a_single_run_that_kills_its_process(tmp_path) -> None:
    """It has a process of its own, so that this one can say what has happened."""

    class Fatal(mb.OMM):
        name = "Fatal"

        def _select(self):
            os.kill(os.getpid(), signal.SIGKILL)

    study = load_study({"horizon": 50, "runs": 1, "policies": [Fatal], "instances": ["K5"]})
    with pytest.raises(StudyError, match=r"1 of 1 runs failed.*process ended suddenly"):
        run_study(study, tmp_path, jobs=2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_numbers_that_no_table_can_have(tmp_path, jobs: int) -> None:
    """They fail their run, and no other."""

    class Miscounting(mb.OMM):
        name = "Miscounting"

        def __init__(self, matroid, *, seed=0):
            super().__init__(matroid)
            self.is_wrong = seed == 1

        @property
        def oracle_calls(self):
            return -1 if self.is_wrong else super().oracle_calls

        def _select(self):
            return self.greedy_basis(self.counts)

    study = load_study({"horizon": 50, "runs": 3, "policies": [Miscounting], "instances": ["K5"]})
    with pytest.raises(StudyError, match=r"1 of 3 runs failed, .* seed 1: ValueError: oracle"):
        run_study(study, tmp_path, jobs=jobs)
    assert read_results(tmp_path).runs["seed"].tolist() == [0, 2]


def test_a_class_that_cannot_be_sent(tmp_path) -> None:
    lock = threading.Lock()

    class Locked(mb.OMM):
        name = "Locked"

        def _why(self, *_):
            return lock

    study = load_study({"horizon": 50, "runs": 3, "policies": [Locked], "instances": ["K5"]})
    with pytest.raises(StudyError, match=r"cannot be sent to other processes \(.*--jobs 1"):
        run_study(study, tmp_path / "processes", jobs=2)
    assert len(run_study(study, tmp_path / "here", jobs=1).runs) == 3


def test_a_class_that_workers_cannot_import(tmp_path, monkeypatch) -> None:
    module = types.ModuleType("known_here_only")
    exec("import matroid_bandits as mb\nclass Hidden(mb.OMM): name = 'Hidden'", vars(module))
    monkeypatch.setitem(sys.modules, "known_here_only", module)
    study = load_study(
        {"horizon": 50, "runs": 3, "policies": ["OMM", module.Hidden], "instances": ["K5"]}
    )
    with pytest.raises(StudyError, match=r"6 of 6 runs failed.*No module named 'known_here_only'"):
        run_study(study, tmp_path, jobs=2)


# ---- the folder of a study ----


def content_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def taken(small: Study, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("taken")
    run_study(small, folder, jobs=1)
    return folder


@pytest.mark.parametrize(
    "changes, difference",
    [
        ({"horizon": 500}, "instances.K5.horizon: there 400, here 500"),
        ({"runs": 2}, "runs: there 3, here 2"),
        ({"seed": 1}, "seed: there 0, here 1"),
        ({"policies": ["MAUB"]}, "policies.OMM: there, but not here"),
        ({"instances": ["K5"]}, "instances.U(2,5): there, but not here"),
        ({"instances": ["K5", "K6"]}, "instances.K6: not there, here new"),
        (
            {"environment": {"std": 0.5}},
            "instances.K5.environment.parameters.std: not there, here new",
        ),
        (
            {"environment": {"type": "bernoulli"}},
            'environment.type: there "GaussianEnvironment", here "BernoulliEnvironment"',
        ),
        (
            {"environment": {"means": {"uniform": [0, 1]}}},
            "instances.K5.means: there [0.5, 1.0], here [0.0, 1.0]",
        ),
    ],
)
def test_the_folder_of_another_study_is_refused(small, taken, changes, difference) -> None:
    before = content_of(taken)
    with pytest.raises(StudyError, match="belongs to another study:") as refused:
        run_study(load_study(SMALL | changes), taken)
    assert difference in str(refused.value)
    assert "choose another folder (--out)" in str(refused.value)
    assert before == content_of(taken)


def test_a_study_that_has_grown(small, expected, taken, tmp_path, monkeypatch) -> None:
    shutil.copytree(taken, tmp_path / "mine")
    instances = [*SMALL["instances"], "K4"]
    grown = load_study(SMALL | {"runs": 4, "instances": instances})
    with pytest.raises(StudyError, match=r"run only what is missing \(--extend\), or choose"):
        run_study(grown, tmp_path / "mine", jobs=1)
    ran = count_runs(monkeypatch)
    found = run_study(grown, tmp_path / "mine", jobs=1, extend=True)
    assert len(ran) == 32 - 18
    assert_same_numbers(found, run_study(grown, tmp_path / "anew", jobs=1))
    # It has not merely grown.
    for other in (small, load_study(SMALL | {"runs": 3, "instances": instances})):
        with pytest.raises(StudyError, match="belongs to another study"):
            run_study(other, tmp_path / "mine", jobs=1, extend=True)


def test_folders_with_other_things(small, tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(StudyError, match=r"holds other things \(thesis.tex, ...\) and no study"):
        run_study(small, tmp_path)
    with pytest.raises(StudyError, match="results cannot be written to"):
        run_study(small, tmp_path / "thesis.tex")
    with pytest.raises(StudyError, match="holds no study"):
        read_results(tmp_path)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "study.json").write_text("{")
    with pytest.raises(StudyError, match="cannot be read"):
        run_study(small, tmp_path / "new")
    (tmp_path / "new" / "study.json").write_text('{"format": 99}')
    with pytest.raises(StudyError, match="has format 99; this version"):
        read_results(tmp_path / "new")


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("study.json", "[]", "does not describe a study"),
        ("study.json", '{"format": 1}', "does not describe a study"),
        ("sessions/x.json", "[1]", "does not describe a session"),
        ("sessions/x.json", "{", "x.json cannot be read"),
        ("sessions/x.json", '{"jobs": 1}', "session x lacks command"),
        ("sessions.json", "[1]", "are damaged"),
        ("runs.parquet", "PAR1", "runs.parquet cannot be read"),
        ("parts/x.json", "{}", "are damaged: KeyError"),
        ("parts/x.json", "{", "x.json cannot be read"),
    ],
)
def test_damage_is_reported_in_one_line(taken, tmp_path, name, content, message) -> None:
    shutil.copytree(taken, tmp_path / "mine")
    (tmp_path / "mine" / name).write_text(content)
    with pytest.raises(StudyError, match=re.escape(message)) as refused:
        read_results(tmp_path / "mine")
    assert "\n" not in str(refused.value)


def test_a_session_that_is_gone(taken, tmp_path) -> None:
    shutil.copytree(taken, tmp_path / "mine")
    shutil.rmtree(tmp_path / "mine" / "sessions")
    with pytest.raises(StudyError, match="of an unknown session"):
        read_results(tmp_path / "mine")


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda runs: runs.assign(instance="K99"), "there are runs of K99, which is not in"),
        (lambda runs: runs.assign(regret=np.nan), "runs without regret"),
        (lambda runs: runs.assign(session="7"), "of an unknown session"),
        (lambda runs: pd.concat([runs, runs.head(1)]), "a run is there twice"),
        (lambda runs: runs.drop(columns="seed"), "runs.parquet cannot be read"),
    ],
)
def test_damaged_tables(taken, tmp_path, change, message) -> None:
    shutil.copytree(taken, tmp_path / "mine")
    runs = change(pd.read_parquet(taken / "runs.parquet"))
    runs.to_parquet(tmp_path / "mine" / "runs.parquet")
    if "K99" in message:
        curves = pd.read_parquet(taken / "curves.parquet").assign(instance="K99")
        curves.to_parquet(tmp_path / "mine" / "curves.parquet")
    with pytest.raises(StudyError, match=message):
        read_results(tmp_path / "mine")


@pytest.fixture(scope="module")
def as_before_checksums(taken: Path, tmp_path_factory) -> Path:
    """The same results as an earlier version wrote them."""
    folder = tmp_path_factory.mktemp("before") / "checksums"
    shutil.copytree(taken, folder)
    for name in ("runs.parquet", "curves.parquet"):
        pd.read_parquet(taken / name).to_parquet(folder / name, index=False)
    return folder


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """One byte, a stretch of bytes, or the rest of the file is something else."""
    place = int(rng.integers(len(content)))
    kind = rng.integers(4)
    if kind == 0:
        return (
            content[:place]
            + bytes([content[place] ^ (1 << rng.integers(8))])
            + content[place + 1 :]
        )
    if kind == 1:
        noise = rng.bytes(int(rng.integers(1, 64)))
        return content[:place] + noise + content[place + len(noise) :]
    if kind == 2:
        return content[:place]
    return content[:place] + bytes(min(512, len(content) - place)) + content[place + 512 :]


@pytest.mark.parametrize("name", ["runs.parquet", "curves.parquet"])
def test_damage_is_refused_or_does_no_harm(taken: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(taken, tmp_path / "mine")
    expected = read_results(taken)
    content = (taken / name).read_bytes()
    refused = 0
    for seed in seeds(300):
        rng = np.random.default_rng([seed, 31])
        (tmp_path / "mine" / name).write_bytes(damaged(content, rng))
        try:
            found = read_results(tmp_path / "mine")
        except StudyError as error:
            refused += len(str(error).splitlines()) == 1
        else:
            pd.testing.assert_frame_equal(found.runs, expected.runs)
            pd.testing.assert_frame_equal(found.curves, expected.curves)
    assert refused > 100


def test_flipped_bits_are_found_in_pages_and_footer(taken: Path, tmp_path: Path) -> None:
    """In pages and in the footer: one bit is found out, wherever it is."""
    shutil.copytree(taken, tmp_path / "mine")
    expected = read_results(taken).runs
    content = (taken / "runs.parquet").read_bytes()
    for place in range(0, len(content), max(1, len(content) // 200)):
        changed = bytearray(content)
        changed[place] ^= 0x10
        (tmp_path / "mine" / "runs.parquet").write_bytes(changed)
        try:
            found = read_results(tmp_path / "mine").runs
        except StudyError:
            continue
        pd.testing.assert_frame_equal(found, expected)


def test_tables_of_earlier_versions_are_read(small, taken, as_before_checksums) -> None:
    assert_same_numbers(read_results(as_before_checksums), read_results(taken))
    assert len(run_study(small, as_before_checksums, jobs=1).sessions) == 1


@pytest.mark.parametrize(
    "table, change, message",
    [
        ("runs", {"regret": 1.5}, "a run and the end of its curve are not the same"),
        ("runs", {"oracle_calls": 7}, "a run and the end of its curve are not the same"),
        ("runs", {"oracle_calls": -7}, r"seed \d+ has a negative counter"),
        ("runs", {"regret": np.inf}, r"seed \d+ has a regret that is not finite"),
        ("runs", {"horizon": 399}, r"seed \d+ has a horizon that is not the study's"),
        ("runs", {"seed": 77}, "seed 77 has a seed that is not the study's"),
        ("runs", {"seconds": -1.0}, r"seed \d+ has negative seconds"),
        ("runs", {"lower_bound": -1.0}, r"seed \d+ has a negative lower bound"),
        ("curves", {"regret": np.nan}, "a curve has a regret that is not finite"),
        ("curves", {"round": 0}, "or a round before the first"),
        ("curves", {"regret": 1.5}, "a run and the end of its curve are not the same"),
    ],
)
def test_numbers_that_contradict_each_other(
    as_before_checksums, tmp_path, table: str, change: dict, message: str
) -> None:
    shutil.copytree(as_before_checksums, tmp_path / "mine")
    path = tmp_path / "mine" / f"{table}.parquet"
    frame = pd.read_parquet(path)
    (column, value), *_ = change.items()
    # The last line is the end of the last curve.
    lines = [len(frame) - 1]
    if column == "seed":
        curves = pd.read_parquet(tmp_path / "mine" / "curves.parquet")
        key = ["instance", "policy", "seed"]
        same = (curves[key] == frame.loc[lines[0], key]).all(axis=1)
        curves.loc[same, "seed"] = value
        curves.to_parquet(tmp_path / "mine" / "curves.parquet", index=False)
    frame.loc[lines, column] = value
    frame.to_parquet(path, index=False)
    with pytest.raises(StudyError, match=message):
        read_results(tmp_path / "mine")


def test_jobs_must_be_a_number(small, tmp_path) -> None:
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        run_study(small, tmp_path, jobs=0)
    assert available_cores() >= 1
