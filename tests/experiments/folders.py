"""Helpers of tests about the folder of a study: what is in it, and whether numbers agree."""

from collections import Counter
from pathlib import Path

import pandas as pd

from matroid_bandits.experiments import Results
from matroid_bandits.experiments.storing.parts import FinishedRun, PartReading, read_part
from matroid_bandits.experiments.study import Task

#: A study of twelve short runs.
SMALL = {
    "horizon": 400,
    "runs": 3,
    "policies": ["MAUB", "OMM"],
    "instances": ["K5", "U(2,5)"],
}


def assert_same_numbers(one: Results, other: Results) -> None:
    own = ["seconds", "session"]  # of the machine and the moment
    pd.testing.assert_frame_equal(one.runs.drop(columns=own), other.runs.drop(columns=own))
    pd.testing.assert_frame_equal(one.curves, other.curves)


def content_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def runs_in(part: Path) -> list[FinishedRun]:
    return list(read_part(part, PartReading(0)))


def times_finished(folder: Path) -> Counter[Task]:
    """How often each task is in the parts."""
    return Counter(run.task for part in folder.glob("parts/*.jsonl") for run in runs_in(part))
