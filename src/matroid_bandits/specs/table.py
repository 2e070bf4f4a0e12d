"""Tables of a specification with their places, which messages name."""

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any, TypeVar

from matroid_bandits._arguments import abbreviated, suggestion
from matroid_bandits._plain_data import with_tuples

__all__ = ["Table", "at"]

T = TypeVar("T")


def at(place: str, message: object) -> ValueError:
    """An error at a place of a specification, such as ``problem.matroid.matroids[1]``."""
    return ValueError(f"{place}: {message}")


class Table:
    """One table of a specification, at a place.

    Parameters
    ----------
    values : mapping
        Keys, which are texts, and values.
    place : str
    example : str
        What could be there instead, for the message if `values` is no mapping.
    """

    def __init__(self, values: Any, place: str, example: str) -> None:
        if not isinstance(values, Mapping):
            raise at(place, f"must be a table such as {example}, got {abbreviated(values)}")
        self.values: dict[str, Any] = dict(values)
        self.place = place
        for key in self.values:
            if not isinstance(key, str):
                raise at(place, f"keys must be texts, got {abbreviated(key)}")

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def at(self, key: str) -> str:
        """The place of a key."""
        return f"{self.place}.{key}"

    def tuples(self, key: str) -> Any:
        """The value of a key, with tuples in place of lists."""
        try:
            return with_tuples(self.values[key])
        except ValueError as error:
            raise at(self.at(key), error) from None

    def required(self, key: str, example: str) -> Any:
        """The value of a key that must be there."""
        if key not in self.values:
            raise at(self.place, f"{key} is missing; for example {example}")
        return self.values[key]

    def check_keys(self, allowed: Iterable[str]) -> None:
        """Refuse all keys but these."""
        names = list(allowed)
        for key, value in self.values.items():
            if key not in names:
                hint = suggestion(key, names)
                raise at(self.at(key), f"unknown key with the value {abbreviated(value)}; {hint}")

    def check_parameters(self, cls: type, *, given: Iterable[str], others: Iterable[str]) -> None:
        """Refuse keys that are no parameters of `cls`, and parameters that are missing.

        Parameters
        ----------
        cls : type
        given : iterable of str
            Parameters that come from elsewhere.
        others : iterable of str
            Keys that are not parameters.
        """
        known = {n: p for n, p in signature(cls).parameters.items() if n not in set(given)}
        if all(p.kind is not Parameter.VAR_KEYWORD for p in known.values()):
            self.check_keys([*others, *known])
        for name, parameter in known.items():
            is_needed = parameter.default is Parameter.empty and parameter.kind not in _VARIADIC
            if is_needed and name not in self.values:
                takes = ", ".join(known)
                raise at(self.place, f"{name} is missing; {cls.__name__} takes {takes}")

    def call(self, function: Callable[[], T]) -> T:
        """What `function` returns; its errors get this place."""
        try:
            return function()
        except (ValueError, TypeError, OverflowError, LookupError, AttributeError) as error:
            raise at(self.place, error) from error


_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
