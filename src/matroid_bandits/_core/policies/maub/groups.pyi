import numpy as np
import numpy.typing as npt

class Groups:
    def __init__(
        self,
        symmetry_class: npt.NDArray[np.int32],
        n_classes: int,
        rank: int,
        means: npt.NDArray[np.float64],
        inverse_root: npt.NDArray[np.float64],
        counts: npt.NDArray[np.int64],
        scale: float,
    ) -> None: ...
