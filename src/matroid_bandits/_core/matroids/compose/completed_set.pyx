"""Independent sets that are not bases, by means of a basis that contains them."""

import numpy as np

from matroid_bandits.errors import MatroidAxiomError

cdef enum:
    UNKNOWN = 0
    MEMBER = 1
    FREE = 2  # can be added to the set
    SPANNED = 3


cdef class CompletedSet:
    """Completes a set to a basis of the matroid of `kernel`, which no one else prepares meanwhile.

    In this basis the elements that complete the set come first. An element can be added to the set
    if it is one of these, or if the first element it can replace is one of these. Otherwise its
    circuit lies in the set.
    """

    def __init__(self, MatroidKernel kernel, Py_ssize_t rank):
        self.kernel = kernel
        self.rank = rank
        self.basis = np.zeros(rank, dtype=np.intp)
        self.order = np.zeros(kernel.size, dtype=np.intp)
        self.chosen = np.zeros(rank, dtype=np.intp)
        self.positions = np.zeros(rank, dtype=np.intp)
        self.status = np.zeros(kernel.size, dtype=np.uint8)

    cdef int complete(self, const Py_ssize_t[::1] members) except -1:
        """Prepare for the independent set of `members`, whose order is kept."""
        cdef Py_ssize_t n = members.shape[0]
        cdef Py_ssize_t place = n
        cdef Py_ssize_t taken, k, e
        cdef bint all_taken
        self.status[:] = UNKNOWN
        for k in range(n):
            self.order[k] = members[k]
            self.status[members[k]] = MEMBER
        for e in range(self.kernel.size):
            if self.status[e] == UNKNOWN:
                self.order[place] = e
                place += 1
        taken = self.kernel.greedy(self.order, self.rank, self.chosen)
        all_taken = taken >= n
        for k in range(n):
            all_taken = all_taken and self.chosen[k] == members[k]
        if not all_taken:
            raise MatroidAxiomError(
                f"not a matroid: {np.sort(members).tolist()} was found independent, and is "
                "dependent when its elements are added one by one; correct the independence test"
            )
        self.length = n
        self.added = taken - n
        for k in range(self.added):
            self.basis[k] = self.chosen[n + k]
            self.status[self.basis[k]] = FREE
        for k in range(n):
            self.basis[self.added + k] = members[k]
        return self.kernel.prepare(self.basis[:taken])

    cdef Py_ssize_t member(self, Py_ssize_t position) noexcept:
        return self.basis[self.added + position]

    cdef bint can_add(self, Py_ssize_t element) except -1:
        """Whether the set with `element`, which is outside it, is independent."""
        cdef Py_ssize_t position
        if self.status[element] == UNKNOWN:
            position = self.kernel.partner(element)
            self.status[element] = FREE if 0 <= position < self.added else SPANNED
        return self.status[element] == FREE

    # ---- elements that cannot be added ----

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        return self.kernel.can_replace(self.added + position, element)

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        cdef Py_ssize_t position = self.kernel.partner(element)
        return position - self.added if position >= self.added else -1

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        """Write all positions that `element` can replace, ascending; return their number."""
        cdef Py_ssize_t found = self.kernel.circuit(element, self.positions)
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t i
        for i in range(found):
            # Others occur only if the independence test is wrong.
            if self.positions[i] >= self.added:
                positions[count] = self.positions[i] - self.added
                count += 1
        return count
