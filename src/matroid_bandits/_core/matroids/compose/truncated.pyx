"""Truncations: the independent sets of a matroid up to some size."""

from matroid_bandits._core.matroids.compose.completed_set cimport CompletedSet
from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.matroids.symmetry cimport Representatives


cdef class TruncatedKernel(MatroidKernel):
    """Independent sets of `inner` with at most `rank` elements.

    Exchange: a basis is an independent set of `inner`. An element that could be added to it there
    can replace every element of it; any other element has the same circuit as in `inner`.
    """

    cdef MatroidKernel inner
    cdef Py_ssize_t rank
    cdef Py_ssize_t grown
    cdef CompletedSet completed
    cdef Representatives representatives  # None until a basis is prepared

    def __init__(self, MatroidKernel inner, Py_ssize_t inner_rank, Py_ssize_t rank):
        super().__init__(inner.size)
        self.inner = inner
        self.n_kernels = 1 + inner.n_kernels
        self.is_python = inner.is_python
        self.grows_slowly = inner.grows_slowly
        self.has_circuit = inner.has_circuit
        self.rank = rank
        self.completed = CompletedSet(inner, inner_rank)

    def remember(self):
        self.inner.remember()

    cdef object find_symmetry_classes(self):
        return self.inner.symmetry_classes()

    def is_independent(self, const Py_ssize_t[::1] elements):
        return elements.shape[0] <= self.rank and self.inner.is_independent(elements)

    cdef int clear(self) except -1:
        self.grown = 0
        return self.inner.clear()

    cdef int try_add(self, Py_ssize_t element) except -1:
        if self.grown == self.rank or not self.inner.try_add(element):
            return 0
        self.grown += 1
        return 1

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        cdef Py_ssize_t taken = self.inner.greedy(order, min(limit, self.rank), chosen)
        # A caller that wants more than the rank tests all elements.
        self.tested = self.inner.tested if limit <= self.rank else order.shape[0]
        return taken

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        if self.representatives is None:
            self.representatives = Representatives(self.symmetry_classes())
        self.basis = basis
        self.representatives.prepare(basis)
        return self.completed.complete(basis)

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        element = self.representatives.outside_for(element)
        return self.completed.can_add(element) or self.completed.can_replace(position, element)

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        element = self.representatives.outside_for(element)
        if self.completed.can_add(element):
            return 0 if self.basis.shape[0] > 0 else -1
        return self.completed.partner(element)

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t k
        element = self.representatives.outside_for(element)
        if not self.completed.can_add(element):
            return self.completed.circuit(element, positions)
        for k in range(self.basis.shape[0]):
            positions[k] = k
        return self.basis.shape[0]
