import numpy as np
import numpy.typing as npt

class Forest:
    def __init__(
        self,
        n_vertices: int,
        tails: npt.NDArray[np.intp],
        heads: npt.NDArray[np.intp],
        symmetry_class: npt.NDArray[np.int32],
    ) -> None: ...
