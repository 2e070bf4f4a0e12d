"""Catalogs of movies: MovieLens in its three forms, the download, the invented one."""

import copy
import gzip
import hashlib
import logging
import pickle
import re
import shutil
import socket
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from matroid_bandits import LinearMatroid, datasets
from matroid_bandits.datasets import (
    GENRES,
    DownloadError,
    MovieCatalog,
    download,
    fetch_movielens,
    movielens,
    read_movielens,
    synthetic_catalog,
)
from matroid_bandits.datasets.download import cached_movielens

# Never part of the repository: only some machines have it.
DATA = Path(__file__).parents[3] / "shared" / "data" / "movielens"


def said(*parts: str) -> str:
    """A pattern for a message that has these parts, in this order."""
    return "(?s)" + ".*".join(re.escape(part) for part in parts)


# ---- catalogs ----


def small(**changes: Any) -> MovieCatalog:
    fields: dict[str, Any] = {
        "name": "small",
        "ids": [30, 10, 20],
        "titles": ["C", "A", "B"],
        "genres": ["Comedy", "Drama"],
        "vectors": [[1, 0], [0, 1], [1, 1]],
        "counts": [5, 5, 9],
        "means": [3, 4.5, 0],
    }
    return MovieCatalog(**(fields | changes))


def test_a_catalog_cannot_be_changed() -> None:
    ids = np.array([30, 10, 20])
    movies = small(ids=ids)
    ids[0] = 99
    assert movies.ids.tolist() == [30, 10, 20]
    with pytest.raises(FrozenInstanceError):
        movies.name = "other"  # type: ignore[misc]
    for again in (movies, pickle.loads(pickle.dumps(movies)), copy.deepcopy(movies)):
        for array in (again.ids, again.vectors, again.counts, again.means, again.arrivals):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    assert movies.titles == ("C", "A", "B")
    assert movies.genres == ("Comedy", "Drama")
    assert [a.dtype for a in (movies.ids, movies.vectors, movies.counts)] == [np.int64] * 3
    assert movies.means.dtype == np.float64


def test_a_catalog_is_short_to_print_and_has_a_length() -> None:
    assert repr(small()) == "MovieCatalog('small', 3 movies, 2 genres)"
    assert len(small()) == 3


def test_the_matroid_of_a_catalog() -> None:
    movies = small()
    assert isinstance(movies.matroid, LinearMatroid)
    assert movies.matroid.rank == 2
    assert movies.matroid is movies.matroid
    assert pickle.loads(pickle.dumps(movies)).matroid.rank == 2
    assert movies.most_rated(1).matroid.size == 1


def test_most_rated_by_falling_count_then_rising_id() -> None:
    movies = small().most_rated(3)
    assert movies.ids.tolist() == [20, 10, 30]
    assert movies.titles == ("B", "A", "C")
    assert movies.vectors.tolist() == [[1, 1], [0, 1], [1, 0]]
    assert movies.counts.tolist() == [9, 5, 5]
    assert movies.means.tolist() == [0, 4.5, 3]
    assert movies.name == "small"
    two: Any = np.int64(2)
    assert small().most_rated(two).ids.tolist() == [20, 10]


def test_other_ways_to_choose() -> None:
    movies = small(arrivals=[2, 0, 1])
    assert movies.choose(2, "lowest-id").ids.tolist() == [10, 20]
    assert movies.choose(2, "first-rated").ids.tolist() == [10, 20]
    assert movies.choose(3, "first-rated").arrivals.tolist() == [0, 1, 2]
    assert small().choose(2, "first-rated").ids.tolist() == [30, 10]  # as listed
    with pytest.raises(ValueError, match="did you mean most-rated"):
        movies.choose(2, "mostrated")
    with pytest.raises(ValueError, match="unknown order of movies 3; allowed are most-rated"):
        movies.choose(2, 3)


@pytest.mark.parametrize(
    "n, message",
    [
        (0, "n, the number of movies to keep, must be at least 1, got 0"),
        (4, "n, the number of movies to keep, must be at most 3, got 4"),
        (2.5, "must be an integer, got 2.5"),
        (True, "must be an integer, got True"),
    ],
)
def test_most_rated_refuses(n: Any, message: str) -> None:
    with pytest.raises(ValueError, match=said(message)):
        small().most_rated(n)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"ids": [1, 2]}, "ids must have the shape (3,) to fit titles and genres, got (2,)"),
        ({"ids": [1, 2, 1]}, "ids must be distinct"),
        ({"ids": [1, 2, 2.5]}, "ids must be int64, got [1, 2, 2.5]"),
        ({"ids": ["1", "2", "3"]}, "ids must be int64"),
        ({"vectors": [[1], [0], [1]]}, "vectors must have the shape (3, 2)"),
        ({"vectors": [[1, 0], [0, 2], [1, 1]]}, "vectors must hold 0 and 1 only"),
        ({"counts": [1, -2, 3]}, "counts must not be negative, got -2"),
        ({"titles": 3}, "titles must be a list, got 3"),
        ({"genres": "Comedy"}, "genres must be a list, got 'Comedy'"),
        ({"means": [1, 2, np.nan]}, "means must be finite; use 0 for a movie without ratings"),
    ],
)
def test_a_catalog_refuses(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=said(message)):
        small(**changes)


def test_a_catalog_takes_whole_numbers_of_any_type() -> None:
    made = small(ids=[1.0, 2.0, 3.0], counts=np.array([1, 2, np.int8(3)], dtype=object))
    assert (made.ids.dtype, made.counts.dtype) == (np.int64, np.int64)
    assert (made.ids.tolist(), made.counts.tolist()) == ([1, 2, 3], [1, 2, 3])


def test_an_empty_catalog() -> None:
    none = small(ids=[], titles=[], vectors=np.empty((0, 2)), counts=[], means=[])
    assert len(none) == 0
    assert none.matroid.rank == 0


# ---- small files in the three formats ----

# The same three movies and four ratings throughout.
FLAGS = {name: ["0"] * 19 for name in "ABC"}
for movie, columns in {"A": [3, 4, 5], "B": [8], "C": [0]}.items():
    for column in columns:
        FLAGS[movie][column] = "1"
ITEMS = [f"{k}|{t} é|01-Jan-1995||http://x|" + "|".join(FLAGS[t]) for k, t in enumerate("ABC", 1)]
UNKNOWN_GENRES = "unknown|0\n" + "".join(f"{g}|{k}\n" for k, g in enumerate(GENRES, 1)) + "\n"
FILES: dict[str, dict[str, bytes]] = {
    "csv": {
        "movies.csv": (
            "movieId,title,genres\r\n"
            "1,A é,Animation|Children|Comedy\r\n"
            '2,"B, ""the"" é",Drama|IMAX\r\n'
            "3,C é,(no genres listed)\r\n"
        ).encode(),
        "ratings.csv": (
            b"userId,movieId,rating,timestamp\r\n"
            b"1,1,4.5,964982703\r\n1,2,5.0,9\r\n2,1,4.0,9\r\n3,1,0.5,9\r\n"
        ),
        "README.txt": b"",
    },
    "dat": {
        "movies.dat": (
            "1::A é::Animation|Children's|Comedy\n2::B é::Drama\n3::C é::unknown\n"
        ).encode("latin-1"),
        "ratings.dat": b"1::1::4::9\n1::2::5::9\n2::1::4::9\n3::1::1::9\n",
    },
    "item": {
        "u.item": "".join(f"{line}\n" for line in ITEMS).encode("latin-1"),
        "u.data": b"1\t1\t4\t9\n1\t2\t5\t9\n2\t1\t4\t9\n3\t1\t1\t9\n",
        "u.genre": UNKNOWN_GENRES.encode(),
    },
}
MOVIES_FILE = {"csv": "movies.csv", "dat": "movies.dat", "item": "u.item"}
RATINGS_FILE = {"csv": "ratings.csv", "dat": "ratings.dat", "item": "u.data"}


def written(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def zipped(path: Path, files: dict[str, bytes], inside: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(inside + name, content)
    return path


LAYOUTS: dict[str, Callable[[Path, dict[str, bytes]], Path]] = {
    "folder": lambda tmp, files: written(tmp / "mine", files),
    "folder in a folder": lambda tmp, files: written(tmp / "x" / "mine", files).parent,
    "zip": lambda tmp, files: zipped(tmp / "mine.zip", files),
    "folder in a zip": lambda tmp, files: zipped(tmp / "x.zip", files, "mine/"),
}


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_formats_and_layouts(form: str, layout: str, tmp_path: Path) -> None:
    movies = read_movielens(LAYOUTS[layout](tmp_path, FILES[form]))
    assert movies.name == "mine"
    assert movies.ids.tolist() == [1, 2, 3]
    assert movies.titles == ("A é", 'B, "the" é' if form == "csv" else "B é", "C é")
    assert movies.genres == GENRES
    tags = [[g for g, has in zip(GENRES, row, strict=True) if has] for row in movies.vectors]
    assert tags == [["Animation", "Children's", "Comedy"], ["Drama"], []]
    assert movies.matroid.loops.tolist() == [2]
    assert movies.counts.tolist() == [3, 1, 0]
    assert movies.means.tolist() == [3, 5, 0]


def test_a_path_may_be_text_and_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "here", FILES["dat"])
    monkeypatch.chdir(tmp_path / "here")
    assert read_movielens(".").name == "here"
    assert read_movielens(str(tmp_path / "here")).name == "here"


def test_altered_data_do_not_go_by_the_name_of_the_release(tmp_path: Path) -> None:
    assert read_movielens(written(tmp_path / "ml-1m", FILES["dat"])).name == "ml-1m (altered)"
    assert read_movielens(written(tmp_path / "ml-25m", FILES["csv"])).name == "ml-25m"


@pytest.mark.parametrize("name", ["ratings.dat", "ratings.no-timestamp.dat", "ratings.x.dat.gz"])
@pytest.mark.parametrize("fields", [3, 4])
def test_ratings_with_and_without_timestamps(name: str, fields: int, tmp_path: Path) -> None:
    lines = FILES["dat"]["ratings.dat"].split(b"\n")
    content = b"\r\n".join(b"::".join(line.split(b"::")[:fields]) for line in lines)
    if name.endswith("gz"):
        content = gzip.compress(content)
    files = {"movies.dat": FILES["dat"]["movies.dat"], name: content}
    for path in (written(tmp_path / "mine", files), zipped(tmp_path / "mine.zip", files)):
        assert read_movielens(path).counts.tolist() == [3, 1, 0]


def test_movies_arrive_with_their_first_rating(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        {
            "movies.dat": b"5::A::Drama\n6::B::Drama\n7::C::Drama\n8::D::Drama\n",
            "ratings.dat": b"1::7::3\n1::5::4\n2::7::5\n2::8::1\n",
        },
    )
    movies = read_movielens(folder)
    assert movies.choose(4, "first-rated").ids.tolist() == [7, 5, 8, 6]  # 6 was never rated


def test_the_published_ratings_are_preferred(tmp_path: Path) -> None:
    folder = written(tmp_path, FILES["dat"] | {"ratings.old.dat": b"nonsense"})
    assert read_movielens(folder).counts.tolist() == [3, 1, 0]
    (folder / "ratings.dat").rename(folder / "ratings.new.dat")
    with pytest.raises(ValueError, match=said("several", "ratings.new.dat, ratings.old.dat")):
        read_movielens(folder)


def test_csv_ratings_without_timestamps(tmp_path: Path) -> None:
    ratings = {"ratings.csv": b"userId,movieId,rating\n1,1,4\n"}
    assert read_movielens(written(tmp_path, FILES["csv"] | ratings)).counts.tolist() == [1, 0, 0]


def test_genre_columns_follow_u_genre(tmp_path: Path) -> None:
    without = {name: FILES["item"][name] for name in ("u.item", "u.data")}
    assert read_movielens(written(tmp_path / "a", without)).vectors[1, GENRES.index("Drama")] == 1
    swapped = UNKNOWN_GENRES.replace("Drama", "x").replace("Comedy", "Drama").replace("x", "Comedy")
    movies = read_movielens(written(tmp_path / "b", without | {"u.genre": swapped.encode()}))
    assert movies.vectors[1, GENRES.index("Comedy")] == 1


def test_blank_lines_and_control_characters_of_latin_1(tmp_path: Path) -> None:
    # 0x85 ends a line for str.splitlines, but is part of a title here.
    movies = {"movies.dat": b"1::A\x85B::Drama\n\n2::B::War"}
    catalog = read_movielens(written(tmp_path, FILES["dat"] | movies))
    assert catalog.titles == ("A\x85B", "B")


# ---- mistakes in paths and files ----


def test_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=said(str(tmp_path / "x"), "does not exist; pass")):
        read_movielens(tmp_path / "x")


def test_neither_folder_nor_zip(tmp_path: Path) -> None:
    files = written(tmp_path, FILES["csv"])
    with pytest.raises(ValueError, match=said("movies.csv is neither a folder nor an intact zip")):
        read_movielens(files / "movies.csv")


def test_a_truncated_zip(tmp_path: Path) -> None:
    path = zipped(tmp_path / "ml.zip", FILES["csv"])
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=said("ml.zip is neither", "intact zip", "downloaded")):
        read_movielens(path)


def test_a_zip_damaged_inside(tmp_path: Path) -> None:
    path = tmp_path / "ml.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in FILES["dat"].items():
            archive.writestr(name, content)
    path.write_bytes(path.read_bytes().replace(b"::Drama", b"::Dromo", 1))
    with pytest.raises(ValueError, match=said("movies.dat is damaged", "download it again")):
        read_movielens(path)


@pytest.mark.parametrize("damage", [lambda data: data[:-10], lambda data: b"not gzip" + data])
def test_damaged_gzip(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    files = {"movies.dat": FILES["dat"]["movies.dat"]}
    files["ratings.dat.gz"] = damage(gzip.compress(FILES["dat"]["ratings.dat"]))
    with pytest.raises(ValueError, match=said("ratings.dat.gz is damaged", "download it again")):
        read_movielens(written(tmp_path, files))


def bomb(path: Path, name: str) -> Path:
    """A zip file of 60 kB whose file `name` is a line of 60 MB."""
    files = {k: v for k, v in FILES["dat"].items() if k != name}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, content in files.items():
            archive.writestr(other, content)
        with archive.open(name, "w") as file:
            for _ in range(60):
                file.write(b"1" * 1_000_000)
    return path


@pytest.mark.parametrize("name", ["movies.dat", "ratings.dat"])
def test_an_archive_that_would_fill_the_memory(name: str, tmp_path: Path) -> None:
    path = bomb(tmp_path / "mine.zip", name)
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"{name} has a line of more than 100,000 charac"):
            read_movielens(path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("kind", ["movies", "ratings"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_files_larger_than_any_release(
    form: str, kind: str, layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = LAYOUTS[layout](tmp_path, FILES[form])
    names = {"csv": "{}.csv", "dat": "{}.dat", "item": "u.item" if kind == "movies" else "u.data"}
    name = names[form].format(kind)
    size = len(FILES[form][name])
    monkeypatch.setitem(movielens._MAX_BYTES, kind, size)
    assert len(read_movielens(path)) > 0
    monkeypatch.setitem(movielens._MAX_BYTES, kind, size - 1)
    with pytest.raises(ValueError, match=rf"{name} has more than {size - 1} bytes, which no"):
        read_movielens(path)


def test_packed_ratings_larger_than_any_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = dict(FILES["dat"])
    ratings = files.pop("ratings.dat")
    path = written(tmp_path, files | {"ratings.x.dat.gz": gzip.compress(ratings)})
    monkeypatch.setitem(movielens._MAX_BYTES, "ratings", len(ratings) - 1)
    with pytest.raises(ValueError, match=said("ratings.x.dat.gz has more than")):
        read_movielens(path)


def test_no_release(tmp_path: Path) -> None:
    folder = written(tmp_path / "many", {f"file{k:02}": b"" for k in range(12)})
    looked_for = "movies.csv with ratings.csv, movies.dat with ratings.dat, u.item with u.data"
    with pytest.raises(
        FileNotFoundError, match=said(str(folder), looked_for, "'file00', 'file01'")
    ):
        read_movielens(folder)
    with pytest.raises(FileNotFoundError, match="'file09' and 2 more"):
        read_movielens(zipped(tmp_path / "x.zip", {f"file{k:02}": b"" for k in range(12)}))
    with pytest.raises(FileNotFoundError, match="there is nothing"):
        read_movielens(zipped(tmp_path / "empty.zip", {}))
    with pytest.raises(FileNotFoundError, match=r"there is 'movies\.csv'$"):
        read_movielens(written(tmp_path / "half", {"movies.csv": b""}))


def test_two_folders_down_is_too_far(tmp_path: Path) -> None:
    written(tmp_path / "a" / "b", FILES["csv"])
    with pytest.raises(FileNotFoundError, match="nor one folder down"):
        read_movielens(tmp_path)


def test_several_releases(tmp_path: Path) -> None:
    written(tmp_path / "all" / "one", FILES["csv"])
    written(tmp_path / "all" / "two", FILES["item"])
    with pytest.raises(
        ValueError,
        match=said("all holds several", "movies.csv", "u.item", "pass a folder with one"),
    ):
        read_movielens(tmp_path / "all")
    with pytest.raises(ValueError, match="holds several"):
        read_movielens(zipped(tmp_path / "both.zip", FILES["csv"] | FILES["dat"]))


def test_a_release_hides_those_in_folders_below(tmp_path: Path) -> None:
    folder = written(tmp_path / "mine", FILES["csv"])
    written(folder / "old", FILES["item"])
    assert read_movielens(folder).titles[1] == 'B, "the" é'


# ---- mistakes in lines ----

MISTAKES: list[tuple[str, str, bytes, list[str]]] = [
    ("csv", "movies.csv", b"", ["movies.csv, line 1", "'movieId,title,genres'", "got ''"]),
    ("csv", "movies.csv", b"1,A,Drama\r\n", ["line 1", "expected", "got '1,A,Drama'"]),
    ("csv", "movies.csv", b"movieId,title,genres\r\n", ["movies.csv lists no movies"]),
    ("dat", "movies.dat", b"", ["movies.dat lists no movies"]),
    (
        "csv",
        "movies.csv",
        b"movieId,title,genres\r\n1,Title, The,Drama\r\n",
        ["line 2", "got '1,Title, The,Drama'"],
    ),
    (
        "csv",
        "movies.csv",
        b'movieId,title,genres\r\n1,"Unclosed,Drama\r\n2,B,Drama\r\n',
        ["movies.csv, line 3", "unexpected end of data"],
    ),
    ("csv", "movies.csv", b"movieId,title,genres\r\n1,\xff,Drama", ["movies.csv is not in utf-8"]),
    (
        "csv",
        "movies.csv",
        b"movieId,title,genres\r\n1,A,Drama|Sports\r\n",
        ["movies.csv, line 2", "unknown genre 'Sports'", "known are Action, Adventure"],
    ),
    ("dat", "movies.dat", b"1::A::Drama\n2::B::\n", ["movies.dat, line 2", "unknown genre ''"]),
    ("dat", "movies.dat", b"1::A::Drama\n2::Drama\n", ["movies.dat, line 2", "'2::Drama'"]),
    ("dat", "movies.dat", b"one::A::Drama\n", ["line 1", "'MovieID::Title::Genres'", "'one::A"]),
    ("dat", "movies.dat", b"-1::A::Drama\n", ["line 1", "got '-1::A::Drama'"]),
    ("dat", "movies.dat", b"9223372036854775808::A::Drama\n", ["line 1", "got '9223372036854775"]),
    ("dat", "movies.dat", b"1::A::Drama\n1::B::War\n", ["line 2: movie 1 is listed twice"]),
    ("item", "u.item", b"1|A|||\n", ["u.item, line 1", "0 or 1 per genre'", "got '1|A|||'"]),
    ("item", "u.item", ITEMS[0].encode() + b"|0\n", ["u.item, line 1"]),
    ("item", "u.item", ITEMS[0].encode()[:-1] + b"2\n", ["u.item, line 1"]),
    ("item", "u.genre", b"\n", ["u.genre lists no genres; download it again"]),
    ("item", "u.genre", b"unknown|0\nAction\n", ["u.genre, line 2", "'genre|column'", "'Action'"]),
    ("item", "u.genre", b"unknown|0\nAction|2\n", ["u.genre, line 2", "got 'Action|2'"]),
    ("item", "u.genre", b"unknown|0\nSports|1\n", ["u.genre, line 2", "unknown genre 'Sports'"]),
    ("csv", "ratings.csv", b"", ["ratings.csv, line 1", "'userId,movieId,rating,timestamp'"]),
    (
        "csv",
        "ratings.csv",
        b"userId,movieId,rating,timestamp\r\n",
        ["ratings.csv holds no ratings"],
    ),
    ("dat", "ratings.dat", b"", ["ratings.dat holds no ratings; download it again"]),
    ("item", "u.data", b"", ["u.data holds no ratings"]),
    (
        "csv",
        "ratings.csv",
        b"userId,movieId,rating,timestamp\r\n1,1,4,9\r\n1,1,good,9\r\n",
        ["ratings.csv, line 3", "got '1,1,good,9'"],
    ),
    ("dat", "ratings.dat", b"1::1::4::9\n1::1\n", ["ratings.dat, line 2", "got '1::1'"]),
    ("dat", "ratings.dat", b"1::1::4::9::9\n", ["ratings.dat, line 1", "got '1::1::4::9::9'"]),
    ("dat", "ratings.dat", b"x::1::4::9\n", ["line 1", "'UserID::MovieID::Rating::Timestamp'"]),
    ("dat", "ratings.dat", b"1::1::nan::9\n", ["line 1: a rating is from 0.5 to 5, got 'nan'"]),
    ("item", "u.data", b"1\t1\t0\t9\n", ["u.data, line 1: a rating is from 0.5 to 5, got '0'"]),
    ("item", "u.data", b"1 1 4 9\n", ["u.data, line 1", r"'user\tmovie\trating\tti", "'1 1 4 9'"]),
    (
        "item",
        "u.data",
        b"1\t2\t4\t9\n1\t7\t4\t9\n",
        ["u.data, line 2: a rating of movie 7, which", "u.item does not list", "one release"],
    ),
]


@pytest.mark.parametrize("form, name, content, message", MISTAKES)
def test_mistakes_name_file_line_and_content(
    form: str, name: str, content: bytes, message: list[str], tmp_path: Path
) -> None:
    files = FILES[form] | {name: content}
    for path in (written(tmp_path / "mine", files), zipped(tmp_path / "mine.zip", files)):
        with pytest.raises(ValueError, match=said(str(path), *message)):
            read_movielens(path)


# ---- the releases themselves, where they are at hand ----


@cache
def release(name: str) -> MovieCatalog:
    if not (DATA / name).is_dir():
        pytest.skip(f"{name} is not on this machine")
    return read_movielens(DATA / name)


@pytest.mark.parametrize(
    "name, n_movies, n_rated, n_ratings, n_loops",
    [
        ("ml-100k", 1682, 1682, 100_000, 2),
        ("ml-1m", 3883, 3706, 1_000_209, 0),
        ("ml-latest-small", 9742, 9724, 100_836, 34),
    ],
)
def test_releases_are_complete(
    name: str, n_movies: int, n_rated: int, n_ratings: int, n_loops: int
) -> None:
    movies = release(name)
    assert movies.name == name
    assert len(movies) == n_movies
    assert np.count_nonzero(movies.counts) == n_rated
    assert movies.counts.sum() == n_ratings
    assert ((movies.means > 0) == (movies.counts > 0)).all()
    assert len(movies.matroid.loops) == n_loops
    assert movies.matroid.rank == 18
    assert (np.diff(movies.ids) > 0).all()


def first(movies: MovieCatalog) -> MovieCatalog:
    return movies.choose(100, "lowest-id")


def seen_first(movies: MovieCatalog) -> MovieCatalog:
    return movies.choose(100, "first-rated")


def best_of(least: int) -> Callable[[MovieCatalog], MovieCatalog]:
    """The 100 movies with the best means among those rated at least so often."""

    def choose(movies: MovieCatalog) -> MovieCatalog:
        order = np.lexsort((movies.ids, -movies.means))
        return taken(movies, order[movies.counts[order] >= least][:100])

    return choose


def taken(movies: MovieCatalog, rows: np.ndarray) -> MovieCatalog:
    return replace(
        movies,
        ids=movies.ids[rows],
        titles=tuple(movies.titles[row] for row in rows),
        vectors=movies.vectors[rows],
        counts=movies.counts[rows],
        means=movies.means[rows],
        arrivals=movies.arrivals[rows],
    )


def exchanges(movies: MovieCatalog) -> list[float]:
    """What every single exchange from the best basis loses."""
    basis = movies.matroid.max_weight_basis(movies.means)
    return [
        float(movies.means[f] - movies.means[e])
        for e in sorted(set(range(len(movies))) - set(basis.tolist()))
        for f in movies.matroid.fundamental_circuit(basis, e)
        if f != e
    ]


def facts(movies: MovieCatalog) -> tuple[Any, ...]:
    missing = [g for g, n in zip(GENRES, movies.vectors.sum(axis=0), strict=True) if n == 0]
    losses = exchanges(movies)
    assert min(losses) > 0  # so the best basis is the only one
    best = movies.matroid.max_weight_basis(movies.means)
    return (
        movies.matroid.rank,
        ", ".join(missing),
        len(np.unique(movies.vectors, axis=0)),
        movies.counts.min(),
        f"{movies.means.min():.3f}-{movies.means.max():.3f}",
        f"{movies.means[best].sum():.4f}",
        f"{min(losses):.5f}",
        len(losses),
    )


MOST = MovieCatalog.most_rated
FACTS: list[tuple[str, Callable[[MovieCatalog], MovieCatalog], tuple[Any, ...]]] = [
    (
        "ml-100k",
        MOST,
        (17, "Documentary", 57, 218, "2.808-4.466", "71.1133", "0.02343", 333),
    ),
    ("ml-100k", first, (17, "Mystery", 48, 5, "2.154-4.445", "67.8197", "0.03097", 231)),
    ("ml-100k", best_of(100), (17, "Fantasy", 52, 102, "3.905-4.491", "72.7540", "0.00020", 293)),
    ("ml-1m", MOST, (17, "Documentary", 57, 1340, "3.003-4.555", "73.9427", "0.01782", 300)),
    ("ml-1m", first, (16, "Film-Noir, Western", 39, 0, "0.000-4.750", "61.6618", "0.01174", 159)),
    (
        "ml-1m",
        seen_first,
        (16, "Documentary, Film-Noir", 51, 73, "2.745-4.521", "67.2892", "0.02052", 328),
    ),
    ("ml-1m", best_of(500), (18, "", 53, 514, "4.111-4.561", "79.3956", "0.00535", 231)),
    (
        "ml-latest-small",
        MOST,
        (16, "Documentary, Film-Noir", 66, 112, "2.913-4.429", "66.4308", "0.01505", 328),
    ),
    (
        "ml-latest-small",
        first,
        (16, "Film-Noir, Western", 48, 1, "1.700-5.000", "65.5746", "0.02059", 266),
    ),
    (
        "ml-latest-small",
        seen_first,
        (16, "Documentary, Film-Noir", 70, 1, "2.143-4.250", "65.8172", "0.00076", 452),
    ),
    (
        "ml-latest-small",
        best_of(50),
        (16, "Documentary, Musical", 62, 50, "3.973-4.429", "67.6754", "0.00537", 253),
    ),
]


@pytest.mark.parametrize("name, choose, expected", FACTS)
def test_facts_about_100_movies(
    name: str, choose: Callable[[MovieCatalog], MovieCatalog], expected: tuple[Any, ...]
) -> None:
    movies = choose(release(name))
    assert len(movies) == 100
    assert facts(movies) == expected


@pytest.mark.parametrize(
    "name, choose, ids",
    [
        (
            "ml-latest-small",
            MOST,
            "318 2959 58559 50 1197 260 527 1198 1193 296 4973 593 6377 364 1073 590",
        ),
        ("ml-latest-small", first, "53 99 40 50 28 111 110 58 29 80 32 47 86 1 70 107"),
        (
            "ml-1m",
            MOST,
            "318 858 50 527 1198 260 750 912 2762 1136 541 919 1617 3114 1304 1214 1097",
        ),
        ("ml-1m", first, "53 50 1 58 29 41 32 96 34 6 73 16 77 60 70 59"),
        (
            "ml-1m",
            seen_first,
            "745 527 260 720 1207 2762 3030 2028 1197 1213 919 2692 3114 1253 648 1690",
        ),
        ("ml-100k", MOST, "318 483 64 12 50 98 127 174 173 191 302 185 132 8 1 423 97"),
    ],
)
def test_best_slates(name: str, choose: Callable[[MovieCatalog], MovieCatalog], ids: str) -> None:
    movies = choose(release(name))
    best = movies.matroid.max_weight_basis(movies.means)
    by_mean = best[np.argsort(-movies.means[best], kind="stable")]
    assert movies.ids[by_mean].tolist() == [int(number) for number in ids.split()]


@pytest.mark.parametrize("name", ["ml-100k", "ml-1m", "ml-latest-small"])
def test_releases_in_zip_files(name: str, tmp_path: Path) -> None:
    expected = release(name)
    path = Path(shutil.make_archive(str(tmp_path / "any"), "zip", DATA, name))
    movies = read_movielens(path)
    assert movies.name == name
    assert movies.titles == expected.titles
    for field in ("ids", "vectors", "counts", "means"):
        assert np.array_equal(getattr(movies, field), getattr(expected, field))


def test_the_folder_of_all_releases() -> None:
    release("ml-100k"), release("ml-1m"), release("ml-latest-small")
    with pytest.raises(ValueError, match=said("several", "u.item", "movies.dat", "movies.csv")):
        read_movielens(DATA)


# ---- the download, from a server on this machine ----

ARCHIVE = b"what the server has"
SHA256 = hashlib.sha256(ARCHIVE).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `content` at the right address, or what a test sets."""

    content = ARCHIVE
    promised = len(ARCHIVE)
    address = "/data/ml-latest-small.zip"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.requested: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}/data/"


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requested.append(self.path)
        if self.path != self.server.address:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(self.server.promised))
        self.end_headers()
        self.wfile.write(self.server.content)

    def log_message(self, *args: Any) -> None:
        """Not into the output of the tests."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("pooch")
    monkeypatch.setenv("MATROID_BANDITS_CACHE", str(tmp_path / "cache"))
    # A proxy of this machine is not used.
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache"


@pytest.fixture
def server(store: Path) -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def fetched(server: Server) -> Path:
    return fetch_movielens(base_url=server.url, sha256=SHA256)


def test_the_archive_is_downloaded_once(server: Server, store: Path) -> None:
    path = fetched(server)
    assert path == store / "ml-latest-small.zip"
    assert path.read_bytes() == ARCHIVE
    assert fetch_movielens(base_url=server.url.rstrip("/"), sha256=SHA256.upper()) == path
    assert server.requested == ["/data/ml-latest-small.zip"]


def test_what_is_in_the_cache(server: Server, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matroid_bandits.datasets.download._SHA256", SHA256)
    assert cached_movielens() is None
    assert not store.exists()
    path = fetched(server)
    assert cached_movielens() == path
    path.write_bytes(b"half of i")
    assert cached_movielens() is None
    assert len(server.requested) == 1


def test_what_is_downloaded_can_be_read(server: Server, tmp_path: Path) -> None:
    server.content = zipped(tmp_path / "x.zip", FILES["csv"], "ml-latest-small/").read_bytes()
    server.promised = len(server.content)
    sha256 = hashlib.sha256(server.content).hexdigest()
    movies = read_movielens(fetch_movielens(base_url=server.url, sha256=sha256))
    assert movies.name == "ml-latest-small (altered)"


def test_the_cache_is_the_users(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATROID_BANDITS_CACHE", "")  # as good as not set
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "home" / project)
    assert fetched(server) == tmp_path / "home" / "matroid-bandits" / "ml-latest-small.zip"


def test_a_damaged_file_in_the_cache_is_replaced(server: Server, store: Path) -> None:
    written(store, {"ml-latest-small.zip": b"half of i"})
    assert fetched(server).read_bytes() == ARCHIVE
    assert len(server.requested) == 1


def test_a_damaged_file_in_the_cache_is_not_used_without_a_server(store: Path) -> None:
    written(store, {"ml-latest-small.zip": b"half of i"})
    for _ in range(2):
        with pytest.raises(DownloadError, match="was not downloaded"):
            fetch_movielens(base_url=gone(), sha256=SHA256)


def gone() -> str:
    """The address of a server that is no more."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}/"


def test_no_server(store: Path) -> None:
    url = gone()
    message = said(
        f"{url}ml-latest-small.zip was not downloaded: 127.0.0.1:",
        "cannot be reached; download",
        "pass the path of the file to read_movielens",
    )
    with pytest.raises(DownloadError, match=message) as caught:
        fetch_movielens(base_url=url)
    assert isinstance(caught.value, OSError)
    assert list(store.iterdir()) == []


def test_a_server_that_does_not_answer(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_TIMEOUT", (0.1, 0.1))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(
            DownloadError, match=said("was not downloaded: 127.0.0.1:", " does not answer")
        ):
            fetch_movielens(base_url=url)
    assert list(store.iterdir()) == []


def test_not_found(server: Server, store: Path) -> None:
    server.address = "/elsewhere"
    with pytest.raises(
        DownloadError, match=said("was not downloaded", "answers 404", "read_movielens")
    ):
        fetched(server)
    assert list(store.iterdir()) == []


def test_a_download_cut_short(server: Server, store: Path) -> None:
    server.content = ARCHIVE[:5]
    with pytest.raises(DownloadError, match=said("ml-latest-small.zip was not downloaded")):
        fetched(server)
    assert list(store.iterdir()) == []


def test_a_server_that_does_not_stop(
    server: Server, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_MAX_BYTES", len(ARCHIVE) - 1)
    with pytest.raises(DownloadError, match=said("was not downloaded: it is not the expected")):
        fetched(server)
    assert list(store.iterdir()) == []


@pytest.mark.parametrize("option", ["base_url", "sha256"])
def test_options_of_a_wrong_type(option: str) -> None:
    with pytest.raises(TypeError, match=f"{option} must be a text, got 3"):
        fetch_movielens(**{option: 3})


def test_another_file_on_the_server(server: Server, store: Path) -> None:
    server.content = ARCHIVE[::-1]
    message = said(
        f"{server.url}ml-latest-small.zip was not downloaded: it is not the expected file, whose",
        f"sha256 is {SHA256}; the file was damaged, or GroupLens has replaced it; try again, or d",
    )
    with pytest.raises(DownloadError, match=message):
        fetched(server)
    assert list(store.iterdir()) == []


def test_a_cache_that_cannot_be_written(server: Server, store: Path) -> None:
    store.write_text("a file where the folder should be")
    with pytest.raises(
        DownloadError,
        match=said("writing to", "failed", "another folder by the environment variable"),
    ):
        fetched(server)


def test_the_default_is_grouplens_and_its_archive_of_2018() -> None:
    defaults = fetch_movielens.__kwdefaults__
    assert defaults == {
        "base_url": "https://files.grouplens.org/datasets/movielens/",
        "sha256": "696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436",
    }


class Heard(logging.Handler):
    """Remembers what was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def test_quiet_unless_a_level_was_chosen(
    server: Server, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = pytest.importorskip("pooch").get_logger()
    heard = Heard()
    monkeypatch.setattr(logger, "handlers", [heard])
    fetched(server)
    assert heard.messages == []
    logger.info("of somebody else")
    assert heard.messages == ["of somebody else"]
    monkeypatch.setattr(logger, "level", logging.INFO)
    (store / "ml-latest-small.zip").unlink()
    fetched(server)
    assert "Downloading" in heard.messages[1]


def test_without_pooch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    message = said("pip install 'matroid-bandits[experiments]'", "pass the path of the file")
    with pytest.raises(ImportError, match=message):
        fetch_movielens()


# ---- the invented catalog ----


def test_the_invented_catalog_has_the_shape_of_the_real_one() -> None:
    movies = synthetic_catalog()
    assert movies.name == "synthetic"
    assert movies.genres == GENRES
    assert movies.titles[0] == "Invented movie 1"
    assert movies.titles[-1] == "Invented movie 100"
    expected = (16, "Documentary, Film-Noir", 67, 112, "2.942-4.390", "66.5452", "0.01498", 327)
    assert facts(movies) == expected
    assert len(movies.matroid.loops) == 0
    assert len(np.unique(movies.means)) == 100
    assert (np.diff(movies.counts) <= 0).all()
    assert movies.counts[0] == 329
    assert movies.most_rated(100).ids.tolist() == list(range(1, 101))


def test_invented_genres_are_about_as_frequent_as_real_ones() -> None:
    movies = synthetic_catalog()
    often = dict(zip(GENRES, movies.vectors.sum(axis=0).tolist(), strict=True))
    for genre in ("Action", "Adventure", "Comedy", "Drama", "Thriller"):
        assert 25 <= often[genre] <= 50
    for genre in ("Horror", "Musical", "War", "Western"):
        assert 1 <= often[genre] <= 10
    assert movies.vectors.sum(axis=1).max() <= 6


def test_the_invented_catalog_never_changes() -> None:
    movies = synthetic_catalog()
    assert movies.means[:3].tolist() == synthetic_catalog().means[:3].tolist()
    text = repr((movies.vectors.tolist(), movies.means.tolist(), movies.counts.tolist()))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "d58d389b1e5ded7d"


# ---- the package ----


def test_public_names() -> None:
    assert all(hasattr(datasets, name) for name in datasets.__all__)
    assert all(getattr(datasets, name).__doc__ for name in datasets.__all__)


def test_the_library_does_not_import_datasets_nor_datasets_pooch() -> None:
    code = (
        "import sys, matroid_bandits; print('matroid_bandits.datasets' in sys.modules);"
        "import matroid_bandits.datasets; print('pooch' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "False"]
