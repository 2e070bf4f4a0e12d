"""The type stubs of the kernels say what the built modules have."""

import ast
import importlib
from pathlib import Path

import pytest

import matroid_bandits._core

# The built package, wherever it was installed.
STUBS = sorted(Path(matroid_bandits._core.__file__).parent.glob("*.pyi"))


def _public(names) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def _members(node: ast.ClassDef) -> set[str]:
    named = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
    return named | {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}


@pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.stem)
def test_stub_matches_module(stub: Path) -> None:
    module = importlib.import_module(f"matroid_bandits._core.{stub.stem}")
    tree = ast.parse(stub.read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    own = {
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    }
    assert own == set(classes) | functions
    for name, node in classes.items():
        cls = getattr(module, name)
        inherited = set().union(*(vars(base) for base in cls.__mro__[1:]))
        assert _public(vars(cls)) - inherited <= _public(_members(node)), name
        assert _public(_members(node)) <= set(dir(cls)), name


def test_every_kernel_has_a_stub() -> None:
    kernels = {path.name.split(".")[0] for path in STUBS[0].parent.glob("*.so")}
    # Cython's own, shared by all kernels, has nothing for us.
    assert kernels - {"_memoryviews"} == {path.stem for path in STUBS}
