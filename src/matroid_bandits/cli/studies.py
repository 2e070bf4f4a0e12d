"""``matroid-bandits run``, ``report``, ``gather``, and the studies that ship."""

import argparse
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from matroid_bandits.cli.options import nonempty, whole_number
from matroid_bandits.cli.study_output import (
    headline,
    print_failures,
    print_list,
    print_plan,
    print_report,
    warn,
)
from matroid_bandits.cli.study_selection import (
    add_selection_options,
    load_selected,
    results_folder,
)
from matroid_bandits.cli.texts import echo

if TYPE_CHECKING:
    from matroid_bandits.experiments import Study
    from matroid_bandits.experiments.shards import Shard

__all__ = ["SHIPPED", "add_to"]

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


#: The studies with commands of their own.
SHIPPED = (
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
        "change",
        "run policies while means change, and write a report",
        "Run MAUB as it is, with a window, with a discount and with restarts, OMM and CTS on three "
        "matroids whose means change once, ten times, slowly, with the seasons and never, 20 runs "
        "each, and write a report with the dynamic regret and the loss per round.",
        "matroid-bandits change --quick --only 'K15, one change' --only 'K15, no change'",
    ),
    _Shipped(
        "large",
        "run MAUB, OMM, KLOSM and CTS on thousands of elements, and write a report",
        "Run OMM, KLOSM, CTS, and MAUB with one exchange and with all, on graphs and catalogs of "
        "up to 5,000 elements, 5 runs each, and write a report.",
        "matroid-bandits large --quick --only 'partition Gaussian'",
    ),
    _Shipped(
        "features",
        "run policies that learn from features, and write a report",
        "Run CombLinUCB and CombLinTS, which learn from features, beside MAUB on catalogs of 1,000 "
        "to 20,000 items and on movies, 10 runs each, and write a report.",
        "matroid-bandits features --quick --only 'partition 5,000'",
    ),
    _Shipped(
        "identify",
        "run rules until they know the best basis, and write a report",
        "Run five rules of identification on six matroids until they are sure of the best basis, "
        "20 runs each, and write a report with stopping times, wrong answers and lower bounds.",
        "matroid-bandits identify --quick --only K7 --rule LUCBExchange --rule CLUCB",
    ),
)


def add_to(commands: Any) -> None:
    """Add the commands."""
    for study in SHIPPED:
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
    report.add_argument("folder", type=nonempty, metavar="FOLDER", help="where the results are")
    report.add_argument("--quiet", action="store_true", help="print the paths only")
    report.set_defaults(run=_report, parser=report)

    gather = commands.add_parser(
        "gather",
        help="put the finished runs of a study, or of its shards, into two tables",
        description="Put all finished runs in the folder of a study into the tables runs.parquet "
        "and curves.parquet. Shards may still be running. `report` does this too.",
        epilog="example: matroid-bandits gather results/study",
        allow_abbrev=False,
    )
    gather.add_argument("folder", type=nonempty, metavar="FOLDER", help="where the results are")
    gather.add_argument("--quiet", action="store_true", help="print the paths only")
    gather.set_defaults(run=_gather, parser=gather)


def _add_options(parser: Any) -> None:
    add_selection_options(parser)
    parser.add_argument(
        "--jobs", type=whole_number(1, 4096), help="parallel processes (default: one per core)"
    )
    parser.add_argument(
        "--shard",
        metavar="I/N",
        help="only the I-th of N shards, which may run at the same time on machines that share "
        "FOLDER; 'auto' in a job array of Slurm, Grid Engine or LSF, 'auto/N' in one of PBS; "
        "afterwards `matroid-bandits report FOLDER`",
    )
    parser.add_argument(
        "--dask",
        type=nonempty,
        metavar="ADDRESS",
        help="run on a Dask cluster, by the address of its scheduler (tcp://host:8786), or 'local'",
    )
    parser.add_argument(
        "--until-separated",
        action="store_true",
        help="go on with more runs until all pairs of policies, or rules, are told apart",
    )
    parser.add_argument(
        "--limit",
        type=whole_number(1),
        help="with --until-separated: the most runs per instance and policy (default: ten times "
        "--runs)",
    )
    parser.add_argument("--list", action="store_true", help="show what would be run, and stop")
    parser.add_argument("--plan", action="store_true", help="say how long it would take, and stop")
    parser.add_argument("--quiet", action="store_true", help="no progress bar; print paths only")


# ---- commands ----


def _run_shipped(options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import shipped_study  # noqa: PLC0415

    options.study = shipped_study(options.study)
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import StudyError  # noqa: PLC0415

    _refuse_contradictions(options)
    try:
        study = load_selected(options)
        if options.list:
            print_list(study)
            return 0
        if options.plan:
            from matroid_bandits.experiments import plan_study  # noqa: PLC0415

            folder = results_folder(study, options)
            common = {"jobs": options.jobs, "extend": options.extend, "quiet": options.quiet}
            plan = plan_study(study, folder, **common)
            print_plan(study, plan, folder, is_download=not options.movielens)
            return 0
        return _execute(study, options)
    except StudyError as error:
        echo(f"{options.parser.prog}: {error}", error=True)
        return 2


def _refuse_contradictions(options: argparse.Namespace) -> None:
    """Refuse options that do not go together, before anything is read."""
    error = options.parser.error
    if options.limit is not None and not options.until_separated:
        error("--limit goes with --until-separated")
    for what in ("list", "plan"):
        if getattr(options, what) and (options.shard is not None or options.until_separated):
            other = "--shard" if options.shard is not None else "--until-separated"
            error(f"--{what} is about the whole study as it is written: leave {other} out")
    if options.shard is not None:
        if options.dask is not None:
            error("--shard and --dask do not go together: a shard runs on one machine")
        if options.until_separated:
            error(
                "--until-separated needs the results of all shards: run the shards with more "
                "--runs and --extend, or use --dask"
            )


def _execute(study: "Study", options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import RunsFailedError, write_report  # noqa: PLC0415
    from matroid_bandits.experiments.shards import tasks_of  # noqa: PLC0415
    from matroid_bandits.experiments.storing.store import Store  # noqa: PLC0415

    folder = results_folder(study, options)
    Store(folder).check(study, extend=options.extend)
    shard = _shard(options)
    for warning in study.warnings():
        warn(warning)
    if shard is not None and not tasks_of(study, shard):
        echo(f"shard {shard} has no runs: the study has only {len(study.tasks()):,}", error=True)
    if not options.quiet:
        part = "" if shard is None else f", shard {shard}"
        echo(f"{headline(study)}, into {folder}{part}")
    # A request to end this process is handled like Ctrl-C.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _run_it(study, folder, shard, options)
    except KeyboardInterrupt:
        echo(
            f"interrupted: what was finished is kept in {folder}, and the same command goes on "
            "from there",
            error=True,
        )
        return 130
    except RunsFailedError as error:
        print_failures(error)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if shard is None:
        print_report(write_report(folder), quiet=options.quiet)
    elif not options.quiet:
        echo(f"shard {shard} is finished; when all are: matroid-bandits report {folder}")
    return 0


def _run_it(study: "Study", folder: Path, shard: "Shard | None", options: Any) -> None:
    from matroid_bandits.experiments import run_shard, run_study  # noqa: PLC0415

    common = {"jobs": options.jobs, "extend": options.extend, "quiet": options.quiet}
    if shard is not None:
        run_shard(study, folder, shard, **common)
        return
    if options.limit is not None and options.limit < study.runs:
        options.parser.error(f"argument --limit: must be at least the runs, {study.runs}")
    run_study(
        study,
        folder,
        dask=options.dask,
        until_separated=options.until_separated,
        limit=options.limit,
        **common,
    )


def _shard(options: argparse.Namespace) -> "Shard | None":
    from matroid_bandits.experiments.shards import parse_shard  # noqa: PLC0415

    if options.shard is None:
        return None
    try:
        return parse_shard(options.shard)
    except ValueError as error:
        raise options.parser.error(f"argument --shard: {error}") from None


def _gather(options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import StudyError, gather  # noqa: PLC0415
    from matroid_bandits.experiments.storing.store import Store  # noqa: PLC0415

    try:
        results = gather(options.folder)
    except StudyError as error:
        echo(f"{options.parser.prog}: {error}", error=True)
        return 2
    for warning in results.warnings:
        warn(warning)
    store = Store(Path(options.folder))
    if not options.quiet:
        running = len(store.running())
        note = f"; {running} {'sessions are' if running > 1 else 'session is'} still running"
        echo(
            f"{results.n_finished():,} of {results.n_wanted():,} runs are finished"
            f"{note if running else ''}"
        )
    for path in (store.curves_file, store.runs_file):
        if path.exists():
            echo(str(path))
    return 0


def _report(options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import StudyError, write_report  # noqa: PLC0415

    try:
        report = write_report(options.folder)
    except StudyError as error:
        echo(f"{options.parser.prog}: {error}", error=True)
        return 2
    if options.quiet:
        for warning in report.warnings:
            warn(warning)
    print_report(report, quiet=options.quiet)
    return 0
