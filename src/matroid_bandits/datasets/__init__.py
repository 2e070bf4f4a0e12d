"""Movies with genres and ratings: MovieLens as downloaded, and an invented stand-in."""

from matroid_bandits.datasets.catalogue import GENRES, WAYS, Catalogue
from matroid_bandits.datasets.download import DownloadError, fetch_movielens
from matroid_bandits.datasets.movielens import read_movielens
from matroid_bandits.datasets.synthetic import synthetic_catalogue

__all__ = [
    "GENRES",
    "WAYS",
    "Catalogue",
    "DownloadError",
    "fetch_movielens",
    "read_movielens",
    "synthetic_catalogue",
]
