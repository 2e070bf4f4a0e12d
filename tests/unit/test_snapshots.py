"""The file format of snapshots: what is written is read; what is damaged is refused."""

import hashlib
import io
import json
import os
import stat
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

import matroid_bandits as mb
from matroid_bandits._snapshots import read_snapshot, write_snapshot

DTYPES = (np.int64, np.intp, np.int32, np.uint8, np.bool_, np.float64, np.uint64)
KEYS = st.text() | st.sampled_from(["$tuple", "$array", "$", "$dict"])
LEAVES = (
    st.text()
    | st.integers(-(2**200), 2**200)
    | st.floats()
    | st.booleans()
    | st.none()
    | st.binary()
    | st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(min_dims=0, min_side=0))
    )
)
CONTENTS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)
SAMPLE = {
    "rounds": 12,
    "position": 2**127 + 3,
    "values": [1.5, -0.0, float("inf"), ("a", b"bytes")],
    "counts": np.arange(5),
    "means": np.array([0.5, np.nan, -np.inf]),
}


def assert_same(one: Any, other: Any) -> None:
    """Of the same types and bits, all the way down."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
        assert one.flags.writeable
    elif isinstance(one, float):
        assert struct.pack(">d", one) == struct.pack(">d", other)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key, value in one.items():
            assert_same(value, other[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    else:
        assert one == other


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policy.snapshot"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CONTENTS)
@example(SAMPLE)
@example({"$tuple": [1]})
@example([np.zeros((0, 3)), np.array(5), np.asfortranarray(np.ones((2, 3)))[:, ::2]])
def test_round_trip(path: Path, content: Any) -> None:
    write_snapshot(path, content)
    assert_same(read_snapshot(path), content)


def test_numbers_of_numpy_become_numbers_of_python(path: Path) -> None:
    write_snapshot(path, [np.float64(0.1), np.int32(3), np.bool_(True), np.str_("a")])
    assert_same(read_snapshot(path), [0.1, 3, True, "a"])


def test_byte_order_and_memory_layout_make_no_difference(path: Path) -> None:
    matrix = np.arange(12).reshape(3, 4)
    for array in (matrix.astype(">i8"), np.asfortranarray(matrix), matrix[::-1][::-1]):
        write_snapshot(path, array)
        assert_same(read_snapshot(path), matrix)


def test_the_same_content_is_the_same_file(path: Path) -> None:
    write_snapshot(path, SAMPLE)
    before = path.read_bytes()
    write_snapshot(path, SAMPLE)
    assert path.read_bytes() == before


def test_a_snapshot_is_a_zip_that_others_can_read(path: Path) -> None:
    write_snapshot(path, SAMPLE)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        main = json.loads(archive.read("snapshot.json"))
        assert main["version"] == 3
        assert main["library"] == mb.__version__
        counts = np.load(io.BytesIO(archive.read("arrays/0.npy")))
    assert counts.tolist() == [0, 1, 2, 3, 4]


OTHERS: dict[str, Any] = {
    "integers as keys": {1: 2},
    "a set": {"a": {1, 2}},
    "an object": [object()],
    "an array of objects": np.array([None]),
    "an array of texts": np.array(["a"]),
    "an array of complex numbers": np.array([1j]),
    "an array of records": np.zeros(2, dtype=[("a", int)]),
    "an array of halves": np.float16([1]),
    "a complex number": 1j,
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_content_is_refused_and_nothing_is_written(path: Path, name: str) -> None:
    path.write_text("as it was")
    with pytest.raises(ValueError, match=r"a snapshot (cannot hold|has arrays of)"):
        write_snapshot(path, OTHERS[name])
    assert path.read_text() == "as it was"
    assert list(path.parent.iterdir()) == [path]


def test_content_that_is_too_deep_is_refused(path: Path) -> None:
    content: list[Any] = []
    for _ in range(100):
        content = [content]
    write_snapshot(path, content)
    assert_same(read_snapshot(path), content)
    with pytest.raises(ValueError, match="nested 100 levels deep"):
        write_snapshot(path, [content])


def test_a_file_is_replaced_in_one_step(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_snapshot(path, "old")

    def fail(*_: Any) -> None:
        assert read_snapshot(path) == "old"
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="the disk is full"):
            write_snapshot(path, "new")
    assert read_snapshot(path) == "old"
    assert list(path.parent.iterdir()) == [path]
    link = path.with_name("link")
    link.symlink_to(path.name)
    write_snapshot(link, "new")
    assert link.is_symlink()
    assert read_snapshot(path) == "new"


# ---- damage ----


def refused(path: Path, data: bytes, match: str = "not a snapshot|damaged") -> None:
    path.write_bytes(data)
    with pytest.raises(mb.SnapshotError, match=match):
        read_snapshot(path)


def test_any_flipped_bit_is_refused(path: Path) -> None:
    write_snapshot(path, SAMPLE)
    data = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        refused(path, bytes(damaged))


def test_any_truncation_is_refused(path: Path) -> None:
    write_snapshot(path, SAMPLE)
    data = path.read_bytes()
    for length in range(len(data)):
        refused(path, data[:length])
        refused(path, data[length + 1 :])
    refused(path, data + b"\n", "its checksum is wrong")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_other_files_are_refused(path: Path, data: bytes) -> None:
    refused(path, data, "not a snapshot: save one by")
    refused(path, b"PK\x03\x04" + data, "not a snapshot|damaged")


def test_a_file_that_is_not_there(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_snapshot(path)


# ---- files with a right checksum, made by somebody else ----


def signed(data: bytes) -> bytes:
    return data + hashlib.sha256(data).hexdigest().encode()


def forged(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A file with any members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.comment = b"matroid-bandits snapshot, sha256 of all before: " + b"0" * 64
        for name, data in members.items():
            archive.writestr(name, data)
    return signed(buffer.getvalue()[:-64])


def with_content(content: Any, **members: Any) -> bytes:
    main = {"format": "matroid-bandits snapshot", "version": 1, "library": "1", "content": content}
    others = {f"arrays/{name[1:]}.npy": data for name, data in members.items()}
    return forged({"snapshot.json": json.dumps(main).encode(), **others})


def npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def test_a_newer_version_is_refused(path: Path) -> None:
    main = {"format": "matroid-bandits snapshot", "version": 4, "library": "7.1", "more": []}
    data = forged({"snapshot.json": json.dumps(main).encode()})
    refused(path, data, "has version 4 of the format, written by matroid-bandits '7.1'; this is")


ARRAY = npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", bytes(8))
FORGED: dict[str, tuple[bytes, str]] = {
    "nothing in it": (forged({"snapshot.json": b"{}"}), "not a snapshot: snapshot.json does not"),
    "no JSON": (forged({"snapshot.json": b"{"}), "snapshot.json cannot be read"),
    "NaN in JSON": (with_content(float("nan")), "NaN is not JSON"),
    "deep JSON": (
        forged({"snapshot.json": b'{"a":' + b"[" * 100_000}),
        "snapshot.json cannot be read",
    ),
    "a version of another kind": (
        forged({"snapshot.json": b'{"format": "matroid-bandits snapshot", "version": "2"}'}),
        "it has the version '2'",
    ),
    "no content": (
        forged({"snapshot.json": b'{"format": "matroid-bandits snapshot", "version": 1}'}),
        "it has no content",
    ),
    "deep content": (with_content(json.loads("[" * 300 + "]" * 300)), "nested too deeply"),
    "unknown tag": (with_content({"$date": 3}), "has no meaning"),
    "two tags": (with_content({"$tuple": [], "$dict": {}}), "has no meaning"),
    "tag of another kind": (with_content({"$tuple": 3}), "has no meaning"),
    "bytes": (with_content({"$bytes": "a"}), "bytes cannot be read"),
    "float": (with_content({"$float": "zz"}), "a number cannot be read"),
    "missing array": (with_content({"$array": 0}), "arrays/0.npy is missing"),
    "array used twice": (with_content([{"$array": 0}, {"$array": 0}], _0=ARRAY), "or there twice"),
    "array not used": (with_content(1, _0=ARRAY), "'arrays/0.npy' belongs to nothing"),
    "no array": (with_content({"$array": 0}, _0=b"abc"), "arrays/0.npy cannot be read"),
    "objects": (
        with_content(
            {"$array": 0}, _0=npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")
        ),
        "an array of object",
    ),
    "absurd shape": (
        with_content(
            {"$array": 0},
            _0=npy(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**60},), }}", bytes(8)),
        ),
        "8 bytes for the shape",
    ),
    "negative shape": (
        with_content(
            {"$array": 0},
            _0=npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", bytes(8)),
        ),
        "8 bytes for the shape",
    ),
    "truth values": (
        with_content(
            {"$array": 0}, _0=npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", b"7")
        ),
        "truth values other than",
    ),
    "code in a header": (with_content({"$array": 0}, _0=npy("__import__('os')")), "cannot be read"),
    "compressed": (
        forged({"snapshot.json": b" " * 10**6}, zipfile.ZIP_DEFLATED),
        "snapshot.json cannot be read: compressed",
    ),
    "no end": (signed(forged({"snapshot.json": b"{}"})), "it does not end as snapshots do"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_refused(path: Path, name: str) -> None:
    data, message = FORGED[name]
    refused(path, data, message)


def test_forged_bytes_raise_no_other_errors(path: Path) -> None:
    """The checksum is made right again, so that all other checks are reached."""
    write_snapshot(path, SAMPLE)
    data = path.read_bytes()[:-64]
    rng = np.random.default_rng(2)
    n_refused = 0
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] = int(rng.integers(256))
        path.write_bytes(signed(bytes(damaged)))
        try:
            read_snapshot(path)
        except mb.SnapshotError:
            n_refused += 1
    # The others are parts of numbers and texts, and of headers that nothing depends on.
    assert n_refused > len(data) / 4


# ---- files ----


def test_permissions_stay_those_of_the_file(path: Path) -> None:
    write_snapshot(path, 1)
    path.chmod(0o600)
    write_snapshot(path, 2)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_unfinished_files_of_killed_processes_are_removed(path: Path) -> None:
    other = path.with_name(f".{path.name}.another.txt")
    old, new = (path.with_name(f".{path.name}.{k}.unfinished") for k in "ab")
    for file in (other, old, new):
        file.touch()
    for file in (other, old):
        os.utime(file, (0, 0))
    write_snapshot(path, 1)
    assert {file for file in (other, old, new) if file.exists()} == {other, new}


@pytest.mark.parametrize("name", ["x" * 240, "é" * 120])
def test_long_names(path: Path, name: str) -> None:
    write_snapshot(path.with_name(name), 1)
    assert read_snapshot(os.fsencode(path.with_name(name))) == 1


def test_folders_and_special_files_are_not_replaced(path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        write_snapshot(path.parent, 1)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere; make it first"):
        write_snapshot(path.parent / "nowhere" / "file", 1)
    os.mkfifo(path)
    with pytest.raises(OSError, match="is no regular file"):
        write_snapshot(path, 1)
