"""Studies read every matroid's specification: one notation for studies and `to_spec`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits.experiments import StudyError, load_study

from .. import recipes


def matroid_of_study(spec: Any) -> mb.Matroid:
    study = load_study({"policies": ["OMM"], "instances": [{"name": "one", "matroid": spec}]})
    return study.instances[0].matroid


@pytest.mark.parametrize("family", catalog.MATROIDS)
def test_every_class(family: str) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        matroid = catalog.MATROIDS[family].random(rng, int(rng.integers(1, 9)))
        spec = json.loads(json.dumps(matroid.to_spec()))
        if spec["type"] == "python":
            with pytest.raises(
                StudyError, match=r"type: a matroid that is written in Python is gi"
            ):
                matroid_of_study(spec)
        else:
            assert matroid_of_study(spec) == matroid == mb.matroid_from_spec(spec)


def test_compositions() -> None:
    for seed in range(60):
        matroid = recipes.random_recipe(np.random.default_rng(seed), 6, depth=3).build()
        spec = json.loads(json.dumps(matroid.to_spec()))
        if spec["type"] != "python":
            assert matroid_of_study(spec) == matroid


def test_a_list_as_a_label_is_a_tuple(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("""
        policies = ["OMM"]

        [[instances]]
        name = "graph"
        matroid = { type = "graphic", edges = [[["a", 1], "b"], ["b", ["c", [2, 3]]]] }

        [[instances]]
        name = "groups"
        matroid = { type = "partition", groups = [["a", 1], ["a", 1], ["b", 2]], capacities = 1 }
    """)
    graph, groups = (instance.matroid for instance in load_study(path).instances)
    assert graph == mb.GraphicMatroid([(("a", 1), "b"), ("b", ("c", (2, 3)))])
    assert groups == mb.PartitionMatroid([0, 0, 1], 1)
