"""``matroid-bandits list``."""

import argparse
import inspect
import textwrap
from collections.abc import Mapping
from typing import Any

from matroid_bandits import catalog
from matroid_bandits._call_text import call_text
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
        _print_lines({name: catalog.summary(cls) for name, cls in classes.items()})
    for group, matroids in catalog.NAMED.items():
        print(f"Matroids by name: {group.lower()}")
        _print_lines({named.example: named.about for named in matroids})
    print("Matroids by name: made of others")
    _print_lines(
        {
            "K4+U(2,4)": "The direct sum: a basis of each.",
            "dual(K5)": "The complements of the bases.",
            "truncate(K20,5)": "Independent sets of 5 elements at most.",
        }
    )
    print("Matroids by name: at random, with 30 elements")
    families = ", ".join(f"{family}(30)" for family in catalog.MATROIDS)
    print(textwrap.fill(families, 100, initial_indent="  ", subsequent_indent="  "))
    print("Policies by name, here with their parameters and defaults:")
    for cls in catalog.POLICIES.values():
        print(f"  {_signature(cls)}")
    return 0


def _print_lines(lines: Mapping[str, str]) -> None:
    width = max(map(len, lines))
    for name, about in lines.items():
        print(f"  {name:<{width}}  {about}")


def _signature(cls: type[Policy]) -> str:
    """A policy with all its parameters; dots where the default cannot be written as text."""
    parameters = [
        f"{name}=..."
        if parameter.default is None or parameter.default is inspect.Parameter.empty
        else call_text("", {name: parameter.default})[1:-1]
        for name, parameter in inspect.signature(cls).parameters.items()
        if name != "matroid"
    ]
    return f"{cls.name}({', '.join(parameters)})" if parameters else cls.name
