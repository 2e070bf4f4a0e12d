"""``matroid-bandits slurm``: a study as a job array of the scheduler Slurm."""

import argparse
import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matroid_bandits.cli.options import named, whole_number
from matroid_bandits.cli.studies import SHIPPED
from matroid_bandits.cli.study_output import warn
from matroid_bandits.cli.study_selection import (
    add_selection_options,
    load_selected,
    results_folder,
    selection_arguments,
)
from matroid_bandits.cli.texts import echo

if TYPE_CHECKING:
    from matroid_bandits.experiments import Study

__all__ = ["add_to"]

_DESCRIPTION = """\
Print a job script that runs a study on a Slurm cluster: one job array, whose
tasks run a shard each, and a job that writes the report when all have ended.

The folder of the results must be on a file system that all nodes share.
"""

_EPILOG = """\
example: matroid-bandits slurm study.toml --shards 64 --time 30 > job.sh
         bash job.sh

`sbatch job.sh` does the same. Comments in the script say how to watch it and
how to run shards again that have failed.
"""

# Larger arrays need another MaxArraySize than Slurm's default; Slurm itself allows no larger ones
# than this.
_USUAL_SHARDS = 1_000
_MOST_SHARDS = 4_000_000

# How long before the time limit a shard is asked to end.
_WARNING_SECONDS = 60

_TIME_FORMS = (
    "minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or "
    "days-hours:minutes:seconds"
)

_TIME = re.compile(
    r"(?:(?P<days>[0-9]{1,6})-(?P<rest>[0-9]{1,6}(?::[0-9]{1,6}){0,2})"
    r"|(?P<plain>[0-9]{1,9}(?::[0-9]{1,9}){0,2}))"
)


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "slurm",
        help="print a job script that runs a study on a Slurm cluster",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "study",
        metavar="STUDY",
        help=f"the TOML file, or {', '.join(study.name for study in SHIPPED)}",
    )
    parser.add_argument(
        "--shards",
        type=whole_number(1, _MOST_SHARDS),
        required=True,
        help="tasks of the job array",
    )
    parser.add_argument(
        "--time",
        type=named(_time_limit),
        required=True,
        help=f"time limit of a shard, as for Slurm: {_TIME_FORMS}",
    )
    parser.add_argument(
        "--cpus", type=whole_number(1, 4096), default=1, help="CPUs of a shard (default: 1)"
    )
    parser.add_argument(
        "--sbatch",
        type=named(_sbatch_option),
        action="append",
        default=[],
        metavar="OPTION",
        help="another option of sbatch, such as --sbatch=--partition=short; may be repeated",
    )
    add_selection_options(parser)
    parser.set_defaults(run=_slurm, parser=parser)


def _slurm(options: argparse.Namespace) -> int:
    from matroid_bandits.experiments import StudyError, shipped_study  # noqa: PLC0415
    from matroid_bandits.experiments.storing.store import Store  # noqa: PLC0415

    command = ["run", str(Path(options.study).absolute())]
    if any(study.name == options.study for study in SHIPPED) and not Path(options.study).is_file():
        command = [options.study]
        options.study = shipped_study(options.study)
    try:
        study = load_selected(options)
        folder = results_folder(study, options).absolute()
        Store(folder).check(study, extend=options.extend)
    except StudyError as error:
        echo(f"{options.parser.prog}: {error}", error=True)
        return 2
    for warning in study.warnings():
        warn(warning)
    shards = _number_of_shards(study, options.shards)
    command += selection_arguments(options)
    script = "\n".join(
        [
            *_header(study, shards, options),
            *_settings(command, folder, shards),
            _COMMANDS,
        ]
    )
    # Bytes: names of files must not change, whatever the terminal can show.
    sys.stdout.flush()
    sys.stdout.buffer.write(os.fsencode(script))
    sys.stdout.buffer.flush()
    return 0


def _number_of_shards(study: "Study", wanted: int) -> int:
    """As many shards as wanted, but none without a run."""
    runs = len(study.tasks())
    if wanted > runs:
        echo(f"{runs:,} shards instead of {wanted:,}: the study has only {runs:,} runs", error=True)
    shards = min(wanted, runs)
    if shards > _USUAL_SHARDS:
        echo(
            f"{shards:,} shards: by default, Slurm allows arrays up to {_USUAL_SHARDS:,}; "
            "`scontrol show config | grep MaxArraySize` shows one more than your cluster allows",
            error=True,
        )
    return shards


# ---- the script ----


def _header(study: "Study", shards: int, options: argparse.Namespace) -> list[str]:
    """Comments for people, and the options that sbatch reads."""
    # The name of a study has letters, digits and . _ - only.
    name = study.name
    runs = len(study.tasks())
    lines = [
        "#!/bin/bash",
        f"# {name} on a Slurm cluster: {runs:,} runs in {shards:,} shards, and a report.",
        *_INSTRUCTIONS.format(name=name).splitlines(),
        f"#SBATCH --job-name={name}",
        f"#SBATCH --array=1-{shards}",
        f"#SBATCH --time={options.time}",
        f"#SBATCH --cpus-per-task={options.cpus}",
        "",
        "# %A is the number of the job, %a that of the shard.",
        f"#SBATCH --output={name}-%A-%a.out",
        "#SBATCH --open-mode=append",
        "",
        "# If its node fails or is needed for another job, a shard starts again elsewhere.",
        "#SBATCH --requeue",
    ]
    seconds = _seconds(options.time)
    if seconds:
        # A short limit has a short warning; otherwise the shard would end as soon as it starts.
        warning = max(1, min(_WARNING_SECONDS, seconds // 10))
        lines += [
            "",
            f"# A shard is asked to end (TERM) {warning} seconds before its time limit, or up to a",
            "# minute earlier. It keeps what is finished; its state is then FAILED, exit code 130.",
            "# B: only its first process is asked, which ends the others.",
            f"#SBATCH --signal=B:TERM@{warning}",
        ]
    if options.sbatch:
        lines += ["", *(f"#SBATCH {option}" for option in options.sbatch)]
    return lines


def _settings(command: list[str], folder: Path, shards: int) -> list[str]:
    """What differs between the scripts of different studies."""
    program = [sys.executable, "-m", "matroid_bandits"]
    return [
        "",
        "set -eu",
        "",
        f"program=({shlex.join(program)})",
        f"study=({shlex.join(command)})",
        f"folder={shlex.quote(str(folder))}",
        f"shards={shards}",
    ]


_INSTRUCTIONS = """\
# Written by `matroid-bandits slurm`. In what follows, job.sh is this file.
#
#   submit everything          bash job.sh    or    sbatch job.sh
#   watch                      squeue -u $USER
#   see how far it is          matroid-bandits gather FOLDER
#   see which shards failed    sacct -X -j JOB --format=JobID,State,ExitCode,Elapsed
#   run shards 3 and 7 again   sbatch --array=3,7 job.sh
#   the same with more time    sbatch --array=3,7 --time=120 job.sh
#   write the report again     sbatch --array=0 job.sh
#
# Submitting shards again, or all of them, is harmless: what is finished is kept, and only missing
# runs are run. So a shard that was canceled or that reached its time limit goes on where it was.
# Each submission of shards ends with a new report.
#
# What a shard prints is in {name}-JOB-SHARD.out, in the folder from which it was
# submitted. Number 0 is the report.
"""

_COMMANDS = """
# The processes of a shard share its CPUs; none of them needs more than one thread.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# The report is task 0 of an array of its own. It waits for all shards, also for those that fail.
submit_report() {
    local job=$1 report
    if report=$(sbatch --parsable --array=0 --dependency="afterany:$job" "$0"); then
        echo "the report is job ${report%%;*}; it starts when all shards of job $job have ended"
    else
        echo "the report of job $job could not be submitted from here; on the login node, type" >&2
        echo "    sbatch --array=0 --dependency=afterany:$job job.sh" >&2
        return 1
    fi
}

if [[ -z ${SLURM_ARRAY_TASK_ID:-} ]]; then
    # `bash job.sh`: submit this script, and then the report.
    if [[ $# != 0 ]]; then
        echo "this script needs its line #SBATCH --array=1-$shards" >&2
        exit 1
    fi
    job=$(sbatch --parsable "$0" report-is-submitted)
    # On some clusters, the name of the cluster follows the number.
    job=${job%%;*}
    echo "the shards are job $job, into $folder"
    submit_report "$job"
    exit
fi

if [[ $SLURM_ARRAY_TASK_ID == 0 ]]; then
    exec "${program[@]}" report "$folder"
fi

# `sbatch job.sh`: the first shard submits the report, but not once more when it starts again.
if [[ ${1:-} != report-is-submitted && ${SLURM_RESTART_COUNT:-0} == 0 &&
      $SLURM_ARRAY_TASK_ID == "$SLURM_ARRAY_TASK_MIN" ]]; then
    submit_report "$SLURM_ARRAY_JOB_ID" || true
fi

# exec: signals of Slurm reach the program itself. On TERM it keeps what is finished, and ends.
exec "${program[@]}" "${study[@]}" --out "$folder" --shard "$SLURM_ARRAY_TASK_ID/$shards" \\
    --jobs "${SLURM_CPUS_PER_TASK:-1}"
"""


# ---- options ----


def _time_limit(text: str) -> str:
    """A time limit in a form that Slurm reads."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"must be {_TIME_FORMS}, got {text!r}")
    return text


def _seconds(time: str) -> int:
    """The seconds of a time limit; 0 means that there is none."""
    form = _TIME.fullmatch(time)
    assert form is not None  # noqa: S101  # checked before
    if form["days"] is not None:
        hours, minutes, seconds = [*map(int, form["rest"].split(":")), 0, 0][:3]
        return ((int(form["days"]) * 24 + hours) * 60 + minutes) * 60 + seconds
    parts = [int(part) for part in form["plain"].split(":")]
    if len(parts) == 3:
        return (parts[0] * 60 + parts[1]) * 60 + parts[2]
    return parts[0] * 60 + sum(parts[1:])


def _sbatch_option(text: str) -> str:
    """An option as sbatch reads it in a line of a script."""
    form = re.fullmatch(r"(--?[A-Za-z][^ =]*)(?:(=| +)(.*))?", text)
    if form is None or not text.isprintable():
        raise ValueError(
            "must be an option of sbatch with its dashes, in one line, such as "
            f"--sbatch=--partition=short, got {text!r}"
        )
    name, separator, value = form.groups()
    # sbatch reads abbreviations as well.
    if re.match(r"-a|--ar(r(a(y)?)?)?$", name):
        raise ValueError(f"the array is numbered by --shards, got {text!r}")
    if separator is None:
        return _quoted(name)
    return f"{_quoted(name)}{separator[0]}{_quoted(value)}"


def _quoted(text: str) -> str:
    """A text for a line of sbatch options, which are not read by a shell.

    There, a backslash escapes the next character, also between single quotes, and # begins a
    comment.
    """
    if re.fullmatch(r"[\w@%+=:,./-]+", text):
        return text
    escaped = re.sub(r'(["\\])', r"\\\1", text)
    return f'"{escaped}"'
