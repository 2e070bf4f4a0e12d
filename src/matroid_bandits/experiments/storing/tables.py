"""The tables of a study, ``runs.parquet`` and ``curves.parquet``.

Damage is found out: a table has a checksum of its content, and its pages have their own. A table
also says up to which place it has the lines of which parts. Tables of earlier versions, which have
neither, are read too.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from matroid_bandits._files import replacing
from matroid_bandits.experiments.storing.json_files import again_if_stale
from matroid_bandits.experiments.study import StudyError, Task
from matroid_bandits.simulation import COUNTERS

__all__ = ["CURVE_COLUMNS", "KEY", "RUN_COLUMNS", "Table", "read_table", "typed", "write_table"]

#: The columns that say which run a line is of.
KEY = [*Task._fields]

_TYPES = {
    "instance": "str",
    "policy": "str",
    "seed": "int64",
    "horizon": "int64",
    "round": "int64",
    "regret": "float64",
    "rounds": "int64",
    "observations": "int64",
    "settled": "boolean",
    "correct": "boolean",
    "statistic": "float64",
    # Missing in folders of earlier versions.
    "lower_bound": "float64",
    "seconds": "float64",
    # A policy of the user's own may not count.
    **dict.fromkeys(COUNTERS, "Int64"),
    "session": "str",
}

#: Of a table of runs.
RUN_COLUMNS = [*KEY, "horizon", "regret", "lower_bound", "seconds", *COUNTERS, "session"]

#: Of a table of curves.
CURVE_COLUMNS = [*KEY, "round", "regret", *COUNTERS]

# Of entries among a table's own remarks.
_CHECKSUM = b"matroid-bandits checksum"
_SOURCES = b"matroid-bandits sources"

# Arrays of those columns of curves that are not whole numbers of eight bytes.
_ARRAYS: dict[str, Any] = {
    "instance": np.int32,
    "policy": np.int32,
    "regret": np.float64,
    "statistic": np.float64,
}

# So many lines are written at a time.
_LINES = 1 << 18

# Curves repeat these names on thousands of lines; pandas keeps each once.
_REPEATED = ["instance", "policy"]


@dataclass
class Table:
    """A table, and what it was made of.

    Attributes
    ----------
    frame : pandas.DataFrame
    parts : dict of str to int
        Name of a part to the place up to which the table has its lines.
    warnings : list of str
        What was noticed when it was made.
    """

    frame: pd.DataFrame
    parts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def read_table(path: Path, columns: list[str]) -> Table:
    """The table in a file; an empty one if there is no file.

    Raises
    ------
    StudyError
        If it is damaged.
    """
    if not path.exists():
        return Table(typed(pd.DataFrame(columns=columns), columns))
    try:
        known, frame = again_if_stale(lambda: _read(path, columns))
        # Sessions had numbers in earlier versions.
        types = _TYPES
        if "session" in frame and frame["session"].dtype.kind == "i":
            types = _TYPES | {"session": "int64"}
        sources = known.get(_SOURCES, b"")
        stored = known.get(_CHECKSUM)
        if stored is not None and stored != _checksum(frame, sources, types):
            raise ValueError("its content does not have its checksum: the file is damaged")
        told = json.loads(sources) if sources else {"parts": {}, "warnings": []}
        return Table(typed(frame, columns), told["parts"], told["warnings"])
    except Exception as error:
        # Parsers of damaged files raise exceptions of many kinds.
        reason = " ".join(str(error).split())
        raise StudyError(
            f"{path} cannot be read: {reason}; if all of parts/ is still there, remove "
            "runs.parquet and curves.parquet: they are made again from it"
        ) from error


def _read(path: Path, columns: list[str]) -> tuple[dict[bytes, bytes], pd.DataFrame]:
    """The remarks of a table, and its content."""
    with pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=_REPEATED) as file:
        known = file.schema_arrow.metadata or {}
        # A table of curves has rounds, a table of runs has sessions.
        return known, _curves(file, columns) if "round" in columns else _runs(file)


def _runs(file: pq.ParquetFile) -> pd.DataFrame:
    frame: pd.DataFrame = file.read().to_pandas()
    return frame.astype({name: "str" for name in _REPEATED if name in frame})


def _curves(file: pq.ParquetFile, columns_of_curves: list[str]) -> pd.DataFrame:
    """Curves have millions of lines: they are read piece by piece into arrays."""
    length = file.metadata.num_rows
    names = [name for name in file.schema_arrow.names if name in columns_of_curves]
    arrays = {name: np.empty(length, dtype=_ARRAYS.get(name, np.int64)) for name in names}
    missing = {name: np.zeros(length, dtype=bool) for name in names if name in COUNTERS}
    texts: dict[str, dict[str, int]] = {name: {} for name in _REPEATED}
    start = 0
    for i in range(file.num_row_groups):
        piece = file.read_row_group(i, columns=names, use_threads=False)
        here = slice(start, start + len(piece))
        start = here.stop
        for name in names:
            column = piece.column(name).combine_chunks()
            if name in _REPEATED:
                found = column.cast(pa.string()).dictionary_encode()
                known = texts[name]
                codes = [
                    known.setdefault(text, len(known)) for text in found.dictionary.to_pylist()
                ]
                arrays[name][here] = np.array(codes, dtype=np.int32)[found.indices.to_numpy()]
            elif name in missing:
                missing[name][here] = column.is_null().to_numpy(zero_copy_only=False)
                arrays[name][here] = column.fill_null(0).cast(pa.int64()).to_numpy()
            else:
                arrays[name][here] = column.to_numpy(zero_copy_only=False)
    columns: dict[str, Any] = {}
    for name, values in arrays.items():
        if name in _REPEATED:
            known_texts = pd.Index(list(texts[name]), dtype="str")
            columns[name] = pd.Categorical.from_codes(values, categories=known_texts)
        else:
            is_counter = name in missing
            columns[name] = pd.arrays.IntegerArray(values, missing[name]) if is_counter else values
    return pd.DataFrame(columns, copy=False)


def write_table(path: Path, table: Table) -> None:
    """Write a table; the file is complete or as it was before."""
    sources = json.dumps({"parts": table.parts, "warnings": table.warnings}).encode()
    about = {_SOURCES: sources, _CHECKSUM: _checksum(table.frame, sources, _TYPES)}
    first = _content(table.frame.iloc[:_LINES], about)
    with (
        replacing(path) as file,
        pq.ParquetWriter(file, first.schema, write_page_checksum=True) as writer,
    ):
        writer.write_table(first)
        for start in range(_LINES, len(table.frame), _LINES):
            writer.write_table(_content(table.frame.iloc[start : start + _LINES], about))


def _content(frame: pd.DataFrame, about: dict[bytes, bytes]) -> pa.Table:
    """Lines of a table as they are written."""
    content = pa.Table.from_pandas(frame, preserve_index=False)
    for place, name in enumerate(content.column_names):
        if pa.types.is_dictionary(content.schema.field(place).type):
            # Other programs read texts. Parquet stores each text once all the same.
            content = content.set_column(place, name, content.column(place).cast(pa.string()))
    return content.replace_schema_metadata({**content.schema.metadata, **about})


def typed(
    frame: pd.DataFrame, columns: list[str], types: Mapping[str, str] = _TYPES
) -> pd.DataFrame:
    """`frame` with these columns, each of its type; repeated names may be categories."""
    wanted = {
        name: types[name]
        for name in columns
        if not (name in frame and isinstance(frame[name].dtype, pd.CategoricalDtype))
    }
    return frame.reindex(columns=columns).astype(wanted)


def _checksum(frame: pd.DataFrame, sources: bytes, types: Mapping[str, str]) -> bytes:
    """A checksum of names, values and sources."""
    digest = hashlib.sha256(sources)
    for name in frame:
        column: Any = frame[name]
        if types[str(name)] == "str":
            codes, texts = pd.factorize(column)
            parts: list[Any] = [codes.astype("<i8", copy=False), json.dumps(list(texts)).encode()]
        else:
            kind = "<f8" if types[str(name)] == "float64" else "<i8"
            values = column.fillna(0).to_numpy(dtype=kind)
            parts = [column.isna().to_numpy(), values]
        for part in (str(name).encode(), *parts):
            # Without a copy: a column may have millions of values.
            whole: Any = part if isinstance(part, bytes) else np.ascontiguousarray(part)
            content = memoryview(whole)
            digest.update(b"%d:" % content.nbytes)
            digest.update(content)
    return digest.hexdigest().encode()
