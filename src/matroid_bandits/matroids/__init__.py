"""Matroids: what may be played. A new one is a file here and a line below."""

from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.cographic import CographicMatroid
from matroid_bandits.matroids.compose.direct_sum import DirectSumMatroid
from matroid_bandits.matroids.compose.dual import DualMatroid
from matroid_bandits.matroids.compose.minor import MinorMatroid
from matroid_bandits.matroids.compose.truncated import TruncatedMatroid
from matroid_bandits.matroids.compose.union import UnionMatroid
from matroid_bandits.matroids.gammoid import GammoidMatroid
from matroid_bandits.matroids.graphic import GraphicMatroid
from matroid_bandits.matroids.laminar import LaminarMatroid
from matroid_bandits.matroids.linear import LinearMatroid
from matroid_bandits.matroids.oracle import OracleMatroid
from matroid_bandits.matroids.partition import PartitionMatroid
from matroid_bandits.matroids.paving import PavingMatroid
from matroid_bandits.matroids.transversal import TransversalMatroid
from matroid_bandits.matroids.uniform import UniformMatroid

__all__ = [
    "CographicMatroid",
    "DirectSumMatroid",
    "DualMatroid",
    "GammoidMatroid",
    "GraphicMatroid",
    "LaminarMatroid",
    "LinearMatroid",
    "Matroid",
    "MinorMatroid",
    "OracleMatroid",
    "PartitionMatroid",
    "PavingMatroid",
    "TransversalMatroid",
    "TruncatedMatroid",
    "UniformMatroid",
    "UnionMatroid",
]
