"""Many processes write into one folder: killed at any time, nothing is lost or run twice."""

import errno
import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
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
)
from matroid_bandits.experiments.shards import Shard
from matroid_bandits.experiments.storing import results, sessions, store
from matroid_bandits.experiments.storing.provenance import system_id
from matroid_bandits.experiments.storing.sessions import SILENCE, wait_for_silence
from matroid_bandits.experiments.storing.store import Store

from .folders import SMALL, assert_same_numbers, content_of, times_finished

# How many processes each test kills.
KILLS = int(os.environ.get("KILLS", "4"))

LONG = """\
horizon = 30_000
runs = 12
policies = ["MAUB", "OMM"]
instances = ["K12", "U(15,30)"]
"""


@pytest.fixture(scope="module")
def study_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("studies") / "long.toml"
    path.write_text(LONG)
    return path


@pytest.fixture(scope="module")
def alone(study_file: Path, tmp_path_factory) -> Results:
    """The results of one process."""
    return run_study(load_study(study_file), tmp_path_factory.mktemp("alone"), jobs=1)


@pytest.fixture(scope="module")
def small() -> Study:
    return load_study(SMALL)


@pytest.fixture(scope="module")
def expected(small: Study, tmp_path_factory) -> Results:
    return run_study(small, tmp_path_factory.mktemp("whole"), jobs=1)


Start = Callable[..., subprocess.Popen]


@pytest.fixture
def start(study_file: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts `matroid-bandits run`; in the end nothing is left of it."""
    with ExitStack() as stack:

        def run(*options: str) -> subprocess.Popen:
            command = [sys.executable, "-m", "matroid_bandits", "run", str(study_file)]
            command += ["--out", str(tmp_path / "out"), "--jobs", "1", "--quiet", *options]
            process = stack.enter_context(
                subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            return process

        yield run


def finish(process: subprocess.Popen) -> None:
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")


# ---- real processes ----


@pytest.mark.parametrize("count", [2, 5])
def test_killed_at_any_time(start: Start, study_file, alone, tmp_path, count: int) -> None:
    out = tmp_path / "out"
    rng = np.random.default_rng([count, 17])
    names = [f"{number}/{count}" for number in range(1, count + 1)]
    # All at the same moment, in a folder that does not exist yet.
    running = {name: start("--shard", name) for name in names}
    for _ in range(KILLS):
        time.sleep(rng.uniform(0.1, 2.0))
        name = names[rng.integers(count)]
        running[name].kill()
        running[name].communicate()
        if (out / "study.json").exists() and rng.random() < 0.5:
            # Somebody looks, or makes tables, while others write.
            found = (gather if rng.random() < 0.5 else read_results)(out)
            assert found.warnings == []
        running[name] = start("--shard", name)
    for process in running.values():
        finish(process)
    assert times_finished(out) == dict.fromkeys(load_study(study_file).tasks(), 1)
    found = gather(out)
    assert_same_numbers(found, alone)
    assert found.warnings == []
    assert Store(out).running() == []


def test_the_same_shard_started_twice(start: Start, study_file, alone, tmp_path) -> None:
    both = [start("--shard", "1/1"), start("--shard", "1/1")]
    outputs = [process.communicate(timeout=120)[1] for process in both]
    codes = {process.returncode: errors for process, errors in zip(both, outputs, strict=True)}
    # On a slow machine, the one may come when the other has finished; then nothing is to be done.
    assert codes.keys() <= {0, 2}
    assert codes[0] == ""
    if 2 in codes:
        assert "something is running in" in codes[2]
        assert len(codes[2].splitlines()) == 1
    assert times_finished(tmp_path / "out") == dict.fromkeys(load_study(study_file).tasks(), 1)
    assert_same_numbers(gather(tmp_path / "out"), alone)
    # Who was refused has left nothing.
    assert len(list((tmp_path / "out" / "sessions").iterdir())) == 1


def test_tables_are_made_while_shards_run(start: Start, alone, tmp_path) -> None:
    """Two processes make tables all the time."""
    out = tmp_path / "out"
    shards = [start("--shard", f"{number}/2") for number in (1, 2)]
    while not (out / "study.json").exists():
        assert shards[0].poll() is None
        time.sleep(0.01)
    code = (
        "import sys; from matroid_bandits.experiments import gather\n"
        "while len(gather(sys.argv[1]).runs) < 48: pass"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(out)], stderr=subprocess.PIPE)
    seen = 0
    while seen < 48:
        found = gather(out)
        assert len(found.runs) >= seen
        assert found.warnings == []
        seen = len(found.runs)
    _, errors = other.communicate(timeout=60)
    assert errors == b""
    for process in shards:
        finish(process)
    assert_same_numbers(gather(out), alone)


# ---- who may run what at the same time ----


@contextmanager
def session(folder: Path, study: Study, shard: str | None = None, **options: Any) -> Iterator[str]:
    """A session that has begun, of this process; its name."""
    parsed = None if shard is None else Shard(*map(int, shard.split("/")))
    with Store(folder).session(study, shard=parsed, **options) as (begun, _):
        begun.begin(1)
        yield begun.name


@pytest.mark.parametrize(
    "first, second, is_refused",
    [
        ("1/2", "2/2", False),
        ("1/2", "1/2", True),
        ("1/2", "2/3", True),
        ("1/2", None, True),
        (None, "1/2", True),
        (None, None, True),
    ],
)
def test_who_may_run_at_the_same_time(small, expected, tmp_path, first, second, is_refused) -> None:
    def run() -> None:
        if second is None:
            run_study(small, tmp_path, jobs=1)
        else:
            run_shard(small, tmp_path, second, jobs=1)

    with session(tmp_path, small, first):
        if is_refused:
            before = content_of(tmp_path)
            with pytest.raises(StudyError, match=r"something is running in .* already \(.*host"):
                run()
            assert content_of(tmp_path) == before
        else:
            run()
    run()
    assert_same_numbers(run_study(small, tmp_path, jobs=1), expected)
    assert times_finished(tmp_path) == dict.fromkeys(small.tasks(), 1)


def test_a_study_does_not_grow_while_a_shard_of_the_smaller_one_runs(small, tmp_path) -> None:
    grown = load_study(SMALL | {"runs": 4})
    with session(tmp_path, small, "1/2"):
        before = content_of(tmp_path)
        for shard in ("1/2", "2/2"):
            with pytest.raises(StudyError, match="something is running"):
                run_shard(grown, tmp_path, shard, jobs=1, extend=True)
        # The other shards of the smaller one can still start.
        assert content_of(tmp_path) == before
        run_shard(small, tmp_path, "2/2", jobs=1)
    assert len(run_study(grown, tmp_path, jobs=1, extend=True).runs) == 16


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_who_comes_first_goes_on(small: Study, tmp_path, monkeypatch, names) -> None:
    """Whatever its name: between the check and the first run, results are read for a while."""
    monkeypatch.setattr(store, "_STARTING", 0.1)
    given = iter(names)
    monkeypatch.setattr(sessions, "new_name", lambda host, pid: next(given))
    with Store(tmp_path).session(small) as (first, _):
        assert not first.has_begun
        with pytest.raises(StudyError, match="something is running"):  # noqa: SIM117
            with Store(tmp_path).session(small):
                pass
    assert list((tmp_path / "sessions").iterdir()) == []


def test_who_is_refused_is_in_nobodys_way(small: Study, tmp_path, monkeypatch) -> None:
    """The whole study is refused because of shard 2/2; meanwhile, shard 1/2 starts."""
    sleep = time.sleep
    left = Store(tmp_path)
    with session(tmp_path, small, "2/2"):
        refused = sessions.Session(left.sessions_folder, about={"study": "", "shard": None})
        refused.announce()
        refused.line_up(left.own_sessions())

        def withdraw(seconds: float) -> None:
            refused.withdraw()
            sleep(seconds)

        monkeypatch.setattr(store.time, "sleep", withdraw)
        run_shard(small, tmp_path, "1/2", jobs=1)
    assert times_finished(tmp_path).total() == 6


def test_another_process_makes_the_folder_meanwhile(small, tmp_path, monkeypatch) -> None:
    list_folder = Path.iterdir
    (tmp_path / "out").mkdir()

    def late(path: Path) -> Iterator[Path]:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "iterdir", list_folder)
            Store(tmp_path / "out").claim(small)
        return list_folder(path)

    monkeypatch.setattr(Path, "iterdir", late)
    Store(tmp_path / "out").check(small)
    with pytest.raises(StudyError, match="holds other things"):
        Store(tmp_path).check(small)


def test_a_study_that_grows_while_it_is_read(small, tmp_path, monkeypatch) -> None:
    run_study(small, tmp_path, jobs=1)
    read = results.read_table
    grown = load_study(SMALL | {"instances": [*SMALL["instances"], "K4"]})

    def late(path: Path, columns: list[str]) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(results, "read_table", read)
            run_study(grown, tmp_path, jobs=1, extend=True)
        return read(path, columns)

    monkeypatch.setattr(results, "read_table", late)
    assert len(read_results(tmp_path).runs) == 18


def test_a_folder_without_parts_goes_on(small, expected, tmp_path) -> None:
    run_shard(small, tmp_path, "1/2", jobs=1)
    gather(tmp_path)
    for part in tmp_path.glob("parts/*"):
        part.unlink()
    run_shard(small, tmp_path, "2/2", jobs=1)
    run_shard(small, tmp_path, "1/2", jobs=1)
    assert times_finished(tmp_path).total() == 6
    assert_same_numbers(gather(tmp_path), expected)


# ---- other hosts, and processes that are gone ----


@pytest.fixture
def elsewhere(small: Study, tmp_path: Path) -> Path:
    """The file of a session that was not ended, of another host."""
    with session(tmp_path, small, "1/2") as name:
        path = tmp_path / "sessions" / f"{name}.json"
        content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"system_id": "another", "host": "elsewhere"}))
    return path


class Clock:
    """Waits without waiting; `meanwhile` happens in each pause."""

    def __init__(self, monkeypatch, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.waited = 0.0
        self._meanwhile = meanwhile
        monkeypatch.setattr(store, "wait_for_silence", partial(wait_for_silence, pause=self.pause))

    def pause(self, seconds: float) -> None:
        self.waited += seconds
        self._meanwhile()


def grow_older(path: Path, seconds: float) -> None:
    age = path.stat().st_mtime - seconds
    os.utime(path, (age, age))


def test_a_session_elsewhere_that_lives_is_in_the_way(small, elsewhere, tmp_path, monkeypatch):
    def beat() -> None:
        content = json.loads(elsewhere.read_text())
        elsewhere.write_text(json.dumps(content | {"elapsed": content["elapsed"] + 10}))

    clock = Clock(monkeypatch, beat)
    with pytest.raises(StudyError, match=r"shard 1/2, host elsewhere, process \d+, since"):
        run_shard(small, tmp_path, "1/2", jobs=1)
    assert 0 < clock.waited <= 10
    # Not in that of another shard.
    run_shard(small, tmp_path, "2/2", jobs=1)
    assert clock.waited <= 10


def test_a_session_elsewhere_that_falls_silent(small, elsewhere, tmp_path, monkeypatch) -> None:
    clock = Clock(monkeypatch, lambda: grow_older(elsewhere, 5))
    run_shard(small, tmp_path, "1/2", jobs=1)
    assert abs(clock.waited - SILENCE) <= 5
    assert times_finished(tmp_path).total() == 6


def test_a_session_elsewhere_that_ends(small, elsewhere, tmp_path, monkeypatch) -> None:
    clock = Clock(monkeypatch, elsewhere.unlink)
    run_shard(small, tmp_path, "1/2", jobs=1)
    assert 0 < clock.waited <= 10


def test_a_session_elsewhere_that_was_silent_for_long(small, elsewhere, tmp_path, monkeypatch):
    clock = Clock(monkeypatch)
    grow_older(elsewhere, SILENCE + 1)
    run_shard(small, tmp_path, "1/2", jobs=1)
    assert clock.waited == 0


def test_a_clock_that_is_wrong(small, elsewhere, tmp_path, monkeypatch) -> None:
    """A time in the future is no sign of life."""
    clock = Clock(monkeypatch)
    grow_older(elsewhere, -1e6)
    run_shard(small, tmp_path, "1/2", jobs=1)
    assert SILENCE <= clock.waited < 2 * SILENCE


@pytest.mark.parametrize("change", [{"pid": 2**22 + 1}, {"process_start": 1}])
def test_a_process_that_is_gone(small, elsewhere, tmp_path, monkeypatch, change) -> None:
    """Also if its number is that of another process by now."""
    clock = Clock(monkeypatch)
    here = json.loads(elsewhere.read_text()) | {"system_id": system_id()}
    elsewhere.write_text(json.dumps(here))
    with pytest.raises(StudyError, match="something is running"):
        run_shard(small, tmp_path, "1/2", jobs=1)
    elsewhere.write_text(json.dumps(here | change))
    run_shard(small, tmp_path, "1/2", jobs=1)
    assert clock.waited == 0


def test_a_session_killed_before_it_began(small, expected, tmp_path) -> None:
    left = Store(tmp_path)
    left.claim(small)
    killed = sessions.Session(left.sessions_folder, about={"study": "", "shard": None})
    killed.announce()
    path = left.sessions_folder / f"{killed.name}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"process_start": 1}))
    assert_same_numbers(run_study(small, tmp_path, jobs=1), expected)


# ---- a folder in which nothing can be written ----


@pytest.mark.parametrize("makes_runs", [False, True])
def test_a_folder_that_is_read_only(small, tmp_path, monkeypatch, makes_runs: bool) -> None:
    """The tests may run as root, whom permissions do not stop."""
    run_shard(small, tmp_path, "1/2", jobs=1)
    before = content_of(tmp_path)
    open_file = Path.open

    def refuse(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if not mode.startswith("r"):
            raise PermissionError(13, "Permission denied")
        return open_file(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "touch", partial(refuse, mode="w"))
    with pytest.raises(StudyError, match=r"results cannot be written to .*: Permission denied"):
        run_study(small, tmp_path, jobs=1) if makes_runs else gather(tmp_path)
    assert len(read_results(tmp_path).runs) == 6
    assert Store(tmp_path).running() == []
    assert content_of(tmp_path) == before


# ---- network file systems ----


def test_a_file_that_another_machine_has_just_replaced(small, tmp_path, monkeypatch) -> None:
    """NFS says so once, and then has the new one."""
    run_shard(small, tmp_path, "1/2", jobs=1)
    read, stale = Path.read_text, []

    def read_text(path: Path, *arguments: Any, **options: Any) -> str:
        if path.parent.name == "sessions" and path not in stale:
            stale.append(path)
            raise OSError(errno.ESTALE, "Stale file handle")
        return read(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", read_text)
    run_shard(small, tmp_path, "2/2", jobs=1)
    assert len(stale) >= 1
    assert len(read_results(tmp_path).runs) == 12


def test_folders_that_cannot_be_synced(small, tmp_path, monkeypatch) -> None:
    sync = os.fsync

    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    assert len(run_study(small, tmp_path, jobs=1).runs) == 12


def test_a_file_system_that_becomes_read_only(small, tmp_path, monkeypatch) -> None:
    run_shard(small, tmp_path, "1/2", jobs=1)

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(sessions, "write_json", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StudyError, match=r"results cannot be written .*Read-only file system"):
        run_shard(small, tmp_path, "2/2", jobs=1)


def test_files_that_are_not_ours(small, tmp_path, expected) -> None:
    """Those of macOS begin with a dot."""
    run_study(small, tmp_path, jobs=1)
    for name in ("sessions/._x.json", "parts/._x.jsonl", "parts/._x.json"):
        (tmp_path / name).write_text("no JSON")
    assert_same_numbers(gather(tmp_path), expected)
