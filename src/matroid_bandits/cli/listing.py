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
        help="show matroids, policies, indices and environments",
        description="Show matroids, policies, indices and environments, one line each.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=_list, parser=parser)


def _list(_options: argparse.Namespace) -> int:
    for title, classes in (
        ("Matroids", {cls.__name__: cls for cls in catalog.MATROIDS.values()}),
        ("Policies", catalog.POLICIES),
        ("Indices, of MAUB, OMM and OSUB", catalog.INDICES),
        ("Environments", {cls.__name__: cls for cls in catalog.ENVIRONMENTS.values()}),
    ):
        print(title)
        width = max(map(len, classes))
        for name, cls in classes.items():
            print(f"  {name:<{width}}  {catalog.summary(cls)}")
    print("Matroids by name: K20, U(15,30), or at random with 30 elements: ", end="")
    print(", ".join(f"{family}(30)" for family in catalog.MATROIDS))
    print("Policies by name, here with their parameters and defaults:")
    for cls in catalog.POLICIES.values():
        print(f"  {_written_out(cls)}")
    return 0


def _written_out(cls: type[Policy]) -> str:
    """A policy with all its parameters; dots where the default cannot be written."""
    parameters = [
        f"{name}=..."
        if parameter.default is None or parameter.default is inspect.Parameter.empty
        else spelled("", {name: parameter.default})[1:-1]
        for name, parameter in inspect.signature(cls).parameters.items()
        if name != "matroid"
    ]
    return f"{cls.name}({', '.join(parameters)})" if parameters else cls.name
