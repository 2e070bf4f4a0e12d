import numpy as np
import numpy.typing as npt

class RewardKernel:
    size: int
    def __init__(self, size: int) -> None: ...
    def draw(
        self,
        elements: npt.ArrayLike,
        *,
        round: int | None = None,  # noqa: A002
    ) -> npt.NDArray[np.float64]: ...
    def checked(self, elements: npt.ArrayLike) -> npt.NDArray[np.intp]: ...

class Streams(RewardKernel):
    def __init__(self, seed: int, size: int, domain: int = ...) -> None: ...

class GaussianRewards(Streams):
    def __init__(
        self, seed: int, means: npt.NDArray[np.float64], stds: npt.NDArray[np.float64]
    ) -> None: ...

class BernoulliRewards(Streams):
    def __init__(self, seed: int, means: npt.NDArray[np.float64]) -> None: ...
