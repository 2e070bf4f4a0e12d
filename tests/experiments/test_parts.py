"""Parts: lines with checksums. What is damaged or half written never counts as a finished run."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.experiments import (
    Results,
    Study,
    StudyError,
    gather,
    load_study,
    read_results,
    run_study,
    write_report,
)
from matroid_bandits.experiments.storing import parts
from matroid_bandits.experiments.storing.parts import PartReading, PartWriter, part_line, read_part
from matroid_bandits.experiments.storing.tables import RUN_COLUMNS, read_table
from matroid_bandits.experiments.study import Task

from ..seeds import seeds
from .folders import SMALL, assert_same_numbers, content_of, runs_in, times_finished


@pytest.fixture(scope="module")
def small() -> Study:
    return load_study(SMALL)


@pytest.fixture(scope="module")
def expected(small: Study, tmp_path_factory) -> Results:
    return run_study(small, tmp_path_factory.mktemp("whole"), jobs=1)


@pytest.fixture(scope="module")
def lines(expected: Results) -> list[bytes]:
    (part,) = expected.folder.glob("parts/*.jsonl")
    return part.read_bytes().splitlines(keepends=True)


@pytest.fixture
def folder(expected: Results, tmp_path: Path) -> Path:
    """The study without tables: only its one part."""
    shutil.copytree(expected.folder, tmp_path / "mine")
    for name in ("runs.parquet", "curves.parquet"):
        (tmp_path / "mine" / name).unlink()
    return tmp_path / "mine"


def part_of(folder: Path) -> Path:
    (part,) = folder.glob("parts/*.jsonl")
    return part


# ---- lines ----


def test_a_line_has_the_whole_run(tmp_path: Path) -> None:
    environment = mb.GaussianEnvironment(mb.random_means(6, 1))
    result = mb.simulate(mb.MAUB(mb.GraphicMatroid.complete(4)), environment, 50, seed=1)
    task = Task("K4 \t\n \N{SNOWMAN}", "a\\b", 1)
    line = part_line(task, result, float("nan"))
    assert line.count(b"\n") == line.count(b"\t") == 1
    (tmp_path / "part").write_bytes(line)
    (run,) = runs_in(tmp_path / "part")
    assert run.task == task
    assert run.numbers["regret"] == result.total_regret
    assert run.numbers["lower_bound"] is None
    assert run.numbers["oracle_calls"] == result.counters["oracle_calls"]
    curve = json.loads(run.curve)
    assert curve["round"] == result.rounds.tolist()
    assert curve["regret"] == result.regret.tolist()


def test_a_single_changed_byte_is_noticed(lines: list[bytes], tmp_path: Path) -> None:
    line = lines[0]
    for place in (*range(0, len(line) - 1, 5), len(line) - 1):
        changed = bytearray(line)
        changed[place] ^= 1 << (place % 8)
        (tmp_path / "part").write_bytes(bytes(changed) + lines[1])
        reading = PartReading(0)
        found = [run.task for run in read_part(tmp_path / "part", reading)]
        # Without its end, the first line takes the second one with it.
        assert found == ([] if place == len(line) - 1 else [task_of(lines[1])])
        assert reading == PartReading(0, len(found))


def task_of(line: bytes) -> Task:
    numbers = json.loads(line.split(b" ", 1)[1].split(b"\t")[0])
    return Task(*(numbers[name] for name in Task._fields))


@pytest.mark.parametrize("odd", [b"\n", b"00000000 \n", b"00000000\n", b" \n", b"\0" * 500 + b"\n"])
def test_odd_lines(lines: list[bytes], tmp_path: Path, odd: bytes) -> None:
    (tmp_path / "part").write_bytes(lines[0] + odd + lines[1])
    reading = PartReading(0)
    assert len(list(read_part(tmp_path / "part", reading))) == 2
    assert reading == PartReading(len(lines[0]), 1)


def test_a_torn_end_is_no_damage(lines: list[bytes], tmp_path: Path) -> None:
    part = tmp_path / "part"
    whole = lines[0] + lines[1]
    for length in range(len(lines[0]), len(whole)):
        part.write_bytes(whole[:length])
        reading = PartReading(0)
        assert [run.task for run in read_part(part, reading)] == [task_of(lines[0])]
        assert reading == PartReading(len(lines[0]), 0)
    # Its rest has come: reading goes on where it ended.
    part.write_bytes(whole)
    assert [run.task for run in read_part(part, reading)] == [task_of(lines[1])]
    assert reading == PartReading(len(whole), 0)


def test_reading_while_another_process_writes(lines: list[bytes], tmp_path: Path) -> None:
    """A line that comes in pieces is read when it is complete, and not taken for damage."""
    part = tmp_path / "part"
    part.touch()
    rng = np.random.default_rng(3)

    def write() -> None:
        with part.open("ab", buffering=0) as file:
            for line in lines * 10:
                left = line
                while left:
                    length = int(rng.integers(1, 200))
                    file.write(left[:length])
                    left = left[length:]

    writer = threading.Thread(target=write)
    writer.start()
    reading = PartReading(0)
    found: list[Task] = []
    is_last = False
    while not is_last:
        is_last = not writer.is_alive()
        found += [run.task for run in read_part(part, reading)]
        assert reading.n_damaged == 0
    assert found == [task_of(line) for line in lines * 10]


# ---- damage in the part of a study ----


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes are others, zeros, missing or there twice, or the rest is missing."""
    place = int(rng.integers(len(content)))
    end = place + int(rng.integers(1, 600))
    middle = {
        0: rng.bytes(end - place),
        1: bytes(len(content[place:end])),
        2: b"",
        3: content[place:end] * 2,
        4: bytes([content[place] ^ (1 << rng.integers(8))]) + content[place + 1 : end],
    }.get(int(rng.integers(6)))
    return content[:place] if middle is None else content[:place] + middle + content[end:]


def test_damaged_parts_have_fewer_runs_never_wrong_ones(folder: Path, expected: Results) -> None:
    part = part_of(folder)
    content = part.read_bytes()
    right = {run.task: run for run in runs_in(part)}
    n_lost = 0
    for seed in seeds(60):
        part.write_bytes(damaged(content, np.random.default_rng([seed, 5])))
        found = read_results(folder)
        for run in runs_in(part):
            # Seconds and all.
            assert run == right[run.task]
        assert len(found.runs) == len(set(times_finished(folder)))
        lost = right.keys() - found.finished()
        n_lost += len(lost)
        if lost and list(right)[-1] not in lost:
            (warning,) = found.warnings
            assert f"damaged lines of parts/{part.name}: " in warning
    assert n_lost > 50


@pytest.mark.parametrize("seed", seeds(8))
def test_damaged_runs_are_run_again(folder: Path, small, expected, seed: int) -> None:
    part = part_of(folder)
    content = part.read_bytes()
    # Not the last line, so that there is a warning.
    end = content.rindex(b"\n", 0, -1) + 1
    changed = damaged(content[:end], np.random.default_rng([seed, 6]))
    part.write_bytes(changed + b"\n" + content[end:])
    before = times_finished(folder)
    assert 0 < before.total() < 12
    (warning,) = gather(folder).warnings
    assert warning.startswith(f"damaged lines of parts/{part.name}: ")
    assert warning in write_report(folder).warnings
    found = run_study(small, folder, jobs=1)
    assert_same_numbers(found, expected)
    assert times_finished(folder).keys() - before.keys() == set(small.tasks()) - before.keys()
    # All runs are there now.
    assert found.warnings == gather(folder).warnings == write_report(folder).warnings == []


def test_zeros_that_another_machine_sees_for_a_moment(folder: Path, expected) -> None:
    """A network file system shows what another machine writes in any order."""
    part = part_of(folder)
    content = part.read_bytes()
    part.write_bytes(content[:2000] + bytes(3000) + content[5000:])
    assert 0 < len(gather(folder).runs) < 12
    part.write_bytes(content)
    found = gather(folder)
    assert_same_numbers(found, expected)
    assert found.warnings == []


# ---- how far tables have a part ----


def test_tables_know_how_far_they_have_a_part(folder: Path, lines, expected) -> None:
    part = part_of(folder)
    part.write_bytes(b"".join(lines[:5]) + lines[5][:100])
    assert len(gather(folder).runs) == 5
    covered = {part.stem: len(b"".join(lines[:5]))}
    assert read_table(folder / "runs.parquet", RUN_COLUMNS).parts == covered
    # What is in the tables is not read again.
    part.write_bytes(bytes(covered[part.stem]) + b"".join(lines[5:]))
    assert_same_numbers(gather(folder), expected)
    assert read_table(folder / "runs.parquet", RUN_COLUMNS).parts == {
        part.stem: len(b"".join(lines))
    }
    # Nothing new: nothing is written.
    before = content_of(folder)
    times = {path: path.stat().st_mtime_ns for path in before}
    assert_same_numbers(gather(folder), expected)
    assert times == {path: path.stat().st_mtime_ns for path in content_of(folder)}


@pytest.mark.parametrize("older", ["runs.parquet", "curves.parquet"])
def test_two_processes_have_written_one_table_each(folder, lines, expected, older: str) -> None:
    part = part_of(folder)
    part.write_bytes(b"".join(lines[:5]))
    gather(folder)
    kept = (folder / older).read_bytes()
    part.write_bytes(b"".join(lines))
    gather(folder)
    (folder / older).write_bytes(kept)
    assert_same_numbers(read_results(folder), expected)
    assert_same_numbers(gather(folder), expected)
    part.unlink()
    assert_same_numbers(read_results(folder), expected)


# ---- the same run twice ----


@pytest.fixture
def contradictory(folder: Path, lines: list[bytes]) -> Path:
    """Another session has made the first run too, with another result."""
    name = "another-1-00000000"
    session = json.loads((folder / "sessions" / f"{part_of(folder).stem}.json").read_text())
    session["host"] = "another"
    (folder / "sessions" / f"{name}.json").write_text(json.dumps(session))
    numbers, curve = (json.loads(text) for text in lines[0].split(b" ", 1)[1].split(b"\t"))
    numbers["regret"] += 1.0
    curve["regret"][-1] += 1.0
    text = f"{json.dumps(numbers)}\t{json.dumps(curve)}".encode()
    line = b"%08x %s\n" % (parts.zlib.crc32(text), text)
    (folder / "parts" / f"{name}.jsonl").write_bytes(line + lines[1])
    return folder


def test_the_same_run_twice_counts_once(folder: Path, lines, expected) -> None:
    part = part_of(folder)
    part.write_bytes(b"".join(lines + lines[:4]))
    for _ in range(2):
        found = gather(folder)
        assert_same_numbers(found, expected)
        assert found.warnings == []


@pytest.mark.parametrize("comes_later", [False, True])
def test_contradictions_are_told(contradictory: Path, lines, comes_later: bool) -> None:
    part = contradictory / "parts" / "another-1-00000000.jsonl"
    content = part.read_bytes()
    if comes_later:
        part.unlink()
        assert gather(contradictory).warnings == []
        part.write_bytes(content)
    first = read_results(contradictory)
    (warning,) = first.warnings
    assert warning.startswith(
        f"1 runs were made twice with different numbers, the first one {task_of(lines[0])}: regret"
    )
    assert "session another-1-00000000" in warning
    for _ in range(2):
        found = gather(contradictory)
        assert found.warnings == [warning]
        assert len(found.runs) == 12
    # Also when only the tables know of it.
    shutil.rmtree(contradictory / "parts")
    assert read_results(contradictory).warnings == [warning]
    assert warning in write_report(contradictory).warnings
    page = (contradictory / "report.html").read_text()
    assert "were made twice with different numbers" in page


@pytest.mark.parametrize("older", ["runs.parquet", "curves.parquet"])
def test_contradictions_in_tables_of_two_processes(contradictory: Path, older: str) -> None:
    """One process has read the one part first, another one the other part."""
    part = contradictory / "parts" / "another-1-00000000.jsonl"
    content = part.read_bytes()
    part.unlink()
    gather(contradictory)
    kept = (contradictory / older).read_bytes()
    for name in ("runs.parquet", "curves.parquet"):
        (contradictory / name).unlink()
    part.write_bytes(content)
    gather(contradictory)
    (contradictory / older).write_bytes(kept)
    found = gather(contradictory)
    assert len(found.runs) == 12
    assert len(found.warnings) == 1


# ---- the disk ----


def test_errors_of_the_disk(lines, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(parts, "_SECONDS", 0.01)
    failed = threading.Event()

    def full(descriptor: int) -> None:
        failed.set()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write() -> None:
        with PartWriter(tmp_path / "part") as writer:
            writer.write(lines[0])
            monkeypatch.setattr(parts.os, "fsync", full)
            writer.write(lines[1])
            assert failed.wait(10)

    with pytest.raises(StudyError, match=r"cannot be written to .*: No space left on device"):
        write()
    with pytest.raises(StudyError, match="File exists"):
        PartWriter(tmp_path / "part").write(lines[0])


def test_no_file_without_a_run(tmp_path: Path) -> None:
    with PartWriter(tmp_path / "part"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="limits")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk(small, expected, tmp_path: Path, jobs: int) -> None:
    """One line says so; what was finished is kept, and the same command goes on."""
    (tmp_path / "small.json").write_text(json.dumps(SMALL))
    # No file may have more than 8000 bytes.
    code = (
        "import json, resource, sys; from pathlib import Path;"
        "from matroid_bandits.experiments import load_study, run_study, StudyError;"
        "import matroid_bandits.experiments.reporting.report;"
        "study = load_study(json.loads(Path(sys.argv[1]).read_text()));"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000));"
        "sys.excepthook = lambda kind, error, trace: print(kind.__name__, error);"
        f"run_study(study, sys.argv[2], jobs={jobs})"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "small.json"), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("StudyError results cannot be written to"), done
    assert done.stdout.endswith(": File too large\n")
    kept = times_finished(tmp_path / "out")
    assert 0 < kept.total() < 12
    assert_same_numbers(run_study(small, tmp_path / "out", jobs=1), expected)
    assert times_finished(tmp_path / "out") == dict.fromkeys(small.tasks(), 1)
