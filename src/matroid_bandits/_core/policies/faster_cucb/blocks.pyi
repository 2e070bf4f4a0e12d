import numpy as np
import numpy.typing as npt

class Blocks:
    def __init__(self, symmetry_class: npt.NDArray[np.int32], n_classes: int) -> None: ...
