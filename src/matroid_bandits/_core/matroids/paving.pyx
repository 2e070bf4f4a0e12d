"""Paving matroids: sets below the rank are independent, sets of that size unless coplanar."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel

from matroid_bandits.errors import not_a_basis


cdef class PavingKernel(MatroidKernel):
    """Element e is in the hyperplanes ``planes[start[e]:start[e + 1]]``.

    A set of ``rank`` elements is dependent if it lies in one of them; a larger set is always
    dependent. A test costs O(hyperplanes of the element).

    Exchange: an element can replace every element of the basis, with one exception. If a hyperplane
    of the element contains all of the basis but x, the element cannot replace x.
    """

    cdef Py_ssize_t rank
    cdef const Py_ssize_t[::1] start
    cdef const Py_ssize_t[::1] planes
    # The growing set: its elements, in all and by hyperplane.
    cdef Py_ssize_t length
    cdef Py_ssize_t[::1] used
    # For each hyperplane: how many elements of the basis are not in it, and the sum of their
    # positions, which for a single element is its position.
    cdef Py_ssize_t[::1] missing
    cdef Py_ssize_t[::1] missing_at
    cdef Py_ssize_t[::1] barred  # by position: stamp of the last element that cannot take it
    cdef Py_ssize_t stamp

    def __init__(
        self,
        Py_ssize_t rank,
        Py_ssize_t n_planes,
        const Py_ssize_t[::1] start,
        const Py_ssize_t[::1] planes,
    ):
        super().__init__(start.shape[0] - 1)
        self.quick_exchange = True
        self.rank = rank
        self.start = start
        self.planes = planes
        self.used = np.zeros(n_planes, dtype=np.intp)
        self.missing = np.empty(n_planes, dtype=np.intp)
        self.missing_at = np.empty(n_planes, dtype=np.intp)
        self.barred = np.zeros(rank, dtype=np.intp)

    cdef object find_symmetry_classes(self):
        """Elements of the same hyperplanes."""
        planes = np.asarray(self.planes)
        start = np.asarray(self.start).tolist()
        classes = {}
        return np.array(
            [
                classes.setdefault(planes[start[e] : start[e + 1]].tobytes(), len(classes))
                for e in range(self.size)
            ],
            dtype=np.int32,
        )

    cdef int clear(self) except -1:
        self.length = 0
        self.used[:] = 0
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t i
        if self.length == self.rank:
            return 0
        if self.length == self.rank - 1:
            for i in range(self.start[element], self.start[element + 1]):
                if self.used[self.planes[i]] == self.length:
                    return 0
        for i in range(self.start[element], self.start[element + 1]):
            self.used[self.planes[i]] += 1
        self.length += 1
        return 1

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t position, i
        if basis.shape[0] != self.rank:
            raise not_a_basis(basis, self.rank)
        self.basis = basis
        self.missing[:] = self.rank
        self.missing_at[:] = self.rank * (self.rank - 1) // 2
        for position in range(basis.shape[0]):
            for i in range(self.start[basis[position]], self.start[basis[position] + 1]):
                self.missing[self.planes[i]] -= 1
                self.missing_at[self.planes[i]] -= position
        return 0

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        cdef Py_ssize_t i
        for i in range(self.start[element], self.start[element + 1]):
            if self.missing[self.planes[i]] == 1 and self.missing_at[self.planes[i]] == position:
                return False
        return True

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        cdef Py_ssize_t position
        self.bar(element)
        for position in range(self.basis.shape[0]):
            if self.barred[position] != self.stamp:
                return position
        return -1

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t position
        self.bar(element)
        for position in range(self.basis.shape[0]):
            if self.barred[position] != self.stamp:
                positions[count] = position
                count += 1
        return count

    cdef void bar(self, Py_ssize_t element) noexcept:
        """Mark the positions that `element` cannot take."""
        cdef Py_ssize_t i
        self.stamp += 1
        for i in range(self.start[element], self.start[element + 1]):
            if self.missing[self.planes[i]] == 1:
                self.barred[self.missing_at[self.planes[i]]] = self.stamp
