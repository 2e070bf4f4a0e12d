"""Single ratings of movies, and features of movies from one half of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import Path as ZipPath
from zipfile import ZipFile

import numpy as np

from matroid_bandits._arguments import integer
from matroid_bandits.datasets.movielens import each_rating, read_movielens

if TYPE_CHECKING:
    from os import PathLike

    import numpy.typing as npt

    from matroid_bandits._types import CountArray, FloatArray, IntArray
    from matroid_bandits.datasets.movie_catalog import MovieCatalog

__all__ = ["Ratings", "movie_factors", "read_ratings", "synthetic_ratings"]

# Of alternating least squares; more change the factors little.
_SWEEPS = 10
_RIDGE = 5.0
# Invented users.
_USERS = 600


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings: who rated which movie, and how.

    Attributes
    ----------
    users : numpy.ndarray of int
        Numbers of users, from 0 on.
    movies : numpy.ndarray of int
        The ids of movies, as in a `MovieCatalog`.
    stars : numpy.ndarray of float
    """

    users: IntArray
    movies: CountArray
    stars: FloatArray

    def of(self, catalog: MovieCatalog) -> Ratings:
        """The ratings of the movies of a catalog; `movies` are then its rows."""
        order = np.argsort(catalog.ids)
        place = np.searchsorted(catalog.ids[order], self.movies)
        place = np.minimum(place, len(order) - 1)
        is_there = catalog.ids[order][place] == self.movies
        return self._part(is_there, order[place])

    def halves(self, seed: int) -> tuple[Ratings, Ratings]:
        """Two random halves."""
        is_first = np.random.default_rng(integer(seed, "seed", minimum=0)).random(len(self)) < 0.5
        return self._part(is_first, self.movies), self._part(~is_first, self.movies)

    def _part(self, chosen: npt.NDArray[np.bool_], movies: CountArray) -> Ratings:
        return replace(
            self, users=self.users[chosen], movies=movies[chosen], stars=self.stars[chosen]
        )

    def __len__(self) -> int:
        return len(self.stars)


def read_ratings(path: str | PathLike[str]) -> Ratings:
    """The single ratings of a MovieLens release: a folder or a zip, as `read_movielens` takes it.

    Parameters
    ----------
    path : str or path
        Folder or zip.
    """
    place = Path(path)
    # Everything is checked there.
    read_movielens(place)
    if place.is_dir():
        found = list(each_rating(place))
    else:
        with ZipFile(place) as archive:
            found = list(each_rating(ZipPath(archive)))
    users, movies, stars = (np.array(column) for column in zip(*found, strict=True))
    _, numbers = np.unique(users, return_inverse=True)
    return Ratings(numbers, movies.astype(np.int64), stars.astype(np.float64))


def synthetic_ratings(catalog: MovieCatalog, seed: int = 0) -> Ratings:
    """Invented ratings of the movies of a catalog, by invented users with a taste for genres."""
    rng = np.random.default_rng(integer(seed, "seed", minimum=0))
    tastes = 0.4 * rng.standard_normal((_USERS, len(catalog.genres)))
    vectors = catalog.vectors - catalog.vectors.mean(axis=0)
    liked = catalog.means + tastes @ vectors.T + 0.8 * rng.standard_normal((_USERS, len(catalog)))
    stars = np.clip(np.round(2 * liked) / 2, 0.5, 5.0)
    users, rows = np.nonzero(rng.random(stars.shape) < catalog.counts / _USERS)
    return Ratings(users, catalog.ids[rows], stars[users, rows])


def movie_factors(
    catalog: MovieCatalog, ratings: Ratings, *, n_features: int, seed: int = 0
) -> tuple[FloatArray, MovieCatalog]:
    """Features of movies from one half of their ratings, and the catalog by the other half.

    The features are 1, how much better than average a movie is rated, and the factors of a
    factorization of the ratings by alternating least squares [KBV09].

    Parameters
    ----------
    catalog : MovieCatalog
        The movies.
    ratings : Ratings
        Those of these movies, and perhaps of others.
    n_features : int
        Number of features, at least 2.
    seed : int, default 0
        Seed of the halves and of the first factors.

    Returns
    -------
    numpy.ndarray
        A row of features for each movie.
    MovieCatalog
        The same movies, with counts and means of the other half.

    References
    ----------
    .. [KBV09] Y. Koren, R. Bell and C. Volinsky, Matrix Factorization Techniques for Recommender
       Systems, Computer 42(8), 2009.
    """
    count = integer(n_features, "n_features", minimum=2)
    train, test = ratings.of(catalog).halves(seed)
    n = len(catalog)
    average = train.stars.mean()
    counts, sums = _totals(train.movies, train.stars - average, n)
    bias = sums / (counts + _RIDGE)
    features = np.column_stack([np.ones(n), bias])
    if count > 2:
        rest = train.stars - average - bias[train.movies]
        factors = _factorized(train.users, train.movies, rest, n, count - 2, seed)
        features = np.column_stack([features, factors])
    counts, sums = _totals(test.movies, test.stars, n)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), test.stars.mean())
    return features, replace(catalog, counts=counts, means=means)


def _totals(rows: CountArray, values: FloatArray, size: int) -> tuple[CountArray, FloatArray]:
    counts: CountArray = np.bincount(rows, minlength=size).astype(np.int64)
    sums: Any = np.bincount(rows, values, minlength=size)
    return counts, sums


def _factorized(
    users: IntArray, movies: CountArray, values: FloatArray, size: int, rank: int, seed: int
) -> FloatArray:
    """Factors of movies: value = user factor . movie factor, by alternating least squares."""
    n_users = int(users.max(initial=-1)) + 1
    rng = np.random.default_rng([seed, 1])
    of_movies = rng.standard_normal((size, rank)) / np.sqrt(rank)
    for _ in range(_SWEEPS):
        of_users = _least_squares(users, of_movies[movies], values, n_users)
        of_movies = _least_squares(movies, of_users[users], values, size)
    # The same factors up to a rotation, the strongest first, of about unit size.
    _, _, axes = np.linalg.svd(of_movies, full_matrices=False)
    rotated: FloatArray = of_movies @ axes.T
    return rotated / max(float(rotated.std()), 1e-12)


def _least_squares(
    rows: CountArray, known: FloatArray, values: FloatArray, size: int
) -> FloatArray:
    """For each row, the ridge regression of its values on the known factors."""
    rank = known.shape[1]
    order = np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[order], np.arange(size + 1))
    matrices = np.tile(_RIDGE * np.eye(rank), (size, 1, 1))
    right = np.zeros((size, rank))
    for row in range(size):
        mine = order[ends[row] : ends[row + 1]]
        matrices[row] += known[mine].T @ known[mine]
        right[row] = known[mine].T @ values[mine]
    solved: Any = np.linalg.solve(matrices, right[:, :, np.newaxis])[:, :, 0]
    found: FloatArray = solved
    return found
