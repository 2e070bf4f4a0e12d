"""Studies of many tiny runs: what each way to run them adds, and what the tables take."""

import json
import resource
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.tables import ROOT, Table, goal, seconds
from matroid_bandits.experiments import Study, gather, load_study, run_study, write_report
from matroid_bandits.experiments.shards import Shard, tasks_of

WORKERS = 2
HORIZON = 20

# How the runs are made, and the options of run_study.
WAYS: dict[str, dict[str, Any]] = {
    "one process": {"jobs": 1},
    "processes": {"jobs": WORKERS},
    "Dask, local": {"jobs": WORKERS, "dask": "local"},
}


def measure(*, quick: bool = False) -> Table:
    """Each way in a process of its own, whose memory is measured."""
    n_tasks = 5_000 if quick else 100_000
    rows = []
    for way in WAYS:
        with TemporaryDirectory() as folder:
            found = _in_a_process("run", way, str(n_tasks), folder)
            found |= _in_a_process("tables", folder)
        workers = 1 if way == "one process" else WORKERS
        # Whatever the workers did not spend on runs: handing over, writing, waiting, starting.
        running = found["total"] - found["gathering"]
        added = (workers * running - found["computing"]) / n_tasks
        after = found["tables"]
        rows.append(
            [
                way,
                seconds(found["computing"] / n_tasks),
                seconds(added),
                "" if quick else goal(1e3 * added, "<", 1).replace("< 1", "< 1 ms"),
                f"{found['memory']:.0f} MB",
                "" if quick else goal(found["memory"], "<", 500).replace("500", "500 MB"),
                seconds(after),
                "" if quick else goal(after, "<", 60).replace("60", "60 s"),
            ]
        )
    return Table(
        name="scale_out",
        question="What does a study of very many tiny runs cost besides the runs?",
        method=(
            f"{n_tasks:,} runs of {HORIZON} rounds: MAUB and OMM on five small matroids, "
            f"{WORKERS} workers on {WORKERS} cores. Added: all the time of the workers that is not "
            "spent on runs (start-up, handing over, writing, waiting), by run. Memory: the most "
            "that the process which gives out the runs has used, tables and report included, as "
            "`matroid-bandits run` does it. Tables: `matroid-bandits report` from the parts alone, "
            "in a new process."
        ),
        columns=["way", "a run", "added", "goal", "memory", "goal ", "tables", "goal  "],
        rows=rows,
        remarks=[_evenness(n_tasks)],
    )


def _study(n_tasks: int) -> Study:
    return load_study(
        {
            "horizon": HORIZON,
            "runs": n_tasks // 10,
            "policies": ["MAUB", "OMM"],
            "instances": ["K4", "K5", "U(2,5)", "U(3,6)", "partition(6)"],
        }
    )


def _in_a_process(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.scale_out", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run(way: str, n_tasks: str, folder: str) -> dict[str, float]:
    """What the command does: run, tables, report."""
    study = _study(int(n_tasks))
    out = Path(folder) / "out"
    start = perf_counter()
    sessions = run_study(study, out, **WAYS[way]).sessions
    total = perf_counter() - start
    write_report(out)
    (session,) = sessions
    return {
        "total": total,
        "computing": sum(worker["seconds"] for worker in session["workers"].values()),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _tables(folder: str) -> dict[str, float]:
    """Tables and report from the parts alone."""
    out = Path(folder) / "out"
    for name in ("runs.parquet", "curves.parquet"):
        (out / name).unlink()
    start = perf_counter()
    gather(out)
    gathering = perf_counter() - start
    write_report(out)
    return {"gathering": gathering, "tables": perf_counter() - start}


def _evenness(n_tasks: int) -> str:
    """How evenly 64 shards share the runs, by turns and by a hash."""
    study = _study(n_tasks)
    by_turns = [len(tasks_of(study, Shard(i, 64))) for i in range(1, 65)]
    hashed = [0] * 64
    for task in study.tasks():
        hashed[int.from_bytes(sha256(repr(tuple(task)).encode()).digest()[:8]) % 64] += 1
    return (
        f"64 shards: {min(by_turns):,} to {max(by_turns):,} runs each; if a hash chose, "
        f"{min(hashed):,} to {max(hashed):,}."
    )


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps(_run(*arguments) if what == "run" else _tables(*arguments)))
