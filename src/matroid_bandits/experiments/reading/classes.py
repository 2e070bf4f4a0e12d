"""Classes named in a study, of the package or of the user, and their parameters."""

import importlib
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from matroid_bandits._arguments import abbreviated, suggestion
from matroid_bandits._call_text import parse_call
from matroid_bandits.experiments.reading.sections import Section

__all__ = [
    "class_at",
    "is_own",
    "own_class",
    "own_object",
    "parameters_for",
    "with_call_parameters",
]


def class_at(section: Section, by_name: Callable[[str], type], known: Mapping[str, type]) -> type:
    """The class at the key ``type``: a name, ``package.module:Class``, ``file.py:Class``."""
    value = section.required("type", f'type = "{next(iter(known))}"')
    if isinstance(value, type):
        return value
    if not isinstance(value, str):
        raise section.error(f"must be a name, got {abbreviated(value)}", "type")
    if not is_own(value):
        cls: type = section.call("type", by_name, value)
        return cls
    return own_class(section)


def own_class(section: Section) -> type:
    """The class of the user at the key ``type``."""
    text = section.text("type")
    found: type = own_object(section, "type", text, kind="class", is_kind=inspect.isclass)
    return found


def is_own(text: str) -> bool:
    """Whether a name is one of the user's code, such as ``file.py:Class``."""
    return ":" in text.partition("(")[0]


def own_object(
    section: Section, key: str, text: str, *, kind: str, is_kind: Callable[[Any], bool]
) -> Any:
    """The object called ``package.module:name`` or ``file.py:name``.

    Parameters
    ----------
    section : Section
    key : str
        The key of `text`, for messages.
    text : str
    kind : str
        What it must be, for messages: a class, a function.
    is_kind : callable
        Whether an object is that.
    """
    home, _, name = text.rpartition(":")
    module = _module(section, key, home)
    found = getattr(module, name, None)
    if not is_kind(found):
        names = [n for n, member in vars(module).items() if is_kind(member)]
        hint = f"; {suggestion(name, names)}" if names else ""
        raise section.error(f"{home} has no {kind} {name!r}{hint}", key)
    return found


def with_call_parameters(
    section: Section, reserved: tuple[str, ...]
) -> tuple[Section, dict[str, Any]]:
    """`section`, in which the parameters in brackets after its type are keys of their own.

    Parameters
    ----------
    section : Section
    reserved : tuple of str
        Keys that are not parameters.

    Returns
    -------
    Section
    dict of str to object
        The parameters that were in brackets.
    """
    text = section.value("type")
    if not isinstance(text, str) or not text.rstrip().endswith(")"):
        return section, {}
    name, written = section.call("type", parse_call, text)
    others = section.parameters(("type",))
    for doubled in written.keys() & others.keys():
        raise section.error(f"{doubled} is given in brackets and as a key", doubled)
    for other in written.keys() & set(reserved):
        raise section.error(
            f"{other} is not a parameter; write it as a key, not in brackets", "type"
        )
    return section.with_values({"type": name, **others, **written}), written


def parameters_for(
    cls: type,
    section: Section,
    *,
    exclude: tuple[str, ...],
    given: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The parameters of `cls` in `section`.

    Unknown keys are refused, and so are missing ones.

    Parameters
    ----------
    cls : type
    section : Section
    exclude : tuple of str
        Keys of the section that are not parameters.
    given : tuple of str
        Parameters that come from elsewhere.
    optional : tuple of str
        Parameters that come from elsewhere if the section does not say.
    """
    parameters = section.parameters(exclude)
    try:
        signature = inspect.signature(cls)
    except (ValueError, TypeError):
        raise section.error(f"{cls.__name__} cannot be used: its parameters are unknown") from None
    accepted = {
        name: parameter for name, parameter in signature.parameters.items() if name not in given
    }
    variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    names = [name for name, parameter in accepted.items() if parameter.kind not in variadic]
    if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in accepted.values()):
        section.check_keys([*exclude, *names])
    for name in names:
        needed = accepted[name].default is inspect.Parameter.empty and name not in optional
        if needed and name not in parameters:
            raise section.error(f"{name} is missing; {cls.__name__} takes {', '.join(names)}")
    return parameters


def _module(section: Section, key: str, home: str) -> ModuleType:
    path = section.file(key, home) if home.endswith(".py") else None
    try:
        return importlib.import_module(home) if path is None else section.code.module(path)
    except Exception as error:
        # A module of the user's may raise anything.
        problem = f"{type(error).__name__}: {error}"
        raise section.error(f"{home} cannot be imported: {problem}", key) from error
