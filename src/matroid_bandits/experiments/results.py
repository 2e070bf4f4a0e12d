"""Results as data frames, from the tables and from runs that are not in them yet.

Damage is found out: every table has a checksum of its content, and its pages have their own;
runs are compared with their curves, and all numbers with what the study allows. Tables of earlier
versions, which have no checksum, are read too.
"""

import hashlib
import io
import json
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from matroid_bandits.experiments.provenance import SESSION_KEYS
from matroid_bandits.experiments.store import Store, write_atomically
from matroid_bandits.experiments.study import StudyError, Task
from matroid_bandits.simulation import COUNTERS

__all__ = ["Results", "checked_results", "gather", "read_results"]

_KEY = ["instance", "policy", "seed"]
_TYPES = {
    "instance": "str",
    "policy": "str",
    "seed": "int64",
    "horizon": "int64",
    "round": "int64",
    "regret": "float64",
    # Missing in folders of earlier versions.
    "lower_bound": "float64",
    "seconds": "float64",
    # A policy of the user's own may not count.
    **dict.fromkeys(COUNTERS, "Int64"),
    "session": "int64",
}
_RUN_COLUMNS = [*_KEY, "horizon", "regret", "lower_bound", "seconds", *COUNTERS, "session"]
_CURVE_COLUMNS = [*_KEY, "round", "regret", *COUNTERS]

# Of the checksum among a table's own remarks.
_CHECKSUM = b"matroid-bandits checksum"


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a study.

    Attributes
    ----------
    runs : pandas.DataFrame
        One line per run: ``instance, policy, seed, horizon, regret, lower_bound, seconds,
        oracle_calls, greedy_calls, neighborhood_updates, session``. The lower bound is that on the
        regret at the horizon, NaN where the environment has none.
    curves : pandas.DataFrame
        One line per run and checkpoint: ``instance, policy, seed, round, regret`` and the counters
        at that round.
    study : dict
        What was run, as in ``study.json``.
    sessions : list of dict
        When, how and on what; ``runs.session`` counts them from 0.
    folder : Path
        Where it is.
    """

    runs: pd.DataFrame
    curves: pd.DataFrame
    study: dict[str, Any]
    sessions: list[dict[str, Any]]
    folder: Path

    def finished(self) -> set[Task]:
        """The runs that are there."""
        return _tasks(self.runs)


def checked_results(results: object) -> Results:
    """`results`, if it is of this type.

    Raises
    ------
    TypeError
        If it is not.
    """
    if not isinstance(results, Results):
        raise TypeError(
            f"results must be what run_study or read_results returns, got {type(results).__name__}"
        )
    return results


def read_results(folder: str | PathLike[str]) -> Results:
    """The results in a study's folder, finished or not; nothing is run.

    Parameters
    ----------
    folder : str or path
        Where :func:`~matroid_bandits.experiments.run_study` has put them.
    """
    store = Store(Path(folder))
    try:
        return _read(store)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, StudyError):
            raise
        raise StudyError(f"the results in {folder} are damaged: {error!r}") from error


def _read(store: Store) -> Results:
    study = store.description()
    runs = _read_table(store.runs_file, _RUN_COLUMNS)
    curves = _read_table(store.curves_file, _CURVE_COLUMNS)
    # Runs are written last: a curve without its run is from an interrupted write. A run without its
    # curve is run again.
    curves = curves.merge(runs[_KEY], on=_KEY)
    runs = runs.merge(curves[_KEY].drop_duplicates(), on=_KEY)
    # A part that is in the table already was about to be removed.
    gathered = _tasks(runs)
    parts = [p for p in store.read_parts() if Task(*(p[k] for k in _KEY)) not in gathered]
    fresh = _frame([{k: v for k, v in p.items() if k != "curve"} for p in parts], _RUN_COLUMNS)
    order = _order(study["identity"])
    sessions = store.sessions()
    _check(study, sessions, runs, fresh)
    runs = _sorted(pd.concat([runs, fresh]), order, _KEY)
    curves = _sorted(pd.concat([curves, _curves_of(parts)]), order, [*_KEY, "round"])
    _check_numbers(study["identity"], runs)
    _check_curves(runs, curves)
    return Results(
        runs=runs,
        curves=curves,
        study=study,
        sessions=sessions,
        folder=store.folder,
    )


def _check(study: dict[str, Any], sessions: list[dict[str, Any]], *tables: pd.DataFrame) -> None:
    """Refuse results that contradict the study or each other."""
    identity = study["identity"]
    if [entry["name"] for entry in study["instances"]] != list(identity["instances"]):
        raise ValueError("study.json contradicts itself")
    for table in tables:
        for column, known in (("instance", "instances"), ("policy", "policies")):
            for name in table[column].unique():
                if name not in identity[known]:
                    raise ValueError(f"there are runs of {name}, which is not in study.json")
        if table["regret"].isna().any() or not table["session"].between(0, len(sessions) - 1).all():
            raise ValueError("runs without regret, or of an unknown session")
        if table.duplicated(_KEY).any():
            raise ValueError("a run is there twice")
    for session in sessions:
        missing = SESSION_KEYS - session.keys()
        if missing:
            raise ValueError(f"sessions.json lacks {', '.join(sorted(missing))}")


def _check_numbers(identity: dict[str, Any], runs: pd.DataFrame) -> None:
    """Refuse runs with numbers that no run of the study can have."""
    horizons = {name: origin["horizon"] for name, origin in identity["instances"].items()}
    counters = runs[[*COUNTERS]]
    sane = {
        "a horizon that is not the study's": runs["horizon"] == runs["instance"].map(horizons),
        "a seed that is not the study's": runs["seed"].between(
            identity["seed"], identity["seed"] + identity["runs"] - 1
        ),
        "a regret that is not finite": np.isfinite(runs["regret"]),
        "negative seconds": np.isfinite(runs["seconds"]) & (runs["seconds"] >= 0),
        "a negative lower bound": ~(runs["lower_bound"] < 0),
        "a negative counter": ~(counters < 0).fillna(value=False).any(axis=1),
    }
    for problem, is_sane in sane.items():
        if not is_sane.all():
            raise ValueError(f"a run has {problem}")


def _check_curves(runs: pd.DataFrame, curves: pd.DataFrame) -> None:
    """Refuse curves that do not lead to what their runs have at the horizon."""
    if not np.isfinite(curves["regret"]).all() or not (curves["round"] >= 1).all():
        raise ValueError("a curve has a regret that is not finite, or a round before the first")
    if curves.duplicated([*_KEY, "round"]).any():
        raise ValueError("a curve has a round twice")
    # They are sorted by round.
    last = curves.drop_duplicates(_KEY, keep="last").rename(columns={"round": "horizon"})
    shared = [*_KEY, "horizon", "regret", *COUNTERS]
    if not last[shared].reset_index(drop=True).equals(runs[shared]):
        raise ValueError("a run and the end of its curve are not the same")


def gather(store: Store) -> None:
    """Put the parts into the two tables and remove them."""
    parts = store.part_files()
    if parts:
        results = read_results(store.folder)
        # In this order: a run in the table of runs has its curve in the other.
        _write_table(store.curves_file, results.curves)
        _write_table(store.runs_file, results.runs)
        for path in parts:
            path.unlink()
    with suppress(OSError):
        # Unless something is left in it.
        store.parts.rmdir()


def _tasks(runs: pd.DataFrame) -> set[Task]:
    columns = (runs[name].tolist() for name in _KEY)
    return {Task(*row) for row in zip(*columns, strict=True)}


def _read_table(path: Path, columns: list[str]) -> pd.DataFrame:
    if not path.exists():
        return _frame([], columns)
    try:
        table = pq.read_table(path, page_checksum_verification=True)
        frame = table.to_pandas()
        stored = (table.schema.metadata or {}).get(_CHECKSUM)
        if stored is not None and stored != _checksum(_typed(frame, table.column_names)):
            raise ValueError("its content does not have its checksum: the file is damaged")
        return _typed(frame, columns)
    except Exception as error:
        # Parsers of damaged files raise exceptions of many kinds.
        reason = " ".join(str(error).split())
        raise StudyError(f"{path} cannot be read: {reason}") from error


def _write_table(path: Path, frame: pd.DataFrame) -> None:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({**table.schema.metadata, _CHECKSUM: _checksum(frame)})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, write_page_checksum=True)
    write_atomically(path, buffer.getvalue())


def _checksum(frame: pd.DataFrame) -> bytes:
    """A checksum of names and values."""
    digest = hashlib.sha256()
    for name in frame:
        column = frame[name]
        if _TYPES[str(name)] == "str":
            codes, texts = pd.factorize(column)
            parts = [codes.astype("<i8").tobytes(), json.dumps(list(texts)).encode()]
        else:
            missing = column.isna().to_numpy()
            kind = "<f8" if _TYPES[str(name)] == "float64" else "<i8"
            values = column.fillna(0).to_numpy(dtype=kind)
            parts = [missing.tobytes(), values.tobytes()]
        for part in (str(name).encode(), *parts):
            digest.update(b"%d:" % len(part))
            digest.update(part)
    return digest.hexdigest().encode()


def _curves_of(parts: list[dict[str, Any]]) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {name: [] for name in _CURVE_COLUMNS}
    for part in parts:
        curve = part["curve"]
        length = len(curve["round"])
        for name in columns:
            once = name in _KEY
            columns[name] += [part[name]] * length if once else curve.get(name, [None] * length)
    return _typed(pd.DataFrame(columns), _CURVE_COLUMNS)


def _frame(rows: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    return _typed(pd.DataFrame(rows, columns=columns), columns)


def _typed(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return table.reindex(columns=columns).astype({name: _TYPES[name] for name in columns})


def _order(identity: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Instances and policies as the study lists them."""
    return {
        "instance": {name: i for i, name in enumerate(identity["instances"])},
        "policy": {name: i for i, name in enumerate(identity["policies"])},
    }


def _sorted(table: pd.DataFrame, order: dict[str, dict[str, int]], by: list[str]) -> pd.DataFrame:
    return table.sort_values(
        by, key=lambda column: column.map(order[column.name]) if column.name in order else column
    ).reset_index(drop=True)
