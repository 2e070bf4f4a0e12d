"""Problems from what people have: graphs, sparse matrices, data frames, matroids of SageMath.

None of the libraries is imported here: whoever has such an object has its library.
"""

from matroid_bandits.adapters.dataframe import from_dataframe
from matroid_bandits.adapters.networkx import from_networkx
from matroid_bandits.adapters.sage import from_sage, to_sage
from matroid_bandits.adapters.scipy_sparse import from_scipy_sparse

__all__ = [
    "from_dataframe",
    "from_networkx",
    "from_sage",
    "from_scipy_sparse",
    "to_sage",
]
