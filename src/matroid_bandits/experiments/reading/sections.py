"""Tables of a study file with their places, which messages name."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from matroid_bandits._arguments import abbreviated, choice, integer, real_array, suggestion
from matroid_bandits.experiments.reading.user_code import UserCode
from matroid_bandits.experiments.study import StudyError

__all__ = ["Document", "Place", "Section", "similar"]

Place = tuple[str | int, ...]
T = TypeVar("T", bound=str)


class Document:
    """The text a study was read from.

    It finds the line of a key, for messages only; a line that is not found is left out.

    Parameters
    ----------
    name : str
        What messages call it.
    text : str
        TOML.
    folder : Path
        The folder to which paths are relative.

    Attributes
    ----------
    code : UserCode
        The files of code that it names.
    """

    def __init__(self, name: str, text: str = "", folder: Path = Path()) -> None:
        self.name = name
        self.folder = folder
        self.code = UserCode()
        self._lines: dict[Place, int] = {}
        table: Place = ()
        lengths: dict[Place, int] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            if found := re.match(r"""\s*(\[\[?)\s*([\w."' -]+?)\s*\]\]?\s*(#|$)""", line):
                table = _inside(_keys(found[2]), lengths)
                if found[1] == "[[":
                    self._lines.setdefault(table, number)
                    lengths[table] = lengths.get(table, 0) + 1
                    table = (*table, lengths[table] - 1)
                self._lines.setdefault(table, number)
            elif found := re.match(r"""\s*([\w."'-]+)\s*=""", line):
                self._lines.setdefault((*table, *_keys(found[1])), number)

    def where(self, place: Place) -> str:
        """File, line and key, as far as they can be found."""
        line = next(
            (self._lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in self._lines),
            None,
        )
        key = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")
        parts = [self.name, f"line {line}" if line else "", key]
        return ", ".join(part for part in parts if part)


class Section:
    """One table of a study; its methods read and check the value of a key."""

    def __init__(self, values: Any, document: Document, place: Place = ()) -> None:
        if not isinstance(values, Mapping):
            where = document.where(place)
            raise StudyError(
                f"{where}: must be a table of keys and values, got {abbreviated(values)}"
            )
        self._values = values
        self._document = document
        self.place = place

    @property
    def code(self) -> UserCode:
        """The files of code that the study names."""
        return self._document.code

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def error(self, message: str, *key: str | int) -> StudyError:
        """An error at this place, or at a key of it."""
        return StudyError(f"{self._document.where((*self.place, *key))}: {message}")

    def check_keys(self, allowed: Iterable[str]) -> None:
        """Refuse all keys but these."""
        names = list(allowed)
        for key in self._values:
            if key not in names:
                raise self.error(f"unknown key; {suggestion(str(key), names)}", str(key))

    def value(self, key: str, default: Any = None) -> Any:
        """The value of a key, unchecked."""
        return self._values.get(key, default)

    def required(self, key: str, example: str) -> Any:
        """The value of a key that must be there."""
        if key not in self._values:
            raise self.error(f"{key} is missing; for example {example}")
        return self._values[key]

    def text(self, key: str, default: str = "") -> str:
        """A text; if the key is there, it is not empty."""
        value = self._values.get(key, default)
        if not isinstance(value, str) or (key in self._values and not value.strip()):
            raise self.error(f"must be a text, got {abbreviated(value)}", key)
        return value

    def name(self, key: str, default: str) -> str:
        """A text of one line."""
        value = self.text(key, default)
        if not value.isprintable():
            raise self.error(f"must be one line without control characters, got {value!r}", key)
        return value

    def integer(self, key: str, default: int, *, minimum: int, maximum: int | None = None) -> int:
        """An integer in a range; ``1e5`` is one too."""
        value = self._values.get(key, default)
        try:
            return integer(value, key, minimum=minimum, maximum=maximum)
        except ValueError as error:
            raise self.error(str(error), key) from None

    def flag(self, key: str) -> bool:
        """True or false; false if the key is not there."""
        value = self._values.get(key, False)
        if not isinstance(value, bool):
            raise self.error(f"must be true or false, got {abbreviated(value)}", key)
        return value

    def choice(self, key: str, allowed: Sequence[T], default: T) -> T:
        """One of a few words."""
        value = self._values.get(key, default)
        try:
            return choice(value, key, allowed)
        except ValueError as error:
            raise self.error(str(error), key) from None

    def list(self, key: str, example: str) -> list[Any]:
        """A list that must be there and not be empty."""
        value = self.required(key, example)
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise self.error(f"must be a list, such as {example}, got {abbreviated(value)}", key)
        members = list(value)
        if not members:
            raise self.error(f"is empty; for example {example}", key)
        return members

    def chosen(
        self, key: str, known: Sequence[str], *, what: str, same: Callable[[str, str], bool]
    ) -> tuple[str, ...] | None:
        """The names in the list at `key`, in their usual form; None if there is no such key.

        A class stands for the one that has no label of its own.

        Parameters
        ----------
        key : str
        known : sequence of str
            The names that may be chosen.
        what : str
            What they are the names of, for messages.
        same : callable
            Whether a known name, the first argument, is meant by the second.
        """
        if key not in self:
            return None
        chosen: dict[str, None] = {}
        for i, wanted in enumerate(self.list(key, f'["{known[0]}"]')):
            names = [wanted]
            if isinstance(wanted, type):
                names = [wanted.__name__, getattr(wanted, "name", "") or wanted.__name__]
            if not isinstance(names[0], str):
                raise self.error(f"must be the name of {what}, got {abbreviated(wanted)}", key, i)
            found = [name for name in known if any(same(name, meant) for meant in names)]
            if not found:
                hint = suggestion(names[0], known)
                raise self.error(
                    f"{names[0]!r} is not among the {key} of the study; {hint}", key, i
                )
            chosen[found[0]] = None
        return tuple(chosen)

    def file(self, key: str, name: str | None = None, *, or_folder: bool = False) -> Path:
        """The file with the path at `key`, or the path `name`; it must exist."""
        given = Path(self.text(key) if name is None else name)
        try:
            path = self._document.folder / given.expanduser()
            if path.is_file() or (or_folder and path.is_dir()):
                return path
        except (OSError, RuntimeError) as error:
            # A name that no file can have, or an unknown user.
            raise self.error(f"no file can be {abbreviated(str(given))}: {error}", key) from None
        if not str(path).isprintable():
            raise self.error(f"there is no file {abbreviated(str(path))}", key)
        raise self.error(f"there is no file {path}{similar(path)}", key)

    def call(self, key: str | Place | None, function: Callable[..., Any], *arguments: Any) -> Any:
        """What `function` returns; its errors get the place of `key`."""
        place = key if isinstance(key, tuple) else () if key is None else (key,)
        try:
            return function(*arguments)
        except (ValueError, TypeError, OSError, OverflowError) as error:
            raise self.error(str(error), *place) from error
        except MemoryError:
            raise self.error("too large for this machine's memory", *place) from None
        except Exception as error:
            # A class of the user's may raise anything.
            raise self.error(repr(error), *place) from error

    def bounds(self, key: str, *, ascending: bool = True) -> tuple[float, float]:
        """Two finite numbers."""
        value = self._values.get(key)
        try:
            low, high = real_array(value, key).tolist()
        except ValueError:
            raise self.error(
                f"must be two numbers, such as [0.5, 1.0], got {abbreviated(value)}", key
            ) from None
        if not (isfinite(low) and isfinite(high)) or (ascending and low > high):
            raise self.error(f"must be from low to high, got {abbreviated(value)}", key)
        return low, high

    def section(self, key: str | int, *more: str | int, values: Any = None) -> "Section":
        """A table inside this one."""
        inside = self._values.get(key) if values is None else values
        return Section(inside, self._document, (*self.place, key, *more))

    def with_values(self, values: Mapping[str, Any]) -> "Section":
        """A table with other values at the same place."""
        return Section(values, self._document, self.place)

    def parameters(self, exclude: Iterable[str] = ()) -> dict[str, Any]:
        """All keys and values but those in `exclude`."""
        left_out = set(exclude)
        return {key: value for key, value in self._values.items() if key not in left_out}


def similar(path: Path) -> str:
    """A hint for a path that is not there."""
    if not path.parent.is_dir():
        return f": there is no folder {path.parent}"
    hint = suggestion(path.name, sorted(p.name for p in path.parent.iterdir())).partition("?")[0]
    return f"; {hint}?" if hint.startswith("did you mean") else ""


def _keys(dotted: str) -> Place:
    return tuple(key.strip(" \"'") for key in dotted.split("."))


def _inside(keys: Place, lengths: Mapping[Place, int]) -> Place:
    """`keys` as a place: under an array of tables, that of its last table."""
    place: Place = ()
    for i, key in enumerate(keys):
        place = (*place, key)
        if i < len(keys) - 1 and place in lengths:
            place = (*place, lengths[place] - 1)
    return place
