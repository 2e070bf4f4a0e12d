"""Movies with genres and ratings: MovieLens as published, and an invented catalog."""

from matroid_bandits.datasets.download import DownloadError, fetch_movielens
from matroid_bandits.datasets.movie_catalog import GENRES, ORDERS, MovieCatalog
from matroid_bandits.datasets.movielens import read_movielens
from matroid_bandits.datasets.synthetic import synthetic_catalog

__all__ = [
    "GENRES",
    "ORDERS",
    "DownloadError",
    "MovieCatalog",
    "fetch_movielens",
    "read_movielens",
    "synthetic_catalog",
]
