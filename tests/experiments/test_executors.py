"""The same study on every kind of executor: the same numbers."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import loky
import numpy as np
import pandas as pd
import pytest

import matroid_bandits as mb
from matroid_bandits.experiments import Results, Study, gather, load_study, run_shard, run_study


class Local(mb.Policy):
    """Draws with the seed of its run; workers get it by value or by reference."""

    name = "Local"

    def __init__(self, matroid: mb.Matroid, seed: int) -> None:
        super().__init__(matroid)
        self._rng = np.random.default_rng(seed)

    def _select(self):
        return self.greedy_basis(self._rng.random(self.matroid.size))


@pytest.fixture(scope="module")
def study() -> Study:
    class Inner(Local):
        name = "Inner"

    return load_study(
        {
            "horizon": 300,
            "runs": 4,
            "seed": 3,
            "environment": {"type": "bernoulli"},
            "policies": ["MAUB", "CTS", Inner],
            "instances": ["K5", {"matroid": "U(2,5)", "delay": 3}],
        }
    )


@pytest.fixture(scope="module")
def expected(study: Study, tmp_path_factory) -> Results:
    return run_study(study, tmp_path_factory.mktemp("here"), jobs=1)


def in_processes(study: Study, out: Path) -> Results:
    return run_study(study, out, jobs=3)


def in_threads(study: Study, out: Path) -> Results:
    with ThreadPoolExecutor(3) as executor:
        return run_study(study, out, executor=executor)


def in_concurrent_processes(study: Study, out: Path) -> Results:
    # Started anew: a fork of a process that has threads may hang.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        return run_study(study, out, executor=executor)


def in_loky(study: Study, out: Path) -> Results:
    executor = loky.get_reusable_executor(max_workers=2)
    try:
        return run_study(study, out, executor=executor)
    finally:
        executor.shutdown(kill_workers=True)


def in_shards(study: Study, out: Path) -> Results:
    for i in (3, 1, 2):
        run_shard(study, out, f"{i}/3", jobs=1)
    return gather(out)


def in_dask(study: Study, out: Path) -> Results:
    return run_study(study, out, dask="local", jobs=2)


@pytest.mark.parametrize(
    "run",
    [in_processes, in_threads, in_concurrent_processes, in_loky, in_shards, in_dask],
    ids=lambda run: run.__name__,
)
def test_the_numbers_are_the_same(
    study: Study, expected: Results, tmp_path, run: Callable[[Study, Path], Results]
) -> None:
    found = run(study, tmp_path / "out")
    assert len(found.runs) == 24
    own = ["seconds", "session"]  # of the machine and the moment
    pd.testing.assert_frame_equal(found.runs.drop(columns=own), expected.runs.drop(columns=own))
    pd.testing.assert_frame_equal(found.curves, expected.curves)
    done = [d["runs"] for s in found.sessions for d in s["workers"].values()]
    assert sum(done) == 24


def test_a_study_goes_on_with_another_executor(study, expected, tmp_path) -> None:
    run_study(study.part(runs=2), tmp_path, jobs=1)
    with ThreadPoolExecutor(2) as executor:
        found = run_study(study, tmp_path, executor=executor, extend=True)
    assert sorted(found.runs["session"].value_counts()) == [12, 12]
    pd.testing.assert_frame_equal(found.curves, expected.curves)
