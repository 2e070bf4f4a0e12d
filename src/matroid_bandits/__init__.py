"""Matroid semi-bandits: learn the best allowed set of things to play.

>>> import matroid_bandits as mb
>>> matroid = mb.GraphicMatroid.complete(5)
>>> policy = mb.MAUB(matroid)
>>> environment = mb.GaussianEnvironment(means=[0.1 * e for e in range(10)], std=0.2)
>>> result = mb.simulate(policy, environment, horizon=10_000)
>>> policy.leader
array([3, 6, 8, 9])
"""

from matroid_bandits import catalog
from matroid_bandits._version import __version__
from matroid_bandits.checks import check_environment, check_matroid, check_policy
from matroid_bandits.environments import (
    BernoulliEnvironment,
    Environment,
    GaussianEnvironment,
)
from matroid_bandits.errors import MatroidAxiomError
from matroid_bandits.matroids import (
    GraphicMatroid,
    LinearMatroid,
    Matroid,
    OracleMatroid,
    PartitionMatroid,
    TransversalMatroid,
    UniformMatroid,
)
from matroid_bandits.policies import MAUB, OMM, Policy
from matroid_bandits.simulation import (
    Simulation,
    SupportsSelectUpdate,
    default_checkpoints,
    simulate,
)

__all__ = [
    "MAUB",
    "OMM",
    "BernoulliEnvironment",
    "Environment",
    "GaussianEnvironment",
    "GraphicMatroid",
    "LinearMatroid",
    "Matroid",
    "MatroidAxiomError",
    "OracleMatroid",
    "PartitionMatroid",
    "Policy",
    "Simulation",
    "SupportsSelectUpdate",
    "TransversalMatroid",
    "UniformMatroid",
    "__version__",
    "catalog",
    "check_environment",
    "check_matroid",
    "check_policy",
    "default_checkpoints",
    "simulate",
]
