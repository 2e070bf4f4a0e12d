"""Options that several commands share: matroid, environment and random means."""

import argparse
from dataclasses import dataclass
from typing import Any

from matroid_bandits import catalog
from matroid_bandits.cli.options import named, standard_deviation, whole_number
from matroid_bandits.environments import Environment, GaussianEnvironment, random_means
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
        type=named(catalog.environment_class),
        default=GaussianEnvironment,
        metavar="NAME",
        help=f"{', '.join(catalog.ENVIRONMENTS)} (default: gaussian)",
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
    environment: type[Environment]
    std: float
    horizon: int
    seed: int

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> "Instances":
        """The instances that the options describe; mistakes end the command."""
        if not options.matroid:
            options.parser.error("--matroid is missing; for example --matroid K20")
        if options.std is not None and options.environment is not GaussianEnvironment:
            options.parser.error("--std is for gaussian rewards only")
        try:
            matroids = {name: catalog.matroid(name, seed=options.seed) for name in options.matroid}
        except ValueError as error:
            options.parser.error(f"argument --matroid: {error}")
        return cls(
            matroids=matroids,
            environment=options.environment,
            std=0.2 if options.std is None else options.std,
            horizon=options.horizon,
            seed=options.seed,
        )

    def environment_for(self, matroid: Matroid, seed: int) -> Environment:
        """An environment with random means, as in the experiments of [DG25]."""
        means = random_means(matroid.size, seed)
        if self.environment is GaussianEnvironment:
            return GaussianEnvironment(means, self.std)
        return self.environment(means)

    def title(self, name: str, seeds: str) -> str:
        """The line above a table."""
        matroid = self.matroids[name]
        noise = self.environment.__name__.removesuffix("Environment")
        if self.environment is GaussianEnvironment:
            noise += f" (std {self.std:g})"
        return (
            f"{name}: {matroid.size:,} elements, rank {matroid.rank:,}; {noise} rewards; "
            f"{self.horizon:,} rounds; seed {seeds}"
        )
