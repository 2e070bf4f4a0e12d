"""Policies. A new one is one file here and one line below."""

from matroid_bandits.policies.base import Policy
from matroid_bandits.policies.contract.confidence import Confidence
from matroid_bandits.policies.contract.decision import Decision
from matroid_bandits.policies.contract.drift import Drift
from matroid_bandits.policies.contract.explanation import Explanation
from matroid_bandits.policies.contract.parameters import clone
from matroid_bandits.policies.cts import CTS
from matroid_bandits.policies.cucb import CUCB
from matroid_bandits.policies.epsilon_greedy import EpsilonGreedy
from matroid_bandits.policies.escb import ESCB
from matroid_bandits.policies.faster_cucb import FasterCUCB
from matroid_bandits.policies.follow_the_leader import FollowTheLeader
from matroid_bandits.policies.klosm import KLOSM
from matroid_bandits.policies.maub import MAUB
from matroid_bandits.policies.omm import OMM
from matroid_bandits.policies.osub import OSUB
from matroid_bandits.policies.random_basis import RandomBasis

__all__ = [
    "CTS",
    "CUCB",
    "ESCB",
    "KLOSM",
    "MAUB",
    "OMM",
    "OSUB",
    "Confidence",
    "Decision",
    "Drift",
    "EpsilonGreedy",
    "Explanation",
    "FasterCUCB",
    "FollowTheLeader",
    "Policy",
    "RandomBasis",
    "clone",
]
