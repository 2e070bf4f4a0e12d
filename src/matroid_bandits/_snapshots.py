"""The file format of snapshots: a zip of JSON and arrays, with a checksum over all of it.

::

    snapshot.json     {"format": ..., "version": 2, "library": "0.1.0", "content": ...}
    arrays/0.npy      arrays of numbers or truth values, as NumPy writes them
    arrays/1.npy
    ...
    comment           "matroid-bandits snapshot, sha256 of all before: " and 64 digits

Members are stored as they are, not compressed. In ``content``, what JSON does not know is an object
with one key: ``$tuple``, ``$array`` (its number), ``$bytes`` (base64), ``$float`` (the bits of an
infinity or a NaN), ``$dict`` (a dictionary with keys that look like these). Nothing in a file is
ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from base64 import b64decode, b64encode
from io import BytesIO
from math import isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt

from matroid_bandits._arguments import abbreviated
from matroid_bandits._files import remove_leftovers, replacing
from matroid_bandits._version import __version__
from matroid_bandits.errors import SnapshotError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["content_of", "read_snapshot", "snapshot_bytes", "write_snapshot"]

Array = npt.NDArray[Any]

_FORMAT = "matroid-bandits snapshot"
_VERSION = 3
_MAIN = "snapshot.json"
_COMMENT = f"{_FORMAT}, sha256 of all before: ".encode()
_DIGITS = 64
# Deeper values would exceed Python's recursion limit.
_MAX_DEPTH = 100
# Every file begins with a header of 30 bytes for the first member, and its name.
_SIGNATURE = b"PK\x03\x04"
_START = 30
_DTYPES = frozenset(
    np.dtype(kind) for kind in ("?", "u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f8")
)
# The same bytes for the same content.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


# ---- writing ----


def write_snapshot(path: str | os.PathLike[str], content: Any) -> None:
    """Write `content` to a file: all of it, or nothing.

    Parameters
    ----------
    path : path
        A file that is there is replaced, when the new one is on the disk.
    content : object
        Dictionaries with texts as keys, lists, tuples, texts, bytes, numbers, truth values, None,
        and arrays of numbers or truth values.
    """
    text, arrays = _as_members(content)
    # If `path` is a symbolic link, its target is replaced.
    target = Path(os.path.realpath(os.fsdecode(path)))
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file in it")
    if target.exists() and not target.is_file():
        raise OSError(f"{target} is no regular file; it is not replaced")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}; make it first")
    remove_leftovers(target)
    with replacing(target) as file:
        _write(file, text, arrays)


def snapshot_bytes(content: Any) -> bytes:
    """What `write_snapshot` writes to a file."""
    file = BytesIO()
    _write(file, *_as_members(content))
    return file.getvalue()


def _as_members(content: Any) -> tuple[str, list[Array]]:
    """The text of the main member, and the arrays."""
    arrays: list[Array] = []
    encoded = _encoded(content, arrays, 0)
    main = {"format": _FORMAT, "version": _VERSION, "library": __version__, "content": encoded}
    return json.dumps(main, allow_nan=False, separators=(",", ":")), arrays


def _write(file: BinaryIO, text: str, arrays: list[Array]) -> None:
    with ZipFile(file, "w", ZIP_STORED) as archive:
        archive.comment = _COMMENT + b"0" * _DIGITS
        archive.writestr(_member(_MAIN), text)
        for i, array in enumerate(arrays):
            with archive.open(_member(f"arrays/{i}.npy"), "w", force_zip64=True) as member:
                npy.write_array(member, array, version=(1, 0), allow_pickle=False)
    _sign(file)


def _member(name: str) -> ZipInfo:
    info = ZipInfo(name, _LONG_AGO)
    info.create_system = 3
    return info


def _sign(file: BinaryIO) -> None:
    """Write the checksum of all before it to the end of the file."""
    end = file.seek(-_DIGITS, os.SEEK_END)
    file.seek(0)
    checksum = hashlib.sha256()
    while end > 0:
        block = file.read(min(end, 1 << 20))
        checksum.update(block)
        end -= len(block)
    file.write(checksum.hexdigest().encode())


def _encoded(value: Any, arrays: list[Array], depth: int) -> Any:
    """`value` as JSON has it; its arrays are appended to `arrays`."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"a snapshot may be nested {_MAX_DEPTH} levels deep, this is deeper")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else {"$float": struct.pack(">d", value).hex()}
    if isinstance(value, bytes):
        return {"$bytes": b64encode(value).decode()}
    if isinstance(value, np.ndarray):
        return {"$array": _added(value, arrays)}
    if isinstance(value, (list, tuple)):
        items = [_encoded(item, arrays, depth + 1) for item in value]
        return {"$tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        pairs = {key: _encoded(item, arrays, depth + 1) for key, item in value.items()}
        return {"$dict": pairs} if any(key.startswith("$") for key in pairs) else pairs
    raise ValueError(
        f"a snapshot cannot hold {abbreviated(value)} ({type(value).__name__}); use dictionaries "
        "with texts as keys, lists, tuples, texts, bytes, numbers, truth values, None, and arrays "
        "of numbers"
    )


def _added(array: Array, arrays: list[Array]) -> int:
    """The number of an array, now one of `arrays`."""
    plain = np.asarray(array, order="C")
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    if plain.dtype not in _DTYPES:
        kinds = "integers, float64 and truth values"
        raise ValueError(f"a snapshot has arrays of {kinds}, got one of {array.dtype}")
    arrays.append(plain)
    return len(arrays) - 1


# ---- reading ----


def read_snapshot(path: str | os.PathLike[str]) -> Any:
    """What `write_snapshot` has written to a file.

    Raises
    ------
    SnapshotError
        If the file is not a snapshot, or damaged, or of a newer version.
    OSError
        If it cannot be read.
    """
    return content_of(Path(os.fsdecode(path)).read_bytes(), os.fsdecode(path))


def content_of(data: bytes, name: str) -> Any:
    """The same for the bytes of a snapshot, which messages call `name`."""
    try:
        return _Reader(data).content()
    except _Refused as refused:
        raise SnapshotError(f"{name}: {refused}") from refused.__cause__


def _from_version_1(content: Any) -> Any:
    """MAUB had one exchange a round, whatever its index."""
    policy = content.get("policy") if isinstance(content, dict) else None
    if not isinstance(policy, dict) or policy.get("type") != "MAUB":
        return content
    return content | {"policy": {"exchanges": "one"} | policy}


class _Refused(Exception):  # noqa: N818  (it is a sentence on its way to an error)
    """Why a file is refused."""


def _damaged(reason: str) -> NoReturn:
    raise _Refused(
        f"the snapshot is damaged ({reason}); take another one, or begin with a fresh policy"
    )


class _Reader:
    """Reads one file, which may contain anything."""

    def __init__(self, data: bytes) -> None:
        _check_whole(data)
        self._size = len(data)
        self._archive: ZipFile = _tried(lambda: ZipFile(BytesIO(data)), "no zip")
        self._names = self._archive.namelist()
        self._unused: set[str] = set()
        # What follows a tag, and how it is read.
        self._tags: dict[str, tuple[type, Callable[[Any, int], Any]]] = {
            "$tuple": (list, self._tuple),
            "$dict": (dict, self._dict),
            "$array": (int, self._array),
            "$bytes": (str, _bytes),
            "$float": (str, _float),
        }

    def content(self) -> Any:
        main = _tried(self._main, "snapshot.json cannot be read")
        if not isinstance(main, dict) or main.get("format") != _FORMAT:
            raise _Refused(f"not a snapshot: {_MAIN} does not say that it is one")
        version = main.get("version")
        if type(version) is not int or version < 1:
            _damaged(f"it has the version {abbreviated(version)}")
        if version > _VERSION:
            raise _Refused(
                f"the snapshot has version {version} of the format, written by matroid-bandits "
                f"{abbreviated(main.get('library'))}; this is {__version__}, which reads versions "
                f"up to {_VERSION}: install a newer one"
            )
        self._unused = {name for name in self._names if name != _MAIN}
        if len(self._unused) + 1 != len(self._names):
            _damaged("a member is there twice")
        if sum(info.file_size for info in self._archive.infolist()) > self._size:
            _damaged("its members are larger than the file")
        if "content" not in main:
            _damaged("it has no content")
        content = self._decoded(main["content"], 0)
        if self._unused:
            _damaged(f"{abbreviated(min(self._unused))} belongs to nothing")
        return _from_version_1(content) if version == 1 else content

    def _main(self) -> Any:
        return json.loads(self._bytes_of(_MAIN), parse_constant=_no_constant)

    def _bytes_of(self, name: str) -> bytes:
        info = self._archive.getinfo(name)
        # Not compressed, so that nothing can be larger than the file.
        if info.compress_type != ZIP_STORED or info.file_size > self._size:
            raise ValueError("compressed")
        return self._archive.read(name)

    def _decoded(self, value: Any, depth: int) -> Any:
        if depth > 2 * _MAX_DEPTH:
            _damaged("nested too deeply")
        if isinstance(value, list):
            return [self._decoded(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if not any(key.startswith("$") for key in value):
            return self._dict(value, depth)
        ((tag, inner), *more) = value.items()
        kind, read = self._tags.get(tag, (None, None))
        if more or read is None or type(inner) is not kind:
            _damaged(f"{abbreviated(value)} has no meaning")
        return read(inner, depth)

    def _dict(self, pairs: dict[str, Any], depth: int) -> dict[str, Any]:
        return {key: self._decoded(item, depth + 1) for key, item in pairs.items()}

    def _tuple(self, items: list[Any], depth: int) -> tuple[Any, ...]:
        return tuple([self._decoded(item, depth + 1) for item in items])

    def _array(self, number: int, _: int) -> Array:
        name = f"arrays/{number}.npy"
        if name not in self._unused:
            _damaged(f"{name} is missing, or there twice")
        self._unused.remove(name)
        array: Array = _tried(lambda: _array_from(self._bytes_of(name)), f"{name} cannot be read")
        return array


def _bytes(text: str, _: int) -> bytes:
    data: bytes = _tried(lambda: b64decode(text, validate=True), "bytes cannot be read")
    return data


def _float(text: str, _: int) -> float:
    number: float = _tried(
        lambda: struct.unpack(">d", bytes.fromhex(text))[0], "a number cannot be read"
    )
    return number


def _check_whole(data: bytes) -> None:
    """Refuse a file whose checksum is wrong, or that has none."""
    name = data[_START : _START + len(_MAIN)]
    if not data.startswith(_SIGNATURE) or name != _MAIN.encode():
        raise _Refused("not a snapshot: save one by policy.save(path)")
    body, checksum = data[:-_DIGITS], data[-_DIGITS:]
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        _damaged("its checksum is wrong: some of it is missing or has changed")
    if not body.endswith(_COMMENT):
        _damaged("it does not end as snapshots do")


def _tried(read: Callable[[], Any], reason: str) -> Any:
    """What `read` returns; whatever it raises, the file is damaged."""
    try:
        return read()
    except (Exception, RecursionError) as error:
        raise _Refused(f"the snapshot is damaged ({reason}: {error})") from error


def _array_from(data: bytes) -> Array:
    """The array in a file of NumPy's, if it is one of numbers and as long as it says."""
    file = BytesIO(data)
    if npy.read_magic(file) != (1, 0):
        raise ValueError("an unknown version of NumPy's format")
    shape, is_fortran, dtype = npy.read_array_header_1_0(file)
    if is_fortran or dtype not in _DTYPES:
        raise ValueError(f"an array of {dtype}")
    start = file.tell()
    if prod(shape) * dtype.itemsize != len(data) - start or min(shape, default=0) < 0:
        raise ValueError(f"{len(data) - start} bytes for the shape {shape}")
    flat = np.frombuffer(data, dtype=dtype, offset=start)
    if dtype == np.bool_ and flat.view(np.uint8).max(initial=0) > 1:
        raise ValueError("truth values other than 0 and 1")
    # A copy in this machine's byte order, which may be changed.
    return flat.reshape(shape).astype(dtype.newbyteorder("="))


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
