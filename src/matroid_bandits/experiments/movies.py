"""The movies of an instance: from where the user says, the cache, the network, or invented."""

from os import PathLike

from matroid_bandits.datasets import (
    Catalogue,
    DownloadError,
    fetch_movielens,
    read_movielens,
    synthetic_catalogue,
)

__all__ = ["SYNTHETIC", "USUAL", "choose_movies"]

#: The release that is downloaded.
USUAL = "ml-latest-small"

#: In place of a path: the invented catalogue, without looking for a real one.
SYNTHETIC = "synthetic"


def choose_movies(number: int, way: str, path: str | PathLike[str] | None) -> tuple[Catalogue, str]:
    """Some movies of a release, and a warning if they are invented.

    Parameters
    ----------
    number : int
        How many.
    way : str
        As :meth:`~matroid_bandits.datasets.Catalogue.choose` has it.
    path : str or path, optional
        Folder or zip of a release, or ``synthetic``.
    """
    warning = ""
    if path == SYNTHETIC:
        movies = synthetic_catalogue()
        warning = "invented movies of the same shape, as asked for; not compared with anything"
    elif path is not None:
        movies = read_movielens(path)
    else:
        try:
            movies = read_movielens(fetch_movielens())
        except DownloadError as error:
            movies = synthetic_catalogue()
            warning = (
                "NOT MovieLens but invented movies of the same shape (and so not compared with "
                "published figures), because ml-latest-small was not downloaded: "
                f"{error.reason}. For the real ones, download {error.url} and say where it is: "
                "--movielens PATH"
            )
    if warning and number > len(movies):
        raise ValueError(
            f"{number} movies are asked for, but there are only {len(movies)} invented ones; for "
            "real ones say where they are: --movielens PATH"
        )
    return movies.choose(number, way), warning
