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
