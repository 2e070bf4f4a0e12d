"""A policy that is saved and loaded continues as if nothing had happened, bit for bit."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import matroid_bandits as mb

from . import continuing

MOMENTS = 1000
PARTS = 4


@pytest.fixture(autouse=True)
def without_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.mark.parametrize("part", range(PARTS))
def test_saved_at_random_moments_and_continued_in_another_process(
    part: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng([14, part])
    names = list(continuing.POLICIES)
    expected = {}
    with warnings.catch_warnings():
        # Rewards without much noise.
        warnings.simplefilter("ignore")
        for moment in range(part, MOMENTS, PARTS):
            name = names[moment // PARTS % len(names)]
            problem = list(continuing.PROBLEMS)[int(rng.integers(len(continuing.PROBLEMS)))]
            policy = continuing.POLICIES[name](continuing.PROBLEMS[problem](), moment)
            for _ in range(int(rng.integers(120))):
                continuing.act(policy, rng)
            path = tmp_path / f"{name}--{problem}--{moment}.snapshot"
            policy.save(path)
            expected[path.name] = continuing.continued(policy, moment)
    program = [sys.executable, "-W", "ignore", continuing.__file__, str(tmp_path)]
    run = subprocess.run(program, capture_output=True, text=True, check=False)
    assert not run.returncode, run.stderr
    found = json.loads(run.stdout)
    assert found.keys() == expected.keys()
    for name, result in expected.items():
        assert found[name] == result, name


@pytest.mark.parametrize("name", continuing.POLICIES)
def test_saving_changes_nothing_and_is_repeatable(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for problem, make in continuing.PROBLEMS.items():
            one, other = (continuing.POLICIES[name](make(), 3) for _ in range(2))
            rngs = [np.random.default_rng(5) for _ in range(2)]
            for step in range(60):
                done = [continuing.act(*pair) for pair in zip((one, other), rngs, strict=True)]
                assert done[0] == done[1]
                if step % 20 == 7:
                    one.save(tmp_path / "first")
                    one.save(tmp_path / "second")
                    first = (tmp_path / "first").read_bytes()
                    assert first == (tmp_path / "second").read_bytes()
                    loaded = mb.load(
                        tmp_path / "first",
                        continuing.matroid_for(problem),
                        classes=continuing.CLASSES,
                    )
                    assert continuing.statistics(loaded) == continuing.statistics(one)
                    loaded.save(tmp_path / "second")
                    assert first == (tmp_path / "second").read_bytes()
