"""``matroid-bandits simulate``."""

import argparse
import sys
from typing import Any

import numpy as np

from matroid_bandits import catalog
from matroid_bandits._arguments import number_from
from matroid_bandits._progress import Progress
from matroid_bandits._tables import aligned
from matroid_bandits.cli.instances import Instances, add_instance_options
from matroid_bandits.cli.options import named, whole_number
from matroid_bandits.cli.texts import plus_minus
from matroid_bandits.delays import delay_from_text
from matroid_bandits.simulation import (
    COUNTERS,
    Simulation,
    confidence_arguments,
    refuse_unfit,
    simulate,
)

__all__ = ["EXAMPLE", "add_to"]

EXAMPLE = (
    "matroid-bandits simulate --matroid K20 --policy MAUB --policy OMM --horizon 100000 --runs 5"
)

# Run if no policy is named: that of [DG25], and the one it is compared with there.
_DEFAULT_POLICIES = ("MAUB", "OMM")


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "simulate",
        help="run policies on matroids and print a table",
        description="Run policies on matroids with random instances and print a table. Run number "
        "i has seed SEED + i: its element means are uniform in [0.5, 1], and all policies get "
        "the same rewards. Policies that draw random numbers get the same seed.",
        epilog=f"example: {EXAMPLE}",
        allow_abbrev=False,
    )
    add_instance_options(parser)
    usual = " and ".join(_DEFAULT_POLICIES)
    parser.add_argument(
        "--policy",
        action="append",
        type=named(catalog.policy),
        metavar="NAME",
        help=f"{', '.join(catalog.POLICIES)}; with parameters in quotes, such as "
        f"'MAUB(noise=0.2)'; may be repeated (default: {usual})",
    )
    parser.add_argument(
        "--runs", type=whole_number(1), default=5, help="runs per policy (default: 5)"
    )
    parser.add_argument(
        "--delay",
        type=named(delay_from_text),
        metavar="DELAY",
        help="rounds until feedback is learned: 100, 'geometric(mean=100)' or "
        "'fixed(rounds=100, lost=0.05)', of which a share of 0.05 never comes (default: 0)",
    )
    parser.add_argument(
        "--confidence",
        type=_probability,
        metavar="DELTA",
        help="count the runs at whose end the best basis is settled, up to this probability of a "
        "wrong answer, such as 0.05",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=_simulate, parser=parser)


def _probability(text: str) -> float:
    """The type of an option: a number between 0 and 1."""
    try:
        value = number_from(text, float)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(
            f"must be a number between 0 and 1, such as 0.05, got {text!r}"
        )
    return value


def _simulate(options: argparse.Namespace) -> int:
    instances = Instances.from_options(options)
    # Each once, however often it was named.
    chosen = options.policy or map(catalog.policy, _DEFAULT_POLICIES)
    policies = list({policy.name: policy for policy in chosen}.values())
    _check_policies(instances, policies, options)
    seeds = range(options.seed, options.seed + options.runs)
    seed_range = f"{seeds[0]}..{seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
    total = len(instances.matroids) * len(policies) * len(seeds)
    interrupted = False
    with Progress(total, unit="run", quiet=options.quiet) as progress:
        for name, matroid in instances.matroids.items():
            results: dict[str, list[Simulation]] = {policy.name: [] for policy in policies}
            try:
                for seed in seeds:
                    environment = instances.environment_for(matroid, seed)
                    for policy in policies:
                        progress.now(f"{name} {policy.name} seed {seed}")
                        new = policy(matroid, seed=seed)
                        results[policy.name].append(
                            simulate(
                                new,
                                environment,
                                options.horizon,
                                seed=seed,
                                delay=options.delay,
                                confidence=options.confidence,
                            )
                        )
                        progress.done()
            except KeyboardInterrupt:
                interrupted = True
            if any(results.values()):
                title = instances.title(name, seed_range)
                if options.delay is not None:
                    title += f"; {options.delay!r}"
                progress.print(_table(title, results))
            if interrupted:
                break
    if interrupted:
        print("interrupted: shown are the runs that were finished", file=sys.stderr)
        return 130
    kind = "dynamic regret, against the best basis of every round"
    regret = kind if instances.environment.is_changing else "regret"
    print(f"{regret}: mean {plus_minus()} standard deviation over the runs; other columns: means")
    if options.confidence is not None:
        sure = f"{100 * (1 - options.confidence):.10g} %"
        print(f"settled: runs at whose end the best basis is known with confidence {sure}")
    return 0


def _check_policies(
    instances: Instances, policies: list[catalog.NamedPolicy], options: argparse.Namespace
) -> None:
    """End the command if a policy cannot play on a matroid, before anything runs."""
    for name, matroid in instances.matroids.items():
        for policy in policies:
            try:
                new = policy(matroid, seed=options.seed)
                environment = instances.environment_for(matroid, options.seed)
                refuse_unfit(new, environment)
                if options.confidence is not None:
                    confidence_arguments(new, environment, options.confidence)
            except ValueError as error:
                options.parser.error(f"argument --policy: {policy.name} on {name}: {error}")


def _table(title: str, results: dict[str, list[Simulation]]) -> str:
    header = ["policy", "runs", "regret", "seconds", "oracle calls", "greedy calls", "updates"]
    if any(run.confidence is not None for runs in results.values() for run in runs):
        header.insert(2, "settled")
    rows = [header, *(_row(policy, runs) for policy, runs in results.items() if runs)]
    return "\n  ".join([title, *aligned(rows)]) + "\n"


def _row(policy: str, runs: list[Simulation]) -> list[str]:
    regrets = [result.total_regret for result in runs]
    spread = f" {plus_minus()} {np.std(regrets, ddof=1):,.0f}" if len(runs) > 1 else ""
    answers = [result.confidence for result in runs if result.confidence is not None]
    return [
        policy,
        str(len(runs)),
        *([str(sum(answer.settled for answer in answers))] if answers else []),
        f"{np.mean(regrets):,.0f}{spread}",
        f"{np.mean([result.seconds for result in runs]):.3f}",
        *(f"{np.mean([result.counters[name] for result in runs]):,.0f}" for name in COUNTERS),
    ]
