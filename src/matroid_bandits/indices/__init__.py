"""Indices: how optimistic a policy is. A new one is one file here and one line below."""

from matroid_bandits.indices.base import Index
from matroid_bandits.indices.kl import KLUCB
from matroid_bandits.indices.thompson import BetaThompson, GaussianThompson
from matroid_bandits.indices.ucb import UCB, Mean
from matroid_bandits.indices.variance import UCBV, NormalUCB

__all__ = [
    "KLUCB",
    "UCB",
    "UCBV",
    "BetaThompson",
    "GaussianThompson",
    "Index",
    "Mean",
    "NormalUCB",
]
