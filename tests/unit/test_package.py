"""The package as a whole: exports, citations, what an import brings along."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import environments, matroids, policies
from matroid_bandits._core.matroids.graphic import GraphicKernel
from matroid_bandits.catalog import graphs
from matroid_bandits.experiments import load_study

ROOT = Path(__file__).parents[2]


def test_everything_is_importable_from_the_top() -> None:
    for module in (matroids, policies, environments):
        assert set(module.__all__) <= set(mb.__all__)
    for name in mb.__all__:
        assert getattr(mb, name) is not None


def test_public_classes_and_functions_are_documented() -> None:
    for name in mb.__all__:
        documented = getattr(mb, name)
        if callable(documented):
            assert documented.__doc__, name


def test_signatures_name_array_types() -> None:
    # Without postponed annotations, help() shows ArrayLike as a union of a dozen private classes.
    for name in mb.__all__:
        public = getattr(mb, name)
        members = vars(public).values() if inspect.isclass(public) else [public]
        for member in members:
            if inspect.isfunction(member):
                assert "_array_like" not in str(inspect.signature(member)), (name, member)
                assert "_types." not in str(inspect.signature(member)), (name, member)


def test_import_needs_numpy_only_and_not_its_random_module() -> None:
    # numpy.random alone would add a good part of the time that importing numpy takes.
    code = (
        "import sys, numpy; before = set(sys.modules); import matroid_bandits;"
        "print(*{m.split('.')[0] for m in set(sys.modules) - before});"
        "print('numpy.random' in sys.modules)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    third_party = set(shown[0].split()) - set(sys.stdlib_module_names)
    # Cython's kernels share a module that exists in memory only.
    third_party -= {"numpy", "cython_runtime"}
    assert {name for name in third_party if not name.startswith("_")} == {"matroid_bandits"}
    assert shown[1] == "False"


@pytest.mark.skipif(
    "MATROID_BANDITS_CHECKED" not in os.environ, reason="only `make test-checked` has the checks"
)
def test_bounds_are_checked_in_a_checked_build() -> None:
    one_vertex_only = GraphicKernel(1, np.array([5]), np.array([6]))
    with pytest.raises(IndexError):
        one_vertex_only.is_independent(np.array([0]))


def test_cited_papers_are_in_the_bibliography() -> None:
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text()))
    for path in (*ROOT.glob("src/**/*.py*"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")):
        if path.suffix in (".py", ".pyx", ".pxd", ".md"):
            cited = set(re.findall(r"\[([A-Z]+\d{2})\]", path.read_text()))
            assert cited <= known, path


@pytest.mark.parametrize("number", [float, np.float32, np.int16])
def test_whole_numbers_are_accepted_in_any_type(number) -> None:
    def one(value: int):
        return number(value)

    line = mb.PiecewiseEnvironment([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]], [one(51)], std=0.5)
    assert line.means_at(one(50)).tolist() == [0.1, 0.2, 0.3]
    u23 = mb.UniformMatroid(one(2), one(3))
    assert u23 == mb.UniformMatroid(2, 3)
    assert u23.truncate(one(1)) == u23.truncate(1)
    assert u23.fundamental_circuit([one(0), one(1)], one(2)).tolist() == [0, 1, 2]
    assert mb.GraphicMatroid.complete(one(5)).size == graphs.wheel(one(5)).size == 10
    groups = [one(0), one(0), one(1)]
    for capacities in (one(1), [one(1), one(2)], {0: one(1), 1: one(2)}):
        assert mb.PartitionMatroid(groups, capacities).rank == 2
    assert mb.LinearMatroid([[1, 1], [1, 1]], field=one(2)).rank == 1
    assert mb.random_means(one(3), one(7), pieces=one(2)).shape == (2, 3)

    mb.check_matroid(u23, seed=one(1))
    assert mb.FixedDelay(one(2)).draw(np.random.default_rng(0), one(3)).tolist() == [2, 2, 2]
    assert len(mb.GeometricDelay(2).draw(np.random.default_rng(0), one(3))) == 3
    assert mb.LinearFeatures(np.eye(2), names=["x", "y"]).name(one(1)) == "y"
    problem = mb.Problem(u23, labels=["a", "b", "c"])
    assert (problem.name(one(1)), mb.Problem(u23).name(one(1))) == ("b", 1)
    assert problem.names(np.array([one(2), one(0)])) == ["c", "a"]

    def play(n):
        policies = [
            mb.MAUB(u23, noise=0.5, exchanges=n(2)),
            mb.MAUB(u23, index=mb.MOSS(horizon=n(300)), window=None),
            mb.MAUB(u23, noise=0.5, window=n(40)),
            mb.FasterCUCB(u23, horizon=n(300)),
            mb.RandomBasis(u23, seed=n(5)),
        ]
        runs = [
            mb.simulate(policy, line, n(300), seed=n(2), checkpoints=[n(100)], delay=n(3))
            for policy in policies
        ]
        return [(run.total_regret, run.rounds.tolist()) for run in runs]

    assert play(one) == play(int)
    policy = mb.OMM(mb.Problem(u23, labels=["a", "b", "c"]))
    policy.decide(propensities=one(3))
    assert policy.fork(seed=one(3)).rounds == 1
    study = load_study(
        {
            "runs": one(2),
            "policies": [{"type": "FasterCUCB", "horizon": one(100)}],
            "instances": [{"matroid": "K4", "horizon": one(100), "delay": one(3)}],
        }
    )
    assert (study.runs, study.instances[0].horizon) == (2, 100)
