"""Options that several commands share: matroid, environment and random means."""

import argparse
from dataclasses import dataclass
from typing import Any

from matroid_bandits import catalog
from matroid_bandits.cli.options import named, standard_deviation, whole_number
from matroid_bandits.environments import Environment
from matroid_bandits.matroids import Matroid

__all__ = ["Instances", "add_instance_options"]


def add_instance_options(parser: Any) -> None:
    """Add ``--matroid``, ``--environment``, ``--std``, ``--horizon`` and ``--seed``."""
    parser.add_argument(
        "--matroid",
        action="append",
        default=[],
        metavar="NAME",
        help="K20, U(15,30), fano, ... (`matroid-bandits list` shows all), or a random one such as "
        "partition(30); may be repeated",
    )
    parser.add_argument(
        "--environment",
        type=named(catalog.environment),
        default=catalog.environment("gaussian"),
        metavar="NAME",
        help="gaussian, bernoulli, or means that change: 'piecewise(changes=5001)', the round of "
        "the change, or several, 'piecewise(changes=\"3001 6001\")'; 'drifting(step=0.001)', "
        "'seasonal(amplitude=0.1, period=5000)'; each also with kind=bernoulli (default: gaussian)",
    )
    parser.add_argument(
        "--std", type=standard_deviation, help="noise of Gaussian rewards (default: 0.2)"
    )
    parser.add_argument(
        "--horizon", type=whole_number(1), default=100_000, help="rounds (default: 100000)"
    )
    parser.add_argument(
        "--seed",
        type=whole_number(0),
        default=0,
        help="seed of the first run, and of random matroids (default: 0)",
    )


@dataclass(frozen=True)
class Instances:
    """The instances that these options describe."""

    matroids: dict[str, Matroid]
    environment: catalog.NamedEnvironment
    std: float
    horizon: int
    seed: int

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> "Instances":
        """The instances that the options describe; mistakes end the command."""
        if not options.matroid:
            options.parser.error("--matroid is missing; for example --matroid K20")
        changes = options.environment.parameters.get("changes", ())
        if options.std is not None and not options.environment.is_gaussian:
            options.parser.error("--std is for gaussian rewards only")
        if options.std is not None and "std" in options.environment.parameters:
            options.parser.error("std is in the brackets of --environment and in --std")
        for late in (c for c in changes if c > options.horizon):
            options.parser.error(
                f"argument --environment: the change in round {late:,} is after the last round, "
                f"{options.horizon:,}"
            )
        try:
            matroids = {name: catalog.matroid(name, seed=options.seed) for name in options.matroid}
        except ValueError as error:
            options.parser.error(f"argument --matroid: {error}")
        return cls(
            matroids=matroids,
            environment=options.environment,
            std=options.environment.parameters.get("std", 0.2)
            if options.std is None
            else options.std,
            horizon=options.horizon,
            seed=options.seed,
        )

    def environment_for(self, matroid: Matroid, seed: int) -> Environment:
        """An environment with random means, as in the experiments of [DG25]."""
        noise = {"std": self.std} if self.environment.is_gaussian else {}
        return self.environment(matroid.size, seed=seed, **noise)

    def title(self, name: str, seeds: str) -> str:
        """The line above a table."""
        matroid = self.matroids[name]
        named = self.environment
        noise = named.cls.__name__.removesuffix("Environment")
        if named.is_changing:
            noise = "Gaussian" if named.is_gaussian else "Bernoulli"
        if named.is_gaussian:
            noise += f" (std {self.std:g})"
        noise += f" rewards, {named.name}" if named.is_changing else " rewards"
        return (
            f"{name}: {matroid.size:,} elements, rank {matroid.rank:,}; {noise}; "
            f"{self.horizon:,} rounds; seed {seeds}"
        )
