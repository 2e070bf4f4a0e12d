"""The command line: ``matroid-bandits list`` and ``matroid-bandits simulate``."""

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from matroid_bandits import __version__, catalog
from matroid_bandits._progress import Progress
from matroid_bandits.environments import Environment, GaussianEnvironment
from matroid_bandits.environments.base import LARGEST
from matroid_bandits.matroids import Matroid
from matroid_bandits.policies import Policy
from matroid_bandits.simulation import COUNTERS, LONGEST, Simulation, simulate

__all__ = ["main"]

EXAMPLE = (
    "matroid-bandits simulate --matroid K20 --policy MAUB --policy OMM --horizon 100000 --runs 5"
)


class _Parser(argparse.ArgumentParser):
    """Answers mistakes with one line that says what is allowed."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")

    def refuse(self, unknown: str) -> NoReturn:
        """Answer an argument that is not among the options."""
        known = sorted(option for option in self._option_string_actions if option[:2] == "--")
        close = difflib.get_close_matches(unknown, known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        self.error(f"unknown argument {unknown}; {hint}allowed are {', '.join(known)}")


def _named(find: Callable[[str], Any]) -> Callable[[str], Any]:
    """An option's type that hands the finder's own message to the user."""

    def parse(text: str) -> Any:
        try:
            return find(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse


def _count(least: int, most: int = LONGEST) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {least} to {most}, got {text!r}"
            )
        return value

    return parse


def _spread(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= LARGEST:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {LARGEST:g}, got {text!r}")
    return value


def _parser() -> _Parser:
    parser = _Parser(
        prog="matroid-bandits",
        description="Matroid semi-bandits: learn the best allowed set of things to play.",
        epilog=f"example: {EXAMPLE}",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"matroid-bandits {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    listing = commands.add_parser(
        "list",
        help="show matroids, policies and environments",
        description="Show matroids, policies and environments, one line each.",
        allow_abbrev=False,
    )
    listing.set_defaults(run=_list, parser=listing)

    simulation = commands.add_parser(
        "simulate",
        help="run policies on matroids and print a table",
        description="Run policies on matroids with random instances and print a table. Run number "
        "i has seed SEED + i: its element means are uniform in [0.5, 1], and all policies meet "
        "the same rewards.",
        epilog=f"example: {EXAMPLE}",
        allow_abbrev=False,
    )
    simulation.add_argument(
        "--matroid",
        action="append",
        default=[],
        metavar="NAME",
        help="K20, U(15,30), or a random one such as partition(30); may be repeated",
    )
    simulation.add_argument(
        "--policy",
        action="append",
        type=_named(catalog.policy_class),
        metavar="NAME",
        help=f"{', '.join(catalog.POLICIES)}; may be repeated (default: all)",
    )
    simulation.add_argument(
        "--environment",
        type=_named(catalog.environment_class),
        default=GaussianEnvironment,
        metavar="NAME",
        help=f"{', '.join(catalog.ENVIRONMENTS)} (default: gaussian)",
    )
    simulation.add_argument("--std", type=_spread, help="noise of Gaussian rewards (default: 0.2)")
    simulation.add_argument(
        "--horizon", type=_count(1), default=100_000, help="rounds (default: 100000)"
    )
    simulation.add_argument(
        "--runs", type=_count(1), default=5, help="runs per policy (default: 5)"
    )
    simulation.add_argument(
        "--seed",
        type=_count(0),
        default=0,
        help="seed of the first run, and of random matroids (default: 0)",
    )
    simulation.add_argument("--quiet", action="store_true", help="no progress bar")
    simulation.set_defaults(run=_simulate, parser=simulation)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    options, unknown = _parser().parse_known_args(arguments)
    if unknown:
        options.parser.refuse(unknown[0])
    try:
        status: int = options.run(options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except MemoryError:
        print(f"{options.parser.prog}: too large for this machine's memory", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of a pipe (`| head`) has gone: let the interpreter flush into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


# ---- list ----


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


# ---- simulate ----


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
        # The second word keeps the means apart from the rewards.
        means = np.random.default_rng([seed, 10**6]).uniform(0.5, 1, matroid.size)
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
    print(f"regret: mean {_plus_minus()} standard deviation over the runs; other columns: means")
    return 0


def _plus_minus() -> str:
    try:
        "±".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return "+/-"
    return "±"


def _table(title: str, results: dict[str, list[Simulation]]) -> str:
    header = ["policy", "runs", "regret", "seconds", "oracle calls", "greedy calls", "updates"]
    rows = [header, *(_row(policy, runs) for policy, runs in results.items() if runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return "\n  ".join([title, *lines]) + "\n"


def _row(policy: str, runs: list[Simulation]) -> list[str]:
    regrets = [result.total_regret for result in runs]
    spread = f" {_plus_minus()} {np.std(regrets, ddof=1):,.0f}" if len(runs) > 1 else ""
    return [
        policy,
        str(len(runs)),
        f"{np.mean(regrets):,.0f}{spread}",
        f"{np.mean([result.seconds for result in runs]):.3f}",
        *(f"{np.mean([result.counters[name] for result in runs]):,.0f}" for name in COUNTERS),
    ]
