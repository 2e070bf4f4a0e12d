"""Laminar matroids: capacities on sets that are nested or disjoint."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel


cdef class LaminarKernel(MatroidKernel):
    """At most ``capacities[s]`` elements of set s, the sets inside it included.

    Sets are numbered in depth-first order, outer sets first, so that those inside s are
    ``s + 1 .. ends[s] - 1``. Set 0 contains every element and is full only if all are taken; thanks
    to it every set has a set around it.

    Independence: one step per set that contains the element. Exchange: the circuit of an element is
    the basis within the innermost full set that contains it, O(1) per test.
    """

    cdef const Py_ssize_t[::1] homes  # the innermost set of an element
    cdef const Py_ssize_t[::1] parents
    cdef const Py_ssize_t[::1] ends
    cdef const Py_ssize_t[::1] capacities
    cdef Py_ssize_t[::1] used
    # For each set: its elements in the basis, their first position, the innermost full set.
    cdef Py_ssize_t[::1] taken
    cdef Py_ssize_t[::1] first
    cdef Py_ssize_t[::1] full
    cdef Py_ssize_t[::1] home_at  # the innermost set of the element at a position

    def __init__(
        self,
        const Py_ssize_t[::1] homes,
        const Py_ssize_t[::1] parents,
        const Py_ssize_t[::1] ends,
        const Py_ssize_t[::1] capacities,
    ):
        super().__init__(homes.shape[0])
        self.quick_exchange = True
        self.homes = homes
        self.parents = parents
        self.ends = ends
        self.capacities = capacities
        self.used = np.zeros(capacities.shape[0], dtype=np.intp)
        self.taken = np.empty(capacities.shape[0], dtype=np.intp)
        self.first = np.empty(capacities.shape[0], dtype=np.intp)
        self.full = np.empty(capacities.shape[0], dtype=np.intp)
        self.home_at = np.empty(homes.shape[0], dtype=np.intp)

    cdef object find_symmetry_classes(self):
        """Elements in the same sets."""
        return np.unique(np.asarray(self.homes), return_inverse=True)[1].astype(np.int32)

    cdef int clear(self) except -1:
        self.used[:] = 0
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t s = self.homes[element]
        while s > 0:
            if self.used[s] == self.capacities[s]:
                return 0
            s = self.parents[s]
        s = self.homes[element]
        while s > 0:
            self.used[s] += 1
            s = self.parents[s]
        return 1

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t position, s, outer
        self.basis = basis
        self.taken[:] = 0
        self.first[:] = -1
        for position in range(basis.shape[0] - 1, -1, -1):
            s = self.homes[basis[position]]
            self.home_at[position] = s
            self.taken[s] += 1
            self.first[s] = position
        for s in range(self.parents.shape[0] - 1, 0, -1):
            outer = self.parents[s]
            self.taken[outer] += self.taken[s]
            if self.first[s] >= 0 and (
                self.first[outer] < 0 or self.first[s] < self.first[outer]
            ):
                self.first[outer] = self.first[s]
        self.full[0] = 0
        for s in range(1, self.parents.shape[0]):
            if self.taken[s] == self.capacities[s]:
                self.full[s] = s
            else:
                self.full[s] = self.full[self.parents[s]]
        return 0

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        cdef Py_ssize_t s = self.full[self.homes[element]]
        return s <= self.home_at[position] < self.ends[s]

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        return self.first[self.full[self.homes[element]]]
