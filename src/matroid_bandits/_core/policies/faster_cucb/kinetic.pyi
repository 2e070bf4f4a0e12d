from typing import Any

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.policies.faster_cucb.blocks import Blocks

class KineticOrder(Blocks):
    def __init__(
        self, symmetry_class: npt.NDArray[np.int32], n_classes: int, has_chain_per_class: bool
    ) -> None: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...
