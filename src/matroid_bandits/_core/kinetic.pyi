from typing import Any

import numpy as np
import numpy.typing as npt

class KineticOrder:
    def __init__(
        self, class_of: npt.NDArray[np.int32], n_classes: int, has_chain_per_class: bool
    ) -> None: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...
