"""Policies and indices from plain data."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from inspect import BoundArguments, Parameter, signature
from typing import Any

from matroid_bandits._arguments import abbreviated
from matroid_bandits._call_text import parse_call
from matroid_bandits._plain_data import class_text
from matroid_bandits.catalog import policy_class
from matroid_bandits.indices import Index
from matroid_bandits.indices.by_name import index_class
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies import Policy
from matroid_bandits.problem import Problem
from matroid_bandits.restarts import GLR, chosen_restart
from matroid_bandits.specs.problems import problem_at
from matroid_bandits.specs.table import Table, at

__all__ = ["index_from_spec", "policy_from_spec"]


def index_from_spec(spec: Any, *, classes: Iterable[type] = ()) -> Index:
    """The index that plain data describe.

    Parameters
    ----------
    spec : dict or str
        What ``index.to_spec()`` returns: ``type`` and the parameters of the class, defaults left
        out or not. Or a name, alone or with parameters, such as ``"kl(c=0)"``.
    classes : iterable of type
        Classes of your own that it may name.

    Raises
    ------
    ValueError
        If anything is wrong with the specification. The message names the place.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.index_from_spec({"type": "ucb", "noise": 0.2})
    UCB(noise=0.2, constant=2.0)
    """
    return _index_at("index", spec, _own(classes))


def policy_from_spec(
    spec: Any,
    matroid: Matroid | Problem[Any, Any] | None = None,
    *,
    classes: Iterable[type] = (),
) -> Policy[Any]:
    """A fresh policy, as plain data describe it.

    Parameters
    ----------
    spec : dict or str
        What ``policy.to_spec()`` returns: ``type``, ``problem``, as :func:`problem_from_spec` takes
        it, and the parameters of the class, defaults left out or not. Lists in parameters are read
        as tuples. Or a name, alone or with parameters, such as ``"MAUB(noise=0.2)"``.
    matroid : Matroid or Problem, optional
        What may be played, if the specification does not say; the matroid, if it is written in
        Python.
    classes : iterable of type
        Classes of your own that the specification may name: policies and indices. No code is
        imported by its name.

    Raises
    ------
    ValueError
        If anything is wrong with the specification. The message names the place.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.MAUB(mb.UniformMatroid(2, 5), index=mb.KLUCB(c=0))
    >>> mb.policy_from_spec(policy.to_spec())
    MAUB(UniformMatroid(rank=2, size=5), index=KLUCB(c=0.0))
    >>> mb.policy_from_spec({"type": "OMM", "noise": 0.2}, mb.UniformMatroid(2, 5))
    OMM(UniformMatroid(rank=2, size=5), noise=0.2)
    """
    return policy_at("policy", spec, matroid, classes)


def policy_at(
    place: str,
    spec: Any,
    matroid: Matroid | Problem[Any, Any] | None,
    classes: Iterable[type],
    size: int | None = None,
) -> Policy[Any]:
    """The policy that `spec`, found at a place, describes; its problem must have this size."""
    own = _own(classes)
    table = _table(place, spec, "{'type': 'MAUB', 'problem': {'matroid': 'K5'}}")
    cls: type[Policy[Any]] = _class_at(table, own, Policy, policy_class)
    key = _problem_parameter(cls, table)
    given = () if key is None else (key,)
    table.check_parameters(cls, given=given, others=("type", "problem"))
    arguments = OrderedDict[str, Any]()
    for name, parameter in signature(cls).parameters.items():
        if name == key:
            arguments[name] = _problem_of(table, matroid)
            if size not in (None, arguments[name].size):
                raise at(
                    table.place, f"for {size} elements, the problem has {arguments[name].size}"
                )
        elif parameter.kind is Parameter.VAR_KEYWORD:
            named = {*signature(cls).parameters, "type", "problem"}
            arguments[name] = {k: table.tuples(k) for k in table.values if k not in named}
        elif name == "index" and isinstance(table.values.get(name), Mapping):
            arguments[name] = _index_at(table.at(name), table.values[name], own)
        elif name == "restart" and isinstance(table.values.get(name), Mapping):
            arguments[name] = _restart_at(table.at(name), table.values[name])
        elif name in table:
            arguments[name] = table.tuples(name)
    bound = BoundArguments(signature(cls), arguments)
    return table.call(lambda: cls(*bound.args, **bound.kwargs))


def _problem_of(table: Table, matroid: Any) -> Matroid | Problem[Any, Any]:
    """What the policy is made for."""
    if "problem" not in table:
        if isinstance(matroid, (Matroid, Problem)):
            return matroid
        example = "problem = {'matroid': 'K5'}"
        raise at(table.place, f"problem is missing; for example {example}, or pass matroid=")
    spec = table.values["problem"]
    problem = problem_at(table.at("problem"), spec, matroid)
    # A policy that was made for a plain matroid is made for one again.
    return problem.matroid if set(spec) == {"matroid"} else problem


def _problem_parameter(cls: type, table: Table) -> str | None:
    """The parameter of a policy class that is the matroid or problem; None if it has none."""
    names = list(signature(cls).parameters)
    found = [name for name in ("matroid", "problem", *names[:1]) if name in names]
    # A class that makes its matroid itself begins with another parameter.
    return found[0] if found and (found[0] == "problem" or found[0] not in table) else None


def _index_at(place: str, spec: Any, own: Mapping[str, type]) -> Index:
    table = _table(place, spec, "{'type': 'ucb', 'noise': 0.2}")
    cls: type[Index] = _class_at(table, own, Index, index_class)
    table.check_parameters(cls, given=(), others=("type",))
    arguments = {key: table.tuples(key) for key in table.values if key != "type"}
    return table.call(lambda: cls(**arguments))


def _restart_at(place: str, spec: Any) -> GLR | None:
    try:
        return chosen_restart(spec)
    except ValueError as error:
        raise at(place, error) from None


def _table(place: str, spec: Any, example: str) -> Table:
    """A table, or a text such as ``MAUB(noise=0.2)``, as a table."""
    if not isinstance(spec, str):
        return Table(spec, place, example)
    try:
        name, parameters = parse_call(spec)
    except ValueError as error:
        raise at(place, error) from None
    return Table({"type": name, **parameters}, place, example)


# ---- classes ----


def _own(classes: Iterable[type]) -> dict[str, type]:
    """Classes of the user by their names, with and without their modules."""
    if isinstance(classes, type):
        raise ValueError(f"classes must be a list of classes, got the class {classes.__name__}")
    found: dict[str, type] = {}
    for cls in classes:
        if not isinstance(cls, type) or not issubclass(cls, (Policy, Index)):
            raise ValueError(
                f"classes must be subclasses of Policy and of Index, got {abbreviated(cls)}"
            )
        found[class_text(cls)] = cls
        # The module of a program that is run is called __main__, whatever its name.
        found.setdefault(cls.__qualname__, cls)
    return found


def _class_at(
    table: Table, own: Mapping[str, type], base: type, by_name: Callable[[str], type]
) -> type:
    """The class at the key ``type``: one of the user's, or that which `by_name` finds."""
    name = table.required("type", "type = 'MAUB'" if base is Policy else "type = 'ucb'")
    if not isinstance(name, str):
        raise at(table.at("type"), f"must be a name, got {abbreviated(name)}")
    cls = own.get(name) or own.get(name.rpartition(":")[2])
    if cls is None and ":" in name:
        given = f"; given are {', '.join(sorted(own))}" if own else ""
        raise at(table.at("type"), f"pass the class {name!r}, your own, in classes={given}")
    try:
        found = cls or by_name(name)
    except ValueError as error:
        raise at(table.at("type"), error) from None
    if not issubclass(found, base):
        raise at(table.at("type"), f"{found.__name__} is not derived from {base.__name__}")
    return found
