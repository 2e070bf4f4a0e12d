"""The interface of matroid kernels."""

import numpy as np


cdef class MatroidKernel:
    """Working state of one run on one matroid.

    A subclass implements `clear`, `try_add`, `prepare` and `can_replace`; the rest is built on
    these four.
    """

    def __init__(self, Py_ssize_t size):
        self.size = size
        self.n_kernels = 1

    # ---- what a subclass implements ----

    cdef int clear(self) except -1:
        """Make the growing set empty."""
        raise NotImplementedError

    cdef int try_add(self, Py_ssize_t element) except -1:
        """Add `element` to the growing set if that stays independent; return 1 if it was added."""
        raise NotImplementedError

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        """Prepare for exchanges with `basis`, whose order is kept."""
        raise NotImplementedError

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        """Whether the basis with `element` in place of its element at `position` is a basis."""
        raise NotImplementedError

    cdef object find_symmetry_classes(self):
        """The symmetry classes that the structure shows; by default each element is its own."""
        return np.arange(self.size, dtype=np.int32)

    def remember(self):
        """Keep answers of an oracle in Python, for a computation that asks the same many times. Not
        for a policy, which counts its calls.
        """

    # ---- built on these ----

    def symmetry_classes(self):
        """The symmetry class of each element, counted from 0.

        Exchanging two elements of a class leaves the matroid as it is. Outside a basis they can
        therefore replace the same elements.
        """
        if self.symmetry_class is None:
            self.symmetry_class = self.find_symmetry_classes()
        return self.symmetry_class

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        """The first position in the basis that `element` can replace, or -1 if there is none."""
        cdef Py_ssize_t position
        for position in range(self.basis.shape[0]):
            if self.can_replace(position, element):
                return position
        return -1

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        """Write all positions that `element` can replace, ascending; return their number."""
        cdef Py_ssize_t position
        cdef Py_ssize_t count = 0
        for position in range(self.basis.shape[0]):
            if self.can_replace(position, element):
                positions[count] = position
                count += 1
        return count

    cdef Py_ssize_t circuit_in_any_order(
        self, Py_ssize_t element, Py_ssize_t *positions
    ) noexcept:
        """Write all positions that `element` can replace; return their number. For kernels that
        list circuits.
        """
        return 0

    cdef Py_ssize_t first_replaceable_of(
        self, const Py_ssize_t[::1] positions, Py_ssize_t element
    ) except -2:
        """The first of `positions` that `element` can replace, or -1."""
        cdef Py_ssize_t i
        for i in range(positions.shape[0]):
            if self.can_replace(positions[i], element):
                return positions[i]
        return -1

    cdef int first_replacements(
        self, const Py_ssize_t[::1] elements, Py_ssize_t[::1] found
    ) except -1:
        """For every position, write the place in `elements` of the first that can replace the
        element there, -1 if there is none.
        """
        cdef Py_ssize_t missing = found.shape[0]
        cdef Py_ssize_t[::1] positions = np.empty(missing, dtype=np.intp)
        cdef Py_ssize_t i, j
        found[:] = -1
        for i in range(elements.shape[0]):
            if missing == 0:
                break
            for j in range(self.circuit(elements[i], positions)):
                if found[positions[j]] < 0:
                    found[positions[j]] = i
                    missing -= 1
        return 0

    cdef int mark_leaving(self, const Py_ssize_t[::1] positions) except -1:
        """Prepare `can_replace_leaving` for these positions."""
        self.leaving = positions
        return 0

    cdef bint can_replace_leaving(self, Py_ssize_t element) except -1:
        """Whether `element` can replace any of the marked positions."""
        cdef Py_ssize_t i
        for i in range(self.leaving.shape[0]):
            if self.can_replace(self.leaving[i], element):
                return True
        return False

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        """Take elements in `order` while the set stays independent, at most `limit`.

        Write them to `chosen` and return their number. `tested` is the number of elements tested.
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

    cdef Py_ssize_t take_marked(
        self,
        const Py_ssize_t[::1] order,
        Py_ssize_t limit,
        const unsigned char[::1] is_marked,
        Py_ssize_t[::1] chosen,
    ) noexcept:
        """Write the first `limit` marked elements of `order` to `chosen`; return their number."""
        cdef Py_ssize_t taken = 0
        cdef Py_ssize_t i
        self.tested = 0
        if limit == 0:
            return 0
        for i in range(order.shape[0]):
            self.tested += 1
            if is_marked[order[i]]:
                chosen[taken] = order[i]
                taken += 1
                if taken == limit:
                    break
        return taken

    # ---- the same for Python callers ----

    def is_independent(self, const Py_ssize_t[::1] elements):
        """Whether the set of distinct `elements` is independent."""
        cdef Py_ssize_t i
        self.clear()
        for i in range(elements.shape[0]):
            if not self.try_add(elements[i]):
                return False
        return True

    def greedy_basis(self, const Py_ssize_t[::1] order, Py_ssize_t limit):
        """The elements that greedy takes from `order`, in that order, at most `limit`."""
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
