from typing import Any

import numpy as np
import numpy.typing as npt

def mask_of(
    available: Any, size: int, number: dict[Any, int] | None = None
) -> npt.NDArray[np.uint8] | None: ...
