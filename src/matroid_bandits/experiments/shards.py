"""Shards: parts of a study that run apart from each other, on many hosts.

A shard is written ``3/64``: the third of 64. In a job array, ``auto`` is the shard of the task
that reads it.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from matroid_bandits._arguments import abbreviated

if TYPE_CHECKING:
    from matroid_bandits.experiments.study import Study, Task

__all__ = ["Shard", "parse_shard", "tasks_of"]


@dataclass(frozen=True)
class _Array:
    """Names of the variables with which a scheduler describes a job array; "" if there is none."""

    index: str
    first: str = ""
    last: str = ""
    step: str = ""
    count: str = ""
    # The index of jobs that are not in an array.
    outside: str = ""


_ARRAYS = (
    _Array(  # Slurm
        "SLURM_ARRAY_TASK_ID",
        "SLURM_ARRAY_TASK_MIN",
        "SLURM_ARRAY_TASK_MAX",
        "SLURM_ARRAY_TASK_STEP",
        "SLURM_ARRAY_TASK_COUNT",
    ),
    _Array(  # Grid Engine
        "SGE_TASK_ID",
        "SGE_TASK_FIRST",
        "SGE_TASK_LAST",
        "SGE_TASK_STEPSIZE",
        outside="undefined",
    ),
    # LSF does not say where an array begins; it is taken to be 1.
    _Array("LSB_JOBINDEX", "", "LSB_JOBINDEX_END", "LSB_JOBINDEX_STEP", outside="0"),
    _Array("PBS_ARRAY_INDEX"),
    _Array("PBS_ARRAYID"),  # Torque
)

_MOST_SHARDS = 10**9


class Shard(NamedTuple):
    """One of `count` parts of a study, numbered from 1."""

    number: int
    count: int  # type: ignore[assignment]  # tuples have a method of this name

    @property
    def is_whole(self) -> bool:
        """Whether this is the whole study: ``1/1``."""
        return self.count == 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


# ---- which tasks ----


def tasks_of(study: "Study", shard: Shard) -> list["Task"]:
    """The tasks of a shard, in the order of ``study.tasks()``.

    All tasks are dealt out in turn: ordered by instance and policy, and then by seed, the first
    one to shard 1, the second one to shard 2, and so on. So two shards differ by at most one
    task, and by at most one run of each policy on each instance, which is about equal work. Hashes
    of the tasks would give shards of unequal length, and the longest one decides when a study is
    finished.

    The answer depends on the study and the shard only, not on what is finished: each task is in
    exactly one shard, whichever hosts start first.

    Parameters
    ----------
    study : Study
        The whole study.
    shard : Shard
        Which part of it.

    Examples
    --------
    >>> from matroid_bandits.experiments import load_study
    >>> from matroid_bandits.experiments.shards import Shard, tasks_of
    >>> study = load_study({"runs": 3, "policies": ["MAUB", "OMM"], "instances": ["K5"]})
    >>> [str(task) for task in tasks_of(study, Shard(2, 4))]
    ['K5 MAUB seed 1', 'K5 OMM seed 2']
    """
    # With one run, each task is a pair of an instance and a policy.
    pairs = replace(study, runs=1).tasks()
    places = sorted(
        (run, pair)
        for pair in range(len(pairs))
        # Position `pair * runs + run` belongs to shard number `position % count + 1`.
        for run in range(
            (shard.number - 1 - pair * study.runs) % shard.count, study.runs, shard.count
        )
    )
    return [pairs[pair]._replace(seed=study.seed + run) for run, pair in places]


# ---- as a text ----


def parse_shard(text: str, environment: Mapping[str, str] = os.environ) -> Shard:
    """The shard that a text means.

    Parameters
    ----------
    text : str
        ``3/64``, or in a task of a job array ``auto``, or ``auto/64`` if the array is numbered
        from 1 to 64.
    environment : mapping of str to str, optional
        The environment variables, in which schedulers say which task this is: Slurm, Grid
        Engine, LSF and PBS. PBS does not say how many tasks there are.

    Raises
    ------
    ValueError
        What is wrong, and what to write instead.

    Examples
    --------
    >>> from matroid_bandits.experiments.shards import parse_shard
    >>> parse_shard("3/64")
    Shard(number=3, count=64)
    >>> str(parse_shard("auto/64", {"SLURM_ARRAY_TASK_ID": "7"}))
    '7/64'
    """
    form = re.fullmatch(r"\s*(auto|[0-9]+)(?:\s*/\s*([0-9]+))?\s*", str(text))
    number, count = form.groups() if form else ("", None)
    if count is None and number != "auto":
        raise ValueError(
            "a shard is written like 3/64 (the third of 64), auto or auto/64, got "
            f"{abbreviated(text)}"
        )
    if count is None:
        return _shard_of_array(environment)
    if not 1 <= _number(count) <= _MOST_SHARDS:
        raise ValueError(
            f"the number of shards must be from 1 to {_MOST_SHARDS:,}, got {abbreviated(text)}"
        )
    if number == "auto":
        return _numbered_from_one(int(count), environment)
    if not 1 <= _number(number) <= int(count):
        raise ValueError(
            f"shards are numbered from 1: the first of {count} is 1/{count}, the last is "
            f"{count}/{count}, got {abbreviated(text)}"
        )
    return Shard(int(number), int(count))


def _number(digits: str) -> int:
    """The number; of very many digits, which Python does not read, one that is too large."""
    return int(digits) if len(digits) <= 20 else 10**20


def _numbered_from_one(count: int, environment: Mapping[str, str]) -> Shard:
    """The shard of a task whose array is numbered from 1 to `count`."""
    name = _array_of(environment, f"auto/{count}").index
    index = _value(name, environment)
    if not 1 <= index <= count:
        raise ValueError(
            f"auto/{count} is for job arrays numbered from 1 to {count}, but {name} is {index}; "
            f"number the array from 1 to {count}"
        )
    return Shard(index, count)


def _shard_of_array(environment: Mapping[str, str]) -> Shard:
    """The shard of a task whose scheduler says how its array is numbered."""
    array = _array_of(environment, "auto")
    index = _value(array.index, environment)
    if not array.last:
        raise ValueError(
            f"PBS does not say how many tasks an array has (only {array.index}={index}); number "
            "them from 1 and write how many there are, such as --shard auto/64"
        )
    first = _value(array.first, environment) if array.first else 1
    last = _value(array.last, environment)
    step = _value(array.step, environment) if environment.get(array.step) else 1
    indices = range(first, last + 1, max(step, 1))
    # Early versions of Slurm do not say how many tasks there are.
    known = environment.get(array.count)
    count = _value(array.count, environment) if known else len(indices)
    if index not in indices or count != len(indices):
        raise ValueError(
            f"the place of this task in the job array is not known: {array.index} is {index}, and "
            f"the array has {count} tasks, from {first} to {last} in steps of {step}; number the "
            "shards from 1 and write how many there are in all, such as --shard "
            f'"${array.index}/64"'
        )
    return Shard(indices.index(index) + 1, count)


def _array_of(environment: Mapping[str, str], text: str) -> _Array:
    """The variables of the scheduler in whose job array this is."""
    for array in _ARRAYS:
        if environment.get(array.index, "") not in {"", array.outside}:
            return array
    names = [array.index for array in _ARRAYS]
    found = [f"{name}={environment[name]}" for name in names if environment.get(name)]
    but = f" (but {', '.join(found)}, as outside of arrays)" if found else ""
    raise ValueError(
        f"{text} is for tasks of job arrays, and this is none: {', '.join(names)} are not "
        f"set{but}; write which shard of how many, such as --shard 3/64"
    )


def _value(name: str, environment: Mapping[str, str]) -> int:
    """The whole number in a variable."""
    text = environment.get(name, "")
    if not re.fullmatch(r"[0-9]{1,18}", text):
        what = f"is {abbreviated(text)}, which is not a whole number" if text else "is not set"
        raise ValueError(
            f"{name} {what}, so the shard of this task is not known; number the job array from 1 "
            "and write how many shards there are, such as --shard auto/64"
        )
    return int(text)
