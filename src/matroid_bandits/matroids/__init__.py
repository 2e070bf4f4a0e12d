"""What may be played. A new matroid is one file here and one line below."""

from matroid_bandits.matroids.base import Matroid
from matroid_bandits.matroids.graphic import GraphicMatroid
from matroid_bandits.matroids.linear import LinearMatroid
from matroid_bandits.matroids.oracle import OracleMatroid
from matroid_bandits.matroids.partition import PartitionMatroid
from matroid_bandits.matroids.transversal import TransversalMatroid
from matroid_bandits.matroids.uniform import UniformMatroid

__all__ = [
    "GraphicMatroid",
    "LinearMatroid",
    "Matroid",
    "OracleMatroid",
    "PartitionMatroid",
    "TransversalMatroid",
    "UniformMatroid",
]
