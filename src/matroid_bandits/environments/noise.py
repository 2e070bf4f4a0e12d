"""What is known about the noise of an environment's rewards."""

from typing import Any

import numpy as np

from matroid_bandits.environments.base import Environment
from matroid_bandits.environments.bernoulli import BernoulliEnvironment
from matroid_bandits.environments.gaussian import GaussianEnvironment

__all__ = ["known_noise"]


def known_noise(environment: Environment) -> dict[str, Any]:
    """How the rewards vary, as arguments of `Policy.confidence`; empty if that is not known.

    ``noise``, the largest standard deviation, for Gaussian rewards; ``family`` for those of a
    Bernoulli distribution.
    """
    # What a class says does not hold for a subclass that draws other rewards.
    if not environment._fits("_divergence"):
        return {}
    if isinstance(environment, GaussianEnvironment):
        return {"noise": float(np.max(environment.std, initial=0.0))}
    if isinstance(environment, BernoulliEnvironment):
        return {"family": "bernoulli"}
    return {}
