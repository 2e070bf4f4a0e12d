from typing import TYPE_CHECKING

from matroid_bandits._core.matroids.base import MatroidKernel

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class PythonKernel(MatroidKernel):
    def __init__(self, matroid: Matroid, *, has_greedy: bool, has_circuit: bool) -> None: ...
