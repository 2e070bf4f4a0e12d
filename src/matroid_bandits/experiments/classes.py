"""Classes named in a study, of the package or of the user, and their parameters."""

import importlib
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from matroid_bandits._arguments import abbreviated, suggestion
from matroid_bandits.experiments.sections import Section

__all__ = ["class_at", "parameters_for"]


def class_at(section: Section, by_name: Callable[[str], type], known: Mapping[str, type]) -> type:
    """The class at the key ``type``: a name, ``package.module:Class``, ``file.py:Class``."""
    value = section.required("type", f'type = "{next(iter(known))}"')
    if isinstance(value, type):
        return value
    if not isinstance(value, str):
        raise section.error(f"must be a name, got {abbreviated(value)}", "type")
    if ":" not in value:
        cls: type = section.at("type", by_name, value)
        return cls
    home, _, name = value.rpartition(":")
    module = _module(section, home)
    found = getattr(module, name, None)
    if not isinstance(found, type):
        classes = [n for n, member in vars(module).items() if isinstance(member, type)]
        raise section.error(f"{home} has no class {name!r}; {suggestion(name, classes)}", "type")
    return found


def parameters_for(
    cls: type,
    section: Section,
    *,
    beside: tuple[str, ...],
    given: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
) -> dict[str, Any]:
    """What `section` says about the parameters of `cls`.

    Keys that it does not take are refused, those it needs are asked for.

    Parameters
    ----------
    cls : type
    section : Section
    beside : tuple of str
        Keys of the section that are not parameters.
    given : tuple of str
        Parameters that come from elsewhere.
    optional : tuple of str
        Parameters that come from elsewhere if the section does not say.
    """
    parameters = section.parameters(beside)
    try:
        signature = inspect.signature(cls)
    except (ValueError, TypeError):
        raise section.error(f"{cls.__name__} cannot be one: it takes unknown parameters") from None
    accepted = {
        name: parameter for name, parameter in signature.parameters.items() if name not in given
    }
    variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    names = [name for name, parameter in accepted.items() if parameter.kind not in variadic]
    if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in accepted.values()):
        section.only([*beside, *names])
    for name in names:
        needed = accepted[name].default is inspect.Parameter.empty and name not in optional
        if needed and name not in parameters:
            raise section.error(f"{name} is missing; {cls.__name__} takes {', '.join(names)}")
    return parameters


def _module(section: Section, home: str) -> ModuleType:
    path = section.file("type", home) if home.endswith(".py") else None
    try:
        return importlib.import_module(home) if path is None else section.code.module(path)
    except Exception as error:
        # Whatever a user's module raises.
        problem = f"{type(error).__name__}: {error}"
        raise section.error(f"{home} cannot be imported: {problem}", "type") from error
