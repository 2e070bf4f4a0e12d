"""Compiled kernels. Private: the public classes are in the packages above."""

try:
    from matroid_bandits._core.matroids import base as _base  # noqa: F401
except ImportError as error:
    raise ImportError(
        "the compiled kernels of matroid_bandits are missing or were built for another Python. "
        "Install the package with 'pip install .' (in a checkout: 'make dev'), which needs a C "
        f"compiler; then import it from there. The import said: {error}"
    ) from error
