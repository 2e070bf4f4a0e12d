"""Features of the elements of an instance: generated, from a file, or of movies."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from matroid_bandits._arguments import real
from matroid_bandits._streams import RANDOM_FEATURES, stream
from matroid_bandits._types import FloatArray
from matroid_bandits.environments import linear_means, random_features
from matroid_bandits.environments.linear import COEFFICIENTS
from matroid_bandits.experiments.reading.files import read_csv
from matroid_bandits.experiments.reading.fingerprint import fingerprint
from matroid_bandits.experiments.reading.movies import Movies
from matroid_bandits.experiments.reading.sections import Section
from matroid_bandits.features import LinearFeatures

__all__ = ["FixedFeatures", "GeneratedFeatures", "features_at"]

Kind = Literal["topics", "sphere"]

_KINDS: tuple[Kind, ...] = ("topics", "sphere")
_EXAMPLE = 'features = { generate = "topics", n_features = 20 }'
_MOST_FEATURES = 2_000
_SCALES = {"noise": 1.0, "prior": 1.0, "own": 0.0}


@dataclass(frozen=True)
class GeneratedFeatures:
    """Random features and coefficients, drawn anew in every run; means are linear in them.

    Attributes
    ----------
    size, n_features : int
    kind : {"topics", "sphere"}
        As for :func:`~matroid_bandits.random_features`. Coefficients are uniform in [0, 1] for
        topics, and a random direction for the sphere.
    off, off_by : float
        As for :func:`~matroid_bandits.linear_means`.
    noise, prior : float
        As for :class:`~matroid_bandits.LinearFeatures`.
    own : float
        If above 0, every element has one more feature of its own, of this size.
    """

    size: int
    n_features: int
    kind: Kind
    off: float
    off_by: float
    noise: float
    prior: float
    own: float

    def features(self, seed: int) -> LinearFeatures:
        """The features of run number `seed`."""
        phi = random_features(self.size, self.n_features, seed, kind=self.kind)
        return LinearFeatures(with_own(phi, self.own), noise=self.noise, prior=self.prior)

    def means(self, seed: int) -> FloatArray:
        """The means of run number `seed`."""
        phi = random_features(self.size, self.n_features, seed, kind=self.kind)
        rng = stream(RANDOM_FEATURES, COEFFICIENTS, seed)
        if self.kind == "topics":
            theta = rng.random(self.n_features)
        else:
            theta = rng.standard_normal(self.n_features)
            theta /= np.linalg.norm(theta)
        return linear_means(phi, theta, off=self.off, off_by=self.off_by, seed=seed)

    def origin(self) -> dict[str, Any]:
        """What they depend on, as plain values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class FixedFeatures:
    """The same features in all runs; with means, if they come from the same data."""

    given: LinearFeatures
    known_means: FloatArray | None = None

    def features(self, seed: int) -> LinearFeatures:  # noqa: ARG002
        """The features of every run."""
        return self.given

    def means(self, seed: int) -> FloatArray | None:  # noqa: ARG002
        """The means of every run; None if the environment of the instance has them."""
        return self.known_means

    def origin(self) -> dict[str, Any]:
        """What they depend on, as plain values."""
        return {
            "phi": fingerprint(self.given.phi),
            **({} if self.known_means is None else {"means": fingerprint(self.known_means)}),
            "noise": self.given.noise,
            "prior": self.given.prior,
        }


def with_own(phi: FloatArray, own: float) -> FloatArray:
    """Features, and for each element one more of its own."""
    return np.hstack([phi, own * np.eye(len(phi))]) if own else phi


def features_at(
    section: Section, size: int, movies: Movies, seed: int
) -> GeneratedFeatures | FixedFeatures | None:
    """The features of the elements of an instance, None if it has none.

    Parameters
    ----------
    section : Section
        The instance.
    size : int
        Number of its elements.
    movies : Movies
        Those of the study.
    seed : int
        Seed of the halves of ratings.
    """
    if "features" not in section:
        return None
    inner = section.section("features")
    scales: dict[str, Any] = {key: _number(inner, key, default) for key, default in _SCALES.items()}
    if "generate" in inner:
        inner.check_keys(("generate", "n_features", "off", "off_by", *_SCALES))
        made = GeneratedFeatures(
            size=size,
            n_features=inner.integer("n_features", 20, minimum=1, maximum=_MOST_FEATURES),
            kind=inner.choice("generate", _KINDS, "topics"),
            off=_number(inner, "off", 0.0, maximum=1.0),
            off_by=_number(inner, "off_by", 0.2),
            **scales,
        )
        inner.call(None, made.means, seed)
        inner.call(None, made.features, seed)
        return made
    own = scales.pop("own")
    if "factors" in inner:
        inner.check_keys(("factors", *_SCALES))
        phi, means = _of_movies(section, inner, movies, seed)
        given = inner.call(None, lambda: LinearFeatures(with_own(phi, own), **scales))
        return FixedFeatures(given, means)
    inner.check_keys(("csv", "columns", *_SCALES))
    inner.required("csv", _EXAMPLE)
    columns = inner.call("csv", read_csv, inner.file("csv"))
    names = [str(name) for name in inner.list("columns", '["a", "b"]')]
    rows = np.column_stack([inner.call("columns", columns.numbers, name) for name in names])
    if len(rows) != size:
        raise inner.error(f"{len(rows)} rows of features for {size} elements", "csv")
    given = inner.call(None, lambda: LinearFeatures(with_own(rows, own), **scales))
    return FixedFeatures(given)


def _number(section: Section, key: str, default: float, maximum: float = 1e6) -> float:
    value = section.value(key, default)
    number: float = section.call(key, lambda: real(value, key, minimum=0.0, maximum=maximum))
    return number


def _of_movies(
    section: Section, inner: Section, movies: Movies, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Features of the movies of an instance by one half of the ratings, means by the other."""
    matroid = section.section("matroid")
    if "movielens" not in matroid:
        raise inner.error("factors are for matroid = { movielens = ... }", "factors")
    path = matroid.file("path", or_folder=True) if "path" in matroid else None
    found: tuple[FloatArray, FloatArray] = inner.call(
        "factors",
        movies.factors,
        matroid.integer("movielens", 100, minimum=1),
        matroid.text("choose", "most-rated"),
        path,
        inner.integer("factors", 20, minimum=2, maximum=_MOST_FEATURES),
        seed,
    )
    return found
