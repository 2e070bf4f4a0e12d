"""The paper's ten instances, from the study that ships with the package, and random graphs."""

import numpy as np

import matroid_bandits as mb
from benchmarks.tables import ROOT
from matroid_bandits.experiments import Instance, load_study, shipped_study

# The same folder as in the tests. Nothing is downloaded: a benchmark needs no network.
MOVIELENS = ROOT.parent / "shared" / "data" / "movielens" / "ml-latest-small"


def paper_instances(*names: str) -> list[Instance]:
    """The instances called `names`, or all; ``instance.environment_for(seed)`` is that of a run."""
    movies = MOVIELENS if MOVIELENS.is_dir() else "synthetic"
    study = load_study(shipped_study("reproduce"), only=names, movielens=movies)
    return list(study.instances)


def movies_remark() -> str:
    """The movies of the linear instance."""
    source = "of MovieLens ml-latest-small" if MOVIELENS.is_dir() else "invented, not MovieLens"
    return f"linear: genre vectors of 100 movies, {source}."


def connected_graph(vertices: int, edges: int) -> mb.GraphicMatroid:
    """A random tree, and further edges between vertices drawn uniformly, no loops among them."""
    rng = np.random.default_rng(0)
    ends = np.arange(1, vertices)
    tree = np.column_stack([rng.integers(0, ends), ends])
    starts = rng.integers(0, vertices, edges - len(tree))
    others = (starts + rng.integers(1, vertices, len(starts))) % vertices
    return mb.GraphicMatroid([*tree.tolist(), *np.column_stack([starts, others]).tolist()])
