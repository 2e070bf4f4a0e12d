"""The command line: ``matroid-bandits list`` and ``matroid-bandits simulate``."""

import argparse
import difflib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from matroid_bandits import __version__, catalog
from matroid_bandits._progress import Progress
from matroid_bandits.environments import Environment
from matroid_bandits.matroids import Matroid
from matroid_bandits.simulation import COUNTERS, Simulation, simulate

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


def _count(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            value = int(text.replace("_", "").replace(",", ""))
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of at least {least}, got {text!r}"
            )
        return value

    return parse


def _spread(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, got {text!r}")
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
        required=True,
        type=_named(lambda name: (name, catalog.matroid(name))),
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
        default=catalog.ENVIRONMENTS["gaussian"],
        metavar="NAME",
        help=f"{', '.join(catalog.ENVIRONMENTS)} (default: gaussian)",
    )
    simulation.add_argument(
        "--std", type=_spread, default=0.2, help="noise of Gaussian rewards (default: 0.2)"
    )
    simulation.add_argument(
        "--horizon", type=_count(1), default=100_000, help="rounds (default: 100000)"
    )
    simulation.add_argument(
        "--runs", type=_count(1), default=5, help="runs per policy (default: 5)"
    )
    simulation.add_argument(
        "--seed", type=_count(0), default=0, help="seed of the first run (default: 0)"
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
    except BrokenPipeError:
        # The reader of a pipe (`| head`) has gone: nothing more to say to anyone.
        sys.stderr.close()
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


def _simulate(options: argparse.Namespace) -> int:
    policies = options.policy or list(catalog.POLICIES.values())
    total = len(options.matroid) * len(policies) * options.runs
    interrupted = False
    with Progress(total, unit="run", quiet=options.quiet) as progress:
        for name, matroid in options.matroid:
            results: dict[str, list[Simulation]] = {cls.name: [] for cls in policies}
            try:
                for seed in range(options.seed, options.seed + options.runs):
                    environment = _instance(options, matroid, seed)
                    for cls in policies:
                        progress.now(f"{name} {cls.name} seed {seed}")
                        results[cls.name].append(
                            simulate(cls(matroid), environment, options.horizon, seed=seed)
                        )
                        progress.done()
            except KeyboardInterrupt:
                interrupted = True
            progress.print(_table(name, matroid, options, results))
            if interrupted:
                break
    print("regret: mean ± standard deviation over the runs; other columns: means")
    if interrupted:
        print("interrupted: shown are the runs that were finished", file=sys.stderr)
    return 130 if interrupted else 0


def _instance(options: argparse.Namespace, matroid: Matroid, seed: int) -> Environment:
    # Means as in the experiments of [DG25]; the second word keeps them apart from the rewards.
    means = np.random.default_rng([seed, 10**6]).uniform(0.5, 1, matroid.size)
    cls = options.environment
    gaussian = cls is catalog.ENVIRONMENTS["gaussian"]
    environment: Environment = cls(means, options.std) if gaussian else cls(means)
    return environment


def _table(
    name: str, matroid: Matroid, options: argparse.Namespace, results: dict[str, list[Simulation]]
) -> str:
    noise = options.environment.__name__.removesuffix("Environment")
    if options.environment is catalog.ENVIRONMENTS["gaussian"]:
        noise += f" (std {options.std:g})"
    last_seed = f"..{options.seed + options.runs - 1}" if options.runs > 1 else ""
    title = (
        f"{name}: {matroid.size:,} elements, rank {matroid.rank:,}; {noise} rewards; "
        f"{options.horizon:,} rounds; seed {options.seed}{last_seed}"
    )
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
    spread = f" ± {np.std(regrets, ddof=1):,.0f}" if len(runs) > 1 else ""
    return [
        policy,
        str(len(runs)),
        f"{np.mean(regrets):,.0f}{spread}",
        f"{np.mean([result.seconds for result in runs]):.3f}",
        *(f"{np.mean([result.counters[name] for result in runs]):,.0f}" for name in COUNTERS),
    ]
