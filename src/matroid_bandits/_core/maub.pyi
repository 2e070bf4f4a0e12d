import numpy as np
import numpy.typing as npt

from matroid_bandits._core.policy import PolicyKernel

class MAUBKernel(PolicyKernel):
    def leader_copy(self) -> npt.NDArray[np.intp] | None: ...
