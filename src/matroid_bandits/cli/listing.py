"""``matroid-bandits list``."""

import argparse
from typing import Any

from matroid_bandits import catalog

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
    return 0
