"""Contract checks for everybody's matroids, policies and environments."""

from matroid_bandits.checks.environments import check_environment
from matroid_bandits.checks.matroids import check_matroid
from matroid_bandits.checks.policies import check_policy

__all__ = ["check_environment", "check_matroid", "check_policy"]
