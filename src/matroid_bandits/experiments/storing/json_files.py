"""Files of JSON, each complete or absent."""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from matroid_bandits._files import create, replacing
from matroid_bandits.experiments.study import StudyError

__all__ = [
    "again_if_stale",
    "as_json",
    "create_json",
    "read_json",
    "unwritable",
    "write_atomically",
    "write_json",
]


T = TypeVar("T")

# So many times a file may be replaced while it is read.
_STALE_READINGS = 4


def write_json(path: Path, content: Any) -> None:
    """Write `content`; the file is complete or does not exist."""
    write_atomically(path, as_json(content).encode())


def create_json(path: Path, content: Any) -> bool:
    """Write `content` if there is no such file; return whether this call has written it."""
    return create(path, as_json(content).encode())


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` in one step: not even a power cut leaves half a file."""
    with replacing(path) as file:
        file.write(content)


def read_json(path: Path) -> Any:
    """The content of a file.

    Raises
    ------
    StudyError
        If there is none, or it is no JSON.
    """
    try:
        return json.loads(again_if_stale(lambda: path.read_text(encoding="utf-8")))
    except (ValueError, OSError) as error:
        raise StudyError(f"{path} cannot be read: {error}") from None


def again_if_stale(read: Callable[[], T]) -> T:
    """What `read` returns; a file that another machine has just replaced is read again."""
    for _ in range(_STALE_READINGS):
        try:
            return read()
        except OSError as error:
            # NFS: the file that was opened is gone, and another one has its name.
            if error.errno != errno.ESTALE:
                raise
    return read()


def unwritable(path: Path, error: OSError) -> StudyError:
    """What to raise if something in `path` cannot be written: a full disk, no permission."""
    return StudyError(f"results cannot be written to {path}: {error.strerror or error}")


def as_json(content: Any) -> str:
    """`content` as text; numbers of NumPy are numbers, other objects are their repr."""
    return json.dumps(content, indent=1, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else repr(value)
