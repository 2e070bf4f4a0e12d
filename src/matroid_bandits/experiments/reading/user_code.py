"""Code of the user: how a study imports it, and the text it consists of.

A study runs code: every file that it names, as in ``file.py:Class``, and every module that such a
file imports. Files in the folder of such a file can be imported by their names, as for a script,
but installed packages take precedence: a ``matplotlib.py`` beside a study is not imported. Worker
processes on other machines do not have these files; they get the texts.
"""

import ast
import importlib.util
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from matroid_bandits.experiments.study import ModuleText

__all__ = ["UserCode", "import_from", "is_installed", "source_files"]

# Of the names that modules of studies have in ``sys.modules``.
_PREFIX = "matroid_bandits_study_"


class _SourceLoader(SourceFileLoader):
    """Compiles the text itself: the cache of bytecode may miss an edit within a second."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


class _TextLoader(InspectLoader):
    """Loads a module whose text came from another process."""

    def __init__(self, module: ModuleText) -> None:
        self._module = module

    def get_source(self, fullname: str) -> str:  # noqa: ARG002
        return importlib.util.decode_source(self._module.text)

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(self._module.text, self._module.path)

    def is_package(self, fullname: str) -> bool:  # noqa: ARG002
        return self._module.is_package


class _NeighborFinder(MetaPathFinder):
    """Finds modules among texts, then in folders. It comes last: installed modules go before."""

    def __init__(self) -> None:
        self.folders: tuple[str, ...] = ()
        self.texts: dict[str, ModuleText] = {}

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname in self.texts:
            module = self.texts[fullname]
            return importlib.util.spec_from_loader(
                fullname, _TextLoader(module), origin=module.path
            )
        if path is not None:
            # A module in a package, which has a search path of its own.
            return None
        for folder in self.folders:
            finder = FileFinder(
                folder,
                (ExtensionFileLoader, EXTENSION_SUFFIXES),
                (_SourceLoader, SOURCE_SUFFIXES),
            )
            spec = finder.find_spec(fullname)
            if spec is not None:
                return spec
        return None


_finder = _NeighborFinder()


def import_from(folders: Sequence[str], texts: Mapping[str, ModuleText] | None = None) -> None:
    """Let modules in `folders`, or with these texts, be imported after all that are installed."""
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    texts = dict(texts or {})
    if _finder.folders != tuple(folders) or _finder.texts != texts:
        _forget_neighbors()
        _finder.folders = tuple(folders)
        _finder.texts = texts


def _forget_neighbors() -> None:
    """Import modules from such folders anew: they were edited, or are those of another study."""
    for name, module in list(sys.modules.items()):
        loader = getattr(getattr(module, "__spec__", None), "loader", None)
        if isinstance(loader, (_SourceLoader, _TextLoader)) and not name.startswith(_PREFIX):
            for inner in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
                del sys.modules[inner]


class UserCode:
    """The files of code that one study names; each is executed once.

    Attributes
    ----------
    folders : list of str
        Folders of these files, from which they may import.
    """

    def __init__(self) -> None:
        self.folders: list[str] = []
        self._modules: dict[Path, ModuleType] = {}

    def module(self, path: Path) -> ModuleType:
        """The module in the file `path`; exceptions of its code are passed on."""
        path = path.resolve()
        if path not in self._modules:
            if not self._modules:
                _forget_neighbors()
            folder = str(path.parent)
            if folder not in self.folders:
                self.folders.append(folder)
                _finder.folders = tuple(self.folders)
            import_from(self.folders)
            self._modules[path] = _execute(path)
        return self._modules[path]

    def texts(self) -> dict[str, ModuleText]:
        """The modules of the user that these files import, by name.

        The files themselves are not among them: their classes are sent as they are.
        """
        found: dict[str, ModuleText] = {}
        for module in self._modules.values():
            for name, path in (source_files(module) or {}).items():
                if not name.startswith(_PREFIX) and path.suffix in SOURCE_SUFFIXES:
                    found[name] = _text(path)
                    # A package may have no file of its own.
                    for package in list(_with_parents(name))[:-1]:
                        found.setdefault(package, ModuleText("", b"", is_package=True))
        return found


def _execute(path: Path) -> ModuleType:
    name = f"{_PREFIX}{path.stem}"
    spec = importlib.util.spec_from_loader(name, _SourceLoader(name, str(path)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _send_by_value(module)
    return module


def _send_by_value(module: ModuleType) -> None:
    """Let worker processes get its classes as they are: they have no such module."""
    # Comes with the extra that has the workers; a study can be looked at without.
    try:
        import cloudpickle  # noqa: PLC0415
    except ImportError:
        return
    cloudpickle.register_pickle_by_value(module)


# ---- the text ----


def is_installed(path: Path) -> bool:
    """Whether a file belongs to Python, to this package, or to a package that was installed."""
    parts = path.parts
    return (
        "site-packages" in parts
        or "dist-packages" in parts
        or any(path.is_relative_to(folder) for folder in _library_folders())
    )


@cache
def _library_folders() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    own = Path(__file__).parents[2]
    return (own, *(Path(paths[name]).resolve() for name in ("stdlib", "platstdlib")))


def source_files(module: ModuleType) -> dict[str, Path] | None:
    """The file of a module, and those of all modules of the user that it imports, by name.

    Imports inside functions count as well. For a module of an installed package, only modules of
    the same package count.

    Returns
    -------
    dict of str to Path, or None
        None if the module has no file: it was made in a notebook, say.
    """
    first = _file(module.__name__, module)
    if first is None:
        return None
    package = module.__name__.partition(".")[0]
    found = {module.__name__: first}
    waiting = [module.__name__]
    while waiting:
        name = waiting.pop()
        for imported in _imports(name, found[name]):
            if imported in found:
                continue
            path = _file(imported, sys.modules.get(imported))
            same_package = imported.partition(".")[0] == package
            if path is not None and (same_package or not is_installed(path)):
                found[imported] = path
                waiting.append(imported)
    return found


def _text(path: Path) -> ModuleText:
    return ModuleText(str(path), path.read_bytes(), path.stem == "__init__")


def _file(name: str, module: ModuleType | None) -> Path | None:
    """The file of a module, which need not have been imported."""
    file: Any = getattr(module, "__file__", None)
    if module is None:
        spec = _spec(name)
        file = spec.origin if spec is not None and spec.has_location else None
    path = Path(file).resolve() if isinstance(file, str) else None
    return path if path is not None and path.is_file() else None


def _spec(name: str) -> ModuleSpec | None:
    """Where a module is, without importing anything."""
    parent, _, _ = name.rpartition(".")
    if name in sys.modules:
        return sys.modules[name].__spec__
    if not parent:
        return importlib.util.find_spec(name) if name else None
    outer = _spec(parent)
    if outer is None or outer.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(name, list(outer.submodule_search_locations))


def _imports(name: str, path: Path) -> Iterator[str]:
    """Names of the modules that the text of a module imports."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        # Compiled code.
        return
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                ancestors = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*ancestors, *([base] if base else [])])
            yield from _with_parents(base)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _with_parents(name: str) -> Iterable[str]:
    parts = name.split(".")
    return (".".join(parts[: i + 1]) for i in range(len(parts)))
