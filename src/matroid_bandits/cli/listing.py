"""``matroid-bandits list``."""

import argparse
import inspect
from typing import Any

from matroid_bandits import catalog
from matroid_bandits._spelling import spelled
from matroid_bandits.policies import Policy

__all__ = ["add_to"]


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "list",
        help="show matroids, policies and environments",
        description="Show matroids, policies and environments, one line each.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=_list, parser=parser)


def _list(_options: argparse.Namespace) -> int:
    for title, classes in (
        ("Matroids", {cls.__name__: cls for cls in catalog.MATROIDS.values()}),
        ("Policies", catalog.POLICIES),
        ("Environments", {cls.__name__: cls for cls in catalog.ENVIRONMENTS.values()}),
    ):
        print(title)
        width = max(map(len, classes))
        for name, cls in classes.items():
            print(f"  {name:<{width}}  {catalog.summary(cls)}")
    print("Matroids by name: K20, U(15,30), or at random with 30 elements: ", end="")
    print(", ".join(f"{family}(30)" for family in catalog.MATROIDS))
    print("Policies with parameters, here with their defaults: ", end="")
    print(", ".join(filter(None, map(_with_defaults, catalog.POLICIES.values()))))
    return 0


def _with_defaults(cls: type[Policy]) -> str:
    """A policy as it could be written out in full; nothing if it has no parameters."""
    parameters = {
        name: "..." if parameter.default is inspect.Parameter.empty else parameter.default
        for name, parameter in inspect.signature(cls).parameters.items()
        if name != "matroid"
    }
    return spelled(cls.name, parameters) if parameters else ""
