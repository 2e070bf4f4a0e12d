import numpy as np
import numpy.typing as npt

class RuleKernel:
    by_element: bool
    needs_pairs: bool
    def __init__(self) -> None: ...
    def answer(self) -> npt.NDArray[np.intp] | None: ...
