import numpy as np
import numpy.typing as npt

from matroid_bandits._core.matroids.base import MatroidKernel

class Learner:
    size: int
    rank: int
    n_elements: int
    n_unobserved: int
    rounds: int
    is_bernoulli: bool
    noise: float
    eps: float
    delta: float
    has_basis: bool
    n_outside: int
    n_pairs: int
    statistic: float
    margin: float
    hardest_inside: int
    hardest_outside: int
    is_proven: bool
    base_level: float
    def __init__(
        self,
        exchanges: MatroidKernel,
        player: MatroidKernel,
        rank: int,
        is_loop: npt.NDArray[np.bool_],
        *,
        is_bernoulli: bool,
        noise: float,
        eps: float,
        delta: float,
        is_proven: bool,
        base_level: float,
    ) -> None: ...
    def counts_copy(self) -> npt.NDArray[np.int64]: ...
    def means_copy(self) -> npt.NDArray[np.float64]: ...
    def basis_copy(self) -> npt.NDArray[np.intp]: ...
    def threshold(self) -> float: ...
    def pairs_copy(
        self,
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.float64]]: ...
