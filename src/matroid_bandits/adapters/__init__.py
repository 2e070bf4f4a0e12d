"""Problems from graphs, sparse matrices, data frames and matroids of SageMath; ways to Gymnasium,
and to programs written for MABWiser.

None of these libraries is imported here: a caller that has such an object has imported its library.
"""

from matroid_bandits.adapters.dataframe import from_dataframe
from matroid_bandits.adapters.gymnasium import to_gymnasium
from matroid_bandits.adapters.mabwiser import FitPredict
from matroid_bandits.adapters.networkx import from_networkx
from matroid_bandits.adapters.sage import from_sage, to_sage
from matroid_bandits.adapters.scipy_sparse import from_scipy_sparse

__all__ = [
    "FitPredict",
    "from_dataframe",
    "from_networkx",
    "from_sage",
    "from_scipy_sparse",
    "to_gymnasium",
    "to_sage",
]
