"""The origin of results: versions, commit, machine, command."""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from matroid_bandits._version import __version__

__all__ = ["SESSION_KEYS", "new_session", "now"]

#: Keys of a session that has started.
SESSION_KEYS = {
    "started",
    "command",
    "jobs",
    "matroid-bandits",
    "commit",
    "python",
    "numpy",
    "system",
    "processor",
    "cores",
}


def new_session(jobs: int, *, command: Sequence[str] | None = None) -> dict[str, Any]:
    """Versions, machine and command of a session that starts now."""
    return {
        "started": now(),
        "command": shlex.join(_command() if command is None else command),
        "jobs": jobs,
        "matroid-bandits": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _command() -> list[str]:
    return [Path(sys.argv[0]).name or "python", *sys.argv[1:]]


def _commit() -> str | None:
    """The commit the package was built from, with a plus if the checkout has changed since."""
    try:
        recorded = distribution("matroid-bandits").read_text("direct_url.json")
    except PackageNotFoundError:
        recorded = None
    commit = json.loads(recorded or "{}").get("vcs_info", {}).get("commit_id")
    if commit is not None:
        return str(commit)
    checkout = Path(__file__).parents[3]
    if not (checkout / ".git").exists():
        return None
    try:
        head = _git(checkout, "rev-parse", "HEAD")
        changed = _git(checkout, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return head + ("+" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
