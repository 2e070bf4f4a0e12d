from typing import Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel
from matroid_bandits.matroids import Matroid

class Leader:
    exists: bool
    def __init__(
        self,
        matroid: Matroid,
        oracle: MatroidKernel,
        symmetry_class: npt.NDArray[np.int32],
        n_classes: int,
        rank: int,
        n_outside: int,
        means: npt.NDArray[np.float64],
        inverse_root: npt.NDArray[np.float64],
        counts: npt.NDArray[np.int64],
        scale: float,
    ) -> None: ...
    def elements(self) -> npt.NDArray[np.intp]: ...
    def key(self) -> bytes | None: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any], playable: npt.NDArray[np.intp]) -> None: ...
    def return_to(self, state: dict[str, Any]) -> None: ...

class PublishedLeader(Leader): ...
