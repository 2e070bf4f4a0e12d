"""A cluster of one machine: `sbatch` puts jobs into a queue, and `FakeSlurm.run` runs them."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count, takewhile
from pathlib import Path

#: The command: what this file does when it is run as a program.
SBATCH = f"""\
#!{sys.executable}
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from fake_slurm import sbatch
sys.exit(sbatch(sys.argv[1:]))
"""


class FakeSlurm:
    """The scheduler, and the nodes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Jobs that have ended.
        self.done: set[int] = set()
        (folder / "bin").mkdir(parents=True)
        (folder / "jobs").mkdir()
        command = folder / "bin" / "sbatch"
        command.write_text(SBATCH)
        command.chmod(0o755)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SLURM_", "SBATCH_"))
        } | {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "FAKE_SLURM": str(folder),
        }

    def shell(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the login node."""
        return subprocess.run(
            command,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def jobs(self) -> list[dict]:
        """All jobs that were submitted."""
        files = sorted((self.folder / "jobs").glob("*.json"))
        return [json.loads(file.read_text()) for file in files]

    def run(self, **environment: str) -> list[tuple[int, int, int]]:
        """Run the queue until it is empty; job, task and exit status of what ended, by job."""
        ended: list[tuple[int, int, int]] = []
        while waiting := [job for job in self.jobs() if job["id"] not in self.done]:
            ready = [job for job in waiting if not job["after"] or job["after"] in self.done]
            assert ready, f"jobs wait for jobs that were never submitted: {waiting}"
            job = ready[0]
            with ThreadPoolExecutor(3) as nodes:
                running = [nodes.submit(self.task, job, i, **environment) for i in job["tasks"]]
            results = zip(job["tasks"], running, strict=True)
            ended += [(job["id"], task, status.result()) for task, status in results]
            self.done.add(job["id"])
        return ended

    def task(self, job: Mapping, task: int, **environment: str) -> int:
        """Run one task of a job array on a node."""
        tasks = job["tasks"]
        step = tasks[1] - tasks[0] if len(tasks) > 1 else 1
        regular = tasks == list(range(tasks[0], tasks[-1] + 1, step))
        variables = {
            "SLURM_JOB_ID": str(job["id"] * 1000 + task),
            "SLURM_ARRAY_JOB_ID": str(job["id"]),
            "SLURM_ARRAY_TASK_ID": str(task),
            "SLURM_ARRAY_TASK_MIN": str(min(tasks)),
            "SLURM_ARRAY_TASK_MAX": str(max(tasks)),
            "SLURM_ARRAY_TASK_STEP": str(step if regular else 1),
            "SLURM_ARRAY_TASK_COUNT": str(len(tasks)),
            "SLURM_CPUS_PER_TASK": job["options"]["cpus-per-task"],
        }
        name = job["options"]["output"].replace("%A", str(job["id"])).replace("%a", str(task))
        with (Path(job["folder"]) / name).open("ab") as output:
            return subprocess.run(
                ["bash", job["script"], *job["arguments"]],
                cwd=job["folder"],
                env=job["environment"] | variables | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode


def sbatch(arguments: Sequence[str]) -> int:
    """Put a job into the queue, as ``sbatch`` does."""
    if os.environ.get("FAKE_MAY_NOT_SUBMIT") and "SLURM_JOB_ID" in os.environ:
        sys.stderr.write("sbatch: error: Access/permission denied\n")
        return 1
    given = list(takewhile(lambda word: word.startswith("--"), arguments))
    words = arguments[len(given) :]
    source = Path(words[0]).read_text(encoding="utf-8") if words else sys.stdin.read()
    options = directives(source) | options_in(given)
    dependency = options.get("dependency", "")
    assert re.fullmatch(r"(afterany:[0-9]+)?", dependency), dependency
    number, script = _new_job(Path(os.environ["FAKE_SLURM"]) / "jobs")
    script.write_text(source, encoding="utf-8")
    job = {
        "id": number,
        "tasks": indices(options["array"]),
        "after": int(dependency.partition(":")[2] or 0),
        "script": str(script),
        "arguments": list(words[1:]),
        "options": options,
        "folder": str(Path.cwd()),
        "environment": dict(os.environ),
    }
    script.with_suffix(".json").write_text(json.dumps(job))
    cluster = os.environ.get("FAKE_CLUSTER")
    short = f"{number};{cluster}" if cluster else f"{number}"
    sys.stdout.write(f"{short if 'parsable' in options else f'Submitted batch job {number}'}\n")
    return 0


def _new_job(folder: Path) -> tuple[int, Path]:
    """A number that no other job has, and the file of its script."""
    for number in count(1):
        script = folder / f"{number:03}.script"
        with suppress(FileExistsError):
            script.touch(exist_ok=False)
            return number, script
    raise AssertionError("not reached")


def directives(script: str) -> dict[str, str]:
    """The options in the ``#SBATCH`` lines before the first command."""
    found: dict[str, str] = {}
    for line in script.splitlines():
        if line.startswith("#SBATCH"):
            found |= options_in(shlex.split(line.removeprefix("#SBATCH")))
        elif line.strip() and not line.strip().startswith("#"):
            break
    return found


def options_in(words: Sequence[str]) -> dict[str, str]:
    """Options of the form ``--name=value`` or ``--name``."""
    return {name.removeprefix("--"): value for name, _, value in (w.partition("=") for w in words)}


def indices(array: str) -> list[int]:
    """The numbers of an array: ``1-5``, ``3,7``, ``1-9:2``."""
    numbers: list[int] = []
    for part in array.split(","):
        ends, _, step = part.partition(":")
        first, _, last = ends.partition("-")
        numbers += range(int(first), int(last or first) + 1, int(step or 1))
    return numbers
