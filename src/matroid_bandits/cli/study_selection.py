"""The options that choose a part of a study, and the folder of its results."""

import argparse
import hashlib
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matroid_bandits.cli.options import nonempty, whole_number
from matroid_bandits.experiments.study import MOST_RUNS

if TYPE_CHECKING:
    from matroid_bandits.experiments import PolicySpec, Study

__all__ = ["add_selection_options", "load_selected", "results_folder", "selection_arguments"]

# Most of matroid_bandits.experiments is imported in the functions below: it needs the extra of this
# name, which the other commands do not.


def add_selection_options(parser: Any) -> None:
    """Add the options that choose a part of a study, and the folder of its results."""
    parser.add_argument(
        "--out",
        type=nonempty,
        metavar="FOLDER",
        help="where the results go (default: results/NAME)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="three runs, a tenth of the rounds: a first look"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="INSTANCE",
        help="this instance; may be repeated (default: all; --list shows them)",
    )
    parser.add_argument(
        "--policy",
        "--rule",
        action="append",
        default=[],
        metavar="NAME",
        help="this policy, or rule of identification, by its label in the study, or any other, "
        "such as 'MAUB(noise=0.2)'; may be repeated (default: those of the study)",
    )
    parser.add_argument(
        "--runs", type=whole_number(1, MOST_RUNS), help="runs per instance and policy"
    )
    parser.add_argument(
        "--horizon",
        type=whole_number(1),
        help="rounds, on every instance; the most rounds of identification",
    )
    parser.add_argument("--seed", type=whole_number(0), help="seed of the first run")
    parser.add_argument(
        "--movielens",
        type=nonempty,
        metavar="PATH",
        help="folder or zip of ml-latest-small, ml-1m or ml-100k; or 'synthetic' for invented "
        "movies (default: from the cache, or downloaded)",
    )
    parser.add_argument(
        "--graphs",
        type=nonempty,
        metavar="FOLDER",
        help="folder of graph files that are not beside the study; an instance whose optional "
        "file is in neither is left out",
    )
    parser.add_argument(
        "--extend",
        action="store_true",
        help="go on with the study in FOLDER, which may have fewer instances, policies or runs; "
        "without --out, FOLDER is then that of the whole study",
    )


def selection_arguments(options: argparse.Namespace) -> list[str]:
    """The options of `add_selection_options` that were given, but for --out; paths absolute."""
    arguments = ["--quick"] if options.quick else []
    arguments += [f"--only={name}" for name in options.only]
    arguments += [f"--policy={name}" for name in options.policy]
    for name in ("runs", "horizon", "seed"):
        value = getattr(options, name)
        arguments += [] if value is None else [f"--{name}={value}"]
    if options.movielens is not None:
        path = options.movielens
        arguments.append(f"--movielens={path if path == 'synthetic' else Path(path).absolute()}")
    if options.graphs is not None:
        arguments.append(f"--graphs={Path(options.graphs).expanduser().absolute()}")
    return [*arguments, "--extend"] if options.extend else arguments


def load_selected(options: argparse.Namespace) -> "Study":
    """The part of the study in the file `options.study` that the options choose."""
    from matroid_bandits.experiments import load_study  # noqa: PLC0415

    whole = load_study(
        options.study,
        only=options.only,
        seed=options.seed,
        movielens=_movies(options),
        graphs=options.graphs,
    )
    return _selected(whole, options)


def _selected(study: "Study", options: argparse.Namespace) -> "Study":
    from matroid_bandits.experiments.reading.spec import policy_spec, try_policy  # noqa: PLC0415
    from matroid_bandits.experiments.study import same_policy  # noqa: PLC0415

    option = "--policy" if study.kind == "regret" else "--rule"
    policies: dict[str, PolicySpec] = {}
    for name in options.policy:
        mine = [policy for policy in study.policies if same_policy(policy.name, name)]
        try:
            # Any policy of the package can be added to a study.
            policy = mine[0] if mine else policy_spec(name, study.kind)
        except ValueError as error:
            options.parser.error(f"argument {option}: {error}")
        policies.setdefault(policy.name, policy)
    part = study.part(
        only=options.only,
        policies=list(policies.values()),
        runs=options.runs,
        horizon=options.horizon,
        quick=options.quick,
    )
    for instance, policy in product(part.instances, policies.values()):
        if instance.admits(policy.name):
            try:
                try_policy(policy, instance, part.seed)
            except ValueError as error:
                options.parser.error(
                    f"argument {option}: {policy.name} on {instance.name}: {error}"
                )
    return part


def _movies(options: argparse.Namespace) -> "str | Path | None":
    """Where movies are read; nothing is downloaded for a list or a plan."""
    from matroid_bandits.datasets.download import cached_movielens  # noqa: PLC0415
    from matroid_bandits.experiments.reading.movies import SYNTHETIC  # noqa: PLC0415

    if options.movielens:
        return str(options.movielens)
    if getattr(options, "list", False):
        return SYNTHETIC
    return (cached_movielens() or SYNTHETIC) if getattr(options, "plan", False) else None


def results_folder(study: "Study", options: argparse.Namespace) -> Path:
    """Where the results go: --out, or a folder named after the study and the options."""
    return Path(options.out or Path("results") / _folder_name(study, options))


def _folder_name(study: "Study", options: argparse.Namespace) -> str:
    """A folder per choice of options, so that parts of a study do not get into its folder."""
    from matroid_bandits.experiments.study import slug  # noqa: PLC0415

    parts = [study.name]
    parts += ["quick"] if options.quick else []
    if not options.extend:
        # With it, the folder is that of the study that has grown.
        parts += options.only + options.policy
        parts += [] if options.runs is None else ["runs", str(options.runs)]
    for option in ("horizon", "seed"):
        value = getattr(options, option)
        parts += [] if value is None else [option, str(value)]
    parts += list(dict.fromkeys(i.data for i in study.instances if i.data))
    name = "-".join(map(slug, parts))
    if len(name.encode()) <= 120:
        return name
    return f"{slug(study.name)[:40]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
