"""Things by name: the classes of the package, and matroids like ``K20`` or ``U(15,30)``.

The command line speaks these names; so may anybody:

>>> from matroid_bandits import catalog
>>> catalog.matroid("U(15,30)")
UniformMatroid(rank=15, size=30)
"""

import re
from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from matroid_bandits import environments, matroids, policies
from matroid_bandits._arguments import nearest, shown
from matroid_bandits.environments import Environment
from matroid_bandits.matroids import GraphicMatroid, Matroid, UniformMatroid
from matroid_bandits.policies import Policy

__all__ = [
    "ENVIRONMENTS",
    "MATROIDS",
    "POLICIES",
    "environment_class",
    "matroid",
    "policy_class",
    "summary",
]

T = TypeVar("T")

#: Matroid classes by the name used for random instances: ``partition(30)``.
MATROIDS: dict[str, type[Matroid]] = {
    name.removesuffix("Matroid").lower(): getattr(matroids, name)
    for name in matroids.__all__
    if name != "Matroid"
}
#: Policy classes by their printed name.
POLICIES: dict[str, type[Policy]] = {
    getattr(policies, name).name: getattr(policies, name)
    for name in policies.__all__
    if name != "Policy"
}
#: Environment classes by name.
ENVIRONMENTS: dict[str, type[Environment]] = {
    name.removesuffix("Environment").lower(): getattr(environments, name)
    for name in environments.__all__
    if name.endswith("Environment") and name != "Environment"
}


def matroid(name: str, seed: int = 0) -> Matroid:
    """The matroid called `name`.

    Parameters
    ----------
    name : str
        ``K20`` (graphic matroid of the complete graph on 20 vertices), ``U(15,30)`` (uniform, rank
        15 of 30), or a class and a number of elements for a random instance, such as
        ``partition(30)``.
    seed : int, default 0
        Seed of a random instance.
    """
    compact = str(name).replace(" ", "")
    if found := re.fullmatch(r"[Kk](\d+)", compact):
        return GraphicMatroid.complete(int(found[1]))
    if found := re.fullmatch(r"[Uu]\((\d+),(\d+)\)", compact):
        return UniformMatroid(int(found[1]), int(found[2]))
    if (found := re.fullmatch(r"([A-Za-z]+)\((\d+)\)", compact)) and found[1].lower() in MATROIDS:
        cls = MATROIDS[found[1].lower()]
        return cls.random(np.random.default_rng(seed), int(found[2]))
    families = ", ".join(f"{family}(30)" for family in MATROIDS)
    raise ValueError(
        f"unknown matroid {shown(name)}; allowed are K20 (complete graph), U(15,30) (uniform), "
        f"or, for a random one with 30 elements, {families}"
    )


def policy_class(name: str) -> type[Policy]:
    """The policy class called `name`, in any case."""
    return _by_name("policy", name, POLICIES)


def environment_class(name: str) -> type[Environment]:
    """The environment class called `name`, in any case."""
    return _by_name("environment", name, ENVIRONMENTS)


def summary(cls: type) -> str:
    """The first line of a class's documentation."""
    return (cls.__doc__ or "").strip().partition("\n")[0]


def _by_name(kind: str, name: str, table: Mapping[str, type[T]]) -> type[T]:
    for known, cls in table.items():
        if known.lower() == name.lower():
            return cls
    raise ValueError(f"unknown {kind} {shown(name)}; {nearest(name, table)}")
