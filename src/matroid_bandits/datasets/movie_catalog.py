"""Movies as a linear matroid: a slate is allowed if its genre vectors are independent."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import (
    abbreviated,
    as_list,
    choice,
    freeze,
    frozen_state,
    integer,
    not_whole,
)
from matroid_bandits._types import CountArray, FloatArray
from matroid_bandits.matroids import LinearMatroid

__all__ = ["GENRES", "ORDERS", "MovieCatalog"]

#: The 18 genres of the MovieLens READMEs, in their order.
GENRES = (
    "Action",
    "Adventure",
    "Animation",
    "Children's",
    "Comedy",
    "Crime",
    "Documentary",
    "Drama",
    "Fantasy",
    "Film-Noir",
    "Horror",
    "Musical",
    "Mystery",
    "Romance",
    "Sci-Fi",
    "Thriller",
    "War",
    "Western",
)

#: The orders in which :meth:`MovieCatalog.choose` takes movies.
ORDERS = ("most-rated", "lowest-id", "first-rated")


@dataclass(frozen=True, eq=False, repr=False)
class MovieCatalog:
    """Movies, their genres and how they were rated. Arrays are copied and read-only.

    Parameters
    ----------
    name : str
        Where the movies come from, such as ``ml-latest-small``.
    ids : array of int64
        The number of each movie in the data set, each once.
    titles : tuple of str
        One title per movie.
    genres : tuple of str
        Names of the columns of `vectors`.
    vectors : array of int64
        One row of 0 and 1 per movie, one column per genre.
    counts : array of int64
        How often each movie was rated.
    means : array of float64
        The mean rating of each movie; 0 where there is none.
    arrivals : array of int64, optional
        Movies are rated for the first time in the order of these numbers; by default as listed.

    Examples
    --------
    >>> from matroid_bandits.datasets import MovieCatalog
    >>> movies = MovieCatalog(
    ...     name="mine",
    ...     ids=[3, 7, 9],
    ...     titles=["Laughs", "Tears", "More laughs"],
    ...     genres=["Comedy", "Drama"],
    ...     vectors=[[1, 0], [0, 1], [1, 0]],
    ...     counts=[20, 50, 50],
    ...     means=[3.5, 4.0, 4.5],
    ... )
    >>> movies.most_rated(2).ids
    array([7, 9])
    >>> movies.matroid.max_weight_basis(movies.means)
    array([1, 2])
    """

    name: str
    ids: CountArray
    titles: tuple[str, ...]
    genres: tuple[str, ...]
    vectors: CountArray
    counts: CountArray
    means: FloatArray
    arrivals: CountArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        # A frozen dataclass can set its own fields only in this way.
        keep = object.__setattr__
        keep(self, "titles", tuple(as_list(self.titles, "titles")))
        keep(self, "genres", tuple(as_list(self.genres, "genres")))
        size = len(self.titles)
        keep(self, "ids", _array(self.ids, "ids", np.int64, (size,)))
        shape = (size, len(self.genres))
        keep(self, "vectors", _array(self.vectors, "vectors", np.int64, shape))
        keep(self, "counts", _array(self.counts, "counts", np.int64, (size,)))
        keep(self, "means", _array(self.means, "means", np.float64, (size,)))
        arrivals = self.arrivals if np.size(self.arrivals) else np.arange(size)
        keep(self, "arrivals", _array(arrivals, "arrivals", np.int64, (size,)))
        if len(np.unique(self.ids)) < size:
            raise ValueError("ids must be distinct, one per movie")
        if not np.isin(self.vectors, (0, 1)).all():
            raise ValueError("vectors must hold 0 and 1 only: a movie has a genre or has it not")
        if size and self.counts.min() < 0:
            raise ValueError(f"counts must not be negative, got {self.counts.min()}")
        if not np.isfinite(self.means).all():
            raise ValueError("means must be finite; use 0 for a movie without ratings")

    @cached_property
    def matroid(self) -> LinearMatroid:
        """The linear matroid of the genre vectors; element k is the movie in row k."""
        return LinearMatroid(self.vectors)

    def most_rated(self, n: int = 100) -> Self:
        """The `n` movies with most ratings, by decreasing count; ties by increasing id."""
        return self.choose(n, "most-rated")

    def choose(self, n: int, order: str) -> Self:
        """The first `n` movies in some order; ties by increasing id.

        Parameters
        ----------
        n : int
            How many.
        order : {"most-rated", "lowest-id", "first-rated"}
            ``first-rated`` is the order of `arrivals`.
        """
        choice(order, "order of movies", ORDERS)
        n = integer(n, "n, the number of movies to keep,", minimum=1, maximum=len(self))
        keys = {"most-rated": -self.counts, "lowest-id": self.ids, "first-rated": self.arrivals}
        rows = np.lexsort((self.ids, keys[order]))[:n]
        return replace(
            self,
            ids=self.ids[rows],
            titles=tuple(self.titles[row] for row in rows),
            vectors=self.vectors[rows],
            counts=self.counts[rows],
            means=self.means[rows],
            arrivals=self.arrivals[rows],
        )

    def __len__(self) -> int:
        return len(self.titles)

    def __repr__(self) -> str:
        return f"MovieCatalog({self.name!r}, {len(self)} movies, {len(self.genres)} genres)"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(frozen_state(state))


def _array(values: Any, what: str, kind: type, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """A read-only copy of `values` with the given type and shape."""
    array = np.asarray(values)
    is_whole = kind is np.int64 and array.dtype.kind in "fO" and not not_whole(array).size
    if array.size and not is_whole and not np.can_cast(array.dtype, kind, "same_kind"):
        raise ValueError(f"{what} must be {np.dtype(kind)}, got {abbreviated(values)}")
    if array.shape != shape:
        raise ValueError(
            f"{what} must have the shape {shape} to fit titles and genres, got {array.shape}"
        )
    return freeze(array.astype(kind))
