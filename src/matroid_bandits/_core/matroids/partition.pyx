"""Partition matroids, and uniform ones as a single group."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel


cdef class PartitionKernel(MatroidKernel):
    """At most ``capacities[g]`` elements of group ``g``. Every test is O(1)."""

    cdef const Py_ssize_t[::1] groups
    cdef const Py_ssize_t[::1] capacities
    cdef Py_ssize_t[::1] used
    cdef Py_ssize_t[::1] first  # first position in the basis of each group, -1 if none

    def __init__(self, const Py_ssize_t[::1] groups, const Py_ssize_t[::1] capacities):
        super().__init__(groups.shape[0])
        self.quick_exchange = True
        self.groups = groups
        self.capacities = capacities
        self.used = np.zeros(capacities.shape[0], dtype=np.intp)
        self.first = np.empty(capacities.shape[0], dtype=np.intp)

    cdef object find_symmetry_classes(self):
        return np.asarray(self.groups).astype(np.int32)

    cdef int clear(self) except -1:
        self.used[:] = 0
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t group = self.groups[element]
        if self.used[group] == self.capacities[group]:
            return 0
        self.used[group] += 1
        return 1

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t position
        self.basis = basis
        self.first[:] = -1
        for position in range(basis.shape[0] - 1, -1, -1):
            self.first[self.groups[basis[position]]] = position
        return 0

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        # The group of an element outside a basis is full. The circuit is the basis within it.
        return self.groups[self.basis[position]] == self.groups[element]

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        return self.first[self.groups[element]]
