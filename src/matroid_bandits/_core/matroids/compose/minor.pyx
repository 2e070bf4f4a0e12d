"""Minors: some elements of a matroid, after others have been taken for granted."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel


cdef class MinorKernel(MatroidKernel):
    """Element e is ``elements[e]`` of another matroid, or for -1 a loop.

    Parameters
    ----------
    inner
        A kernel of the other matroid, for this one alone.
    elements
        The element of `inner` that each element is, -1 for a loop.
    contracted
        Independent elements of `inner`, none of `elements`, that every set is thought to contain.
    completion
        Elements that complete `contracted` and a basis of this matroid, any of them, to a basis of
        `inner`.

    A basis of this matroid is prepared as the basis of the other one that it is completed to. The
    circuit of an element outside is in `inner` the same, but for contracted elements.
    """

    cdef MatroidKernel inner
    cdef const Py_ssize_t[::1] elements
    cdef const Py_ssize_t[::1] contracted
    cdef const Py_ssize_t[::1] completion
    cdef Py_ssize_t length  # of the prepared basis
    cdef Py_ssize_t[::1] completed  # the basis of `inner`
    cdef Py_ssize_t[::1] positions  # in it
    cdef Py_ssize_t[::1] order  # of greedy, in `inner`
    cdef Py_ssize_t[::1] chosen

    def __init__(
        self,
        MatroidKernel inner,
        const Py_ssize_t[::1] elements,
        const Py_ssize_t[::1] contracted,
        const Py_ssize_t[::1] completion,
    ):
        super().__init__(elements.shape[0])
        self.inner = inner
        self.quick_exchange = inner.quick_exchange
        self.is_python = inner.is_python
        self.has_circuit = inner.has_circuit
        self.elements = elements
        self.contracted = contracted
        self.completion = completion
        n = contracted.shape[0]
        self.order = np.zeros(n + self.size, dtype=np.intp)
        self.order[:n] = contracted
        self.chosen = np.zeros(n + self.size, dtype=np.intp)
        self.completed = np.zeros(0, dtype=np.intp)

    def symmetry_classes(self):
        """Clones in `inner`; loops for -1."""
        elements = np.asarray(self.elements)
        classes = np.where(elements >= 0, np.append(self.inner.symmetry_classes(), 0)[elements], -1)
        return np.unique(classes, return_inverse=True)[1].astype(np.int32)

    def is_independent(self, const Py_ssize_t[::1] elements):
        inside = np.asarray(self.elements)[np.asarray(elements)]
        if (inside < 0).any():
            return False
        return self.inner.is_independent(np.concatenate((self.contracted, inside)))

    cdef int clear(self) except -1:
        cdef Py_ssize_t i
        self.inner.clear()
        for i in range(self.contracted.shape[0]):
            self.inner.try_add(self.contracted[i])
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        element = self.elements[element]
        return self.inner.try_add(element) if element >= 0 else 0

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        """Greedy in `inner`, which may be faster than to add and to add: contracted elements, which
        are all taken, then `order`.
        """
        cdef Py_ssize_t n = self.contracted.shape[0]
        cdef Py_ssize_t place = n
        cdef Py_ssize_t taken = 0
        cdef Py_ssize_t found, i
        self.tested = 0
        if limit == 0:
            return 0
        for i in range(order.shape[0]):
            if self.elements[order[i]] >= 0:
                self.order[place] = self.elements[order[i]]
                place += 1
        found = self.inner.greedy(self.order[:place], n + limit, self.chosen)
        for i in range(order.shape[0]):
            self.tested += 1
            if n + taken < found and self.elements[order[i]] == self.chosen[n + taken]:
                chosen[taken] = order[i]
                taken += 1
                if taken == limit:
                    break
        return taken

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t d = basis.shape[0]
        cdef Py_ssize_t n = self.contracted.shape[0]
        cdef Py_ssize_t k
        if d != self.length or self.completed.shape[0] == 0:
            self.length = d
            self.completed = np.zeros(d + n + self.completion.shape[0], dtype=np.intp)
            self.completed[d : d + n] = self.contracted
            self.completed[d + n :] = self.completion
            self.positions = np.zeros(self.completed.shape[0], dtype=np.intp)
        for k in range(d):
            self.completed[k] = self.elements[basis[k]]
        self.basis = basis
        return self.inner.prepare(self.completed)

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        element = self.elements[element]
        return element >= 0 and self.inner.can_replace(position, element)

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        cdef Py_ssize_t position
        element = self.elements[element]
        if element < 0:
            return -1
        position = self.inner.partner(element)
        return position if position < self.length else -1

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t i, found
        element = self.elements[element]
        if element < 0:
            return 0
        found = self.inner.circuit(element, self.positions)
        for i in range(found):
            if self.positions[i] >= self.length:
                return i
            positions[i] = self.positions[i]
        return found
