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

def bases_of(
    matroid: Matroid, caller: str, advice: str, *, with_neighbors: bool = False
) -> tuple[npt.NDArray[np.intp], int]: ...
def circuits_of(matroid: Matroid, caller: str, advice: str) -> list[npt.NDArray[np.intp]]: ...
