import numpy as np
import numpy.typing as npt

from matroid_bandits._core.identification.rule import RuleKernel

class EliminatingRule(RuleKernel):
    def gaps(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]: ...

class CSARKernel(EliminatingRule):
    budget: int
    def __init__(self, budget: int) -> None: ...

class ExactExpGapKernel(EliminatingRule): ...
