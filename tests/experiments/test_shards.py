"""Shards: how they are written, and which tasks are theirs."""

import os
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matroid_bandits.experiments import load_study
from matroid_bandits.experiments.shards import Shard, parse_shard, tasks_of
from matroid_bandits.experiments.study import Study


def study(instances: int, policies: int, runs: int, seed: int = 0, alone: int = 0) -> Study:
    """A study in which the first `alone` instances have one policy only."""
    names = [f"policy {i}" for i in range(policies)]
    tables = [
        {"name": f"instance {i}", "matroid": "U(1,2)"}
        | ({"policies": names[i % policies :][:1]} if i < alone else {})
        for i in range(instances)
    ]
    return load_study(
        {
            "policies": [{"type": "OMM", "label": name} for name in names],
            "instances": tables,
            "runs": runs,
            "seed": seed,
            "horizon": 10,
        }
    )


# ---- which tasks ----


@settings(deadline=None, max_examples=100)
@given(
    instances=st.integers(1, 4),
    policies=st.integers(1, 4),
    runs=st.integers(1, 12),
    seed=st.integers(0, 1000),
    alone=st.integers(0, 4),
    count=st.integers(1, 40),
)
def test_all_shards_are_all_tasks_once_and_evenly(
    instances, policies, runs, seed, alone, count
) -> None:
    whole = study(instances, policies, runs, seed, min(alone, instances - 1))
    tasks = whole.tasks()
    place = {task: i for i, task in enumerate(tasks)}
    shards = [tasks_of(whole, Shard(number, count)) for number in range(1, count + 1)]
    assert Counter(task for shard in shards for task in shard) == Counter(tasks)
    lengths = [len(shard) for shard in shards]
    assert max(lengths) - min(lengths) <= 1
    for pair in {task[:2] for task in tasks}:
        of_pair = [sum(task[:2] == pair for task in shard) for shard in shards]
        assert max(of_pair) - min(of_pair) <= 1
    for shard in shards:
        assert shard == sorted(shard, key=place.__getitem__)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 12, 13, 100])
def test_positions_by_the_definition(count: int) -> None:
    whole = study(3, 2, 5, seed=4, alone=1)
    pairs = list(dict.fromkeys(task[:2] for task in whole.tasks()))
    ordered = sorted(whole.tasks(), key=lambda task: (pairs.index(task[:2]), task.seed))
    for number in range(1, count + 1):
        mine = {task for p, task in enumerate(ordered) if p % count + 1 == number}
        assert set(tasks_of(whole, Shard(number, count))) == mine


def test_the_whole() -> None:
    whole = study(2, 2, 3)
    assert tasks_of(whole, Shard(1, 1)) == whole.tasks()
    assert Shard(1, 1).is_whole
    assert not Shard(1, 2).is_whole


def test_more_shards_than_tasks() -> None:
    whole = study(1, 1, 2)
    assert [len(tasks_of(whole, Shard(i, 4))) for i in (1, 2, 3, 4)] == [1, 1, 0, 0]


def test_a_million_tasks_in_many_shards() -> None:
    """Only the tasks of the shard are made: all 10,000 shards take about as long as one list."""
    whole = study(2, 1, 500_000)
    assert sum(len(tasks_of(whole, Shard(i, 10_000))) for i in range(1, 10_001)) == 1_000_000


# ---- as a text ----


@pytest.mark.parametrize("text", ["3/64", " 3 / 64 ", "03/064"])
def test_number_and_count(text: str) -> None:
    shard = parse_shard(text, {})
    assert shard == Shard(3, 64)
    assert str(shard) == "3/64"


SLURM = {
    "SLURM_ARRAY_TASK_ID": "7",
    "SLURM_ARRAY_TASK_MIN": "1",
    "SLURM_ARRAY_TASK_MAX": "64",
    "SLURM_ARRAY_TASK_STEP": "1",
    "SLURM_ARRAY_TASK_COUNT": "64",
}
GRID_ENGINE = {
    "SGE_TASK_ID": "7",
    "SGE_TASK_FIRST": "1",
    "SGE_TASK_LAST": "64",
    "SGE_TASK_STEPSIZE": "1",
}
LSF = {"LSB_JOBINDEX": "7", "LSB_JOBINDEX_END": "64", "LSB_JOBINDEX_STEP": "1"}
PBS = {"PBS_ARRAY_INDEX": "7"}
TORQUE = {"PBS_ARRAYID": "7"}


@pytest.mark.parametrize("environment", [SLURM, GRID_ENGINE, LSF], ids=str)
def test_auto(environment: dict[str, str]) -> None:
    assert parse_shard("auto", environment) == Shard(7, 64)


@pytest.mark.parametrize("environment", [SLURM, GRID_ENGINE, LSF, PBS, TORQUE], ids=str)
def test_auto_with_a_count(environment: dict[str, str]) -> None:
    assert parse_shard("auto/100", environment) == Shard(7, 100)


@pytest.mark.parametrize(
    "environment, shard",
    [
        # --array=0-15
        (
            SLURM
            | {
                "SLURM_ARRAY_TASK_MIN": "0",
                "SLURM_ARRAY_TASK_MAX": "15",
                "SLURM_ARRAY_TASK_COUNT": "16",
            },
            Shard(8, 16),
        ),
        # --array=1-10:3, which is 1, 4, 7, 10
        (
            SLURM
            | {
                "SLURM_ARRAY_TASK_MAX": "10",
                "SLURM_ARRAY_TASK_STEP": "3",
                "SLURM_ARRAY_TASK_COUNT": "4",
            },
            Shard(3, 4),
        ),
        # --array=7
        (
            SLURM
            | {
                "SLURM_ARRAY_TASK_MIN": "7",
                "SLURM_ARRAY_TASK_MAX": "7",
                "SLURM_ARRAY_TASK_COUNT": "1",
            },
            Shard(1, 1),
        ),
        # -t 3-12:2, which is 3, 5, 7, 9, 11
        (
            GRID_ENGINE | {"SGE_TASK_FIRST": "3", "SGE_TASK_LAST": "12", "SGE_TASK_STEPSIZE": "2"},
            Shard(3, 5),
        ),
        # [1-10:2] is the numbers 1, 3, 5, 7, 9
        (LSF | {"LSB_JOBINDEX_END": "10", "LSB_JOBINDEX_STEP": "2"}, Shard(4, 5)),
    ],
)
def test_numbering_of_arrays(environment: dict[str, str], shard: Shard) -> None:
    assert parse_shard("auto", environment) == shard


def test_early_versions_say_less() -> None:
    names = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX")
    assert parse_shard("auto", {name: SLURM[name] for name in names}) == Shard(7, 64)


def test_jobs_of_other_schedulers_that_are_not_arrays_are_passed_over() -> None:
    outside = {"SGE_TASK_ID": "undefined", "LSB_JOBINDEX": "0"}
    assert parse_shard("auto/64", outside | PBS) == Shard(7, 64)
    assert parse_shard("auto", {"SLURM_ARRAY_TASK_ID": ""} | LSF) == Shard(7, 64)


def test_the_environment_of_the_process(monkeypatch) -> None:
    for name in list(os.environ):
        if name.startswith(("SLURM_", "SGE_", "LSB_", "PBS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PBS_ARRAY_INDEX", "5")
    assert parse_shard("auto/9") == Shard(5, 9)


@pytest.mark.parametrize(
    "text, environment, message",
    [
        *(
            (text, {}, f"written like 3/64 (the third of 64), auto or auto/64, got {text!r}")
            for text in ("", "3", "3/", "/64", "a/64", "-1/64", "3/64/2", "3.0/64", "3 of 64")
        ),
        *((text, {}, "auto or auto/64") for text in ("AUTO", "auto/", "auto64", "٣/64", "1/2\n3")),
        ("0/64", {}, "shards are numbered from 1: the first of 64 is 1/64, the last is 64/64, got"),
        ("65/64", {}, "the last is 64/64, got '65/64'"),
        ("9" * 5000 + "/64", {}, "the last is 64/64"),
        ("1/0", {}, "the number of shards must be from 1 to 1,000,000,000, got '1/0'"),
        ("1/" + "9" * 5000, {}, "the number of shards must be from 1 to 1,000,000,000"),
        ("auto/0", SLURM, "the number of shards must be from 1"),
        (
            "auto",
            {},
            (
                "auto is for tasks of job arrays, and this is none: SLURM_ARRAY_TASK_ID, "
                "SGE_TASK_ID, LSB_JOBINDEX, PBS_ARRAY_INDEX, PBS_ARRAYID are not set; "
                "write which shard of how many, such as --shard 3/64"
            ),
        ),
        ("auto/64", {}, "auto/64 is for tasks of job arrays, and this is none"),
        (
            "auto",
            {"SGE_TASK_ID": "undefined", "LSB_JOBINDEX": "0"},
            "(but SGE_TASK_ID=undefined, LSB_JOBINDEX=0, as outside of arrays)",
        ),
        (
            "auto/5",
            SLURM,
            "for job arrays numbered from 1 to 5, but SLURM_ARRAY_TASK_ID is 7; number the array",
        ),
        ("auto/5", {"SLURM_ARRAY_TASK_ID": "0"}, "from 1 to 5, but SLURM_ARRAY_TASK_ID is 0"),
        # --array=3,7
        (
            "auto",
            SLURM
            | {
                "SLURM_ARRAY_TASK_MIN": "3",
                "SLURM_ARRAY_TASK_MAX": "7",
                "SLURM_ARRAY_TASK_COUNT": "2",
            },
            (
                "is not known: SLURM_ARRAY_TASK_ID is 7, and the array has 2 tasks, from 3 to 7 in "
                "steps of 1; number the shards from 1 and write how many there are in all, such as "
                '--shard "$SLURM_ARRAY_TASK_ID/64"'
            ),
        ),
        ("auto", GRID_ENGINE | {"SGE_TASK_STEPSIZE": "4"}, "SGE_TASK_ID is 7, and the array has"),
        ("auto", LSF | {"LSB_JOBINDEX_END": "5"}, '--shard "$LSB_JOBINDEX/64"'),
        (
            "auto",
            PBS,
            (
                "PBS does not say how many tasks an array has (only PBS_ARRAY_INDEX=7); number "
                "them from 1 and write how many there are, such as --shard auto/64"
            ),
        ),
        ("auto", TORQUE, "(only PBS_ARRAYID=7)"),
        (
            "auto",
            {"SLURM_ARRAY_TASK_ID": "7"},
            "SLURM_ARRAY_TASK_MIN is not set, so the shard of this task is not known; number the",
        ),
        ("auto", {"LSB_JOBINDEX": "7"}, "LSB_JOBINDEX_END is not set"),
        ("auto", SLURM | {"SLURM_ARRAY_TASK_ID": "x"}, "SLURM_ARRAY_TASK_ID is 'x', which is not"),
        ("auto", SLURM | {"SLURM_ARRAY_TASK_COUNT": "-1"}, "SLURM_ARRAY_TASK_COUNT is '-1', which"),
        ("auto/9", {"PBS_ARRAYID": "1-9"}, "PBS_ARRAYID is '1-9', which is not a whole number"),
    ],
)
def test_mistakes(text: str, environment: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        parse_shard(text, environment)
    assert "\n" not in str(error.value)
