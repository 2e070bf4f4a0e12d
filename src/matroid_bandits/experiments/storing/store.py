"""The folder of a study, into which any number of processes may write, on any machines.

``study.json`` says what is run. Each process has a file of its own in ``sessions/`` and one in
``parts/``, to which it appends finished runs. The tables ``runs.parquet`` and ``curves.parquet``
are made from the parts, and can be made again at any time. Nobody changes or removes a file of
another process.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from matroid_bandits._progress import say
from matroid_bandits.experiments.reading.counting import quick_n_bases
from matroid_bandits.experiments.shards import Shard
from matroid_bandits.experiments.storing.json_files import (
    as_json,
    create_json,
    read_json,
    unwritable,
    write_json,
)
from matroid_bandits.experiments.storing.parts import PartWriter
from matroid_bandits.experiments.storing.sessions import (
    SILENCE,
    Session,
    described,
    read_sessions,
    running_sessions,
    wait_for_silence,
)
from matroid_bandits.experiments.study import Study, StudyError

__all__ = ["Store"]

_FORMAT = 1

# So many seconds at most, a session waits for what becomes of others that are starting.
_STARTING = 10.0


class Store:
    """The folder of one study's results.

    Parameters
    ----------
    folder : Path
        Need not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.study_file = folder / "study.json"
        self.sessions_folder = folder / "sessions"
        self.parts_folder = folder / "parts"
        self.runs_file = folder / "runs.parquet"
        self.curves_file = folder / "curves.parquet"

    # ---- the study of the folder ----

    def check(self, study: Study, *, extend: bool = False) -> None:
        """Refuse a folder that belongs to another study, or is no place for one.

        Raises
        ------
        StudyError
            What differs, and what to do.
        """
        if self.study_file.exists():
            self._compare(study, extend=extend)
            return
        try:
            # What begins with a dot is being written by a process that has just begun, or hidden.
            foreign = [path for path in self.folder.iterdir() if path.name[0] != "."]
        except FileNotFoundError:
            return
        except OSError as error:
            raise unwritable(self.folder, error) from None
        if not foreign:
            return
        if self.study_file.exists():
            # Another process has just begun.
            self._compare(study, extend=extend)
            return
        raise StudyError(
            f"{self.folder} holds other things ({foreign[0].name}, ...) and no study; choose a "
            "new or an empty folder (--out)"
        )

    @contextmanager
    def session(
        self,
        study: Study,
        *,
        shard: Shard | None = None,
        extend: bool = False,
        command: Sequence[str] | None = None,
        about: Mapping[str, Any] | None = None,
        quiet: bool = True,
    ) -> Iterator[tuple[Session, PartWriter]]:
        """A session of `study` in this folder, and the part for its finished runs.

        The session has been announced, and must `begin` if there is something to run. Sessions of
        different shards may be in the folder at the same time.

        Raises
        ------
        StudyError
            If the folder belongs to another study, or the same runs are being made in it.
        """
        self.claim(study, extend=extend)
        known = {
            "study": _checksum(study.identity()),
            "shard": None if shard is None else str(shard),
            **(about or {}),
        }
        session = Session(self.sessions_folder, command=command, about=known)
        try:
            session.announce()
            place = session.line_up(self.own_sessions())
            self._refuse_if_running(place, known, quiet=quiet)
            # Only now: who is refused changes nothing.
            self._describe(study, extend=extend)
            with PartWriter(self.parts_folder / f"{session.name}.jsonl") as part:
                yield session, part
        finally:
            if session.has_begun:
                session.end()
            else:
                session.withdraw()

    def claim(self, study: Study, *, extend: bool = False) -> None:
        """Make this the folder of `study`, unless it is that of another one."""
        self.check(study, extend=extend)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self.study_file.exists() or not create_json(self.study_file, _described(study)):
                # Another process may have been faster.
                self.check(study, extend=extend)
            for folder in (self.sessions_folder, self.parts_folder):
                folder.mkdir(exist_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from None

    def _describe(self, study: Study, *, extend: bool) -> None:
        """Bring ``study.json`` up to date: titles may change, and a study may grow."""
        description = json.loads(as_json(_described(study)))
        if self.description() == description:
            return
        self._compare(study, extend=extend)
        try:
            write_json(self.study_file, description)
        except OSError as error:
            raise unwritable(self.folder, error) from None

    def _refuse_if_running(
        self, place: tuple[int, str], about: dict[str, Any], *, quiet: bool
    ) -> None:
        """Raise an error if the same runs may be under way, in a session before `place`."""

        def others() -> list[dict[str, Any]]:
            end = time.monotonic() + _STARTING
            while True:
                found = [
                    other
                    for other in self.running()
                    if other["name"] != place[1]
                    and _may_share_runs(other, about)
                    # Without a place, it has only just announced itself.
                    and (other.get("place", 0), other["name"]) < place
                ]
                # A session that is starting may come after us, or be refused itself.
                waits = any(o["certain"] and o["state"] == "starting" for o in found)
                if not waits or time.monotonic() > end:
                    return found
                time.sleep(0.02)

        def tell(waiting: dict[str, Any]) -> None:
            if not quiet:
                say(
                    f"waiting for a sign of life of {described(waiting)}, for up to "
                    f"{SILENCE:.0f} seconds"
                )

        running = wait_for_silence(others, tell)
        if running:
            shards = running[0]["shard"], about["shard"]
            why = ""
            if None not in shards and shards[0] != shards[1]:
                why = f"shards {shards[0]} and {shards[1]} divide the study differently: "
            raise StudyError(
                f"something is running in {self.folder} already ({described(running[0])}); {why}"
                "wait for it, or choose another folder (--out)"
            )

    def _compare(self, study: Study, *, extend: bool) -> None:
        # Through JSON, so that tuples are lists on both sides.
        wanted = json.loads(as_json(study.identity()))
        stored = self.description()["identity"]
        if any("bases" in instance for instance in stored.get("instances", {}).values()):
            raise StudyError(
                f"{self.folder} is from an earlier version of matroid-bandits, which compared "
                "studies in another way; its results can be read and reported, but not continued: "
                "choose another folder (--out)"
            )
        # The first thing to say; left out where it is the regret.
        kind = {"kind": "regret"}
        differences = list(_differences(kind | stored, kind | wanted))
        if not differences:
            return
        grown = all(grows for _, grows in differences)
        if grown and extend:
            return
        shown = [text for text, _ in differences[:6]]
        if len(differences) > len(shown):
            shown.append(f"and {len(differences) - len(shown)} more")
        advice = "choose another folder (--out)"
        if grown:
            advice = f"run only what is missing (--extend), or {advice}"
        raise StudyError(
            "\n  ".join([f"{self.folder} belongs to another study:", *shown]) + f"\n{advice}"
        )

    def description(self) -> dict[str, Any]:
        """What ``study.json`` says."""
        if not self.study_file.exists():
            if self.folder.is_file():
                raise StudyError(
                    f"{self.folder} is a file; the folder of the results is needed, such as "
                    "results/study"
                )
            raise StudyError(f"{self.folder} holds no study (there is no study.json)")
        content = read_json(self.study_file)
        if not isinstance(content, dict):
            raise StudyError(f"{self.study_file} does not describe a study")
        if content.get("format") != _FORMAT:
            raise StudyError(
                f"{self.study_file} has format {content.get('format')}; this version of "
                f"matroid-bandits reads {_FORMAT}"
            )
        missing = {"title", "identity", "instances", "reference"} - content.keys()
        identity = content.get("identity")
        if missing or not isinstance(identity, dict) or not isinstance(identity.get("runs"), int):
            raise StudyError(f"{self.study_file} does not describe a study")
        return content

    # ---- sessions and parts ----

    def sessions(self) -> list[dict[str, Any]]:
        """One entry for every time the study was started or continued, with its name."""
        return [*self._sessions_of_earlier_versions(), *self.own_sessions()]

    def own_sessions(self) -> list[dict[str, Any]]:
        """Those with a file of their own."""
        sessions = read_sessions(self.sessions_folder)
        for session in sessions:
            if "ended" not in session:
                self._count_to_last_run(session)
        return sessions

    def _count_to_last_run(self, session: dict[str, Any]) -> None:
        """Let the time of a session that was cut off, or still runs, reach to its last run."""
        try:
            last = (self.parts_folder / f"{session['name']}.jsonl").stat().st_mtime
            since = last - datetime.fromisoformat(session["started"]).timestamp()
        except (OSError, KeyError, TypeError, ValueError):
            return
        session["last_run"] = max(0.0, since, session.get("elapsed") or 0.0)

    def running(self) -> list[dict[str, Any]]:
        """The sessions that still run, as far as can be seen from here."""
        return running_sessions(self.sessions_folder, self.own_sessions())

    def _sessions_of_earlier_versions(self) -> list[dict[str, Any]]:
        """They were in one file, and had numbers."""
        path = self.folder / "sessions.json"
        found = read_json(path) if path.exists() else []
        return [{"name": str(i), **session} for i, session in enumerate(found)]

    def part_files(self) -> list[Path]:
        """The files of finished runs, one for every session."""
        return sorted(self.parts_folder.glob("[!.]*.jsonl"))

    def single_runs(self) -> list[dict[str, Any]]:
        """Runs of earlier versions that were not put into tables: they had a file each."""
        return [read_json(path) for path in sorted(self.parts_folder.glob("[!.]*.json"))]


def _checksum(identity: dict[str, Any]) -> str:
    return hashlib.sha256(as_json(identity).encode()).hexdigest()[:16]


def _may_share_runs(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two sessions may run the same tasks."""
    if one["study"] != other["study"] or one["shard"] is None or other["shard"] is None:
        return True
    return bool(
        one["shard"] == other["shard"]
        or one["shard"].partition("/")[2] != other["shard"].partition("/")[2]
    )


def _described(study: Study) -> dict[str, Any]:
    """What a report needs of the study."""
    reference = study.reference
    return {
        "format": _FORMAT,
        "name": study.name,
        "title": study.title,
        "identity": study.identity(),
        "instances": [
            {
                "name": i.name,
                "note": i.note,
                "warning": i.warning,
                "n_bases": quick_n_bases(i.matroid),
            }
            for i in study.instances
        ],
        "reference": None
        if reference is None
        else {
            "source": reference.source,
            "machine": reference.machine,
            "within": dict(reference.within),
            "rows": [dict(row) for row in reference.rows],
        },
        "figures": [asdict(figure) for figure in study.figures],
        "left_out": list(study.left_out),
    }


def _differences(there: Any, here: Any, key: str = "") -> Iterator[tuple[str, bool]]:
    """What differs, in words, and whether the study has merely grown there."""
    if there == here:
        return
    if isinstance(there, dict) and isinstance(here, dict):
        for name in dict.fromkeys((*there, *here)):
            inner = f"{key}.{name}" if key else name
            if name not in there:
                yield f"{inner}: not there, here new", key in {"instances", "policies"}
            elif name not in here:
                yield f"{inner}: there, but not here", False
            else:
                yield from _differences(there[name], here[name], inner)
    else:
        grows = (key == "runs" and there < here) or (
            # Which policies run on an instance.
            key.startswith("instances.") and key.endswith(".policies") and _is_part(there, here)
        )
        if key.endswith(".source"):
            yield f"{key}: other code, in its file or in a module of yours that it imports", grows
        else:
            yield f"{key}: there {_short(there)}, here {_short(here)}", grows


def _is_part(there: Any, here: Any) -> bool:
    return isinstance(there, list) and isinstance(here, list) and set(there) <= set(here)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 70 else text[:67] + "..."
