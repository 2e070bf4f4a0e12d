"""Find the best basis and be sure: sampling rules, stopping, lower bounds.

A new rule is one file here and one line below.

>>> import matroid_bandits as mb
>>> from matroid_bandits.identification import LUCBExchange
>>> environment = mb.BernoulliEnvironment([0.9, 0.8, 0.2, 0.1])
>>> mb.identify(LUCBExchange(mb.UniformMatroid(2, 4)), environment, delta=0.05).basis
array([0, 1])
"""

from matroid_bandits.identification.base import Knowledge, SamplingRule
from matroid_bandits.identification.best_challenger import BestChallenger
from matroid_bandits.identification.clucb import CLUCB
from matroid_bandits.identification.csar import CSAR
from matroid_bandits.identification.exact_exp_gap import ExactExpGap
from matroid_bandits.identification.frank_wolfe import FrankWolfe
from matroid_bandits.identification.lower_bound import (
    IdentificationBound,
    identification_lower_bound,
)
from matroid_bandits.identification.lucb_exchange import LUCBExchange
from matroid_bandits.identification.running import Identification, identify
from matroid_bandits.identification.uniform_sampling import UniformSampling

__all__ = [
    "CLUCB",
    "CSAR",
    "BestChallenger",
    "ExactExpGap",
    "FrankWolfe",
    "Identification",
    "IdentificationBound",
    "Knowledge",
    "LUCBExchange",
    "SamplingRule",
    "UniformSampling",
    "identification_lower_bound",
    "identify",
]
