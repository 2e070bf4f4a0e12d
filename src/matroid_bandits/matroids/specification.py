"""Matroids as plain data: the arguments that make them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matroid_bandits._plain_data import class_text, plain

if TYPE_CHECKING:
    from matroid_bandits.matroids.base import Matroid

__all__ = ["Specified"]

# Of the text of a composition.
_LONGEST_NAME = 200


class Specified:
    """A matroid's way to plain data; the way back is :func:`~matroid_bandits.matroid_from_spec`."""

    def _spec(self) -> dict[str, Any] | None:
        """Optional: the arguments of the constructor that make an equal matroid, by name.

        Labels, numbers, arrays, and sequences of them; matroids; sequences of matroids. None, the
        default, means that the matroid is Python code.
        """
        return None

    def to_spec(self: Any) -> dict[str, Any]:
        """The matroid as plain data: dictionaries, lists, texts and numbers, as JSON has them.

        The notation is that of study files: ``type`` is the name of the class, the other keys are
        the arguments of its constructor. Tuples, as names of vertices, become lists. Of a matroid
        that is written in Python, or has a part that is, the specification has only the name, the
        size and the rank; the matroid itself has to be passed to
        :func:`~matroid_bandits.matroid_from_spec`.

        Raises
        ------
        ValueError
            If a name, such as that of a vertex, is neither a text, a finite number, a truth value,
            None, nor a tuple of these.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.UniformMatroid(2, 4).to_spec()
        {'type': 'uniform', 'rank': 2, 'size': 4}
        >>> mb.GraphicMatroid([("a", "b"), ("b", "c")]).truncate(1).to_spec()["matroid"]
        {'type': 'graphic', 'edges': [['a', 'b'], ['b', 'c']]}
        >>> spec = mb.OracleMatroid(4, lambda s: len(s) <= 2).to_spec()
        >>> spec["type"], spec["size"], spec["rank"]
        ('python', 4, 2)
        """
        return _built_in(self) or {
            "type": "python",
            "name": _name(self),
            "size": self.size,
            "rank": int(self.rank),
        }


def _built_in(matroid: Matroid) -> dict[str, Any] | None:
    """The specification of a matroid of the package, None if Python code is part of it."""
    from matroid_bandits.matroids.by_name import name_of_class

    name = name_of_class(type(matroid))
    arguments = matroid._class_for("_spec")._spec(matroid)
    if name is None or arguments is None:
        return None
    spec: dict[str, Any] = {"type": name}
    for key, value in arguments.items():
        if key == "matroid":
            spec[key] = _built_in(value)
        elif key == "matroids":
            parts = [_built_in(part) for part in value]
            spec[key] = None if None in parts else parts
        else:
            spec[key] = plain(value, key)
        if spec[key] is None:
            return None
    return spec


def _name(matroid: Matroid) -> str:
    """What a matroid that is Python code is called."""
    if matroid._components():
        text = repr(matroid)
        return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."
    return class_text(type(matroid))
