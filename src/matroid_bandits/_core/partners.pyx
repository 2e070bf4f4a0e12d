"""For many elements at once: the first element of a basis that each of them can replace."""

import numpy as np

from matroid_bandits._core.matroid cimport MatroidKernel


def partners_of(
    MatroidKernel kernel, const Py_ssize_t[::1] basis, const Py_ssize_t[::1] elements
):
    """The first element in the order of `basis` that each of `elements` can replace, -1 if none.

    The basis is prepared once; `elements` are outside it.
    """
    cdef Py_ssize_t i, position
    cdef Py_ssize_t[::1] found = np.empty(elements.shape[0], dtype=np.intp)
    kernel.prepare(basis)
    for i in range(elements.shape[0]):
        position = kernel.partner(elements[i])
        found[i] = basis[position] if position >= 0 else -1
    return np.asarray(found)
