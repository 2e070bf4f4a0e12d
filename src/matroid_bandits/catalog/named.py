"""Matroids by name."""

import difflib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from matroid_bandits._arguments import abbreviated, integer
from matroid_bandits._streams import RANDOM_MATROIDS, stream
from matroid_bandits.catalog import geometries, graphs
from matroid_bandits.catalog._sizes import check_size
from matroid_bandits.catalog.classes import MATROIDS, summary
from matroid_bandits.matroids import DirectSumMatroid, Matroid, UniformMatroid

__all__ = ["NAMED", "NamedMatroid", "matroid", "uniform"]

# Of a name, which is read by recursion, and again for each of its brackets.
_MOST_LETTERS = 10_000
_MOST_BRACKETS = 100

# Python reads no integers with more than some thousands of digits.
_MOST_DIGITS = 100


def uniform(rank: int, size: int) -> UniformMatroid:
    """Any `rank` of `size` elements.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.uniform(2, 4)
    UniformMatroid(rank=2, size=4)
    """
    check_size(f"U({rank},{size})", integer(size, "size", minimum=0))
    return UniformMatroid(rank, size)


@dataclass(frozen=True)
class NamedMatroid:
    """A matroid with a name, or a family of matroids with numbers.

    Attributes
    ----------
    example : str
        How to write it, with numbers if it has any.
    make : callable
        Makes it from the numbers. The name of the function is allowed, too.
    words : tuple of str
        What may be written before the numbers.
    """

    example: str
    make: Callable[..., Matroid]
    words: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """What it is, in a line."""
        return summary(self.make)

    @property
    def n_numbers(self) -> int:
        """How many numbers it takes."""
        return len(inspect.signature(self.make).parameters)

    def spellings(self) -> Iterator[str]:
        """What may be written before the numbers, without blanks and in small letters."""
        return map(_plain, (*self.words, self.make.__name__))


#: Matroids by name, in groups: what is listed, read and tested.
NAMED: dict[str, tuple[NamedMatroid, ...]] = {
    "Uniform": (NamedMatroid("U(15,30)", uniform, ("U",)),),
    "Graphs": (
        NamedMatroid("K20", graphs.complete_graph, ("K",)),
        NamedMatroid("K(3,4)", graphs.complete_bipartite, ("K",)),
        NamedMatroid("wheel(5)", graphs.wheel, ("W",)),
        NamedMatroid("prism(4)", graphs.prism),
        NamedMatroid("ladder(6)", graphs.ladder),
        NamedMatroid("grid(3,4)", graphs.grid),
        NamedMatroid("petersen", graphs.petersen),
    ),
    "Geometries": (
        NamedMatroid("PG(3,2)", geometries.projective_geometry, ("PG",)),
        NamedMatroid("AG(3,2)", geometries.affine_geometry, ("AG",)),
        NamedMatroid(
            "projective_plane(3)", geometries.projective_plane, ("projective plane of order",)
        ),
        NamedMatroid("affine_plane(3)", geometries.affine_plane, ("affine plane of order",)),
        NamedMatroid("fano", geometries.fano, ("F7",)),
        NamedMatroid("nonfano", geometries.non_fano, ("F7-",)),
        NamedMatroid("pappus", geometries.pappus),
        NamedMatroid("nonpappus", geometries.non_pappus),
        NamedMatroid("desargues", geometries.desargues),
        NamedMatroid("vamos", geometries.vamos, ("V8",)),
        NamedMatroid("whirl(5)", geometries.whirl),
        NamedMatroid("R10", geometries.r10),
    ),
}


def matroid(name: str, *, seed: int = 0) -> Matroid:
    """The matroid called `name`.

    Parameters
    ----------
    name : str
        One of those in `NAMED`, such as ``K20`` (graphic matroid of the complete graph on 20
        vertices), ``U(15,30)`` (uniform, rank 15 of 30) or ``fano``; or a class and a number of
        elements for a random instance, such as ``partition(30)``; or, made of these,
        ``K4+U(2,4)`` (direct sum), ``dual(K5)`` and ``truncate(K20,5)`` (rank 5). Large and
        small letters are the same, blanks are ignored.
    seed : int, default 0
        Seed of a random instance.

    Examples
    --------
    >>> from matroid_bandits import catalog
    >>> catalog.matroid("Fano")
    LinearMatroid(size=7, rank=3, over GF(2))
    >>> catalog.matroid("truncate(K5, 3) + U(1, 2)").rank
    4
    """
    if not isinstance(name, str):
        raise ValueError(
            f"a matroid must be given by its name, such as 'K20' or 'U(15,30)', got "
            f"{abbreviated(name)}"
        )
    if name.count("(") > _MOST_BRACKETS:
        raise ValueError(
            f"{abbreviated(name)} has more than {_MOST_BRACKETS} brackets; compose the matroid in "
            "Python instead"
        )
    if len(name) > _MOST_LETTERS:
        raise ValueError(
            f"{abbreviated(name)} has {len(name):,} letters, and a name may have "
            f"{_MOST_LETTERS:,}; compose the matroid in Python instead"
        )
    if not (name.isascii() and name.isprintable()):
        raise ValueError(
            f"a matroid must be given by a name in plain letters, digits and signs, got "
            f"{abbreviated(name)}"
        )
    return _read(_plain(name), name, integer(seed, "seed", minimum=0))


def _plain(text: str) -> str:
    """Small letters without blanks, and without signs between words."""
    return re.sub(r"(?<=[a-z])[-_](?=[a-z])", "", "".join(text.lower().split()))


def _read(text: str, name: str, seed: int) -> Matroid:
    parts = _split(text, "+")
    if len(parts) > 1:
        return DirectSumMatroid(*(_read(part, name, seed) for part in parts))
    if (found := re.fullmatch(r"dual\((.*)\)", text)) and not found[1].isdigit():
        return _read(found[1], name, seed).dual()
    if found := re.fullmatch(r"truncate\((.*),(\d+)\)", text):
        return _read(found[1], name, seed).truncate(_number(found[2], name))
    return _single(text, name, seed)


def _split(text: str, sign: str) -> list[str]:
    """The parts between signs that are in no brackets."""
    parts = [""]
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == sign and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _single(text: str, name: str, seed: int) -> Matroid:
    numbers: list[int] = []
    word = text
    # Fano's other name, F7, has no number in it, nor has R10.
    if ((text, 0) not in _BY_WORD) and (
        found := re.fullmatch(r"([a-z]+)(?:\((\d+(?:,\d+)*)\)|(\d+(?:,\d+)*))", text)
    ):
        word = found[1]
        numbers = [_number(digits, name) for digits in (found[2] or found[3]).split(",")]
    if known := _BY_WORD.get((word, len(numbers))):
        return known.make(*numbers)
    if word in MATROIDS and len(numbers) == 1:
        check_size(f"{word}({numbers[0]})", numbers[0])
        return MATROIDS[word].random(stream(RANDOM_MATROIDS, seed), numbers[0])
    raise ValueError(
        f"unknown matroid {abbreviated(name)}; {_hint(word)}allowed are {_all_names()}"
    )


def _number(digits: str, name: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"{abbreviated(name)} has a number of more than {_MOST_DIGITS} digits")
    return int(digits)


_BY_WORD = {
    (word, named.n_numbers): named
    for group in NAMED.values()
    for named in group
    for word in named.spellings()
}


def _hint(word: str) -> str:
    """A suggestion for an unknown name."""
    examples: dict[str, list[str]] = {family: [f"{family}(30)"] for family in MATROIDS}
    for (known, _), named in _BY_WORD.items():
        examples.setdefault(known, []).append(named.example)
    close = [word] if word in examples else difflib.get_close_matches(word, examples, n=1)
    return f"did you mean {' or '.join(examples[close[0]])}? " if close else ""


def _all_names() -> str:
    examples = ", ".join(named.example for group in NAMED.values() for named in group)
    families = ", ".join(f"{family}(30)" for family in MATROIDS)
    return f"{examples}, or, for a random one with 30 elements, {families}"
