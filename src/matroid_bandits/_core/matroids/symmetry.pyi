import numpy as np
import numpy.typing as npt

class Representatives:
    def __init__(self, symmetry_class: npt.NDArray[np.int32]) -> None: ...
