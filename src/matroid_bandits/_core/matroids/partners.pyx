"""Exchanges of many elements with one basis."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel


def find_partners(
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


def find_replacements(
    MatroidKernel kernel, const Py_ssize_t[::1] basis, const Py_ssize_t[::1] elements
):
    """For every element of `basis`, the first of `elements` that can replace it, -1 if none.

    The basis is prepared once; `elements` are outside it.
    """
    places = np.empty(basis.shape[0], dtype=np.intp)
    kernel.prepare(basis)
    kernel.first_replacements(elements, places)
    # The place -1 is the last one.
    return np.append(elements, -1)[places]


def find_circuits(
    MatroidKernel kernel, const Py_ssize_t[::1] basis, const Py_ssize_t[::1] elements
):
    """The elements of `basis` that each of `elements` can replace, one after another.

    Returns the exchanges as two arrays, in the order of `elements`, and for each of them in the
    order of `basis`: what leaves, and what comes. The basis is prepared once; `elements` are
    outside it.
    """
    cdef Py_ssize_t i, j, count
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t[::1] positions = np.empty(basis.shape[0], dtype=np.intp)
    leaving = np.empty(4 * elements.shape[0] + 16, dtype=np.intp)
    cdef Py_ssize_t[::1] leaves = leaving
    cdef Py_ssize_t[::1] counts = np.empty(elements.shape[0], dtype=np.intp)
    kernel.prepare(basis)
    for i in range(elements.shape[0]):
        count = kernel.circuit(elements[i], positions)
        counts[i] = count
        if total + count > leaves.shape[0]:
            leaving = np.concatenate([leaving, np.empty(total + count, dtype=np.intp)])
            leaves = leaving
        for j in range(count):
            leaves[total + j] = basis[positions[j]]
        total += count
    return leaving[:total].copy(), np.repeat(np.asarray(elements), np.asarray(counts))
