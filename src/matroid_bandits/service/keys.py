"""API keys: who may read, decide and change. A file has their hashes, not the keys themselves.

A key has 256 random bits, so a plain SHA-256 of it tells nothing about it. ``{"keys": [{"name":
..., "role": ..., "sha256": ..., "created": ...}]}`` is the content of the file.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from matroid_bandits._arguments import abbreviated, choice
from matroid_bandits._files import replacing

__all__ = ["ROLES", "Key", "KeyFile", "allows"]

#: Each may do what those before it may.
ROLES = ("reader", "writer", "admin")
# How often the file is looked at, in seconds.
_INTERVAL = 1.0
_HOW = "make one by: matroid-bandits keys add NAME --role admin --keys FILE"


class Key(NamedTuple):
    """A key, without itself."""

    name: str
    role: str
    sha256: str
    created: str


def _is_right(key: Key) -> bool:
    return (
        all(isinstance(part, str) for part in key)
        and key.role in ROLES
        and re.fullmatch("[0-9a-f]{64}", key.sha256) is not None
    )


def allows(role: str, needed: str) -> bool:
    """Whether a role may do what `needed` may."""
    return ROLES.index(role) >= ROLES.index(needed)


class KeyFile:
    """A file of keys; changes take effect within a second.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(os.fsdecode(path))
        self._keys: list[Key] = []
        self._stamp: tuple[int, int] | None = None
        self._looked = -_INTERVAL

    def read(self) -> list[Key]:
        """All keys.

        Raises
        ------
        ValueError
            If there is no such file, it cannot be read, or it is not one of keys.
        """
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8-sig"))["keys"]
            keys = [Key(**row) for row in rows]
            if not all(map(_is_right, keys)):
                raise ValueError("a name, a role or a hash is wrong")
        except FileNotFoundError:
            raise ValueError(f"there is no file of keys {self._path}; {_HOW}") from None
        except OSError as error:
            raise ValueError(
                f"the file of keys {self._path} cannot be read: {error.strerror}"
            ) from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ValueError(f"{self._path} is not a file of keys ({error}); {_HOW}") from error
        return keys

    def find(self, given: str) -> Key | None:
        """The key that was given, if it is one of the file."""
        self._refresh()
        digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()
        found = None
        # All of them, so that the time tells nothing.
        for key in self._keys:
            if hmac.compare_digest(key.sha256, digest):
                found = key
        return found

    def _refresh(self) -> None:
        """Read the file again if it has changed; without it, no key is known."""
        if monotonic() - self._looked < _INTERVAL:
            return
        self._looked = monotonic()
        try:
            status = self._path.stat()
            stamp = status.st_mtime_ns, status.st_size
            if stamp != self._stamp:
                self._keys = self.read()
                self._stamp = stamp
        except (OSError, ValueError):
            self._keys, self._stamp = [], None

    def add(self, name: str, role: str) -> str:
        """Add a key, and return it: it is not kept anywhere."""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise ValueError(
                "the name of a key has up to 64 letters, digits, dots, dashes and underscores, got "
                f"{abbreviated(name)}"
            )
        keys = self.read() if self._path.exists() else []
        if any(key.name == name for key in keys):
            raise ValueError(f"there is a key {name!r} already; remove it first, or choose another")
        new = f"mb_{secrets.token_urlsafe(32)}"
        digest = hashlib.sha256(new.encode()).hexdigest()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write([*keys, Key(name, choice(role, "role", ROLES), digest, now)])
        return new

    def remove(self, name: str) -> None:
        """Remove a key."""
        keys = self.read()
        kept = [key for key in keys if key.name != name]
        if len(kept) == len(keys):
            known = ", ".join(key.name for key in keys) or "none"
            raise ValueError(f"there is no key {name!r}; the keys are: {known}")
        self._write(kept)

    def _write(self, keys: list[Key]) -> None:
        text = json.dumps({"keys": [key._asdict() for key in keys]}, indent=1)
        try:
            with replacing(self._path) as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(text.encode())
        except OSError as error:
            raise ValueError(
                f"the file of keys {self._path} cannot be written: {error.strerror}"
            ) from error
