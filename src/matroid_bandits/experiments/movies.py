"""The movies of a study: from where the user says, the cache, the network, or invented."""

from os import PathLike

from matroid_bandits.datasets import (
    DownloadError,
    MovieCatalog,
    fetch_movielens,
    read_movielens,
    synthetic_catalog,
)

__all__ = ["SYNTHETIC", "USUAL", "Movies"]

#: The release that is downloaded.
USUAL = "ml-latest-small"

#: In place of a path: the invented catalog, without looking for a real one.
SYNTHETIC = "synthetic"


class Movies:
    """The movies of a study: a release is read, or missed, once for all its instances.

    Parameters
    ----------
    path : str or path, optional
        Folder or zip of a release, or ``synthetic``; by default the cache or the network is asked.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self._path = path
        self._found: dict[str | PathLike[str] | None, tuple[MovieCatalog, str]] = {}

    def choose(
        self, number: int, order: str, path: str | PathLike[str] | None = None
    ) -> tuple[MovieCatalog, str]:
        """Some movies of a release, and a warning if they are invented.

        Parameters
        ----------
        number : int
            How many.
        order : str
            As :meth:`~matroid_bandits.datasets.MovieCatalog.choose` has it.
        path : str or path, optional
            Another release than that of the study.
        """
        where = self._path if path is None else path
        if where not in self._found:
            self._found[where] = _find(where)
        movies, warning = self._found[where]
        if warning and number > len(movies):
            raise ValueError(
                f"{number} movies are asked for, but there are only {len(movies)} invented ones; "
                "for real ones say where they are: --movielens PATH"
            )
        return movies.choose(number, order), warning


def _find(path: str | PathLike[str] | None) -> tuple[MovieCatalog, str]:
    """A catalog, and a warning if it is invented."""
    if path == SYNTHETIC:
        warning = "invented movies of the same shape, as asked for; not compared with anything"
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
