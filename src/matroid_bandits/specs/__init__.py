"""Specifications: matroids, problems, indices and policies as plain data, read back.

The other way is the method ``to_spec`` of each of them. `load` reads a policy that was saved.
"""

from matroid_bandits.specs.loading import load
from matroid_bandits.specs.matroids import matroid_from_spec
from matroid_bandits.specs.policies import index_from_spec, policy_from_spec
from matroid_bandits.specs.problems import problem_from_spec

__all__ = [
    "index_from_spec",
    "load",
    "matroid_from_spec",
    "policy_from_spec",
    "problem_from_spec",
]
