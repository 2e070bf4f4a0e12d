"""Environments with parameters, by name."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matroid_bandits._arguments import check_known, number_from
from matroid_bandits._call_text import call_text, parse_call
from matroid_bandits.catalog.classes import environment_class
from matroid_bandits.environments import (
    ChangingEnvironment,
    Environment,
    FunctionEnvironment,
    GaussianEnvironment,
    PiecewiseEnvironment,
    random_means,
)

__all__ = ["NamedEnvironment", "environment"]


@dataclass(frozen=True)
class NamedEnvironment:
    """An environment class with parameters; called with a size and a seed, it draws means.

    Attributes
    ----------
    name : str
        Its name, in one normal form.
    cls : type of Environment
    parameters : dict
    """

    name: str
    cls: type[Environment]
    parameters: Mapping[str, Any]

    def __call__(self, size: int, *, seed: int, **more: Any) -> Environment:
        """An environment with random means as in [DG25]; `more` are parameters."""
        given = {**self.parameters, **more}
        if issubclass(self.cls, PiecewiseEnvironment):
            pieces = len(given["changes"]) + 1
            return self.cls(random_means(size, seed, pieces=pieces), **given)
        if "seed" in inspect.signature(self.cls).parameters:
            given.setdefault("seed", seed)
        return self.cls(random_means(size, seed), **given)

    @property
    def is_changing(self) -> bool:
        """Whether its means change."""
        return issubclass(self.cls, ChangingEnvironment)

    @property
    def is_gaussian(self) -> bool:
        """Whether its rewards are Gaussian, as far as is known."""
        if self.is_changing:
            return bool(self.parameters.get("kind", "gaussian") == "gaussian")
        return issubclass(self.cls, GaussianEnvironment)


def environment(text: str) -> NamedEnvironment:
    """The environment called `text`: a name, and in brackets parameters.

    Parameters
    ----------
    text : str
        ``bernoulli``, or ``drifting(step=0.001)``. The rounds of a piecewise environment in which
        all means are drawn anew: ``piecewise(changes=5001)``, or several with blanks between them,
        ``piecewise(changes="3001 6001")``.

    Raises
    ------
    ValueError
        If there is no such environment or parameter, or the class refuses a value.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.environment("Drifting(step=0.001)")(3, seed=1)
    DriftingEnvironment(size=3)
    """
    name, parameters = parse_call(text)
    cls = environment_class(name)
    if issubclass(cls, FunctionEnvironment):
        raise ValueError("FunctionEnvironment takes a function: use it in Python, or in a study")
    label = cls.__name__.removesuffix("Environment").lower()
    accepted = {
        key: parameter
        for key, parameter in inspect.signature(cls).parameters.items()
        if key != "means"
    }
    check_known(label, parameters, accepted)
    for key, parameter in accepted.items():
        if parameter.default is inspect.Parameter.empty and key not in parameters:
            raise ValueError(f"{label} needs {key}: write {label}({key}=...)")
    found = NamedEnvironment(call_text(label, parameters), cls, _with_rounds(parameters))
    try:
        # The class checks its values.
        found(2, seed=0)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{found.name}: {error}") from error
    return found


def _with_rounds(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The same with `changes` as a list; what is no number is left to the class."""
    changes = parameters.get("changes")
    if changes is None:
        return dict(parameters)
    words = changes.split() if isinstance(changes, str) else [changes]
    return {**parameters, "changes": [_number(word) for word in words]}


def _number(word: Any) -> Any:
    try:
        return number_from(word, float) if isinstance(word, str) else word
    except ValueError:
        return word
