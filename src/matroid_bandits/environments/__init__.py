"""Environments, which draw the rewards. A new one is one file here and one line below."""

from matroid_bandits.environments.base import Environment
from matroid_bandits.environments.bernoulli import BernoulliEnvironment
from matroid_bandits.environments.changing import ChangingEnvironment
from matroid_bandits.environments.drifting import DriftingEnvironment
from matroid_bandits.environments.function import FunctionEnvironment
from matroid_bandits.environments.gaussian import GaussianEnvironment
from matroid_bandits.environments.linear import linear_means, random_features
from matroid_bandits.environments.means import random_means
from matroid_bandits.environments.piecewise import PiecewiseEnvironment
from matroid_bandits.environments.seasonal import SeasonalEnvironment

__all__ = [
    "BernoulliEnvironment",
    "ChangingEnvironment",
    "DriftingEnvironment",
    "Environment",
    "FunctionEnvironment",
    "GaussianEnvironment",
    "PiecewiseEnvironment",
    "SeasonalEnvironment",
    "linear_means",
    "random_features",
    "random_means",
]
