"""MovieLens as its makers publish it: ml-latest-small, ml-1m and ml-100k."""

import csv
import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from matroid_bandits._arguments import abbreviated
from matroid_bandits._types import CountArray, FloatArray
from matroid_bandits.datasets.movie_catalog import GENRES, MovieCatalog

__all__ = ["each_rating", "read_movielens"]

_SOURCE = "https://grouplens.org/datasets/movielens"

#: Numbers of movies and of ratings, which identify a release independently of its folder's name.
_PUBLISHED = {
    (1682, 100_000): "ml-100k",
    (3883, 1_000_209): "ml-1m",
    (9742, 100_836): "ml-latest-small",
}

_COLUMNS = {genre: column for column, genre in enumerate(GENRES)}
_COLUMNS["Children"] = _COLUMNS["Children's"]  # as the newer releases write it
# Not among the genres of the READMEs; a movie with no other genre is a loop of the matroid.
_DROPPED = {"IMAX", "(no genres listed)", "unknown"}


class _Line(NamedTuple):
    """What a line holds, and the first line of a csv file says."""

    separator: str
    parts: tuple[str, ...]


class _Format(NamedTuple):
    """The files of a release; of ratings the published name first, then those accepted instead."""

    movies: str
    ratings: tuple[str, ...]
    encoding: str
    movie: _Line
    rating: _Line


_CSV = _Format(
    movies="movies.csv",
    ratings=("ratings.csv",),
    encoding="utf-8-sig",
    movie=_Line(",", ("movieId", "title", "genres")),
    rating=_Line(",", ("userId", "movieId", "rating", "timestamp")),
)
_DAT = _Format(
    movies="movies.dat",
    ratings=("ratings.dat", "ratings*.dat", "ratings*.dat.gz"),
    encoding="latin-1",
    movie=_Line("::", ("MovieID", "Title", "Genres")),
    rating=_Line("::", ("UserID", "MovieID", "Rating", "Timestamp")),
)
_ITEM = _Format(
    movies="u.item",
    ratings=("u.data",),
    encoding="latin-1",
    movie=_Line("|", ("movie", "title", "date", "video date", "URL", "0 or 1 per genre")),
    rating=_Line("\t", ("user", "movie", "rating", "timestamp")),
)
_GENRE = _Line("|", ("genre", "column"))

# More than any release has, of unpacked bytes and of characters in a line: a small archive may
# unpack to more than fits into memory. The ratings of ml-32m are 0.9 GB, its movies 4 MB.
_MAX_BYTES = {"genres": 100_000, "movies": 10_000_000, "ratings": 4_000_000_000}
_MAX_LINE = 100_000
_FORMATS = (_CSV, _DAT, _ITEM)


def read_movielens(path: str | os.PathLike[str]) -> MovieCatalog:
    r"""Read a MovieLens release from a folder or a zip file, in the form it is published in.

    Parameters
    ----------
    path : path
        A folder or a zip file that holds, directly or in a folder of its own, ``movies.csv`` and
        ``ratings.csv`` (ml-latest-small and its larger relatives), ``movies.dat`` and
        ``ratings.dat`` (ml-1m; also without timestamps, and as ``ratings*.dat`` or
        ``ratings*.dat.gz``) or ``u.item`` and ``u.data`` (ml-100k).

    Returns
    -------
    MovieCatalog
        All movies of the list in its order, with the 18 genres of the MovieLens READMEs; other
        tags (IMAX, unknown) are dropped. The name is the release's if the numbers of movies and
        ratings are as published, else that of the folder or the zip file; a folder that has the
        name of a release but other numbers is named ``ml-1m (altered)``.

    Raises
    ------
    FileNotFoundError
        If there is no such path, or no release in it.
    ValueError
        If the files are damaged, or are not what they should be, or are several releases.

    Notes
    -----
    Takes one or two seconds per million ratings.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from matroid_bandits.datasets import read_movielens
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "movies.dat").write_text("1::A::Drama\n2::B::War|Drama\n")
    ...     _ = Path(folder, "ratings.dat").write_text("1::2::5::0\n2::2::4::0\n")
    ...     movies = read_movielens(folder)
    >>> movies.means
    array([0. , 4.5])
    """
    place = Path(path)
    if not place.exists():
        raise FileNotFoundError(
            f"{place} does not exist; pass a folder or a zip file from {_SOURCE}"
        )
    if place.is_dir():
        return _read(place, label=place.resolve().name)
    try:
        with zipfile.ZipFile(place) as archive:
            return _read(zipfile.Path(archive), label=place.stem)
    except zipfile.BadZipFile as error:
        raise ValueError(
            f"{place} is neither a folder nor an intact zip file ({error}); pass what can be "
            f"downloaded from {_SOURCE}, or the folder it unpacks to"
        ) from error


def _read(root: Traversable, label: str) -> MovieCatalog:
    folder, form = _release(root)
    movies_file = folder / form.movies
    ids, titles, vectors = _read_movies(movies_file, form, _flagged_genres(folder, form))
    rows = {movie: row for row, movie in enumerate(ids)}
    ratings_file = _ratings_file(folder, form)
    counts, sums, arrivals = _read_ratings(ratings_file, form, rows, movies_file)
    if folder is not root:
        label = folder.name
    return MovieCatalog(
        name=_name(label, len(ids), int(counts.sum())),
        ids=np.array(ids),
        titles=tuple(titles),
        genres=GENRES,
        vectors=vectors,
        counts=counts,
        means=sums / np.maximum(counts, 1),
        arrivals=arrivals,
    )


def _name(label: str, n_movies: int, n_ratings: int) -> str:
    if (n_movies, n_ratings) in _PUBLISHED:
        return _PUBLISHED[n_movies, n_ratings]
    # Results must not go by the name of data they were not made from.
    return f"{label} (altered)" if label in _PUBLISHED.values() else label


# ---- which files ----


def _release(root: Traversable) -> tuple[Traversable, _Format]:
    """The folder that holds the release, `root` or one folder down, and its format."""
    inside = sorted(root.iterdir(), key=lambda entry: entry.name)
    found = list(_releases([root])) or list(_releases(e for e in inside if e.is_dir()))
    if not found:
        pairs = ", ".join(f"{form.movies} with {form.ratings[0]}" for form in _FORMATS)
        raise FileNotFoundError(
            f"no MovieLens release in {root}, nor one folder down; looked for {pairs}; there is "
            + (", ".join(abbreviated(entry.name) for entry in inside[:10]) or "nothing")
            + (f" and {len(inside) - 10} more" if len(inside) > 10 else "")
        )
    if len(found) > 1:
        files = ", ".join(str(folder / form.movies) for folder, form in found)
        raise ValueError(
            f"{root} holds several MovieLens releases ({files}); pass a folder with one of them"
        )
    return found[0]


def _releases(folders: Iterable[Traversable]) -> Iterator[tuple[Traversable, _Format]]:
    for folder in folders:
        for form in _FORMATS:
            if (folder / form.movies).is_file() and _ratings_files(folder, form):
                yield folder, form


def _ratings_file(folder: Traversable, form: _Format) -> Traversable:
    found = _ratings_files(folder, form)
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise ValueError(f"{folder} has several files of ratings ({names}); keep one")
    return found[0]


def _ratings_files(folder: Traversable, form: _Format) -> list[Traversable]:
    """Files of ratings: the published one if it exists, else all that are accepted instead."""
    published, *others = form.ratings
    if (folder / published).is_file():
        return [folder / published]
    names = (entry.name for entry in folder.iterdir() if entry.is_file())
    return [folder / n for n in sorted(names) if any(fnmatchcase(n, other) for other in others)]


# ---- movies and ratings ----


def _read_movies(
    file: Traversable, form: _Format, flagged: list[str]
) -> tuple[list[int], list[str], CountArray]:
    """Ids, titles and genre vectors, in the order of the file."""
    titles: dict[int, str] = {}
    vectors = []
    with _opened(file, form, _MAX_BYTES["movies"]) as lines:
        for number, fields in _rows(file, lines, form.movie):
            try:
                movie, title, genres = _movie(fields, flagged)
            except ValueError:
                raise _unfit(file, number, fields, form.movie) from None
            if movie in titles:
                raise ValueError(f"{file}, line {number}: movie {movie} is listed twice")
            titles[movie] = title
            vector = [0] * len(GENRES)
            for genre in genres:
                if genre not in _DROPPED:
                    vector[_column(genre, file, number)] = 1
            vectors.append(vector)
    if not titles:
        raise ValueError(f"{file} lists no movies; download it again from {_SOURCE}")
    return list(titles), list(titles.values()), np.array(vectors, dtype=np.int64)


def _movie(fields: list[str], flagged: list[str]) -> tuple[int, str, list[str]]:
    """Id, title and genres of a line; a ValueError if it has not that form."""
    if flagged:
        flags = fields[-len(flagged) :]
        if len(fields) != 5 + len(flagged) or not {"0", "1"}.issuperset(flags):
            raise ValueError("not one 0 or 1 per genre")
        title = fields[1]
        genres = [genre for genre, flag in zip(flagged, flags, strict=True) if flag == "1"]
    else:
        _, title, names = fields
        genres = names.split("|")
    movie = int(fields[0])
    if not 0 <= movie < 2**63:
        raise ValueError("not the id of a movie")
    return movie, title, genres


def _flagged_genres(folder: Traversable, form: _Format) -> list[str]:
    """The genres of ml-100k's columns, from ``u.genre`` if it is there."""
    if form is not _ITEM:
        return []
    file = folder / "u.genre"
    if not file.is_file():
        return ["unknown", *GENRES]
    with _opened(file, form, _MAX_BYTES["genres"]) as lines:
        rows = list(_rows(file, lines, _GENRE))
    if not rows:
        raise ValueError(f"{file} lists no genres; download it again from {_SOURCE}")
    for column, (number, fields) in enumerate(rows):
        if fields[1:] != [str(column)]:
            raise _unfit(file, number, fields, _GENRE)
        if fields[0] not in _DROPPED:
            _column(fields[0], file, number)
    return [fields[0] for _, fields in rows]


def _column(genre: str, file: Traversable, number: int) -> int:
    if genre not in _COLUMNS:
        raise ValueError(
            f"{file}, line {number}: unknown genre {abbreviated(genre)}; "
            f"known are {', '.join(GENRES)}"
        )
    return _COLUMNS[genre]


def _read_ratings(
    file: Traversable, form: _Format, rows: dict[int, int], movies_file: Traversable
) -> tuple[CountArray, FloatArray, CountArray]:
    """Number and sum of the ratings of every movie, and its place by first rating."""
    counts = [0] * len(rows)
    sums = [0.0] * len(rows)  # exact: ratings are whole or half stars
    arrival: dict[int, int] = {}
    with _opened(file, form, _MAX_BYTES["ratings"]) as lines:
        for number, fields in _rows(file, lines, form.rating):
            try:
                _, movie, rating = int(fields[0]), int(fields[1]), float(fields[2])
            except (ValueError, IndexError):
                raise _unfit(file, number, fields, form.rating) from None
            if len(fields) > 4:
                raise _unfit(file, number, fields, form.rating)
            if not 0.5 <= rating <= 5:
                raise ValueError(
                    f"{file}, line {number}: a rating is from 0.5 to 5, "
                    f"got {abbreviated(fields[2])}"
                )
            row = rows.get(movie)
            if row is None:
                raise ValueError(
                    f"{file}, line {number}: a rating of movie {movie}, which {movies_file} does "
                    "not list; the two files must be of one release"
                )
            counts[row] += 1
            sums[row] += rating
            arrival.setdefault(row, len(arrival))
    if not any(counts):
        raise ValueError(f"{file} holds no ratings; download it again from {_SOURCE}")
    # Those never rated come last.
    arrivals = [arrival.get(row, len(rows)) for row in range(len(rows))]
    return np.array(counts, dtype=np.int64), np.array(sums), np.array(arrivals, dtype=np.int64)


def each_rating(root: Traversable) -> Iterator[tuple[int, int, float]]:
    """User, movie and stars of every rating of a release that was read before."""
    folder, form = _release(root)
    file = _ratings_file(folder, form)
    with _opened(file, form, _MAX_BYTES["ratings"]) as lines:
        for _, fields in _rows(file, lines, form.rating):
            yield int(fields[0]), int(fields[1]), float(fields[2])


def _unfit(file: Traversable, number: int, fields: list[str], line: _Line) -> ValueError:
    expected, got = (line.separator.join(parts) for parts in (line.parts, fields))
    return ValueError(f"{file}, line {number}: expected {expected!r}, got {abbreviated(got)}")


# ---- lines ----


@contextmanager
def _opened(file: Traversable, form: _Format, max_bytes: int) -> Iterator[Iterable[str]]:
    """The lines of a file, with their ends; messages about it name it."""
    try:
        with file.open("rb") as raw:
            data = gzip.GzipFile(fileobj=raw) if file.name.endswith(".gz") else raw
            limited = io.BufferedReader(_LimitedReader(data, max_bytes, str(file)))
            with io.TextIOWrapper(limited, encoding=form.encoding, newline="") as text:
                yield _limited_lines(text, str(file))
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not in {error.encoding}, as published: {error}") from error
    except (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{file} is damaged ({error}); download it again") from error


class _LimitedReader(io.RawIOBase):
    """Bytes of a file, counted while they are read: archives may lie about their sizes."""

    def __init__(self, data: IO[bytes] | gzip.GzipFile, max_bytes: int, name: str) -> None:
        self._data = data
        self._max_bytes = max_bytes
        self._n_bytes = 0
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._data.read(len(buffer))
        self._n_bytes += len(chunk)
        if self._n_bytes > self._max_bytes:
            raise ValueError(
                f"{self._name} has more than {self._max_bytes:,} bytes, which no MovieLens release "
                f"has; download it again from {_SOURCE}"
            )
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _limited_lines(text: io.TextIOWrapper, name: str) -> Iterator[str]:
    """Lines with their ends, each no longer than any in a release."""
    while line := text.readline(_MAX_LINE + 1):
        if len(line) > _MAX_LINE:
            raise ValueError(
                f"{name} has a line of more than {_MAX_LINE:,} characters, which no MovieLens "
                f"release has; download it again from {_SOURCE}"
            )
        yield line


def _rows(file: Traversable, lines: Iterable[str], line: _Line) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of every line that is not blank, without the header of csv files."""
    if line.separator != ",":
        for number, text in enumerate(lines, start=1):
            if content := text.rstrip("\r\n"):
                yield number, content.split(line.separator)
        return
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, [])
        # As everywhere, ratings may come without their time.
        if header[:3] != list(line.parts[:3]):
            raise _unfit(file, 1, header, line)
        yield from ((reader.line_num, fields) for fields in reader if fields)
    except csv.Error as error:
        raise ValueError(f"{file}, line {reader.line_num}: {error}") from error
