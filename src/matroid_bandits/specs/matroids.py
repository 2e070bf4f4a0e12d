"""Matroids from plain data."""

from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from matroid_bandits._arguments import abbreviated, as_list
from matroid_bandits.catalog import matroid as named_matroid
from matroid_bandits.matroids import DirectSumMatroid, Matroid, UnionMatroid
from matroid_bandits.matroids.by_name import matroid_class
from matroid_bandits.problem import Problem
from matroid_bandits.specs.table import Table, at

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OF_ONE", "OF_SEVERAL", "matroid_at", "matroid_from_spec"]

#: What can be made of a matroid, and the key of the other argument.
OF_ONE = {
    "dual": None,
    "truncate": "rank",
    "restrict": "elements",
    "delete": "elements",
    "contract": "elements",
}
#: What can be made of several matroids.
OF_SEVERAL = {"sum": DirectSumMatroid, "union": UnionMatroid}

# Compositions may be nested as deeply.
_MAX_DEPTH = 100
_EXAMPLE = "{'type': 'uniform', 'rank': 2, 'size': 4}"


def matroid_from_spec(spec: Any, matroid: Matroid | None = None) -> Matroid:
    """The matroid that plain data describe.

    Parameters
    ----------
    spec : dict or str
        What ``matroid.to_spec()`` returns, or what a study file has for a matroid, except files and
        code: a ``type`` with the arguments of the class; a composition, such as
        ``{"dual": "K5"}`` or ``{"sum": ["K4", "U(2,4)"]}``; or a name, such as ``"K5"``. Lists in
        place of labels are read as tuples.
    matroid : Matroid, optional
        The matroid itself, if it is written in Python: the specification then has only its size and
        its rank, which are compared.

    Returns
    -------
    Matroid
        Equal to the one that the specification was made of.

    Raises
    ------
    ValueError
        If anything is wrong with the specification. The message names the place, such as
        ``matroid.matroids[1]``.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> matroid = mb.PartitionMatroid(["a", "a", "b"], 1) + mb.UniformMatroid(1, 2)
    >>> mb.matroid_from_spec(matroid.to_spec()) == matroid
    True
    >>> mb.matroid_from_spec({"type": "uniform", "rank": 2})
    Traceback (most recent call last):
    ...
    ValueError: matroid: size is missing; UniformMatroid takes rank, size
    """
    return matroid_at("matroid", spec, matroid)


def matroid_at(place: str, spec: Any, matroid: Matroid | None = None) -> Matroid:
    """The matroid that `spec`, found at a place, describes."""
    if isinstance(matroid, Problem):
        raise ValueError(
            "matroid= takes the matroid alone, got a problem; labels and sense are in the "
            "specification: pass problem.matroid"
        )
    if matroid is not None and not isinstance(matroid, Matroid):
        raise ValueError(f"matroid= takes a matroid, got {abbreviated(matroid)}")
    if isinstance(spec, dict) and spec.get("type") == "python":
        return _handed_in(Table(spec, place, _EXAMPLE), matroid)
    found = _read(spec, place, 0)
    if matroid is not None and matroid != found:
        raise at(place, f"describes {found!r}, but matroid= is {matroid!r}; leave matroid out")
    return found


def _handed_in(table: Table, matroid: Matroid | None) -> Matroid:
    """`matroid`, if it has the size and the rank that the specification names."""
    table.check_keys(("type", "name", "size", "rank"))
    facts = {key: table.required(key, f"{key} = 5") for key in ("size", "rank")}
    described = f"{table.values.get('name', 'the matroid')}, of size {facts['size']} and rank "
    described += f"{facts['rank']}"
    if matroid is None:
        raise at(table.place, f"{described}, is written in Python: pass it as matroid=")
    if facts != {"size": matroid.size, "rank": matroid.rank}:
        raise at(
            table.place,
            f"{described}, is needed; matroid= is {matroid!r}, of size {matroid.size} and rank "
            f"{matroid.rank}",
        )
    return matroid


def _read(spec: Any, place: str, depth: int) -> Matroid:
    if depth > _MAX_DEPTH:
        raise ValueError(f"compositions may be nested {_MAX_DEPTH} levels deep, this is deeper")
    if isinstance(spec, str):
        try:
            return named_matroid(spec)
        except ValueError as error:
            raise at(place, error) from None
    table = Table(spec, place, f"{_EXAMPLE}, or a name such as 'K5'")
    if "type" in table:
        return _by_class(table, depth)
    for operation in (*OF_ONE, *OF_SEVERAL):
        if operation in table:
            return _composed(table, operation, depth)
    raise at(
        place,
        f"type is missing; for example {_EXAMPLE}. Compositions begin with "
        f"{', '.join((*OF_ONE, *OF_SEVERAL))}",
    )


def _by_class(table: Table, depth: int) -> Matroid:
    """By a class and its arguments."""
    cls = _class_at(table)
    table.check_parameters(cls, given=(), others=("type",))
    parts: list[Matroid] = []
    if "matroids" in signature(cls).parameters:
        parts = _parts(table, "matroids", depth)
    arguments: dict[str, Any] = {}
    for key, value in table.values.items():
        if key == "matroid":
            arguments[key] = _read(value, table.at(key), depth + 1)
        elif key not in ("type", "matroids"):
            arguments[key] = table.tuples(key)
    make: Callable[..., Matroid] = cls
    return table.call(partial(make, *parts, **arguments))


def _class_at(table: Table) -> type[Matroid]:
    name = table.values["type"]
    if name == "python" or (isinstance(name, str) and name.lower() == "oracle"):
        raise at(
            table.at("type"),
            f"{name!r} is a matroid written in Python, which cannot be a part of a specification; "
            "compose the matroid in Python, and pass the whole as matroid=",
        )
    try:
        return matroid_class(name)
    except ValueError as error:
        raise at(table.at("type"), error) from None


def _composed(table: Table, operation: str, depth: int) -> Matroid:
    """A composition: ``{"dual": M}``, ``{"sum": [M, N]}``."""
    if operation in OF_SEVERAL:
        table.check_keys((operation,))
        return table.call(partial(OF_SEVERAL[operation], *_parts(table, operation, depth)))
    argument = OF_ONE[operation]
    table.check_keys((operation, argument) if argument else (operation,))
    inner = _read(table.values[operation], table.at(operation), depth + 1)
    method: Callable[..., Matroid] = getattr(inner, operation)
    if argument is None:
        return table.call(method)
    table.required(argument, "rank = 2" if argument == "rank" else "elements = [0, 1]")
    return table.call(partial(method, table.tuples(argument)))


def _parts(table: Table, key: str, depth: int) -> list[Matroid]:
    example = f"{key} = ['K5', 'U(2,4)']"
    try:
        entries = as_list(table.required(key, example), key)
    except ValueError as error:
        raise at(table.at(key), f"{error}; for example {example}") from None
    return [_read(entry, f"{table.at(key)}[{i}]", depth + 1) for i, entry in enumerate(entries)]
