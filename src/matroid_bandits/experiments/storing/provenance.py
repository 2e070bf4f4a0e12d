"""The origin of results: versions, commit, machine, process, command."""

import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from matroid_bandits._version import __version__

__all__ = ["SESSION_KEYS", "new_session", "now", "process_exists", "process_start", "system_id"]

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


def new_session(*, command: Sequence[str] | None = None) -> dict[str, Any]:
    """Versions, machine and command of a session that starts now."""
    return {
        "started": now(),
        "command": shlex.join(_command() if command is None else command),
        "jobs": 0,
        "matroid-bandits": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "host": platform.node(),
        "pid": os.getpid(),
        "process_start": process_start(os.getpid()),
        "system_id": system_id(),
    }


# ---- which process ----


def system_id() -> str:
    """An identifier of the running system: processes with the same one see each other's numbers.

    Two containers on one machine differ, and so does a machine after it was restarted.
    """
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def process_start(pid: int) -> int | None:
    """When a process of this system began, in its own units; None where that is not known."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of the command, in brackets, may contain anything.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else int(fields[19])


def process_exists(pid: int, start: int | None) -> bool:
    """Whether the process of this system that has the number `pid` still runs.

    Numbers are used again; `start` distinguishes the processes, where it is known.
    """
    if Path("/proc/self/stat").exists():
        begun = process_start(pid)
        return begun is not None and start in {None, begun}
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


# ---- when, by what ----


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _command() -> list[str]:
    program = Path(sys.argv[0])
    if program.name == "__main__.py":
        return ["python", "-m", program.parent.name, *sys.argv[1:]]
    return [program.name or "python", *sys.argv[1:]]


def _commit() -> str | None:
    """The commit the package was built from, with a plus if the checkout has changed since."""
    try:
        recorded = distribution("matroid-bandits").read_text("direct_url.json")
    except PackageNotFoundError:
        recorded = None
    commit = json.loads(recorded or "{}").get("vcs_info", {}).get("commit_id")
    if commit is not None:
        return str(commit)
    checkout = Path(__file__).parents[4]
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
