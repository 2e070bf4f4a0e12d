"""How to choose. A new policy is one file here and one line below."""

from matroid_bandits.policies.base import Policy
from matroid_bandits.policies.maub import MAUB
from matroid_bandits.policies.omm import OMM

__all__ = ["MAUB", "OMM", "Policy"]
