from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._core.streams.random_stream import RandomStream
from matroid_bandits._types import FloatArray

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid

LARGEST_REWARD: float

class LinearKernel(PolicyKernel):
    fixed: FloatArray | None
    features: FloatArray | None
    n_features: int
    def __init__(
        self,
        matroid: Matroid,
        fixed: FloatArray | None,
        n_features: int,
        noise: float,
        prior: float,
        width: float,
        random_stream: RandomStream | None = None,
    ) -> None: ...
    def round_values(self) -> FloatArray: ...
    def offer(self, features: FloatArray, to_decide: bool) -> Any: ...
    def withdraw(self, before: Any) -> None: ...
    def accept(self) -> None: ...
    def theta(self) -> FloatArray: ...
    def covariance(self) -> FloatArray: ...
    def decided_with(self) -> list[Any]: ...
    def stacked(self, matrices: Iterable[FloatArray]) -> FloatArray: ...
    def open_rows(self) -> dict[Any, FloatArray]: ...
