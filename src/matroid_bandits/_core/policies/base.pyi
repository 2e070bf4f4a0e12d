from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.policies.contract.deciding import DecidingKernel
from matroid_bandits._types import CountArray, FloatArray, IntArray

class PolicyKernel(DecidingKernel):
    def parameters(self) -> tuple[Any, ...]: ...
    def select(self) -> IntArray: ...
    def select_from(
        self,
        is_available: npt.NDArray[np.uint8] | None,
        allow_smaller: bool,
        rule: Callable[[], IntArray] | None,
    ) -> IntArray: ...
    def update(
        self,
        elements: IntArray,
        rewards: FloatArray,
        observe: Callable[[IntArray, FloatArray], None] | None = None,
    ) -> None: ...
    def begin_run(self) -> None: ...
    def copy_without_decisions(self) -> PolicyKernel: ...
    def merge(
        self,
        elements: IntArray,
        means: FloatArray,
        counts: CountArray,
        rounds: int,
        index_state: dict[str, Any],
    ) -> None: ...
    def state(self) -> dict[str, Any]: ...
    def check_cached(self, cached: Any) -> None: ...
    def restore(self, state: dict[str, Any]) -> None: ...
