"""Duals: what can be left out."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.matroids.symmetry cimport Representatives


cdef class DualKernel(MatroidKernel):
    """A set is independent if a basis of another matroid avoids it.

    Parameters
    ----------
    growing, exchanging
        Two kernels of the other matroid, for this one alone. Growing a set takes questions of
        exchange, and these must not disturb those about the prepared basis.
    inner_rank
        Of the other matroid.

    Independence: a basis that avoids the growing set is kept; an element of it that is added is
    exchanged for one that is still free. Exchange: x of a basis and e outside it have changed
    sides in the other matroid, where the question is whether x can replace e.
    """

    cdef MatroidKernel growing
    cdef MatroidKernel exchanging
    cdef Py_ssize_t inner_rank
    # The growing set, and the basis that avoids it.
    cdef unsigned char[::1] is_taken
    cdef Py_ssize_t[::1] avoiding
    cdef Py_ssize_t n_avoiding  # -1 until there is one
    cdef Py_ssize_t[::1] place  # of an element in it, -1 if it is not there
    cdef bint is_prepared  # `growing`, for this basis
    # Greedy
    cdef Py_ssize_t[::1] order
    cdef Py_ssize_t[::1] chosen
    cdef unsigned char[::1] is_marked
    # The prepared basis, as what it leaves over.
    cdef Py_ssize_t[::1] others
    cdef Py_ssize_t[::1] place_among_others
    cdef Representatives representatives

    def __init__(
        self, MatroidKernel growing, MatroidKernel exchanging, Py_ssize_t inner_rank
    ):
        super().__init__(growing.size)
        self.growing = growing
        self.exchanging = exchanging
        self.quick_exchange = exchanging.quick_exchange
        self.is_python = growing.is_python
        self.inner_rank = inner_rank
        self.is_taken = np.zeros(self.size, dtype=np.uint8)
        self.avoiding = np.zeros(inner_rank, dtype=np.intp)
        self.n_avoiding = -1
        self.place = np.full(self.size, -1, dtype=np.intp)
        self.order = np.zeros(self.size, dtype=np.intp)
        self.chosen = np.zeros(inner_rank, dtype=np.intp)
        self.is_marked = np.zeros(self.size, dtype=np.uint8)
        self.others = np.zeros(self.size, dtype=np.intp)
        self.place_among_others = np.zeros(self.size, dtype=np.intp)
        self.representatives = Representatives(exchanging.symmetry_classes())

    def symmetry_classes(self):
        return self.exchanging.symmetry_classes()

    # ---- independence ----

    def is_independent(self, const Py_ssize_t[::1] elements):
        """Whether what is left over spans the other matroid."""
        left_over = np.delete(np.arange(self.size), np.asarray(elements))
        self.is_prepared = False
        return len(self.growing.greedy_basis(left_over, self.inner_rank)) == self.inner_rank

    cdef int clear(self) except -1:
        cdef Py_ssize_t k
        self.is_taken[:] = 0
        # Any basis avoids the empty set: the one that the last growing set has left will do.
        if self.n_avoiding < 0:
            k = self.growing.greedy(np.arange(self.size), self.inner_rank, self.avoiding)
            self.n_avoiding = k
            for k in range(self.n_avoiding):
                self.place[self.avoiding[k]] = k
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t k = self.place[element]
        cdef Py_ssize_t other
        if k >= 0:
            other = self.replacement(k)
            if other < 0:
                return 0
            self.avoiding[k] = other
            self.place[other] = k
            self.place[element] = -1
            self.is_prepared = False
        self.is_taken[element] = 1
        return 1

    cdef Py_ssize_t replacement(self, Py_ssize_t k) except -2:
        """An element for place k of the basis that avoids the growing set, -1 if there is none."""
        cdef Py_ssize_t e
        if not self.is_prepared:
            self.growing.prepare(self.avoiding[: self.n_avoiding])
            self.is_prepared = True
        for e in range(self.size):
            if not self.is_taken[e] and self.place[e] < 0 and self.growing.can_replace(k, e):
                return e
        return -1

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        """What the other matroid's greedy leaves over when it goes from the worst to the best.

        Elements that are not in `order` come first there, as they are not to be taken here.
        """
        cdef Py_ssize_t taken = 0
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t i, e
        self.tested = 0
        if limit == 0:
            return 0
        self.is_marked[:] = 0
        for i in range(order.shape[0]):
            self.is_marked[order[i]] = 1
            self.order[self.size - 1 - i] = order[i]
        for e in range(self.size):
            if not self.is_marked[e]:
                self.order[place] = e
                place += 1
        self.is_prepared = False
        place = self.growing.greedy(self.order, self.inner_rank, self.chosen)
        for i in range(place):
            self.is_marked[self.chosen[i]] = 0
        for i in range(order.shape[0]):
            self.tested += 1
            if self.is_marked[order[i]]:
                chosen[taken] = order[i]
                taken += 1
                if taken == limit:
                    break
        return taken

    # ---- exchange ----

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t e
        self.basis = basis
        self.representatives.prepare(basis)
        for e in range(self.size):
            if not self.representatives.is_inside[e]:
                self.others[n] = e
                self.place_among_others[e] = n
                n += 1
        return self.exchanging.prepare(self.others[:n])

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        element = self.representatives.outside_for(element)
        return self.exchanging.can_replace(
            self.place_among_others[element], self.basis[position]
        )
