"""An invented catalog of movies, for machines without MovieLens and for tests."""

from random import Random

import numpy as np

from matroid_bandits.datasets.movie_catalog import GENRES, MovieCatalog

__all__ = ["synthetic_catalog"]

# Chosen so that the catalog resembles MovieLens as `synthetic_catalog` describes.
_SEED = 17974
_SIZE = 100

# Kinds of movies, and how often a movie of that kind has a genre.
_SPECTACLE = {
    "Action": 0.8,
    "Adventure": 0.6,
    "Sci-Fi": 0.5,
    "Thriller": 0.4,
    "Fantasy": 0.2,
    "Comedy": 0.2,
}
_FAMILY = {
    "Children's": 0.7,
    "Comedy": 0.7,
    "Animation": 0.5,
    "Adventure": 0.6,
    "Fantasy": 0.4,
    "Musical": 0.2,
}
_SUSPENSE = {
    "Thriller": 0.8,
    "Crime": 0.6,
    "Action": 0.3,
    "Drama": 0.4,
    "Mystery": 0.3,
    "Horror": 0.2,
}
_STORY = {
    "Drama": 0.8,
    "Romance": 0.5,
    "Comedy": 0.4,
    "War": 0.2,
    "Crime": 0.2,
    "Western": 0.1,
}
_KINDS = (_SPECTACLE, _SPECTACLE, _FAMILY, _SUSPENSE, _STORY)


def synthetic_catalog() -> MovieCatalog:
    """100 invented movies, in shape like the 100 most rated of MovieLens ``ml-latest-small``.

    ===================================  =========  ===============
    what                                 invented   ml-latest-small
    ===================================  =========  ===============
    rank (two of 18 genres are missing)  16         16
    distinct genre vectors               67         66
    single exchanges from the best       327        328
    smallest gap among those             0.01498    0.01505
    mean ratings                         2.94-4.39  2.91-4.43
    value of the best                    66.55      66.43
    ===================================  =========  ===============

    Nothing in it is taken from a movie. It is the same on every machine.

    Examples
    --------
    >>> from matroid_bandits.datasets import synthetic_catalog
    >>> movies = synthetic_catalog()
    >>> movies
    MovieCatalog('synthetic', 100 movies, 18 genres)
    >>> movies.matroid.rank
    16
    """
    # Python keeps this stream in all versions; NumPy does not promise that for its own.
    draw = Random(_SEED).random  # noqa: S311  nothing secret here
    vectors, means = [], []
    for _ in range(_SIZE):
        kind = _KINDS[int(draw() * len(_KINDS))]
        chosen = {genre for genre, share in kind.items() if draw() < share} or {"Drama"}
        vectors.append([int(genre in chosen) for genre in GENRES])
        # Movies that are rated often have high ratings.
        means.append(2.65 + 1.8 * (draw() + max(draw(), draw())) / 2)
    return MovieCatalog(
        name="synthetic",
        ids=np.arange(1, _SIZE + 1),
        titles=tuple(f"Invented movie {k}" for k in range(1, _SIZE + 1)),
        genres=GENRES,
        vectors=np.array(vectors),
        # Decreasing from 329 to 112, steeply at first.
        counts=112 + 217 * np.arange(_SIZE)[::-1] ** 2 // (_SIZE - 1) ** 2,
        means=np.array(means),
    )
