from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.indices.base import IndexKernel
from matroid_bandits._core.policies.decisions import DecisionTable
from matroid_bandits._core.policies.round import RoundKernel
from matroid_bandits._types import CountArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

class PolicyKernel(RoundKernel):
    decisions: DecisionTable
    is_selected: bool
    selection: str | int | None
    def __init__(
        self,
        matroid: Matroid,
        index: IndexKernel | None = None,
        min_count: int = 1,
        counts_pending: bool = False,
    ) -> None: ...
    def parameters(self) -> tuple[Any, ...]: ...
    def select(
        self,
        is_available: npt.NDArray[np.uint8] | None = None,
        allow_smaller: bool = False,
        rule: Callable[[], IntArray] | None = None,
    ) -> IntArray: ...
    def peek(self, rule: Callable[[], IntArray] | None = None) -> IntArray: ...
    def update(
        self,
        elements: IntArray,
        rewards: FloatArray,
        observe: Callable[[IntArray, FloatArray], None] | None = None,
    ) -> None: ...
    def begin_run(self) -> None: ...
    def outcome(self) -> dict[str, Any]: ...
    def adopt(self, outcome: dict[str, Any]) -> None: ...
    def index_values(self) -> FloatArray: ...
    def round_values(self) -> FloatArray: ...
    def free_id(self) -> int: ...
    def open(
        self,
        identifier: str | int | None = None,
        is_available: npt.NDArray[np.uint8] | None = None,
        allow_smaller: bool = False,
        rule: Callable[[], IntArray] | None = None,
    ) -> tuple[str | int, int, IntArray]: ...
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
    def pending_copy(self) -> CountArray: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...
