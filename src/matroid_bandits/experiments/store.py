"""The folder of a study, in which every finished run is kept.

While a study runs, each finished run is a small file in ``parts/``. When it ends, or is
interrupted in good order, they are gathered into two tables, ``runs.parquet`` and
``curves.parquet``, and removed. What has been cut off in between is read all the same.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from matroid_bandits._files import UNFINISHED, replacing
from matroid_bandits.experiments.counting import quick_n_bases
from matroid_bandits.experiments.study import Study, StudyError, Task, slug
from matroid_bandits.simulation import Simulation

__all__ = ["Store", "write_atomically"]

_FORMAT = 1


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
        self.sessions_file = folder / "sessions.json"
        self.runs_file = folder / "runs.parquet"
        self.curves_file = folder / "curves.parquet"
        self.parts = folder / "parts"

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
            foreign = [path for path in self.folder.iterdir() if path.name != ".lock"]
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unwritable(error) from None
        if foreign:
            raise StudyError(
                f"{self.folder} holds other things ({foreign[0].name}, ...) and no study; choose "
                "a new or an empty folder (--out)"
            )

    @contextmanager
    def claimed(self, study: Study, *, extend: bool = False) -> Iterator[None]:
        """Hold the folder for `study`, alone.

        Raises
        ------
        StudyError
            If it belongs to another study, or something is running in it.
        """
        self.check(study, extend=extend)
        try:
            _make(self.folder)
            held = FileLock(self.folder / ".lock", timeout=0).acquire()
        except Timeout:
            raise StudyError(
                f"something is running in {self.folder} already; wait for it, or choose another "
                "folder (--out)"
            ) from None
        except OSError as error:
            raise self._unwritable(error) from None
        with held:
            # Another process may have claimed it in between.
            self.check(study, extend=extend)
            self._tidy()
            _make(self.parts)
            write_json(self.study_file, _described(study))
            yield

    def _unwritable(self, error: OSError) -> StudyError:
        return StudyError(f"results cannot be written to {self.folder}: {error.strerror}")

    def _tidy(self) -> None:
        """Remove what was being written when something broke."""
        for folder in (self.folder, self.parts):
            for path in folder.glob(f".*{UNFINISHED}"):
                path.unlink()

    def _compare(self, study: Study, *, extend: bool) -> None:
        # Through JSON, so that tuples are lists on both sides.
        wanted = json.loads(_json(study.identity()))
        stored = self.description()["identity"]
        if any("bases" in instance for instance in stored.get("instances", {}).values()):
            raise StudyError(
                f"{self.folder} is from an earlier version of matroid-bandits, which compared "
                "studies in another way; its results can be read and reported, but not continued: "
                "choose another folder (--out)"
            )
        differences = list(_differences(stored, wanted))
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
            raise StudyError(f"{self.folder} holds no study (there is no study.json)")
        content = _read_json(self.study_file)
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

    # ---- sessions: who ran what, with which versions ----

    def sessions(self) -> list[dict[str, Any]]:
        """One entry for every time the study was started or continued."""
        found: list[dict[str, Any]] = (
            _read_json(self.sessions_file) if self.sessions_file.exists() else []
        )
        return found

    def write_sessions(self, sessions: Sequence[Mapping[str, Any]]) -> None:
        """Replace the list of sessions."""
        write_json(self.sessions_file, sessions)

    # ---- parts ----

    def write_part(self, task: Task, result: Simulation, lower_bound: float, session: int) -> None:
        """Keep a finished run, at once and whole."""
        curve = {"round": result.rounds, "regret": result.regret, **result.counter_curves}
        content = {
            "instance": task.instance,
            "policy": task.policy,
            "seed": task.seed,
            "horizon": int(result.rounds[-1]),
            "regret": result.total_regret,
            # NaN is no JSON.
            "lower_bound": lower_bound if isfinite(lower_bound) else None,
            "seconds": result.seconds,
            **result.counters,
            "session": session,
            "curve": {name: values.tolist() for name, values in curve.items()},
        }
        name = hashlib.sha256(repr(tuple(task)).encode()).hexdigest()[:12]
        # The checksum distinguishes tasks; the rest is for readers.
        readable = slug(str(task)).encode("ascii", "ignore").decode()[:60]
        write_json(self.parts / f"{readable}-{name}.json", content)

    def part_files(self) -> list[Path]:
        """The files of the runs not gathered yet."""
        return sorted(self.parts.glob("*.json"))

    def read_parts(self) -> Iterator[dict[str, Any]]:
        """The runs not gathered yet."""
        return map(_read_json, self.part_files())


def write_json(path: Path, content: Any) -> None:
    """Write `content`; the file is complete or does not exist."""
    write_atomically(path, _json(content).encode())


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` in one step: not even a power cut leaves half a file."""
    with replacing(path) as file:
        file.write(content)


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    """Numbers of NumPy as numbers, everything else as its repr."""
    return value.tolist() if hasattr(value, "tolist") else repr(value)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise StudyError(f"{path} cannot be read: {error}") from None


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
        yield f"{key}: there {_short(there)}, here {_short(here)}", grows


def _is_part(there: Any, here: Any) -> bool:
    return isinstance(there, list) and isinstance(here, list) and set(there) <= set(here)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 70 else text[:67] + "..."
