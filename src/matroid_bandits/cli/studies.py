"""``matroid-bandits reproduce``, ``compare``, ``delays``, ``large``, ``run``, ``report``."""

import argparse
import hashlib
import signal
import textwrap
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from matroid_bandits._tables import aligned
from matroid_bandits.cli.options import whole_number
from matroid_bandits.cli.texts import echo, plus_minus

if TYPE_CHECKING:
    from matroid_bandits.experiments import PolicySpec, Report, Study

__all__ = ["add_to"]

# matroid_bandits.experiments is imported in the functions below: it needs the extra of this name,
# which the other commands do not.

_RUN_DESCRIPTION = """\
Run the study in a TOML file, or the rest of it, and write a report.

A study file may name classes in Python files ("file.py:Class"). Their code is
imported and run: run only study files that you trust.
"""

_RUN_EPILOG = """\
example: matroid-bandits run study.toml --jobs 4

A study file names instances and policies; all else has defaults:

  horizon = 20_000                # rounds
  runs = 10                       # of every policy on every instance
  policies = ["OMM", "MAUB", "MAUB(noise=0.2)"]

  [environment]
  type = "gaussian"               # or "bernoulli"
  std = 0.2
  means = { uniform = [0.5, 1.0] }  # drawn anew in every run

  [[instances]]
  matroid = "K15"                 # a name of `matroid-bandits list`

  [[instances]]
  name = "network"
  matroid = { type = "graphic", edges = "links.csv" }  # columns: source, target

The page "Studies of your own" of the project's documentation has all keys.
"""


class _Shipped(NamedTuple):
    """A study that comes with the package and has a command of its name."""

    name: str
    help: str
    description: str
    example: str


_SHIPPED = (
    _Shipped(
        "reproduce",
        "rerun the experiments of the paper and write a report",
        "Rerun the experiments of Delage & Gaudel (2025): ten instances, OMM and MAUB, 20 runs "
        "each, and write a report with the paper's figures beside ours.",
        "matroid-bandits reproduce --only K20 --only linear --runs 5",
    ),
    _Shipped(
        "compare",
        "run many policies against each other and the lower bound, and write a report",
        "Run many policies on five matroids, each with Gaussian and with Bernoulli rewards, 20 "
        "runs each, and write a report with ranks and lower bounds.",
        "matroid-bandits compare --quick --only 'K7 Gaussian' --policy MAUB --policy OMM",
    ),
    _Shipped(
        "delays",
        "run policies whose feedback comes late, and write a report",
        "Run MAUB, OMM and CTS on three matroids with feedback that is 0, 10, 100 and 1,000 rounds "
        "late, 20 runs each, and write a report.",
        "matroid-bandits delays --quick --only 'K7, delay 0' --only 'K7, delay 1,000'",
    ),
    _Shipped(
        "large",
        "run MAUB, OMM, KLOSM and CTS on thousands of elements, and write a report",
        "Run OMM, KLOSM, CTS, and MAUB with one exchange and with all, on graphs and catalogs of "
        "up to 5,000 elements, 5 runs each, and write a report.",
        "matroid-bandits large --quick --only 'partition Gaussian'",
    ),
)


def add_to(commands: Any) -> None:
    """Add the commands."""
    for study in _SHIPPED:
        shipped = commands.add_parser(
            study.name,
            help=study.help,
            description=study.description,
            epilog=f"example: {study.example}",
            allow_abbrev=False,
        )
        _add_options(shipped)
        shipped.set_defaults(run=_run_shipped, parser=shipped, study=study.name)

    run = commands.add_parser(
        "run",
        help="run the study in a TOML file and write a report",
        description=_RUN_DESCRIPTION,
        epilog=_RUN_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    run.add_argument("study", metavar="STUDY", help="the TOML file")
    _add_options(run)
    run.set_defaults(run=_run, parser=run)

    report = commands.add_parser(
        "report",
        help="write the report of a study anew, from its results",
        description="Write tables, figures and report of a study anew from what is stored in its "
        "folder. Nothing is run.",
        epilog="example: matroid-bandits report results/reproduce",
        allow_abbrev=False,
    )
    report.add_argument("folder", metavar="FOLDER", help="where the results are")
    report.add_argument("--quiet", action="store_true", help="print the paths only")
    report.set_defaults(run=_report, parser=report)


def _add_options(parser: Any) -> None:
    parser.add_argument(
        "--out", metavar="FOLDER", help="where the results go (default: results/NAME)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="three runs, a tenth of the rounds: a first look"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="INSTANCE",
        help="this instance; may be repeated (default: all, see --list)",
    )
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="NAME",
        help="this policy, by its label in the study, or any other, such as "
        "'MAUB(noise=0.2)'; may be repeated (default: those of the study)",
    )
    parser.add_argument("--runs", type=whole_number(1), help="runs per instance and policy")
    parser.add_argument("--horizon", type=whole_number(1), help="rounds, on every instance")
    parser.add_argument("--seed", type=whole_number(0), help="seed of the first run")
    parser.add_argument(
        "--jobs", type=whole_number(1, 4096), help="parallel processes (default: one per core)"
    )
    parser.add_argument(
        "--movielens",
        metavar="PATH",
        help="folder or zip of ml-latest-small, ml-1m or ml-100k; or 'synthetic' for invented "
        "movies (default: from the cache, or downloaded)",
    )
    parser.add_argument(
        "--graphs",
        metavar="FOLDER",
        help="folder of graph files that are not beside the study; an instance whose optional "
        "file is in neither is left out",
    )
    parser.add_argument(
        "--extend",
        action="store_true",
        help="let FOLDER hold the same study with fewer instances, policies or runs",
    )
    parser.add_argument("--list", action="store_true", help="show what would be run, and stop")
    parser.add_argument("--quiet", action="store_true", help="no progress bar; print paths only")


# ---- commands ----


def _run_shipped(options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import shipped_study  # noqa: PLC0415

    options.study = shipped_study(options.study)
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import StudyError, load_study  # noqa: PLC0415

    try:
        # Nothing is downloaded for a list.
        movielens = options.movielens or ("synthetic" if options.list else None)
        whole = load_study(
            options.study,
            only=options.only,
            seed=options.seed,
            movielens=movielens,
            graphs=options.graphs,
        )
        study = _selected(whole, options)
        if options.list:
            _print_list(study)
            return 0
        return _execute(study, options)
    except StudyError as error:
        echo(f"{options.parser.prog}: {error}", error=True)
        return 2


def _execute(study: "Study", options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import run_study, write_report  # noqa: PLC0415
    from matroid_bandits.experiments.store import Store  # noqa: PLC0415

    folder = Path(options.out or Path("results") / _folder_name(study, options))
    Store(folder).check(study, extend=options.extend)
    for warning in study.warnings():
        _warn(warning)
    if not options.quiet:
        echo(f"{_headline(study)}, into {folder}")
    # A request to end this process is handled like Ctrl-C.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run_study(study, folder, jobs=options.jobs, extend=options.extend, quiet=options.quiet)
    except KeyboardInterrupt:
        echo(
            f"interrupted: what was finished is kept in {folder}, and the same command goes on "
            "from there",
            error=True,
        )
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)
    _print_report(write_report(folder), quiet=options.quiet)
    return 0


def _report(options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import StudyError, write_report  # noqa: PLC0415

    try:
        report = write_report(options.folder)
    except StudyError as error:
        echo(f"{options.parser.prog}: {error}", error=True)
        return 2
    for warning in report.warnings:
        _warn(warning)
    _print_report(report, quiet=options.quiet)
    return 0


# ---- what is run ----


def _selected(study: "Study", options: argparse.Namespace) -> "Study":
    from matroid_bandits.experiments.spec import policy_spec, try_policy  # noqa: PLC0415
    from matroid_bandits.experiments.study import same_policy  # noqa: PLC0415

    policies: dict[str, PolicySpec] = {}
    for name in options.policy:
        mine = [policy for policy in study.policies if same_policy(policy.name, name)]
        try:
            # Any policy of the package can be added to a study.
            policy = mine[0] if mine else policy_spec(name)
        except ValueError as error:
            options.parser.error(f"argument --policy: {error}")
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
                    f"argument --policy: {policy.name} on {instance.name}: {error}"
                )
    return part


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


def _headline(study: "Study") -> str:
    numbers = [(len(study.instances), "instance"), (study.runs, "run")]
    instances, runs = (f"{n:,} {what}{'s' * (n > 1)}" for n, what in numbers)
    policies = ", ".join(policy.name for policy in study.policies)
    if len(study.policies) > 6:
        policies = f"{len(study.policies)} policies"
    return f"{study.title}: {instances}, {policies}, {runs} each"


# ---- output ----


def _print_list(study: "Study") -> None:
    from matroid_bandits.experiments.late import delay_text  # noqa: PLC0415

    echo(_headline(study))
    header = ["instance", "elements", "rank", "rounds"]
    rows = [
        [i.name, f"{i.matroid.size:,}", f"{i.matroid.rank:,}", f"{i.horizon:,}"]
        for i in study.instances
    ]
    if any(i.sense == "min" for i in study.instances):
        header.append("means")
        for row, i in zip(rows, study.instances, strict=True):
            row.append("costs" if i.sense == "min" else "rewards")
    if any(i.delay is not None for i in study.instances):
        header.append("delay")
        for row, i in zip(rows, study.instances, strict=True):
            row.append(delay_text(i.origin.get("delay")))
    if any(i.policies is not None for i in study.instances):
        header.append("policies")
        for row, i in zip(rows, study.instances, strict=True):
            row.append("all" if i.policies is None else ", ".join(i.policies))
    for line in aligned([header, *rows], left=(0,)):
        echo(f"  {line}")
    for line in study.left_out:
        echo(line)


def _warn(warning: str) -> None:
    lines = textwrap.wrap(f"WARNING: {warning}", 76)
    bar = "!" * 80
    echo("\n".join([bar, *(f"! {line}" for line in lines), bar]), error=True)


def _print_report(report: "Report", *, quiet: bool) -> None:
    if not quiet:
        for line in _table(report):
            echo(line)
        for paragraph in report.findings:
            echo("\n" + textwrap.fill(paragraph, 100))
        for warning in report.warnings:
            echo("")
            _warn(warning)
        echo("")
    for file in report.files:
        echo(str(file))


def _table(report: "Report") -> list[str]:
    from matroid_bandits.experiments.formatting import number, ratio  # noqa: PLC0415
    from matroid_bandits.experiments.summary import records  # noqa: PLC0415

    compared = bool(report.table["published_oracle_calls"].notna().any())
    bounded = bool(report.table["lower_bound"].notna().any())
    header = ["instance", "policy", "runs", "regret"]
    header += ["/ bound"] if bounded else []
    header += ["seconds", "oracle calls"]
    header += ["paper", "ratio"] if compared else []
    rows = []
    for row in records(report.table):
        around = f" {plus_minus()} {number(row['regret_ci'])}" if row["runs"] > 1 else ""
        cells = [row["instance"], row["policy"], str(row["runs"])]
        cells += [number(row["regret"]) + around]
        cells += [number(row["regret_over_bound"])] if bounded else []
        cells += [number(row["seconds"]), number(row["oracle_calls"])]
        if compared:
            cells += [number(row["published_oracle_calls"]), ratio(row["ratio_oracle_calls"])]
        rows.append(cells)
    return aligned([header, *rows], left=(0, 1))
