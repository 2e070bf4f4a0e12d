"""Whether two studies are the same: short checksums of all that results depend on.

The fingerprint of an object is one of its data: its class, its attributes, and theirs in turn. Of
the user's own classes and functions it covers the code: the text of their modules, and of all
modules of the user that these import. Where that is not all (a class in a notebook, a function
made by another one) it covers the bytecode, with everything that it refers to. Equal data has the
same fingerprint in every process.
"""

import ast
import copyreg
import dis
import hashlib
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from matroid_bandits._arguments import abbreviated
from matroid_bandits.experiments.reading.user_code import is_installed, source_files
from matroid_bandits.matroids import Matroid, OracleMatroid

__all__ = ["fingerprint", "identity_of_class", "plain"]

_PACKAGE = "matroid_bandits"

# More numbers than this are written as a fingerprint.
_MOST_NUMBERS = 64

# Entries of a class that Python makes, or that are for readers.
_NOT_CODE = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
    *("_abc_impl", "__abstractmethods__", "__firstlineno__", "__static_attributes__"),
    *("__dataclass_fields__", "__dataclass_params__", "__orig_bases__", "__parameters__"),
}


def fingerprint(value: Any) -> str:
    """A checksum of `value`, equal for equal data only.

    Where there can be none, because of an open file, say, the text gives the reason and is
    another one every time: nothing is equal to `value`.
    """
    return _fingerprint(_Walk().digest, value)


def identity_of_class(cls: type) -> dict[str, Any]:
    """What identifies a class in a study; for one of the user, its code too."""
    if _is_ours(cls.__module__):
        return {"type": cls.__name__}
    source = _fingerprint(_Walk().digest_of_code, cls)
    return {"type": f"{cls.__module__}:{cls.__qualname__}", "source": source}


def plain(value: Any) -> Any:
    """`value` as JSON has it; what JSON cannot hold becomes a text with its fingerprint."""
    if value is None or type(value) in {bool, int, float, str}:
        return value
    if type(value) in {list, tuple}:
        return [plain(member) for member in value]
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {key: plain(member) for key, member in value.items()}
    is_numeric = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf"
    if is_numeric and value.size <= _MOST_NUMBERS:
        return value.tolist()
    # The repr of other objects may have an address in it, another one in every process.
    name = abbreviated(value) if _is_ours(type(value).__module__) else type(value).__name__
    return f"{name} {fingerprint(value)}"


class _NotComparableError(Exception):
    """There is an object whose data cannot be read."""


def _fingerprint(digest: Callable[[Any], bytes], value: Any) -> str:
    try:
        return digest(value).hex()[:16]
    except _NotComparableError as error:
        reason = str(error)
    except RecursionError:
        reason = "it is nested too deeply"
    return f"cannot be compared, because {reason} ({uuid.uuid4().hex[:16]})"


class _Walk:
    """Digests of objects that refer to one another."""

    def __init__(self) -> None:
        # With the objects themselves, so that no other object gets their id.
        self._done: dict[int, tuple[Any, bytes]] = {}
        self._open: dict[int, int] = {}
        self._texts: dict[str, bytes | None] = {}

    def digest(self, value: Any) -> bytes:
        """The digest of any object."""
        if type(value) in _ATOMS:
            return _hash(type(value).__name__, _ATOMS[type(value)](value))
        if id(value) in self._done:
            return self._done[id(value)][1]
        if id(value) in self._open:
            # A cycle: how far back it leads.
            return _hash("cycle", b"%d" % (len(self._open) - self._open[id(value)]))
        self._open[id(value)] = len(self._open)
        try:
            result = self._digest_of_object(value)
        finally:
            del self._open[id(value)]
        self._done[id(value)] = value, result
        return result

    def _digest_of_object(self, value: Any) -> bytes:
        by_type = _BY_TYPE.get(type(value))
        if by_type is not None:
            return by_type(self, value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, Matroid) and _is_ours(type(value).__module__):
            return self._matroid(value)
        return self._state(value)

    def _each(self, values: Iterable[Any]) -> Iterator[bytes]:
        return map(self.digest, values)

    # ---- data ----

    def _sequence(self, values: list[Any] | tuple[Any, ...]) -> bytes:
        return _hash(type(values).__name__, *self._each(values))

    def _mapping(self, values: dict[Any, Any]) -> bytes:
        # In order: a program may depend on it.
        return _hash("dict", *self._each(part for pair in values.items() for part in pair))

    def _set(self, values: set[Any] | frozenset[Any]) -> bytes:
        return _hash("set", *sorted(self._each(values)))

    def _array(self, array: Any) -> bytes:
        shape = repr((array.dtype, array.shape)).encode()
        if array.dtype.hasobject:
            return _hash("array", shape, *self._each(array.ravel().tolist()))
        return _hash("array", shape, array.tobytes())

    def _matroid(self, matroid: Matroid) -> bytes:
        """By the data that determine the matroid, which its class gives."""
        data = matroid._own_data()
        if data is None:
            return self._state(matroid)
        return _hash(
            "matroid", *self._each((type(matroid), matroid.size, data, matroid._components()))
        )

    def _state(self, value: Any) -> bytes:
        """The class and what pickling stores of the object."""
        cls = type(value)
        try:
            known = copyreg.dispatch_table.get(cls)
            reduced = value.__reduce_ex__(4) if known is None else known(value)
        except Exception as error:
            raise _NotComparableError(f"{cls.__name__} cannot be pickled: {error}") from error
        if isinstance(reduced, str):
            return self._global(value, reduced)
        make, arguments, state, members, items = (*reduced, None, None, None)[:5]
        return _hash(
            "object",
            *self._each((cls, make, tuple(arguments))),
            self._attributes(cls, state),
            *self._each((list(members or ()), list(items or ()))),
        )

    def _global(self, value: Any, name: str) -> bytes:
        """An object that pickling finds by its name, such as a function with a cache."""
        home = str(getattr(value, "__module__", None) or "")
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(value, np.ufunc) and all(kind.strip("O->") == "" for kind in value.types):
            raise _NotComparableError(f"the ufunc {name} hides a function")
        text = b"" if not home or _is_library(home) else self._text(home)
        return _hash("global", home.encode(), name.encode(), text or self.digest(wrapped))

    def _attributes(self, cls: type, state: Any) -> bytes:
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
            # Of a class with slots.
            return _hash("slots", *(self._attributes(cls, part) for part in state))
        if not isinstance(state, dict):
            return self.digest(state)
        derived = _derived_attributes(cls)
        kept = sorted((str(name), name) for name in state if name not in derived)
        return _hash("state", *self._each((name, state[key]) for name, key in kept))

    # ---- code ----

    def _class(self, cls: type) -> bytes:
        name = _hash("class", cls.__module__.encode(), cls.__qualname__.encode())
        if _is_library(cls.__module__):
            return name
        return _hash("class", name, self.digest_of_code(cls))

    def digest_of_code(self, cls: type) -> bytes:
        """The text of the modules of a class and its bases; its members, where that is not all."""
        parts = [cls.__qualname__.encode()]
        for base in cls.__mro__:
            if base is not cls and _is_library(base.__module__):
                parts.append(self._class(base))
                continue
            text = self._text(base.__module__)
            parts.append(text or b"")
            if text is None or "<locals>" in base.__qualname__:
                members = sorted(name for name in vars(base) if name not in _NOT_CODE)
                parts += self._each((name, vars(base)[name]) for name in members)
        return _hash("code", *parts)

    def _text(self, name: str) -> bytes | None:
        """The text of a module and of all that it imports; None where there is none.

        Nor is there one for a script or a notebook: it holds much that a class does not use.
        """
        if name not in self._texts:
            module = sys.modules.get(name)
            files = None if module is None or name == "__main__" else source_files(module)
            self._texts[name] = None if files is None else self._files(files)
        return self._texts[name]

    def _files(self, files: Mapping[str, Path]) -> bytes:
        parts = []
        for imported, path in sorted(files.items()):
            text = path.read_bytes()
            constants = _constants(sys.modules.get(imported), text, str(path.parent))
            parts += [imported.encode(), text, self.digest(constants)]
        return _hash("text", *parts)

    def _module(self, module: ModuleType) -> bytes:
        text = None if _is_library(module.__name__) else self._text(module.__name__)
        return _hash("module", module.__name__.encode(), text or b"")

    def _function(self, function: FunctionType) -> bytes:
        home, name = function.__module__ or "", function.__qualname__
        if _is_found_at(function, home, name):
            text = b"" if _is_library(home) else self._text(home)
            if text is not None:
                return _hash("function", home.encode(), name.encode(), text)
        known = function.__globals__
        parts = (
            function.__code__,
            function.__defaults__,
            function.__kwdefaults__,
            [_cell_content(cell) for cell in function.__closure__ or ()],
            {key: known[key] for key in _global_names(function.__code__) if key in known},
        )
        return _hash("function", *self._each(parts))

    def _method(self, method: MethodType) -> bytes:
        return _hash("method", *self._each((method.__self__, method.__func__)))

    def _builtin(self, function: BuiltinFunctionType) -> bytes:
        owner = None if isinstance(function.__self__, ModuleType) else function.__self__
        return _hash("builtin", *self._each((function.__module__, function.__qualname__, owner)))

    def _bytecode(self, code: CodeType) -> bytes:
        shape = (
            *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags),
            *(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
            *(code.co_code, code.co_exceptiontable),
        )
        return _hash("bytecode", *self._each((shape, code.co_consts)))

    def _descriptor(self, descriptor: Any) -> bytes:
        names = ("fget", "fset", "fdel", "__func__", "func")
        parts = (getattr(descriptor, name, None) for name in names)
        return _hash(type(descriptor).__name__, *self._each(parts))


_BY_TYPE: dict[type, Callable[[_Walk, Any], bytes]] = {
    list: _Walk._sequence,
    tuple: _Walk._sequence,
    dict: _Walk._mapping,
    set: _Walk._set,
    frozenset: _Walk._set,
    np.ndarray: _Walk._array,
    ModuleType: _Walk._module,
    FunctionType: _Walk._function,
    MethodType: _Walk._method,
    BuiltinFunctionType: _Walk._builtin,
    CodeType: _Walk._bytecode,
    **dict.fromkeys((property, staticmethod, classmethod, cached_property), _Walk._descriptor),
}

_ATOMS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"",
    type(Ellipsis): lambda _: b"",
    bool: lambda value: b"%d" % value,
    int: lambda value: hex(value).encode(),
    float: lambda value: value.hex().encode(),
    complex: lambda value: f"{value.real.hex()} {value.imag.hex()}".encode(),
    str: lambda value: value.encode("utf-8", "surrogatepass"),
    bytes: bytes,
}


def _hash(kind: str, *parts: bytes) -> bytes:
    result = hashlib.sha256(kind.encode())
    for part in parts:
        result.update(b"%d:" % len(part))
        result.update(part)
    return result.digest()


def _derived_attributes(cls: type) -> set[str]:
    """Attributes that follow from the others, filled in when they are first needed."""
    members = {name: member for base in cls.__mro__ for name, member in vars(base).items()}
    derived = {name for name, member in members.items() if isinstance(member, cached_property)}
    if issubclass(cls, Matroid):
        derived |= {"_known_rank", "_known_rank_and_loops", "_kept_data"}
    if issubclass(cls, OracleMatroid):
        derived.add("calls")
    return derived


def _is_ours(module: str) -> bool:
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")


def _is_library(name: str) -> bool:
    """Whether a module is part of this package, of Python, or of a package that is installed."""
    if _is_ours(name) or name == "builtins":
        return True
    module = sys.modules.get(name)
    if module is None or name == "__main__":
        return False
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return is_installed(Path(file).resolve())
    origin = getattr(module.__spec__, "origin", None)
    return origin in {"built-in", "frozen"}


def _is_found_at(function: FunctionType, module: str, name: str) -> bool:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is function


def _cell_content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        # Not assigned yet.
        return Ellipsis


def _global_names(code: CodeType) -> list[str]:
    """Names that code looks up in its module, in its functions too."""
    names = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in {"LOAD_GLOBAL", "LOAD_NAME"}
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_global_names(constant))
    return sorted(names)


def _is_constant(value: Any) -> bool:
    if type(value) in {tuple, frozenset}:
        return all(map(_is_constant, value))
    return type(value) in _ATOMS


def _constants(module: ModuleType | None, text: bytes, folder: str) -> dict[str, Any]:
    """Constants of a module that its text does not have: computed, or set by a program.

    Variables that functions of the module assign to do not count. Neither does the folder of the
    module.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        # Compiled code.
        return {}
    assigned = {
        name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names
    }
    literals = _literals(tree)
    return {
        name: value.replace(folder, "") if isinstance(value, str) else value
        for name, value in sorted(vars(module).items() if module is not None else ())
        if _is_constant(value)
        and name not in assigned
        and not name.startswith("__")
        and repr(value) != literals.get(name)
    }


def _literals(tree: ast.Module) -> dict[str, str]:
    """The constants that the text of a module assigns, as their repr."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = repr(ast.literal_eval(node.value))
            except ValueError:
                found.pop(node.targets[0].id, None)
    return found
