"""Snapshots of every version of the format load forever, and continue as they did."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from ..data import make_snapshots

SNAPSHOTS = Path(make_snapshots.__file__).parent / "snapshots"
VERSIONS = sorted(folder.name for folder in SNAPSHOTS.iterdir())


def load(path: Path) -> mb.Policy:
    matroid = make_snapshots.Pairs() if path.stem.endswith("-python") else None
    return mb.load(path, matroid, classes=[make_snapshots.Latest])


@pytest.mark.parametrize("version", VERSIONS)
def test_old_files_load_and_continue(version: str, request: pytest.FixtureRequest) -> None:
    if version == "version-1":
        # MAUB with a Thompson index drew for every element.
        request.getfixturevalue("plain_draws")
    expected = json.loads((SNAPSHOTS / version / "plays.json").read_text())
    files = sorted((SNAPSHOTS / version).glob("*.snapshot"))
    assert {path.stem for path in files} == expected.keys()
    for path in files:
        policy = load(path)
        assert len(policy.open_decisions) == 2
        assert make_snapshots.play(policy, make_snapshots.ROUNDS) == expected[path.stem]["plays"]
        assert np.array_equal(policy.means, expected[path.stem]["means"], equal_nan=True)


def test_old_files_of_a_thompson_index_begin_with_fresh_thresholds() -> None:
    """They continue with the same distribution, not with the same draws."""
    path = SNAPSHOTS / "version-1" / "maub-beta-pending.snapshot"
    one, other = load(path), load(path)
    assert make_snapshots.play(one, make_snapshots.ROUNDS) == make_snapshots.play(
        other, make_snapshots.ROUNDS
    )
    assert one._kernel.state()["thinned"] is not None


def test_every_policy_has_a_file() -> None:
    found = {load(path).name for path in (SNAPSHOTS / VERSIONS[-1]).glob("*.snapshot")}
    assert found >= set(catalog.POLICIES)


def test_old_files_are_saved_in_the_present_version(tmp_path: Path) -> None:
    for path in SNAPSHOTS.glob("*/*.snapshot"):
        copy = tmp_path / path.name
        shutil.copy(path, copy)
        policy = load(copy)
        policy.save(copy)
        assert load(copy).rounds == policy.rounds
