"""Movies with genres and ratings: MovieLens as published, and an invented catalog."""

from matroid_bandits.datasets.download import DownloadError, fetch_movielens
from matroid_bandits.datasets.movie_catalog import GENRES, ORDERS, MovieCatalog
from matroid_bandits.datasets.movielens import read_movielens
from matroid_bandits.datasets.ratings import (
    Ratings,
    movie_factors,
    read_ratings,
    synthetic_ratings,
)
from matroid_bandits.datasets.synthetic import synthetic_catalog

__all__ = [
    "GENRES",
    "ORDERS",
    "DownloadError",
    "MovieCatalog",
    "Ratings",
    "fetch_movielens",
    "movie_factors",
    "read_movielens",
    "read_ratings",
    "synthetic_catalog",
    "synthetic_ratings",
]
