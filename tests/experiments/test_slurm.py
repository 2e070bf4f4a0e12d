"""``matroid-bandits slurm``: the script, and what happens when it is submitted."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from matroid_bandits.cli import main
from matroid_bandits.experiments import load_study, read_results, run_study

from .fake_slurm import FakeSlurm, directives

STUDY = """\
horizon = 500
runs = 3
policies = ["MAUB", "OMM"]
instances = ["K4", "K5"]
"""

# Writes its arguments and its process number into a file, and fails if it is told to.
STUB = f"""\
#!{sys.executable}
import json, os, sys, time, uuid
with open(os.path.join(os.environ["STUB"], uuid.uuid4().hex), "w") as file:
    call = {{"arguments": sys.argv[1:], "process": os.getpid(), "time": time.time()}}
    json.dump(call | {{"threads": os.environ.get("OMP_NUM_THREADS")}}, file)
sys.exit(3 if f"--shard {{os.environ.get('FAIL')}}/" in " ".join(sys.argv) else 0)
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("study.toml").write_text(STUDY)


@pytest.fixture
def slurm(tmp_path: Path) -> FakeSlurm:
    return FakeSlurm(tmp_path / "cluster")


class Stub:
    """A program in place of Python, which remembers how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "calls"
        self.folder.mkdir(parents=True)
        self.program = folder / "a stub"
        self.program.write_text(STUB)
        self.program.chmod(0o755)

    def calls(self) -> list[dict]:
        calls = [json.loads(path.read_text()) for path in self.folder.iterdir()]
        return sorted(calls, key=lambda call: call["time"])

    def commands(self) -> list[list[str]]:
        """The arguments of matroid-bandits, by time."""
        calls = [call["arguments"] for call in self.calls()]
        assert all(arguments[:2] == ["-m", "matroid_bandits"] for arguments in calls)
        return [arguments[2:] for arguments in calls]

    def shards(self) -> list[str]:
        """The shards that were run, and "report" for a report, by time."""
        return [
            words[words.index("--shard") + 1] if "--shard" in words else words[0]
            for words in self.commands()
        ]


@pytest.fixture
def stub(tmp_path: Path, monkeypatch) -> Stub:
    made = Stub(tmp_path / "stub")
    monkeypatch.setattr(sys, "executable", str(made.program))
    monkeypatch.setenv("STUB", str(made.folder))
    return made


def script(capsys, *arguments: str) -> str:
    """The printed script; its syntax is right."""
    assert main(["slurm", *arguments]) == 0
    text = capsys.readouterr().out
    assert text.endswith("\n")
    Path("job.sh").write_text(text)
    subprocess.run(["bash", "-n", "job.sh"], check=True)
    return text


def status(*arguments: str) -> int | str | None:
    try:
        return main(["slurm", *arguments])
    except SystemExit as ended:
        return ended.code


def run_task(number: int = 1, **environment: str) -> None:
    """Run the script as a task of a job array whose report is submitted."""
    variables = {"SLURM_ARRAY_TASK_ID": str(number), **environment}
    arguments = ["bash", "job.sh", "report-is-submitted"]
    subprocess.run(arguments, env=os.environ | variables, check=True)


# ---- the script ----


def test_options_for_sbatch(capsys) -> None:
    text = script(capsys, "study.toml", "--shards=5", "--time=1-12:30", "--cpus=4")
    assert directives(text) == {
        "job-name": "study",
        "array": "1-5",
        "time": "1-12:30",
        "cpus-per-task": "4",
        "output": "study-%A-%a.out",
        "open-mode": "append",
        "requeue": "",
        "signal": "B:TERM@60",
    }
    assert max(map(len, text.splitlines()[:30])) <= 100
    assert "12 runs in 5 shards" in text
    assert not Path("results").exists()


def test_what_a_shard_and_the_report_run(capsys, stub: Stub) -> None:
    script(capsys, "study.toml", "--shards=5", "--time=30")
    run_task(3, SLURM_CPUS_PER_TASK="4")
    run_task(0)
    folder = str(Path("results/study").absolute())
    run, report = stub.commands()
    assert run[:2] == ["run", str(Path("study.toml").absolute())]
    assert run[2:] == ["--out", folder, "--shard", "3/5", "--jobs", "4"]
    assert report == ["report", folder]
    assert stub.calls()[0]["threads"] == "1"


def test_signals_reach_the_program(capsys, stub: Stub) -> None:
    """The program is the process that Slurm has started."""
    script(capsys, "study.toml", "--shards=5", "--time=30")
    task = subprocess.Popen(
        ["bash", "job.sh", "report-is-submitted"], env=os.environ | {"SLURM_ARRAY_TASK_ID": "1"}
    )
    assert task.wait() == 0
    assert [call["process"] for call in stub.calls()] == [task.pid]


NASTY = 'it\'s 100% "$HOME" `id` $(id) \\ \u00e9 {a,b} *\n#SBATCH --array=1-9 @FOLDER@ -x'


def test_nasty_names(capsys, stub: Stub, tmp_path: Path, monkeypatch) -> None:
    place = tmp_path / NASTY
    place.mkdir()
    monkeypatch.chdir(place)
    Path("--% ; a.toml").write_text(STUDY.replace('"K4"', '{name = "-K4 \'x\'", matroid = "K4"}'))
    options = [
        "--shards=2",
        "--time=9",
        "--only=-K4 'x'",
        "--out=-o $x",
        "--policy=MAUB(noise=0.2)",
    ]
    text = script(capsys, "./--% ; a.toml", *options)
    assert directives(text)["array"] == "1-2"
    assert directives(text)["output"] == "a-%A-%a.out"
    run_task(1)
    run_task(0)
    run, report = stub.commands()
    # Not resolved: what is a link for the user is one in the script.
    assert run[:5] == [
        "run",
        str(place / "--% ; a.toml"),
        "--only=-K4 'x'",
        "--policy=MAUB(noise=0.2)",
        "--out",
    ]
    assert run[5] == str(place / "-o $x")
    assert report == ["report", str(place / "-o $x")]


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    """A script has the bytes of the name, also if they are not UTF-8."""
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)  # noqa: PTH102  # a name in bytes
    (Path(os.fsdecode(folder)) / "study.toml").write_text(STUDY)
    code = "import sys; from matroid_bandits.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "slurm", folder + b"/study.toml"]
    done = subprocess.run(
        [*words, "--shards=1", "--time=1"], capture_output=True, check=True, cwd=folder
    )
    assert b"study=(run '" + folder + b"/study.toml')\n" in done.stdout


def test_options_that_choose_a_part_are_passed_on(capsys, stub: Stub) -> None:
    Path("graphs").mkdir()
    Path("movies").mkdir()
    chosen = ["--quick", "--only=K5", "--policy=OMM", "--policy=MAUB", "--runs=2", "--horizon=70"]
    chosen += ["--seed=5"]
    paths = ["--movielens=movies", "--graphs=graphs", "--extend"]
    text = script(capsys, "study.toml", "--shards=2", "--time=9", *chosen, *paths)
    run_task()
    (run,) = stub.commands()
    here = Path.cwd()
    assert run[2 : run.index("--out")] == [
        *chosen,
        f"--movielens={here}/movies",
        f"--graphs={here}/graphs",
        "--extend",
    ]
    assert "4 runs in 2 shards" in text
    script(capsys, "study.toml", "--shards=2", "--time=9", "--movielens=synthetic")
    run_task()
    assert "--movielens=synthetic" in stub.commands()[1]


def test_the_folder_is_that_of_run(capsys, stub: Stub) -> None:
    chosen = ["--only=K4", "--policy=OMM", "--runs=1", "--seed=3"]
    script(capsys, "study.toml", "--shards=1", "--time=9", *chosen)
    assert main(["run", "study.toml", *chosen, "--jobs=1", "--quiet"]) == 0
    (folder,) = Path("results").iterdir()
    run_task(0)
    assert stub.commands() == [["report", str(folder.absolute())]]


def test_shipped_studies(capsys, stub: Stub) -> None:
    script(capsys, "delays", "--shards=7", "--time=9", "--quick")
    run_task()
    folder = str(Path("results/delays-quick").absolute())
    assert stub.commands()[0][:4] == ["delays", "--quick", "--out", folder]
    # A folder of the name is no study, but a file is one.
    Path("compare").mkdir()
    assert "study=(compare '--only=K7 Gaussian')\n" in script(
        capsys, "compare", "--shards=7", "--time=9", "--only=K7 Gaussian"
    )
    Path("delays").write_text(STUDY)
    script(capsys, "delays", "--shards=7", "--time=9")
    run_task()
    assert stub.commands()[1][:2] == ["run", str(Path("delays").absolute())]


def test_warnings_are_not_in_the_script(capsys) -> None:
    arguments = ["compare", "--only=linear Gaussian", "--movielens=synthetic", "--shards=2"]
    assert main(["slurm", *arguments, "--time=9"]) == 0
    printed = capsys.readouterr()
    assert "WARNING" in printed.err
    assert "WARNING" not in printed.out


def test_no_shard_without_a_run(capsys) -> None:
    assert main(["slurm", "study.toml", "--shards=64", "--time=9"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "12 shards instead of 64: the study has only 12 runs\n"
    assert directives(printed.out)["array"] == "1-12"
    assert "shards=12\n" in printed.out


def test_large_arrays(capsys) -> None:
    assert main(["slurm", "study.toml", "--shards=1001", "--runs=500", "--time=9"]) == 0
    assert "1,001 shards: by default, Slurm allows arrays up to 1,000" in capsys.readouterr().err
    assert main(["slurm", "study.toml", "--shards=1000", "--runs=500", "--time=9"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "time, signal",
    [
        ("30", 60),
        ("10", 60),
        ("5", 30),
        ("1", 6),
        ("0:05", 1),
        ("5:00", 30),
        ("90:00", 60),
        ("0:05:00", 30),
        ("100:00:00", 60),
        ("2-12", 60),
        ("0-0:5", 30),
        ("0-00:00:50", 5),
        ("0", None),
    ],
)
def test_time_limits(capsys, time: str, signal: int | None) -> None:
    found = directives(script(capsys, "study.toml", "--shards=2", f"--time={time}"))
    assert found["time"] == time
    assert found.get("signal") == (None if signal is None else f"B:TERM@{signal}")


@pytest.mark.parametrize(
    "option, line",
    [
        ("--partition=short", "--partition=short"),
        ("-p short", "-p short"),
        ("--mem-per-cpu   2G", "--mem-per-cpu 2G"),
        ("--exclusive", "--exclusive"),
        ("-Astaff", "-Astaff"),
        ("--account=a", "--account=a"),
        ("--comment=a b", '--comment="a b"'),
        ('--comment=# "a\\', '--comment="# \\"a\\\\"'),
        ("--output=%x-%j.log", "--output=%x-%j.log"),
    ],
)
def test_other_options_of_sbatch(capsys, option: str, line: str) -> None:
    """They come after ours: the last one counts."""
    text = script(
        capsys, "study.toml", "--shards=2", "--time=9", f"--sbatch={option}", "--sbatch=--hold"
    )
    lines = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    assert lines[-2:] == [f"#SBATCH {line}", "#SBATCH --hold"]
    # Before the first command; later ones are not read.
    assert "hold" in directives(text)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["study.toml", "--time=9"], "the following arguments are required: --shards"),
        (["study.toml", "--shards=2"], "the following arguments are required: --time"),
        (["study.toml", "--shards=0", "--time=9"], "--shards: must be a whole number from 1"),
        (["study.toml", "--shards=2", "--time=9", "--cpus=0"], "--cpus: must be a whole number"),
        *(
            (
                ["study.toml", "--shards=2", f"--time={time}"],
                (
                    "--time: must be minutes, minutes:seconds, hours:minutes:seconds, days-hours, "
                    f"days-hours:minutes or days-hours:minutes:seconds, got {time!r}"
                ),
            )
            for time in (
                "",
                "1h",
                "1:2:3:4",
                "1-",
                "-5",
                "1-2:3:4:5",
                "1.5",
                "\u0663",
                "5 ",
                "1;id",
            )
        ),
        *(
            (
                ["study.toml", "--shards=2", "--time=9", f"--sbatch={option}"],
                (
                    f"--sbatch: must be an option of sbatch with its dashes, in one line, such as "
                    f"--sbatch=--partition=short, got {option!r}"
                ),
            )
            for option in ("partition=short", "", "-", "--a\nid", "--comment=a\rb", "--=3")
        ),
        *(
            (
                ["study.toml", "--shards=2", "--time=9", f"--sbatch={option}"],
                f"--sbatch: the array is numbered by --shards, got {option!r}",
            )
            for option in ("--array=1-3", "--arr=1", "-a 1-3", "-a1", "--array 1")
        ),
        (["stdy.toml", "--shards=2", "--time=9"], "no file stdy.toml; did you mean study.toml?"),
        (["study.toml", "--shards=2", "--time=9", "--only=K6"], "unknown instance 'K6'"),
        (["study.toml", "--shards=2", "--time=9", "--policy=MUAB"], "did you mean MAUB?"),
        (["study.toml", "--shards=2", "--time=9", "--out=."], "holds other things"),
        (["study.toml", "--shards=2", "--time=9", "--jobs=2"], "unknown argument --jobs"),
    ],
)
def test_mistakes_get_one_answer(capsys, arguments: list[str], message: str) -> None:
    assert status(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_help(capsys) -> None:
    assert status("--help") == 0
    assert "example: matroid-bandits slurm study.toml --shards 64 --time 30 > job.sh" in (
        capsys.readouterr().out
    )


# ---- submitted, with a stub in place of the program ----

SHARDS = [f"{i}/5" for i in range(1, 6)]


@pytest.fixture
def job(capsys, stub: Stub) -> None:
    script(capsys, "study.toml", "--shards=5", "--time=30")


def test_submitted_by_bash(job, slurm: FakeSlurm, stub: Stub) -> None:
    done = slurm.shell("bash", "job.sh")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"the shards are job 1, into {Path('results/study').absolute()}",
        "the report is job 2; it starts when all shards of job 1 have ended",
    ]
    assert slurm.run() == [(1, i, 0) for i in range(1, 6)] + [(2, 0, 0)]
    assert sorted(stub.shards()[:-1]) == SHARDS
    assert stub.shards()[-1] == "report"
    assert sorted(path.name for path in Path.cwd().glob("*.out")) == [
        *(f"study-1-{i}.out" for i in range(1, 6)),
        "study-2-0.out",
    ]


@pytest.mark.parametrize("way", ["sbatch job.sh", "sbatch < job.sh"])
def test_submitted_by_sbatch(job, slurm: FakeSlurm, stub: Stub, way: str) -> None:
    done = slurm.shell("bash", "-c", way)
    assert done.stdout == "Submitted batch job 1\n"
    # What Slurm has copied is run, not this file.
    Path("job.sh").unlink()
    assert slurm.run() == [(1, i, 0) for i in range(1, 6)] + [(2, 0, 0)]
    assert sorted(stub.shards()[:-1]) == SHARDS
    assert stub.shards()[-1] == "report"
    assert Path("study-1-1.out").read_text() == (
        "the report is job 2; it starts when all shards of job 1 have ended\n"
    )
    assert Path("study-1-2.out").read_text() == ""


def test_the_name_of_the_cluster_is_no_part_of_the_number(job, slurm: FakeSlurm) -> None:
    done = slurm.shell("bash", "job.sh", FAKE_CLUSTER="big")
    assert "the report is job 2; it starts when all shards of job 1 have ended" in done.stdout
    assert slurm.jobs()[1]["after"] == 1


def test_nodes_that_may_not_submit(job, slurm: FakeSlurm, stub: Stub) -> None:
    slurm.shell("sbatch", "job.sh")
    assert slurm.run(FAKE_MAY_NOT_SUBMIT="1") == [(1, i, 0) for i in range(1, 6)]
    assert sorted(stub.shards()) == SHARDS
    assert Path("study-1-1.out").read_text() == (
        "sbatch: error: Access/permission denied\n"
        "the report of job 1 could not be submitted from here; on the login node, type\n"
        "    sbatch --array=0 --dependency=afterany:1 job.sh\n"
    )
    command = Path("study-1-1.out").read_text().splitlines()[-1].split()
    slurm.shell(*command)
    assert slurm.run() == [(2, 0, 0)]
    assert stub.shards()[-1] == "report"
    # From the login node, both are submitted at once.
    assert slurm.shell("bash", "job.sh").returncode == 0
    assert [job["tasks"] for job in slurm.jobs()[2:]] == [[1, 2, 3, 4, 5], [0]]


def test_nodes_without_sbatch(job, slurm: FakeSlurm, stub: Stub, tmp_path: Path) -> None:
    slurm.shell("sbatch", "job.sh")
    # This machine may have a Slurm of its own.
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "bash").symlink_to(shutil.which("bash"))
    assert slurm.run(PATH=str(bare)) == [(1, i, 0) for i in range(1, 6)]
    assert "sbatch --array=0 --dependency=afterany:1 job.sh" in Path("study-1-1.out").read_text()
    done = slurm.shell("bash", "job.sh", PATH=str(bare))
    assert done.returncode == 127
    assert "sbatch: command not found" in done.stderr


def test_a_shard_that_starts_again_submits_no_second_report(job, slurm: FakeSlurm) -> None:
    slurm.shell("sbatch", "job.sh")
    (first,) = slurm.jobs()
    assert slurm.task(first, 1) == 0
    assert len(slurm.jobs()) == 2
    assert slurm.task(first, 1, SLURM_RESTART_COUNT="1") == 0
    assert len(slurm.jobs()) == 2
    # What was printed before is kept.
    assert Path("study-1-1.out").read_text().count("\n") == 1


def test_shards_that_failed(job, slurm: FakeSlurm, stub: Stub) -> None:
    slurm.shell("bash", "job.sh")
    ended = slurm.run(FAIL="3")
    assert [(task, status) for job, task, status in ended if status] == [(3, 3)]
    # All the same, there is a report.
    assert stub.shards()[-1] == "report"
    # Some again, and a new report.
    slurm.shell("sbatch", "--array=3,5", "--time=60", "job.sh")
    assert slurm.run() == [(3, 3, 0), (3, 5, 0), (4, 0, 0)]
    assert sorted(stub.shards()[6:8]) == ["3/5", "5/5"]
    assert stub.shards()[8:] == ["report"]
    assert slurm.jobs()[2]["options"]["time"] == "60"


def test_a_script_without_its_array_does_not_submit_itself_for_ever(job, slurm: FakeSlurm) -> None:
    Path("job.sh").write_text(Path("job.sh").read_text().replace("#SBATCH --array=1-5\n", ""))
    # What the first copy would submit ends at once.
    done = slurm.shell("bash", "job.sh", "report-is-submitted")
    assert done.returncode == 1
    assert done.stderr == "this script needs its line #SBATCH --array=1-5\n"
    assert slurm.jobs() == []


# ---- submitted, with the real program ----


def only_numbers(runs: pd.DataFrame) -> pd.DataFrame:
    """What does not depend on the machine and on who ran it."""
    keys = ["instance", "policy", "seed"]
    return runs.drop(columns=["seconds", "session"]).sort_values(keys, ignore_index=True)


@pytest.mark.parametrize("way", ["bash", "sbatch", "sbatch, nodes may not submit"])
def test_a_whole_study(capsys, slurm: FakeSlurm, way: str) -> None:
    script(capsys, "study.toml", "--shards=5", "--time=30", "--out=out put")
    assert slurm.shell(way.split(",", maxsplit=1)[0], "job.sh").returncode == 0
    may_not = {"FAKE_MAY_NOT_SUBMIT": "1"} if "may not" in way else {}
    ended = slurm.run(**may_not)
    printed = {path.name: path.read_text() for path in Path.cwd().glob("*.out")}
    assert [status for _, _, status in ended] == [0] * len(ended), printed
    if may_not:
        assert len(ended) == 5
        (advice,) = re.findall(r"^ +(sbatch .* job\.sh)$", printed["study-1-1.out"], re.MULTILINE)
        assert slurm.shell(*advice.split()).returncode == 0
        assert slurm.task(slurm.jobs()[1], 0) == 0
    else:
        assert len(ended) == 6
    folder = Path("out put")
    assert (folder / "report.html").exists()
    found = read_results(folder).runs
    whole = load_study("study.toml")
    assert sorted(zip(found["instance"], found["policy"], found["seed"], strict=True)) == sorted(
        whole.tasks()
    )
    expected = run_study(whole, "alone", jobs=1).runs
    pd.testing.assert_frame_equal(only_numbers(found), only_numbers(expected))
    if way == "bash":
        # Once more: nothing is left to run.
        assert slurm.task(slurm.jobs()[0], 2) == 0
        pd.testing.assert_frame_equal(read_results(folder).runs, found)
