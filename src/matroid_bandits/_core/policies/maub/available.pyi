from matroid_bandits._types import CountArray, FloatArray, IntArray
from matroid_bandits.matroids import Matroid

class AvailableLeader:
    def __init__(
        self,
        matroid: Matroid,
        symmetry_class: CountArray,
        n_classes: int,
        rank: int,
        means: FloatArray,
        inverse_root: FloatArray,
    ) -> None: ...
    def lead_again(self, members: IntArray) -> None: ...
    def elements(self) -> IntArray: ...
