"""Environments, which draw the rewards. A new one is one file here and one line below."""

from matroid_bandits.environments.base import Environment
from matroid_bandits.environments.bernoulli import BernoulliEnvironment
from matroid_bandits.environments.gaussian import GaussianEnvironment
from matroid_bandits.environments.linear import linear_means, random_features
from matroid_bandits.environments.means import random_means

__all__ = [
    "BernoulliEnvironment",
    "Environment",
    "GaussianEnvironment",
    "linear_means",
    "random_features",
    "random_means",
]
