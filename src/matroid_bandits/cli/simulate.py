"""``matroid-bandits simulate``."""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from matroid_bandits import catalog
from matroid_bandits._progress import Progress
from matroid_bandits.cli.options import count, named, spread
from matroid_bandits.cli.texts import aligned, plus_minus
from matroid_bandits.environments import Environment, GaussianEnvironment, random_means
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies import Policy
from matroid_bandits.simulation import COUNTERS, Simulation, simulate

__all__ = ["EXAMPLE", "add_to"]

EXAMPLE = (
    "matroid-bandits simulate --matroid K20 --policy MAUB --policy OMM --horizon 100000 --runs 5"
)


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "simulate",
        help="run policies on matroids and print a table",
        description="Run policies on matroids with random instances and print a table. Run number "
        "i has seed SEED + i: its element means are uniform in [0.5, 1], and all policies meet "
        "the same rewards.",
        epilog=f"example: {EXAMPLE}",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--matroid",
        action="append",
        default=[],
        metavar="NAME",
        help="K20, U(15,30), or a random one such as partition(30); may be repeated",
    )
    parser.add_argument(
        "--policy",
        action="append",
        type=named(catalog.policy_class),
        metavar="NAME",
        help=f"{', '.join(catalog.POLICIES)}; may be repeated (default: all)",
    )
    parser.add_argument(
        "--environment",
        type=named(catalog.environment_class),
        default=GaussianEnvironment,
        metavar="NAME",
        help=f"{', '.join(catalog.ENVIRONMENTS)} (default: gaussian)",
    )
    parser.add_argument("--std", type=spread, help="noise of Gaussian rewards (default: 0.2)")
    parser.add_argument(
        "--horizon", type=count(1), default=100_000, help="rounds (default: 100000)"
    )
    parser.add_argument("--runs", type=count(1), default=5, help="runs per policy (default: 5)")
    parser.add_argument(
        "--seed",
        type=count(0),
        default=0,
        help="seed of the first run, and of random matroids (default: 0)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=_simulate, parser=parser)


@dataclass(frozen=True)
class _Setting:
    """What the options of `simulate` come to."""

    matroids: dict[str, Matroid]
    policies: list[type[Policy]]
    environment: type[Environment]
    std: float
    horizon: int
    seeds: range
    quiet: bool

    @classmethod
    def of(cls, options: argparse.Namespace) -> "_Setting":
        gaussian = options.environment is GaussianEnvironment
        if not options.matroid:
            options.parser.error("--matroid is missing; for example --matroid K20")
        if options.std is not None and not gaussian:
            options.parser.error("--std is for gaussian rewards only")
        try:
            matroids = {name: catalog.matroid(name, options.seed) for name in options.matroid}
        except ValueError as error:
            options.parser.error(f"argument --matroid: {error}")
        return cls(
            matroids=matroids,
            # Each once, however often it was named.
            policies=list(dict.fromkeys(options.policy or catalog.POLICIES.values())),
            environment=options.environment,
            std=0.2 if options.std is None else options.std,
            horizon=options.horizon,
            seeds=range(options.seed, options.seed + options.runs),
            quiet=options.quiet,
        )

    def instance(self, matroid: Matroid, seed: int) -> Environment:
        """An environment with random means, as in the experiments of [DG25]."""
        means = random_means(matroid.size, seed)
        if self.environment is GaussianEnvironment:
            return GaussianEnvironment(means, self.std)
        return self.environment(means)

    def title(self, name: str) -> str:
        """The line above a table."""
        matroid = self.matroids[name]
        noise = self.environment.__name__.removesuffix("Environment")
        if self.environment is GaussianEnvironment:
            noise += f" (std {self.std:g})"
        last_seed = f"..{self.seeds[-1]}" if len(self.seeds) > 1 else ""
        return (
            f"{name}: {matroid.size:,} elements, rank {matroid.rank:,}; {noise} rewards; "
            f"{self.horizon:,} rounds; seed {self.seeds[0]}{last_seed}"
        )


def _simulate(options: argparse.Namespace) -> int:
    setting = _Setting.of(options)
    total = len(setting.matroids) * len(setting.policies) * len(setting.seeds)
    interrupted = False
    with Progress(total, unit="run", quiet=setting.quiet) as progress:
        for name, matroid in setting.matroids.items():
            results: dict[str, list[Simulation]] = {cls.name: [] for cls in setting.policies}
            try:
                for seed in setting.seeds:
                    environment = setting.instance(matroid, seed)
                    for cls in setting.policies:
                        progress.now(f"{name} {cls.name} seed {seed}")
                        results[cls.name].append(
                            simulate(cls(matroid), environment, setting.horizon, seed=seed)
                        )
                        progress.done()
            except KeyboardInterrupt:
                interrupted = True
            if any(results.values()):
                progress.print(_table(setting.title(name), results))
            if interrupted:
                break
    if interrupted:
        print("interrupted: shown are the runs that were finished", file=sys.stderr)
        return 130
    print(f"regret: mean {plus_minus()} standard deviation over the runs; other columns: means")
    return 0


def _table(title: str, results: dict[str, list[Simulation]]) -> str:
    header = ["policy", "runs", "regret", "seconds", "oracle calls", "greedy calls", "updates"]
    rows = [header, *(_row(policy, runs) for policy, runs in results.items() if runs)]
    return "\n  ".join([title, *aligned(rows)]) + "\n"


def _row(policy: str, runs: list[Simulation]) -> list[str]:
    regrets = [result.total_regret for result in runs]
    spread = f" {plus_minus()} {np.std(regrets, ddof=1):,.0f}" if len(runs) > 1 else ""
    return [
        policy,
        str(len(runs)),
        f"{np.mean(regrets):,.0f}{spread}",
        f"{np.mean([result.seconds for result in runs]):.3f}",
        *(f"{np.mean([result.counters[name] for result in runs]):,.0f}" for name in COUNTERS),
    ]
