"""Studies on a Dask cluster: on this machine, and by the address of a scheduler."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from distributed import Client, LocalCluster

from matroid_bandits.cli import main
from matroid_bandits.experiments import (
    Results,
    RunsFailedError,
    StudyError,
    load_study,
    read_results,
    run_study,
)
from matroid_bandits.experiments.running import worker
from matroid_bandits.experiments.storing.parts import PartReading, read_part

STUDY = """\
horizon = 20_000
runs = 20
policies = ["MAUB", "OMM"]
instances = ["K12", "U(15,30)"]
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Workers that live long: they work for one study after another."""
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as made:
        yield made


def assert_same_numbers(one: Results, other: Results) -> None:
    own = ["seconds", "session"]  # of the machine and the moment
    pd.testing.assert_frame_equal(one.runs.drop(columns=own), other.runs.drop(columns=own))
    pd.testing.assert_frame_equal(one.curves, other.curves)


def start(*arguments: str) -> subprocess.Popen:
    """The command line, in a group of processes of its own."""
    # Where the tests run in the background, Ctrl-C is switched off for them and their children.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from matroid_bandits.cli import main; sys.exit(main())"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_runs(process: subprocess.Popen, out: Path, number: int) -> None:
    for _ in range(3000):
        parts = list(out.glob("parts/*.jsonl"))
        if sum(len(list(read_part(path, PartReading(0)))) for path in parts) >= number:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("no results came")


def processes_of_group(group: int) -> list[int]:
    """Processes of a group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                found.append(int(path.parent.name))
    return found


# ---- the command line ----


def test_a_worker_that_is_killed_costs_its_chunk(cluster, tmp_path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    out = tmp_path / "out"
    process = start(
        str(tmp_path / "study.toml"), "--out", str(out), "--dask", cluster.scheduler_address
    )
    wait_for_runs(process, out, 6)
    # Its nanny starts another one.
    os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert errors == ""
    assert "report.html" in output
    found = read_results(out)
    study = load_study(tmp_path / "study.toml")
    assert_same_numbers(found, run_study(study, tmp_path / "here", jobs=2))
    (session,) = found.sessions
    assert len(session["workers"]) >= 2
    assert "failures" not in session


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_of_local_workers(tmp_path, number: int) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace("20_000", "200_000"))
    out = tmp_path / "out"
    process = start(
        str(tmp_path / "study.toml"), "--out", str(out), "--dask", "local", "--jobs", "2"
    )
    try:
        wait_for_runs(process, out, 3)
        os.killpg(process.pid, number)  # all of them, as a terminal does
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 130
        assert errors == (
            f"interrupted: what was finished is kept in {out}, and the same command goes on from "
            "there\n"
        )
        assert 3 <= len(read_results(out).runs) < 80
        if Path("/proc/self/stat").exists():
            time.sleep(1)
            assert processes_of_group(process.pid) == []
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_no_scheduler_answers(tmp_path, monkeypatch, capsys) -> None:
    # It needs a certificate; others are waited for.
    address = "tls://127.0.0.1:1"
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)
    assert main(["run", "study.toml", "--quiet", "--dask", address]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"matroid-bandits run: no Dask scheduler answers at {address} (")
    assert line.endswith("start one with `dask scheduler`, or use --dask local")
    # The folder is still nobody's.
    assert not Path("results").exists()


@pytest.mark.parametrize(
    "address", ["somewhere", "127.0.0.1", "tcp://host", "http://127.0.0.1:8787"]
)
def test_addresses_of_no_scheduler(tmp_path, monkeypatch, capsys, address: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)
    assert main(["run", "study.toml", "--quiet", f"--dask={address}"]) == 2
    assert capsys.readouterr().err == (
        f"matroid-bandits run: --dask must be the address of a scheduler, such as "
        f"tcp://host:8786, or local, got {address!r}\n"
    )
    assert not Path("results").exists()


def test_without_dask(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "distributed", None)
    Path("study.toml").write_text(STUDY)
    assert main(["run", "study.toml", "--quiet", "--dask", "local"]) == 1
    assert capsys.readouterr().err == (
        "matroid-bandits run: --dask needs distributed: pip install 'matroid-bandits[cluster]'\n"
    )


def test_options_that_do_not_go_together(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["run", "study.toml", "--dask", "local", "--shard", "1/2"])
    assert "--shard and --dask do not go together" in capsys.readouterr().err


# ---- workers without a shared disk ----

MINE = """\
import helper
import matroid_bandits as mb
from pack.inner import shift
from names.plain import ONE

class Mine(mb.OMM):
    name = "Mine"

    def _select(self):
        import late
        weights = [helper.SIGN * shift(e) + late.ZERO * ONE for e in range(self.matroid.size)]
        return self.greedy_basis(weights)
"""

NEIGHBORS = {
    "mine.py": MINE,
    "helper.py": "SIGN = 1\n",
    "late.py": "from pack import START\nZERO = START\n",
    "pack/__init__.py": "START = 0\n",
    "pack/inner.py": "from . import START\n\ndef shift(e):\n    return e + START\n",
    "names/plain.py": "ONE = 1\n",  # a package without a file
    "study.toml": 'horizon = 50\nruns = 3\ninstances = ["K4"]\n'
    'policies = ["OMM", { type = "mine.py:Mine" }]\n',
}


def with_neighbors(folder: Path, **changes: str) -> Path:
    for name, text in {**NEIGHBORS, **changes}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "study.toml"


def regrets(found: Results) -> list[float]:
    return found.runs.query("policy == 'Mine'")["regret"].tolist()


def test_neighbors_travel_with_the_study(cluster, tmp_path) -> None:
    study = load_study(with_neighbors(tmp_path / "code"))
    expected = run_study(study, tmp_path / "here", jobs=1)
    study = load_study(tmp_path / "code" / "study.toml")
    # As on a machine that does not have this folder.
    (tmp_path / "code").rename(tmp_path / "elsewhere")
    found = run_study(study, tmp_path / "there", dask=cluster.scheduler_address)
    assert_same_numbers(found, expected)


def test_workers_that_live_long_see_an_edit(cluster, tmp_path) -> None:
    """Of a neighbor only: what is pickled stays the same."""
    address = cluster.scheduler_address
    path = with_neighbors(tmp_path / "code")
    run_study(load_study(path), tmp_path / "before", dask=address)
    with_neighbors(tmp_path / "code", **{"helper.py": "SIGN = -1\n"})
    study = load_study(path)
    there = regrets(run_study(study, tmp_path / "there", dask=address))
    here = regrets(run_study(study, tmp_path / "here", jobs=1))
    assert there == here != regrets(read_results(tmp_path / "before"))


def test_studies_take_turns_on_the_same_workers(cluster, tmp_path) -> None:
    """A function that imports finds its own neighbor, not that of the study before."""
    address = cluster.scheduler_address
    one = load_study(with_neighbors(tmp_path / "one"))
    late = {"late.py": "raise ImportError('of the other study')\n"}
    other = load_study(with_neighbors(tmp_path / "other", **late))
    first = run_study(one, tmp_path / "first", dask=address)
    with pytest.raises(StudyError, match="of the other study"):
        run_study(other, tmp_path / "second", dask=address)
    assert_same_numbers(run_study(one, tmp_path / "third", dask=address), first)


def test_workers_of_another_version(cluster, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(worker, "__version__", "0.0.1")
    study = load_study(
        {"horizon": 50, "runs": 9, "policies": ["OMM", "MAUB"], "instances": ["K4", "K5"]}
    )
    with pytest.raises(StudyError, match=r"has matroid-bandits .*, and the study was started wi"):
        run_study(study, tmp_path, dask=cluster.scheduler_address)


def test_an_executor_of_the_user(cluster, tmp_path) -> None:
    study = load_study({"horizon": 50, "runs": 9, "policies": ["OMM"], "instances": ["K4", "K5"]})
    with Client(cluster, set_as_default=False) as client:
        found = run_study(study, tmp_path / "there", executor=client.get_executor())
    assert_same_numbers(found, run_study(study, tmp_path / "here", jobs=1))
    assert found.sessions[0]["jobs"] == 2


FLAKY = """\
from pathlib import Path

import matroid_bandits as mb


class Flaky(mb.MAUB):
    "It fails in run 1, so many times."

    def __init__(self, matroid, *, seed=0, log="", failures=0):
        with Path(log).open("a") as file:
            file.write(f"{seed}\\n")
        if seed == 1 and Path(log).read_text().splitlines().count("1") <= failures:
            raise ValueError("not yet")
        super().__init__(matroid)
"""


@pytest.mark.parametrize("failures", [2, 3])
def test_a_failed_run_is_really_made_again(cluster, tmp_path, failures: int) -> None:
    """Dask keeps answers: the same call once more would get the same failure."""
    (tmp_path / "mine.py").write_text(FLAKY)
    log = tmp_path / "log"
    (tmp_path / "study.toml").write_text(
        'horizon = 50\nruns = 4\ninstances = ["K4"]\n[[policies]]\ntype = "mine.py:Flaky"\n'
        f'log = "{log}"\nfailures = {failures}\n'
    )
    study = load_study(tmp_path / "study.toml")
    with Client(cluster, set_as_default=False) as client:
        options: Any = {"executor": client.get_executor()}
        if failures == 3:
            with pytest.raises(
                RunsFailedError, match=r"1 of 4 runs failed, the first one .* not yet"
            ):
                run_study(study, tmp_path / "out", **options)
        else:
            run_study(study, tmp_path / "out", **options)
    assert log.read_text().splitlines().count("1") == 3


LATE_IMPORT = """\
import matroid_bandits as mb


class Mine(mb.Policy):
    "It imports a module beside it while it runs."

    def _select(self):
        import beside

        return self.greedy_basis(beside.weights(self))
"""

BESIDE = """\
def weights(policy):
    return {sign} * policy.counts
"""


def test_two_studies_at_once_on_workers_with_threads(tmp_path) -> None:
    """Each has a module of the same name, which their policies import while they run."""
    studies = {}
    for name, sign in (("one", 1), ("other", -1)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "mine.py").write_text(LATE_IMPORT)
        (folder / "beside.py").write_text(BESIDE.format(sign=sign))
        (folder / "study.toml").write_text(
            'horizon = 300\nruns = 12\ninstances = ["K5"]\npolicies = ["mine.py:Mine"]\n'
        )
        studies[name] = folder / "study.toml"
    expected = {
        name: run_study(load_study(path), tmp_path / f"{name}-here", jobs=1)
        for name, path in studies.items()
    }
    assert expected["one"].runs["regret"].sum() != expected["other"].runs["regret"].sum()
    with LocalCluster(
        n_workers=1,
        threads_per_worker=4,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as threads:
        address = threads.scheduler_address
        processes = [
            start(str(path), "--quiet", "--out", str(tmp_path / f"{name}-dask"), "--dask", address)
            for name, path in studies.items()
        ]
        for process in processes:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
            assert "the Dask workers have several threads" in errors
    for name, results in expected.items():
        assert_same_numbers(read_results(tmp_path / f"{name}-dask"), results)
