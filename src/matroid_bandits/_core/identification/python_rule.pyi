from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.identification.learner import Learner
from matroid_bandits._core.identification.rule import RuleKernel

class PythonRule(RuleKernel):
    def __init__(self, ask: Callable[[Learner], npt.NDArray[np.intp]]) -> None: ...
