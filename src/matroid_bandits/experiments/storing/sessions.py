"""Sessions: one file for every time that a study was started or continued, and who still runs.

A file system that many machines share has no locks that can be relied on. A session therefore
rewrites its own file every few seconds while it runs. Whether another session still runs is known
exactly if its process is on the same system, and by the age of its file otherwise. A session that
is wrongly taken for dead does no harm: the same runs have the same numbers, and count once.
"""

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from matroid_bandits.experiments.storing.json_files import read_json, unwritable, write_json
from matroid_bandits.experiments.storing.provenance import (
    new_session,
    now,
    process_exists,
    system_id,
)
from matroid_bandits.experiments.study import StudyError, slug

__all__ = [
    "SILENCE",
    "Session",
    "described",
    "read_sessions",
    "running_sessions",
    "wait_for_silence",
]

# Seconds between two signs of life.
_BEAT = 10.0

#: After so many seconds without one, a session on another system is taken for dead. Network file
#: systems show the time of a change up to a minute late.
SILENCE = 120.0


def new_name(host: str, pid: int) -> str:
    """A name that no other session has: host and process, for people, and a random part."""
    readable = slug(host).encode("ascii", "ignore").decode()[:40] or "host"
    return f"{readable}-{pid}-{secrets.token_hex(4)}"


class Session:
    """The session of this process.

    Parameters
    ----------
    folder : Path
        Where the files of sessions are.
    command : sequence of str, optional
        What to write down as the command that was given.
    about : dict
        What else is to be written down: the shard, the number of runs of a pair.

    Attributes
    ----------
    name : str
        The name of its files.
    """

    def __init__(
        self,
        folder: Path,
        *,
        command: Sequence[str] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self._content = new_session(command=command) | dict(about or {})
        self.name = new_name(self._content["host"], self._content["pid"])
        self._path = folder / f"{self.name}.json"
        self._workers: dict[str, list[float]] = {}
        self._started = time.perf_counter()
        self._lock = threading.Lock()
        # The file never goes back to something older.
        self._writing = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def announce(self) -> None:
        """Write the file, so that others see that this session is about to begin."""
        self._content["state"] = "starting"
        self._write()

    def line_up(self, sessions: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
        """Take a place after all `sessions`; return it, with the name for those with the same one.

        Who announces itself first, and then takes a place after everybody there, is before
        everybody who comes later, and of two that come at the same time one is first.
        """
        place = 1 + max((session.get("place", 0) for session in sessions), default=0)
        self._content["place"] = place
        self._write()
        return place, self.name

    def begin(self, jobs: int) -> None:
        """Runs begin, `jobs` at the same time; the file is kept fresh from now on."""
        self._content |= {"state": "running", "jobs": jobs}
        self._write()
        self._thread.start()

    @property
    def has_begun(self) -> bool:
        """Whether runs have begun."""
        return bool(self._content["state"] != "starting")

    def note(self, **about: Any) -> None:
        """Write something down."""
        with self._lock:
            self._content |= about
        if self.has_begun:
            self._write()

    def count(self, worker: str, seconds: float) -> None:
        """Count a run that a worker has finished, and the seconds it took."""
        with self._lock:
            done = self._workers.setdefault(worker, [0, 0.0])
            done[0] += 1
            done[1] += seconds

    def end(self) -> None:
        """The session is over."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._content |= {"state": "ended", "ended": now()}
        # If the disk is full, the end of the process says the same.
        with suppress(StudyError):
            self._write()

    def withdraw(self) -> None:
        """Nothing has begun: the session leaves no file."""
        # On a read-only file system there is none.
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        with self._writing:
            with self._lock:
                workers = {
                    name: {"runs": int(runs), "seconds": round(seconds, 6)}
                    for name, (runs, seconds) in self._workers.items()
                }
                elapsed = time.perf_counter() - self._started
                content = self._content | {"elapsed": elapsed, "workers": workers}
            try:
                write_json(self._path, content)
            except OSError as error:
                raise unwritable(self._path, error) from error

    def _beat(self) -> None:
        while not self._stop.wait(_BEAT):
            # A full disk: the next finished run says so.
            with suppress(StudyError):
                self._write()


# ---- all of a folder ----


def read_sessions(folder: Path) -> list[dict[str, Any]]:
    """The sessions whose files are in `folder`, by the time of their start; each has a name."""
    found = []
    for path in folder.glob("[!.]*.json"):
        try:
            content = read_json(path)
        except StudyError:
            if path.exists():
                raise
            # It was withdrawn a moment ago.
            continue
        if not isinstance(content, dict):
            raise StudyError(f"{path} does not describe a session")
        found.append({"name": path.stem, **content})
    return sorted(found, key=lambda session: (str(session.get("started")), session["name"]))


def running_sessions(folder: Path, sessions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Those of `sessions` that still run, as far as can be seen from here.

    Each has the key ``certain``: False if only the age of its file says so.
    """
    here = system_id()
    clock: float | None = None
    found = []
    for session in sessions:
        if "ended" in session or "system_id" not in session:
            continue
        if session["system_id"] == here:
            if process_exists(session["pid"], session["process_start"]):
                found.append({**session, "certain": True})
            continue
        if clock is None:
            clock = _clock_of(folder)
        # It may have been withdrawn a moment ago.
        with suppress(FileNotFoundError):
            age = clock - (folder / f"{session['name']}.json").stat().st_mtime
            if age < SILENCE:
                found.append({**session, "certain": False})
    return found


def _clock_of(folder: Path) -> float:
    """The time by the clock of the file system, which may be another machine's."""
    path = folder / f".{secrets.token_hex(8)}.clock"
    try:
        path.touch()
        return path.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        with suppress(OSError):
            path.unlink()


def wait_for_silence(
    find: Callable[[], list[dict[str, Any]]],
    tell: Callable[[dict[str, Any]], None],
    pause: Callable[[float], None] = time.sleep,
) -> list[dict[str, Any]]:
    """Wait until sessions on other systems are silent for so long that they are dead.

    A session that gives another sign of life is not waited for.

    Parameters
    ----------
    find : callable
        Returns the sessions to wait for.
    tell : callable
        Called with the first of them, if there is one to wait for.
    pause : callable
        Waits for some seconds.

    Returns
    -------
    list of dict
        The sessions that still run.
    """
    running = find()
    signs = {session["name"]: session["elapsed"] for session in running}
    waited = 0.0
    while running and waited < SILENCE + _BEAT:
        alive = [s for s in running if s["certain"] or s["elapsed"] != signs.get(s["name"])]
        if alive:
            return alive
        if not waited:
            tell(running[0])
        pause(_BEAT / 2)
        waited += _BEAT / 2
        running = find()
    # Whatever the times of their files say, they have given no sign of life.
    return []


def described(session: Mapping[str, Any]) -> str:
    """A session in a few words, for messages."""
    shard = f"shard {session['shard']}, " if session.get("shard") else ""
    return f"{shard}host {session['host']}, process {session['pid']}, since {session['started']}"
