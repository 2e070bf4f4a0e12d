"""``matroid-bandits gaps``."""

import argparse
from typing import Any

from matroid_bandits.cli.instances import Instances, add_instance_options
from matroid_bandits.lower_bound import gaps, regret_lower_bound

__all__ = ["add_to"]


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "gaps",
        help="show how hard an instance is: gaps and the lower bound on the regret",
        description="Show, for the instance that `simulate` draws with the same options, the best "
        "basis, the gap of every other element to its partner in it, and the regret that no "
        "consistent policy can avoid in the long run (Lai & Robbins 1985, Talebi & Proutiere "
        "2016). After finitely many rounds the regret may be lower.",
        epilog="example: matroid-bandits gaps --matroid K5 --seed 3",
        allow_abbrev=False,
    )
    add_instance_options(parser)
    parser.set_defaults(run=_gaps, parser=parser)


def _gaps(options: argparse.Namespace) -> int:
    instances = Instances.from_options(options)
    if instances.environment.is_changing:
        options.parser.error(
            "argument --environment: gaps are for means that stay as they are, and those of "
            f"{instances.environment.name} change"
        )
    for name, matroid in instances.matroids.items():
        environment = instances.environment_for(matroid, instances.seed)
        print(instances.title(name, str(instances.seed)))
        print(gaps(matroid, environment.means))
        try:
            bound = f"{regret_lower_bound(matroid, environment, instances.horizon):,.4g}"
        except NotImplementedError as error:
            bound = f"unknown, {error}"
        print(f"lower bound on the regret after {instances.horizon:,} rounds: {bound}\n")
    return 0
