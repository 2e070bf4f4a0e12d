"""The kernel that every matroid provides to the algorithms."""

import numpy as np


cdef class MatroidKernel:
    """Working state of one run on one matroid; subclasses answer the four questions."""

    def __init__(self, Py_ssize_t size):
        self.size = size

    # ---- what a subclass answers ----

    cdef int clear(self) except -1:
        """Make the growing set empty."""
        raise NotImplementedError

    cdef int try_add(self, Py_ssize_t element) except -1:
        """Add `element` to the growing set if that stays independent; return 1 if it was added."""
        raise NotImplementedError

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        """Get ready for questions of exchange with `basis`, which is kept in the order given."""
        raise NotImplementedError

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        """Whether the basis with `element` in place of its element at `position` is a basis."""
        raise NotImplementedError

    def symmetry_classes(self):
        """The class of each element, such that any two of a class may stand in for one another.

        Exchanging two elements of a class leaves the matroid as it is, so outside a basis they can
        replace the same elements. Classes are counted from 0. Where nothing is known, every element
        is a class of its own.
        """
        return np.arange(self.size, dtype=np.int32)

    # ---- built on these ----

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        """The first position in the basis that `element` can replace, or -1 if there is none."""
        cdef Py_ssize_t position
        for position in range(self.basis.shape[0]):
            if self.can_replace(position, element):
                return position
        return -1

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        """Write all positions that `element` can replace, ascending; return how many."""
        cdef Py_ssize_t position
        cdef Py_ssize_t count = 0
        for position in range(self.basis.shape[0]):
            if self.can_replace(position, element):
                positions[count] = position
                count += 1
        return count

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        """Take elements in `order` while the set stays independent, `limit` at most.

        Write those taken to `chosen`, return how many, and leave in `tested` how many were tested.
        """
        cdef Py_ssize_t taken = 0
        cdef Py_ssize_t i
        self.tested = 0
        if limit == 0:
            return 0
        self.clear()
        for i in range(order.shape[0]):
            self.tested += 1
            if self.try_add(order[i]):
                chosen[taken] = order[i]
                taken += 1
                if taken == limit:
                    break
        return taken

    # ---- the same for Python callers ----

    def is_independent(self, const Py_ssize_t[::1] elements):
        """Whether distinct `elements` can be played together."""
        cdef Py_ssize_t i
        self.clear()
        for i in range(elements.shape[0]):
            if not self.try_add(elements[i]):
                return False
        return True

    def greedy_basis(self, const Py_ssize_t[::1] order, Py_ssize_t limit):
        """Elements greedy takes from `order`, in that order, `limit` at most."""
        chosen = np.empty(min(limit, order.shape[0]), dtype=np.intp)
        return chosen[: self.greedy(order, limit, chosen)]

    def first_replaceable(self, const Py_ssize_t[::1] basis, Py_ssize_t element):
        """The first element in the order of `basis` that `element` can replace, -1 if none."""
        self.prepare(basis)
        position = self.partner(element)
        return basis[position] if position >= 0 else -1

    def replaceable(self, const Py_ssize_t[::1] basis, Py_ssize_t element):
        """The elements of `basis` that `element` can replace."""
        positions = np.empty(basis.shape[0], dtype=np.intp)
        self.prepare(basis)
        count = self.circuit(element, positions)
        return np.asarray(basis)[positions[:count]]
