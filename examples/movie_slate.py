"""A slate of movies that differ in genre
======================================

Learn a slate of well-liked movies that differ in genre, from the ratings as they come in.

A slate is allowed if the genres of no movie are a combination of those of the others: a linear
matroid. Movies are those of MovieLens, if a folder of it is given or ml-latest-small is here,
else invented ones. Needs pip install 'matroid-bandits[plots]'.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import matroid_bandits as mb
from matroid_bandits.datasets import read_movielens, synthetic_catalog


def catalog(path):
    """The hundred movies that were rated most."""
    path = path or ("ml-latest-small" if Path("ml-latest-small").exists() else None)
    if path is None:
        print("no MovieLens here (https://grouplens.org/datasets/movielens): invented movies")
        return synthetic_catalog()
    return read_movielens(path).most_rated(100)


def main(picture, movielens, horizon):
    movies = catalog(movielens)
    problem = mb.Problem(mb.LinearMatroid(movies.vectors), labels=movies.titles)
    environment = mb.GaussianEnvironment(movies.means, std=1.0)  # people differ by a star or so

    figure = plt.figure(figsize=(13, 7), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(3, 2))
    regret, calls = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    for policy, look in (mb.OMM(problem, noise=1.0), "C1-"), (mb.MAUB(problem, noise=1.0), "C0--"):
        run = mb.simulate(policy, environment, horizon)
        print(f"{policy.name}: {run.total_regret:,.0f} stars of regret, {run.counters}")
        regret.plot(run.rounds, run.regret, look, label=policy.name)
        calls.loglog(run.rounds, run.counter_curves["oracle_calls"], look, label=policy.name)
    regret.set(xlabel="round", title="cumulative regret in stars")
    calls.set(xlabel="round", title="oracle calls")
    regret.locator_params(nbins=5)
    calls.legend()

    slate = sorted(policy.leader, key=lambda title: -movies.means[movies.titles.index(title)])
    vectors = movies.vectors[problem.elements(slate)]
    genres = [genre for genre, used in zip(movies.genres, vectors.any(axis=0), strict=True) if used]
    row, column = np.nonzero(vectors[:, vectors.any(axis=0)])
    axes = figure.add_subplot(grid[:, 0])
    axes.scatter(column, row, s=130, c=column, cmap="tab20", zorder=2)
    axes.set_xticks(range(len(genres)), genres, rotation=60, ha="right")
    axes.set_yticks(range(len(slate)), [title.partition(" (")[0] for title in slate])
    axes.invert_yaxis()
    axes.grid(color="0.9")
    axes.set_title(f"MAUB's slate of {len(slate)} of {len(movies)} movies, best first")
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[2])
    parser.add_argument("picture", nargs="?", default="movie_slate.png", help="where to draw")
    parser.add_argument("--movielens", help="folder or zip file of a release")
    parser.add_argument("--horizon", type=int, default=100_000, help="number of rounds")
    main(**vars(parser.parse_args()))
