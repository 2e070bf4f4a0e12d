from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class Sets:
    size: int
    rank: int
    count: int
    def __init__(self, size: int, rank: int) -> None: ...

def bases_of(matroid: Matroid) -> tuple[npt.NDArray[np.intp], int]: ...
