"""Files that are written completely or not at all."""

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["UNFINISHED", "create", "remove_leftovers", "replacing", "sync_folder"]

#: How the names of files end that are being written; they begin with a dot.
UNFINISHED = ".unfinished"

# No file takes that long to write.
_SECONDS = 3600


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` in the end, in one step.

    Not even a power cut leaves half a file: the new one is on the disk before it gets its name. If
    anything fails, `path` is as it was.
    """
    temporary = path.with_name(f"{_start(path)}{secrets.token_hex(8)}{UNFINISHED}")
    try:
        with temporary.open("xb+") as file:
            yield file
            # The permissions stay those of the file that is replaced.
            with suppress(OSError):
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def create(path: Path, content: bytes) -> bool:
    """Write a file that does not exist yet; return whether this call has written it.

    Of several processes, on any machines, exactly one succeeds. The file is complete or does not
    exist.
    """
    temporary = path.with_name(f"{_start(path)}{secrets.token_hex(8)}{UNFINISHED}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            # Unlike a renaming, a link never takes the place of a file.
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError:
            # A file system without links: there, the last of several processes succeeds.
            if path.exists():
                return False
            temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()
    sync_folder(path.parent)
    return True


def _start(path: Path) -> str:
    """How the names of unfinished files for `path` begin; a long name is cut."""
    return f".{os.fsdecode(os.fsencode(path.name)[:100])}."


def remove_leftovers(path: Path) -> None:
    """Remove unfinished files for `path`, an hour old, of processes that were killed meanwhile."""
    start = _start(path)
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(start) and entry.name.endswith(UNFINISHED):
                with suppress(OSError):
                    if time.time() - entry.stat().st_mtime > _SECONDS:
                        Path(entry.path).unlink()


def sync_folder(folder: Path) -> None:
    """Write the list of files in `folder` to disk."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot do this for folders.
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS}:
            raise
    finally:
        os.close(descriptor)
