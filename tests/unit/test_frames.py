"""Problems from data frames of pandas, polars and pyarrow: what they say, and what is refused."""

import subprocess
import sys
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import matroid_bandits as mb

from ..seeds import seeds

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=LIBRARIES)
def make(request):
    """Makes a frame from columns."""
    return LIBRARIES[request.param]


COLUMNS = {
    "title": ["Alien", "Aliens", "Amelie", "Brazil", "Casablanca"],
    "studio": ["Fox", "Fox", "UGC", "Embassy", "Warner"],
    "genre": ["horror", "horror", "romance", "satire", "romance"],
    "dark": [True, True, False, True, False],
    "funny": [0, 0, 1, 1, 0],
    "year": [1979, 1986, 2001, 1985, 1942],
}
MOVIES = pd.DataFrame(COLUMNS)


@pytest.fixture
def movies(make):
    return make(COLUMNS)


def test_groups_of_one_column(movies) -> None:
    problem = mb.from_dataframe(movies, groups="genre", capacities=1, labels="title")
    assert isinstance(problem.matroid, mb.PartitionMatroid)
    assert problem.labels == tuple(COLUMNS["title"])
    assert problem.rank == 3
    each = {"horror": 2, "romance": 1, "satire": 0, "comedy": 1}
    problem = mb.from_dataframe(movies, groups="genre", capacities=each, sense="min")
    assert (problem.rank, problem.labels, problem.sense) == (3, None, "min")
    assert problem.matroid.loops.tolist() == [3]


def test_nested_groups_and_a_number_in_all(movies) -> None:
    limits = {"genre": {"horror": 2, "romance": 2, "satire": 1}, "studio": 1}
    problem = mb.from_dataframe(
        movies, groups=["studio", "genre"], capacities=limits, at_most=3, labels="title"
    )
    assert problem.rank == 3
    assert problem.is_independent(["Alien", "Amelie", "Casablanca"])
    assert not problem.is_independent(["Alien", "Aliens"])
    assert not problem.is_independent(["Alien", "Amelie", "Casablanca", "Brazil"])
    one_of_each = mb.from_dataframe(movies, groups=["studio", "genre"], capacities=1)
    assert one_of_each.rank == 3
    assert mb.from_dataframe(movies, groups="studio", capacities=1, at_most=2).rank == 2
    assert mb.from_dataframe(movies, groups=["studio"], capacities={"studio": 1}).rank == 4


@pytest.mark.parametrize("seed", seeds(3))
def test_nested_groups_against_the_definition(make, seed: int) -> None:
    rng = np.random.default_rng(seed)
    teams = rng.integers(0, 5, 7)
    frame = pd.DataFrame({"team": teams, "firm": teams // 2})
    limits = {"team": 1, "firm": {0: 2, 1: 1, 2: 2}}
    problem = mb.from_dataframe(
        make(frame.to_dict("list")), groups=["team", "firm"], capacities=limits, at_most=3
    )
    for mask in range(2**7):
        rows = [e for e in range(7) if mask >> e & 1]
        chosen = frame.iloc[rows]
        allowed = (
            len(rows) <= 3
            and (chosen["team"].value_counts() <= 1).all()
            and all(n <= limits["firm"][f] for f, n in chosen["firm"].value_counts().items())
        )
        assert problem.is_independent(rows) == allowed


def test_best_rows_without_groups(movies) -> None:
    problem = mb.from_dataframe(movies, at_most=2, labels="title")
    assert problem.best_basis(COLUMNS["year"]) == ["Aliens", "Amelie"]
    assert mb.from_dataframe(movies, at_most=9).rank == 5


def test_columns_of_numbers(movies) -> None:
    problem = mb.from_dataframe(movies, vectors=["dark", "funny"], labels="title")
    assert "over the rationals" in repr(problem.matroid)
    assert problem.names(problem.matroid.loops) == ["Casablanca"]
    assert not problem.is_independent(["Alien", "Aliens"])
    assert mb.from_dataframe(movies, vectors="numeric").rank == 3
    assert mb.from_dataframe(movies, vectors="numeric", labels="year").rank == 2
    assert mb.from_dataframe(movies, vectors="numeric", at_most=2).rank == 2
    assert mb.from_dataframe(movies, vectors="numeric", at_most=5).rank == 3


@pytest.mark.parametrize(
    "columns, over",
    [
        ({"a": [1.0, 2.0], "b": [2, 4]}, "the rationals"),
        ({"a": [True, False], "b": [2, 0]}, "the rationals"),
        ({"a": [Decimal("0.1"), Decimal("0.3")], "b": [1, 3]}, "the rationals"),
        ({"a": [0.1, 0.2], "b": [2, 4]}, "floats"),
    ],
)
def test_whole_numbers_are_decided_exactly(make, columns, over: str) -> None:
    problem = mb.from_dataframe(make(columns), vectors=["a", "b"])
    assert problem.rank == 1
    assert over in repr(problem.matroid)
    assert mb.from_dataframe(make({"a": [2]}), vectors=["a"], field=2).rank == 0


FRACTIONS = {"a": [10**30, 2 * 10**30], "b": [Fraction(1, 3), Fraction(2, 3)]}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.array([1, 2], dtype="Int64"), "b": [2, 4]}),
        pd.DataFrame(FRACTIONS),
        pl.DataFrame({name: pl.Series(x, dtype=pl.Object) for name, x in FRACTIONS.items()}),
        pl.DataFrame({"a": pl.Series([10**30, 2 * 10**30], dtype=pl.Int128), "b": [1, 2]}),
        pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.UInt8), "b": [2, 4]}),
    ],
)
def test_less_usual_columns_of_numbers(frame) -> None:
    problem = mb.from_dataframe(frame, vectors=["a", "b"])
    assert problem.rank == 1
    assert "the rationals" in repr(problem.matroid)


@pytest.mark.parametrize(
    "genres",
    [
        pd.Categorical(COLUMNS["genre"]),
        pl.Series(COLUMNS["genre"], dtype=pl.Categorical),
        pl.Series(COLUMNS["genre"], dtype=pl.Enum(["romance", "satire", "horror"])),
        pa.array(COLUMNS["genre"]).dictionary_encode(),
    ],
)
def test_groups_may_be_categories(genres) -> None:
    library = LIBRARIES[type(genres).__module__.partition(".")[0]]
    problem = mb.from_dataframe(library({"genre": genres}), groups="genre", capacities=1)
    assert problem.matroid == mb.PartitionMatroid(COLUMNS["genre"], 1)


def test_rows_are_called_as_in_the_index() -> None:
    by_title = MOVIES.set_index("title")
    assert mb.from_dataframe(by_title, at_most=2).labels == tuple(MOVIES["title"])
    recent = MOVIES[MOVIES["year"] > 1980]
    assert mb.from_dataframe(recent, at_most=2).labels == (1, 2, 3)
    both = MOVIES.set_index(["studio", "title"])
    assert mb.from_dataframe(both, at_most=2).labels[0] == ("Fox", "Alien")


def test_rows_without_an_index_are_numbered() -> None:
    for frame in (pl.DataFrame(COLUMNS), pa.table(COLUMNS)):
        assert mb.from_dataframe(frame, at_most=2).labels is None


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "say what may be played together: groups="),
        ({"groups": "genre"}, "groups='genre' need capacities, such as capacities=1"),
        ({"capacities": 1}, "capacities are those of groups"),
        ({"groups": "genre", "capacities": 1, "vectors": ["year"]}, "leave one of the two out"),
        ({"groups": "Genre", "capacities": 1}, "no column 'Genre'; did you mean genre?"),
        ({"groups": ["genre", "studioo"], "capacities": 1}, "did you mean studio?"),
        ({"groups": [], "capacities": 1}, "must name a column, got none"),
        ({"groups": "genre", "capacities": -1}, "capacity of 'horror' in column 'genre' must be"),
        ({"groups": "genre", "capacities": {"horror": 1}}, "'romance' in column 'genre' has no"),
        ({"groups": ["genre"], "capacities": {"horror": 1}}, "column 'genre' has no capacity"),
        ({"at_most": 1.5}, "at_most must be an integer, got 1.5"),
        ({"at_most": 1, "labels": "name"}, "no column 'name'"),
        ({"at_most": 1, "labels": "genre"}, "'horror' twice, in the rows 0 and 1 counted from 0"),
        ({"at_most": 1, "field": 2}, "field is for vectors"),
        ({"vectors": "year"}, r"for one column write \['year'\]"),
        ({"vectors": []}, "at least one column; the frame has 'title'"),
        ({"vectors": ["title"]}, r"has 'Alien' in row 0, which is no number.*_dummies\("),
        ({"vectors": ["year", "yeer"]}, "did you mean year?"),
        ({"at_most": 1, "sense": "least"}, "unknown sense 'least'; allowed are max, min"),
    ],
)
def test_what_is_refused_about_a_frame(movies, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.from_dataframe(movies, **options)


def test_groups_that_cross(make) -> None:
    frame = make({"a": [0, 0, 1, 1], "b": ["x", "y", "y", "y"]})
    with pytest.raises(
        ValueError,
        match=r"sets \('b', 'y'\) and \('a', 0\) cross: element 1 is in both.*rows, counted from 0",
    ):
        mb.from_dataframe(frame, groups=["a", "b"], capacities=1)


@pytest.mark.parametrize(
    "columns, options, message",
    [
        (
            {"g": ["a", None, "b", None]},
            {"groups": "g", "capacities": 1},
            r"column 'g' has no value in row 1 and 1 more; .*drop such rows: frame\..*'g'",
        ),
        (
            {"g": [["a"], ["a", "b"]]},
            {"groups": "g", "capacities": 1},
            r"has \['a'\] in row 0; a group is a number or a text",
        ),
        ({"v": [1.0, None]}, {"vectors": ["v"]}, "'v' has no value in row 1;"),
        ({"v": [1.0, np.inf]}, {"vectors": ["v"]}, "entries must be finite"),
        ({"v": [date(2020, 1, 1)]}, {"vectors": ["v"]}, "which is no number"),
        ({"v": [[1], [2]]}, {"at_most": 1, "labels": "v"}, "must be hashable"),
        ({"v": ["a", "a"]}, {"at_most": 1, "labels": "v"}, "column 'v' has 'a' twice"),
        ({}, {"vectors": ["v"]}, "no column 'v', nor any other"),
    ],
)
def test_unfit_columns(make, columns, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.from_dataframe(make(columns), **options)


@pytest.mark.parametrize(
    "frame, options, message",
    [
        (
            pd.DataFrame({"g": ["a", None, "b", None]}, index=["p", "q", "r", "s"]),
            {"groups": "g", "capacities": 1},
            r"column 'g' has no value in row 'q' and 1 more; .*frame\.dropna\(subset=\['g'\]\)",
        ),
        (pd.DataFrame({"v": [1.0, np.nan]}), {"vectors": ["v"]}, "'v' has no value in row 1;"),
        (pl.DataFrame({"v": [1.0, np.nan]}), {"vectors": ["v"]}, "entries must be finite"),
        (
            pd.DataFrame({"v": [1, 2]}, index=["a", "a"]),
            {"at_most": 1},
            r"the index has 'a' twice.*frame\.reset_index\(drop=True\)",
        ),
    ],
)
def test_what_differs_between_libraries(frame, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.from_dataframe(frame, **options)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2, 0]], columns=["v", "v", "g"]),
        pa.table([[1], [2], [0]], names=["v", "v", "g"]),
    ],
)
def test_doubled_columns_matter_only_where_they_are_used(frame) -> None:
    with pytest.raises(ValueError, match="2 columns called 'v'; rename them"):
        mb.from_dataframe(frame, vectors="numeric")
    assert mb.from_dataframe(frame, groups="g", capacities=1).rank == 1


def test_what_is_no_frame() -> None:
    class DataFrame:
        columns = ("a",)

        def to_pandas(self) -> None: ...

    with pytest.raises(TypeError, match=r"got a tests\.DataFrame; pass its to_pandas\(\)"):
        mb.from_dataframe(DataFrame(), at_most=1)
    with pytest.raises(TypeError, match=r"got a pandas\.Series; pass its to_frame\(\)"):
        mb.from_dataframe(pd.Series([1]), at_most=1)
    with pytest.raises(TypeError, match=r"got a polars\.Series; pass its to_frame\(\)"):
        mb.from_dataframe(pl.Series([1]), at_most=1)
    with pytest.raises(TypeError, match=r"got a polars\.LazyFrame; pass its collect\(\)"):
        mb.from_dataframe(pl.LazyFrame({"a": [1]}), at_most=1)
    for wrong in ({"a": [1]}, pd.DataFrame, None):
        with pytest.raises(TypeError, match=r"matroid-bandits\[frames\]"):
            mb.from_dataframe(wrong, at_most=1)


def test_what_is_no_matroid_but_a_frame(movies) -> None:
    with pytest.raises(TypeError, match="for a data frame, pass from_dataframe"):
        mb.MAUB(movies)


def test_without_narwhals_a_sentence_says_what_to_install() -> None:
    code = """
import sys
sys.modules["narwhals"] = None
import pandas, matroid_bandits as mb
try:
    mb.from_dataframe(pandas.DataFrame({"a": [1]}), at_most=1)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "from_dataframe reads tables through narwhals" in done.stdout
    assert "pip install 'matroid-bandits[frames]'" in done.stdout
