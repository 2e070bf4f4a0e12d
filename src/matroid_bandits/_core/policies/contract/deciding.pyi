from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.policies.contract.choosing import ChoosingKernel
from matroid_bandits._core.policies.contract.decisions import DecisionTable
from matroid_bandits._types import CountArray, FloatArray, IntArray

class DecidingKernel(ChoosingKernel):
    decisions: DecisionTable
    selection: str | int | None
    def free_id(self) -> int: ...
    def open(
        self,
        identifier: str | int | None = None,
        is_available: npt.NDArray[np.uint8] | None = None,
        allow_smaller: bool = False,
        rule: Callable[[], IntArray] | None = None,
        shown: IntArray | None = None,
        n_draws: int = 0,
    ) -> tuple[str | int, int, IntArray, FloatArray | None]: ...
    def learn_decision(
        self,
        identifier: str | int,
        elements: IntArray | None,
        rewards: FloatArray,
        final: bool = False,
        observe: Callable[[IntArray, FloatArray], None] | None = None,
    ) -> None: ...
    def expire(
        self,
        identifiers: list[str | int],
        reward: float | None = None,
        observe: Callable[[IntArray, FloatArray], None] | None = None,
    ) -> None: ...
    def random_position(self) -> int | None: ...
    def set_random_position(self, position: int) -> None: ...
    def pending_copy(self) -> CountArray: ...
