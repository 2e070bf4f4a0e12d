import numpy as np
import numpy.typing as npt

class InitialRounds:
    def __init__(
        self,
        symmetry_class: npt.NDArray[np.int32],
        n_classes: int,
        playable: npt.NDArray[np.intp],
        counts: npt.NDArray[np.int64],
    ) -> None: ...
