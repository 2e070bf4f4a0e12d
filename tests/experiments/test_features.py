"""Studies whose instances have features."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from matroid_bandits.datasets import (
    movie_factors,
    read_ratings,
    synthetic_catalog,
    synthetic_ratings,
)
from matroid_bandits.experiments import StudyError, load_study, run_study
from matroid_bandits.experiments.reading.spec import shipped_study

INSTANCE: dict[str, Any] = {
    "name": "slate",
    "matroid": {"generate": "partition", "groups": 3, "of": 10, "capacity": 1},
    "features": {"generate": "topics", "n_features": 4, "noise": 0.5},
    "environment": {"std": 0.5},
}


def study(**changes: Any) -> dict[str, Any]:
    return {
        "horizon": 50,
        "runs": 2,
        "policies": ["CombLinUCB(c=2)", "CombLinTS", "MAUB"],
        "instances": [INSTANCE | changes],
    }


def test_means_are_linear_and_drawn_anew_in_every_run(tmp_path: Path) -> None:
    loaded = load_study(study())
    (instance,) = loaded.instances
    assert instance.features is not None
    for seed in (0, 1):
        phi = instance.features.features(seed).phi
        means = instance.environment_for(seed).means
        theta, *_ = np.linalg.lstsq(phi, means, rcond=None)
        assert np.allclose(phi @ theta, means)
        assert ((theta >= 0) & (theta <= 1)).all()
    assert not np.allclose(instance.environment_for(0).means, instance.environment_for(1).means)
    assert np.isnan(instance.lower_bound(0))
    results = run_study(loaded, tmp_path / "results", jobs=1, quiet=True)
    assert len(results.runs) == 6


def test_elements_off_the_line_and_own_features() -> None:
    features = INSTANCE["features"] | {"off": 0.2, "off_by": 1.0, "own": 0.3}
    (instance,) = load_study(study(features=features)).instances
    assert instance.features is not None
    phi = instance.features.features(0).phi
    assert phi is not None
    assert phi.shape == (30, 34)
    assert np.array_equal(phi[:, 4:], 0.3 * np.eye(30))
    plain = load_study(study()).instances[0].environment_for(0).means
    assert np.count_nonzero(instance.environment_for(0).means != plain) == 6


def test_features_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("a,b\n" + "".join(f"{e},1\n" for e in range(30)))
    text = """
horizon = 20
runs = 1
policies = ["CombLinTS"]
[[instances]]
name = "slate"
matroid = { generate = "partition", groups = 3, of = 10, capacity = 1 }
features = { csv = "items.csv", columns = ["b", "a"], noise = 0.2 }
"""
    path = tmp_path / "study.toml"
    path.write_text(text)
    (instance,) = load_study(path).instances
    assert instance.features is not None
    given = instance.features.features(3)
    assert given.phi is not None
    assert given.phi[2].tolist() == [1.0, 2.0]
    assert given.noise == 0.2
    assert instance.features.means(0) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": {"generate": "words"}}, "words"),
        ({"features": {"generate": "topics", "of": 3}}, "of"),
        ({"features": {"generate": "topics", "off": 2}}, "off must be a number from 0 to 1"),
        ({"features": {}}, "csv is missing"),
        ({"features": {"factors": 5}}, "factors are for matroid"),
        ({"environment": {"means": {"uniform": [0.0, 1.0]}}}, "the means come with the features"),
    ],
)
def test_mistakes(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        load_study(study(**changes))


def test_means_of_every_run_fit_the_rewards() -> None:
    # Those of the first two runs are from 0 to 1, those of the third one are not.
    features = {"generate": "topics", "n_features": 6, "off": 0.1, "off_by": 0.35}
    given = study(features=features, environment={"type": "bernoulli"}) | {"seed": 1}
    load_study(given | {"runs": 2})
    with pytest.raises(StudyError, match="must be from 0 to 1, got -"):
        load_study(given | {"runs": 3})


def test_policies_with_features_need_an_instance_with_features() -> None:
    without = {key: value for key, value in INSTANCE.items() if key != "features"}
    with pytest.raises(StudyError, match="CombLinUCB needs features: give the instance some"):
        load_study({"policies": ["CombLinUCB"], "instances": [without]})


def test_movies_by_halves_of_their_ratings() -> None:
    movies = synthetic_catalog()
    ratings = synthetic_ratings(movies)
    phi, other = movie_factors(movies, ratings, n_features=6, seed=1)
    assert phi.shape == (100, 6)
    train, test = ratings.of(movies).halves(1)
    assert len(train) + len(test) == len(ratings)
    row = 7
    assert other.means[row] == pytest.approx(test.stars[test.movies == row].mean())
    # Features of one half say most about the means of the other: the ratings are invented so.
    theta, *_ = np.linalg.lstsq(phi, other.means, rcond=None)
    assert np.var(other.means - phi @ theta) < 0.4 * np.var(other.means)
    (instance,) = load_study(
        study(matroid={"movielens": 100}, features={"factors": 6}), movielens="synthetic"
    ).instances
    assert instance.features is not None
    assert instance.warning


def test_ratings_of_a_release(tmp_path: Path) -> None:
    (tmp_path / "movies.dat").write_text("1::A::Drama\n2::B::War|Drama\n")
    (tmp_path / "ratings.dat").write_text("7::2::5::0\n9::2::4::0\n7::1::3::0\n")
    ratings = read_ratings(tmp_path)
    assert ratings.users.tolist() == [0, 1, 0]
    assert ratings.movies.tolist() == [2, 2, 1]
    assert ratings.stars.tolist() == [5.0, 4.0, 3.0]


def test_the_shipped_study_loads() -> None:
    loaded = load_study(
        shipped_study("features"), only=["partition 1,000", "movies"], movielens="synthetic"
    )
    assert [instance.name for instance in loaded.instances] == ["partition 1,000", "movies"]
