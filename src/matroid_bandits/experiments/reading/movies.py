"""The movies of a study: from a path, the cache or the network, or invented."""

from os import PathLike

from matroid_bandits._types import FloatArray
from matroid_bandits.datasets import (
    DownloadError,
    MovieCatalog,
    Ratings,
    fetch_movielens,
    movie_factors,
    read_movielens,
    read_ratings,
    synthetic_catalog,
    synthetic_ratings,
)

__all__ = ["SYNTHETIC", "USUAL", "Movies"]

#: The release that is downloaded.
USUAL = "ml-latest-small"

#: Instead of a path: invented movies.
SYNTHETIC = "synthetic"


class Movies:
    """The movies of a study: each release is read, or downloaded, once for all instances.

    Parameters
    ----------
    path : str or path, optional
        Folder or zip of a release, or ``synthetic``; by default from the cache or the network.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self._path = path
        self._found: dict[str | PathLike[str] | None, tuple[MovieCatalog, str]] = {}
        self._ratings: dict[str | PathLike[str] | None, Ratings] = {}

    def choose(
        self, number: int, order: str, path: str | PathLike[str] | None = None
    ) -> tuple[MovieCatalog, str]:
        """Some movies of a release, and a warning if they are invented.

        Parameters
        ----------
        number : int
            How many.
        way : str
            As in :meth:`~matroid_bandits.datasets.MovieCatalog.choose`.
        path : str or path, optional
            Another release than that of the study.
        """
        where = self._path if path is None else path
        if where not in self._found:
            self._found[where] = _find(where)
        movies, warning = self._found[where]
        if warning and number > len(movies):
            raise ValueError(
                f"{number} movies are needed, but there are only {len(movies)} invented ones; "
                "for real ones give their path: --movielens PATH"
            )
        return movies.choose(number, order), warning

    def factors(
        self,
        number: int,
        order: str,
        path: str | PathLike[str] | None,
        n_features: int,
        seed: int,
    ) -> tuple[FloatArray, FloatArray]:
        """Features of the movies of `choose` from one half of their ratings, and the means of the
        other half.

        Parameters
        ----------
        number, order, path
            As for `choose`.
        n_features : int
            Number of features.
        seed : int
            Seed of the halves.
        """
        chosen, warning = self.choose(number, order, path)
        where = self._path if path is None else path
        if warning:
            ratings = synthetic_ratings(chosen)
        else:
            if where not in self._ratings:
                self._ratings[where] = read_ratings(fetch_movielens() if where is None else where)
            ratings = self._ratings[where]
        features, other = movie_factors(chosen, ratings, n_features=n_features, seed=seed)
        return features, other.means


def _find(path: str | PathLike[str] | None) -> tuple[MovieCatalog, str]:
    """Movies, and a warning if they are invented."""
    if path == SYNTHETIC:
        warning = (
            "invented movies of the same shape, as requested; not compared with published figures"
        )
        return synthetic_catalog(), warning
    if path is not None:
        return read_movielens(path), ""
    try:
        return read_movielens(fetch_movielens()), ""
    except DownloadError as error:
        warning = (
            "NOT MovieLens but invented movies of the same shape (and so not compared with "
            "published figures), because ml-latest-small was not downloaded: "
            f"{error.reason}. For the real ones, download {error.url} and say where it is: "
            "--movielens PATH"
        )
        return synthetic_catalog(), warning
