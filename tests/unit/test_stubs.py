"""The type stubs of the kernels say what the built modules have."""

import ast
import importlib
from pathlib import Path

import pytest

import matroid_bandits._core

# The built package, wherever it was installed.
CORE = Path(matroid_bandits._core.__file__).parent
STUBS = sorted(CORE.rglob("*.pyi"))


def _module(path: Path) -> str:
    """The name of a module below `_core`, as ``matroids.base``."""
    parts = path.relative_to(CORE).parts
    return ".".join((*parts[:-1], parts[-1].split(".")[0]))


def _public(names) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def _members(node: ast.ClassDef) -> set[str]:
    named = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
    return named | {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}


@pytest.mark.parametrize("stub", STUBS, ids=_module)
def test_stub_matches_module(stub: Path) -> None:
    module = importlib.import_module(f"matroid_bandits._core.{_module(stub)}")
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
    kernels = {_module(path) for path in CORE.rglob("*.so")}
    # Cython's own, shared by all kernels, has nothing for us.
    assert kernels - {"_memoryviews"} == set(map(_module, STUBS))
