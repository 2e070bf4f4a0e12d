"""Indices: how optimistic a policy is. A new one is one file here and one line below."""

from matroid_bandits.indices.base import Index
from matroid_bandits.indices.imed import IMED
from matroid_bandits.indices.kl import KLUCB
from matroid_bandits.indices.moss import MOSS
from matroid_bandits.indices.shared_gaussian import SharedGaussian
from matroid_bandits.indices.thompson import BetaThompson, GaussianThompson
from matroid_bandits.indices.ucb import UCB, Mean
from matroid_bandits.indices.variance import UCBV, NormalUCB

__all__ = [
    "IMED",
    "KLUCB",
    "MOSS",
    "UCB",
    "UCBV",
    "BetaThompson",
    "GaussianThompson",
    "Index",
    "Mean",
    "NormalUCB",
    "SharedGaussian",
]
