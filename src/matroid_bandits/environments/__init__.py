"""Who answers. A new environment is one file here and one line below."""

from matroid_bandits.environments.base import Environment
from matroid_bandits.environments.bernoulli import BernoulliEnvironment
from matroid_bandits.environments.gaussian import GaussianEnvironment

__all__ = ["BernoulliEnvironment", "Environment", "GaussianEnvironment"]
