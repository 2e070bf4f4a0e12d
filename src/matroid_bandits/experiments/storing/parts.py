"""Parts: files to which one process each appends finished runs, one line per run.

A line has a checksum, the numbers of the run, and its curve. A line that was being written when the
power failed, or that is damaged, does not have its checksum: it is skipped, and its run counts as
not finished. No process changes or removes the part of another one, so any number of processes
may write into one folder, on any machines.
"""

import json
import os
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from matroid_bandits._files import sync_folder
from matroid_bandits.experiments.storing.json_files import unwritable
from matroid_bandits.experiments.study import Task
from matroid_bandits.identification import Identification
from matroid_bandits.simulation import Simulation

if TYPE_CHECKING:
    from io import FileIO

__all__ = [
    "FinishedRun",
    "PartReading",
    "PartWriter",
    "identification_line",
    "part_line",
    "read_part",
]

# The most seconds for which a finished run may not be on the disk yet.
_SECONDS = 1.0


class FinishedRun(NamedTuple):
    """A run as a part has it: its numbers, and the text of its curve."""

    numbers: dict[str, Any]
    curve: bytes

    @property
    def task(self) -> Task:
        """Which run it is."""
        return Task(*(self.numbers[name] for name in Task._fields))


def part_line(task: Task, result: Simulation, lower_bound: float) -> bytes:
    """A finished run of a study of regret as a line of a part."""
    numbers = {
        **task._asdict(),
        "horizon": int(result.rounds[-1]),
        "regret": result.total_regret,
        # NaN is no JSON.
        "lower_bound": lower_bound if isfinite(lower_bound) else None,
        "seconds": result.seconds,
        **result.counters,
    }
    curve = {"round": result.rounds, "regret": result.regret, **result.counter_curves}
    return _line(numbers, {name: values.tolist() for name, values in curve.items()})


def identification_line(
    task: Task, limit: int, result: Identification, lower_bound: float
) -> bytes:
    """A finished run of a study of identification as a line of a part."""
    numbers = {
        **task._asdict(),
        "horizon": limit,
        "rounds": result.rounds,
        "observations": result.observations,
        "settled": result.settled,
        "correct": result.is_correct,
        "statistic": result.statistic,
        # Two best bases have an infinite one, which is no JSON either.
        "lower_bound": lower_bound if isfinite(lower_bound) else None,
        "seconds": result.seconds,
    }
    rounds, statistics = result.curve_rounds.tolist(), result.curve_statistics.tolist()
    if not rounds or rounds[-1] != result.rounds:
        # The limit was reached between two points.
        rounds, statistics = [*rounds, result.rounds], [*statistics, result.statistic]
    statistics[-1] = result.statistic
    return _line(numbers, {"round": rounds, "statistic": statistics})


def _line(numbers: dict[str, Any], curve: dict[str, list[Any]]) -> bytes:
    """A line with its checksum."""
    # JSON has neither tabs nor ends of lines.
    text = f"{_json(numbers)}\t{_json(curve)}".encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _json(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"))


class PartWriter:
    """Appends lines to a new file; they are on the disk a second later.

    A line that was written survives this process at once, and a power cut after that second.

    Parameters
    ----------
    path : Path
        Must not exist; the first line makes it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO | None = None
        self._is_synced = True
        self._stop = threading.Event()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._sync_regularly, daemon=True)

    def write(self, lines: bytes) -> None:
        """Append complete lines; the first ones make the file.

        Raises
        ------
        StudyError
            If the disk is full, or the file cannot be written for another reason.
        """
        self._raise_error()
        try:
            self._append(lines)
        except OSError as error:
            raise unwritable(self._path, error) from error

    def _append(self, lines: bytes) -> None:
        if self._file is None:
            # Without a buffer of Python's: what was written survives if this process is killed.
            self._file = self._path.open("xb", buffering=0)
            self._thread.start()
            sync_folder(self._path.parent)
        left = memoryview(lines)
        while left:
            # A disk that is nearly full takes some of it; then there is an error.
            left = left[self._file.write(left) or 0 :]
        self._is_synced = False

    def _sync_regularly(self) -> None:
        while not self._stop.wait(_SECONDS):
            if not self._is_synced:
                self._is_synced = True
                try:
                    self._sync()
                except OSError as error:
                    self._error = error
                    return

    def _sync(self) -> None:
        if self._file is not None:
            os.fsync(self._file.fileno())

    def _raise_error(self) -> None:
        if self._error is not None:
            raise unwritable(self._path, self._error) from self._error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is None:
            return
        self._stop.set()
        self._thread.join()
        try:
            with self._file:
                self._sync()
        except OSError as problem:
            self._error = problem
        if kind is None:
            self._raise_error()


@dataclass
class PartReading:
    """How far a part was read.

    Attributes
    ----------
    end : int
        Before the first line that could not be read. It may become readable: a network file system
        shows zeros for a moment where another machine has written.
    n_damaged : int
        Lines that could not be read and have one after them that could.
    """

    end: int
    n_damaged: int = 0


def read_part(path: Path, reading: PartReading) -> Iterator[FinishedRun]:
    """The runs in a part after `reading.end`, which advances up to the first damaged line.

    Another process may be writing: a line without an end is not read.
    """
    place = reading.end
    n_unreadable = 0
    with path.open("rb") as file:
        file.seek(place)
        for line in file:
            if line[-1:] != b"\n":
                # Its rest may be there by now, and must not be taken for another line.
                return
            place += len(line)
            run = _parsed(line)
            if run is None:
                # At the end of the file this is what was being written; it is no damage.
                n_unreadable += 1
                continue
            reading.n_damaged += n_unreadable
            n_unreadable = 0
            if not reading.n_damaged:
                reading.end = place
            yield run


def _parsed(line: bytes) -> FinishedRun | None:
    checksum, _, text = line[:-1].partition(b" ")
    if not text or checksum != b"%08x" % zlib.crc32(text):
        return None
    numbers, _, curve = text.partition(b"\t")
    return FinishedRun(json.loads(numbers), curve)
