"""The number of bases of a matroid, for tables, where it takes little time."""

from math import comb, prod

from matroid_bandits.matroids import DirectSumMatroid, DualMatroid, Matroid

__all__ = ["quick_n_bases"]

# With more elements even a formula takes its time.
_MOST_ELEMENTS = 1000

# Bases are listed if there are no more sets of their size than this, which takes less than half a
# second; oracle calls of a matroid written in Python may take long.
_MOST_SETS = 20_000
_MOST_SETS_IN_PYTHON = 1000


def quick_n_bases(matroid: Matroid) -> int | None:
    """The number of bases; None where it would take long to find out.

    By a formula where there is one, else from a list, if it must be short.
    """
    if matroid.size > _MOST_ELEMENTS:
        return None
    try:
        return _counted(matroid)
    except ValueError:
        # It violates the axioms; the study runs all the same.
        return None


def _counted(matroid: Matroid) -> int | None:
    # Of these, the parts are counted, by a formula or a list.
    if type(matroid) is DirectSumMatroid:
        counts = [_counted(part) for part in matroid.parts]
        known = [count for count in counts if count is not None]
        return prod(known) if len(known) == len(counts) else None
    if type(matroid) is DualMatroid:
        return _counted(matroid.matroid)
    has_formula = matroid._class_for("_n_bases")._n_bases is not Matroid._n_bases
    most = _MOST_SETS_IN_PYTHON if matroid._new_kernel().is_python else _MOST_SETS
    if has_formula or comb(matroid.size, matroid.rank) <= most:
        return matroid.n_bases()
    return None
