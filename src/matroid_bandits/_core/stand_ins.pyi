import numpy as np
import numpy.typing as npt

class StandIns:
    def __init__(self, class_of: npt.NDArray[np.int32]) -> None: ...
