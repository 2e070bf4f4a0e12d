"""The classes of the package by name, and policies with parameters."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matroid_bandits import environments, policies
from matroid_bandits._arguments import abbreviated, check_known, choice
from matroid_bandits._call_text import call_text, parse_call
from matroid_bandits.environments import Environment
from matroid_bandits.features import LinearFeatures
from matroid_bandits.indices.by_name import INDICES
from matroid_bandits.matroids import Matroid, UniformMatroid
from matroid_bandits.matroids.by_name import MATROIDS
from matroid_bandits.policies import Policy

__all__ = [
    "ENVIRONMENTS",
    "INDICES",
    "MATROIDS",
    "POLICIES",
    "NamedPolicy",
    "environment_class",
    "policy",
    "policy_class",
    "summary",
    "takes_features",
    "takes_seed",
]

#: Policy classes by their printed name.
POLICIES: dict[str, type[Policy]] = {
    getattr(policies, name).name: getattr(policies, name)
    for name in policies.__all__
    if getattr(getattr(policies, name), "name", "")
}
#: Environment classes by name.
ENVIRONMENTS: dict[str, type[Environment]] = {
    name.removesuffix("Environment").lower(): getattr(environments, name)
    for name in environments.__all__
    if name.endswith("Environment") and not inspect.isabstract(getattr(environments, name))
}


@dataclass(frozen=True)
class NamedPolicy:
    """A policy class with parameters; called with a matroid, it makes a new policy.

    Attributes
    ----------
    name : str
        Its name in tables, in one normal form.
    cls : type of Policy
    parameters : dict
    """

    name: str
    cls: type[Policy]
    parameters: Mapping[str, Any]

    def __call__(
        self,
        matroid: Matroid,
        *,
        seed: int | None = None,
        features: LinearFeatures | None = None,
    ) -> Policy:
        """A new policy for `matroid`; `seed` is for one that draws and has no seed of its own,
        `features` for one that learns from features.
        """
        given = dict(self.parameters)
        if takes_features(self.cls):
            if features is None:
                raise ValueError(
                    f"{self.name} needs features of the elements: pass features=LinearFeatures(...)"
                    ", or run it in a study, whose instances can have features"
                )
            given["features"] = features
        if seed is not None and takes_seed(self.cls):
            given.setdefault("seed", seed)
        return self.cls(matroid, **given)


def policy(text: str) -> NamedPolicy:
    """The policy called `text`: a name, and in brackets parameters other than the defaults.

    Parameters
    ----------
    text : str
        ``MAUB``, or ``MAUB(neighborhood=paper)``. Names in any case; values are numbers, ``true``
        or ``false``, and words, which need quotes only if they have other signs in them.

    Raises
    ------
    ValueError
        If there is no such policy or parameter, or the class refuses a value.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.policy("maub( neighborhood = 'paper' )").name
    'MAUB(neighborhood=paper)'
    """
    if not isinstance(text, str):
        raise ValueError(
            "a policy must be given by its name, such as 'MAUB' or 'MAUB(neighborhood=paper)', got "
            f"{abbreviated(text)}"
        )
    name, parameters = parse_call(text)
    cls = policy_class(name)
    allowed = [
        known for known in inspect.signature(cls).parameters if known not in ("matroid", "features")
    ]
    check_known(cls.name, parameters, allowed)
    ordered = {key: parameters[key] for key in allowed if key in parameters}
    found = NamedPolicy(call_text(cls.name, ordered), cls, ordered)
    try:
        # The class checks its values.
        found(UniformMatroid(1, 2), seed=0, features=LinearFeatures([[1.0], [0.0]]))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{found.name}: {error}") from error
    return found


def policy_class(name: str) -> type[Policy]:
    """The policy class called `name`, in any case; the name of the class will do too."""
    for cls in POLICIES.values():
        if isinstance(name, str) and cls.__name__.lower() == name.lower():
            return cls
    return POLICIES[choice(name, "policy", POLICIES, ignore_case=True)]


def takes_seed(cls: type) -> bool:
    """Whether a policy class draws random numbers: its constructor has a parameter ``seed``."""
    try:
        return "seed" in inspect.signature(cls).parameters
    except (ValueError, TypeError):
        # A class in C without a signature.
        return False


def takes_features(cls: type) -> bool:
    """Whether a policy class learns from features: its constructor has a parameter ``features``."""
    try:
        return "features" in inspect.signature(cls).parameters
    except (ValueError, TypeError):
        return False


def environment_class(name: str) -> type[Environment]:
    """The environment class called `name`, in any case."""
    return ENVIRONMENTS[choice(name, "environment", ENVIRONMENTS, ignore_case=True)]


def summary(documented: object) -> str:
    """The first line of the documentation of a class or a function."""
    return (documented.__doc__ or "").strip().partition("\n")[0]
