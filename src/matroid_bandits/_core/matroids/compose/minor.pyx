"""Minors: some elements of a matroid, after others have been contracted."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel


cdef class MinorKernel(MatroidKernel):
    """Element e is ``elements[e]`` of another matroid, `inner`; -1 makes it a loop.

    Parameters
    ----------
    inner
        A kernel of the other matroid, used by this kernel alone.
    elements
        For each element, the element of `inner`; -1 for a loop.
    contracted
        Independent elements of `inner`, none of `elements`. A set is independent here if its union
        with them is independent in `inner`.
    completion
        Elements that complete `contracted` and a basis of this matroid, whichever it is, to a basis
        of `inner`.

    To prepare a basis of this matroid, the basis of `inner` is prepared that it is completed to.
    The circuit of an element is its circuit in `inner` without the contracted elements.
    """

    cdef MatroidKernel inner
    cdef const Py_ssize_t[::1] elements
    cdef const Py_ssize_t[::1] contracted
    cdef const Py_ssize_t[::1] completion
    cdef Py_ssize_t length  # of the prepared basis
    cdef Py_ssize_t[::1] completed  # the basis of `inner`
    cdef Py_ssize_t[::1] positions  # in it
    # Greedy, in `inner`
    cdef Py_ssize_t[::1] number  # by element of `inner`: the element here, -1 if there is none
    cdef Py_ssize_t[::1] order
    cdef Py_ssize_t[::1] chosen
    cdef unsigned char[::1] is_marked  # by element here

    def __init__(
        self,
        MatroidKernel inner,
        const Py_ssize_t[::1] elements,
        const Py_ssize_t[::1] contracted,
        const Py_ssize_t[::1] completion,
    ):
        super().__init__(elements.shape[0])
        self.inner = inner
        self.n_kernels = 1 + inner.n_kernels
        self.quick_exchange = inner.quick_exchange
        self.is_python = inner.is_python
        self.grows_slowly = inner.grows_slowly
        self.has_circuit = inner.has_circuit
        self.elements = elements
        self.contracted = contracted
        self.completion = completion
        n = contracted.shape[0]
        self.order = np.zeros(n + self.size, dtype=np.intp)
        self.order[:n] = contracted
        self.chosen = np.zeros(n + self.size, dtype=np.intp)
        self.is_marked = np.zeros(self.size, dtype=np.uint8)
        number = np.full(inner.size + 1, -1, dtype=np.intp)  # the last one for -1
        number[elements] = np.arange(self.size)
        self.number = number[:-1]
        self.completed = np.zeros(0, dtype=np.intp)

    def complete_by(self, const Py_ssize_t[::1] completion):
        """From the next `prepare` on, complete bases by these elements."""
        self.completion = completion
        self.completed = np.zeros(0, dtype=np.intp)

    def remember(self):
        self.inner.remember()

    cdef object find_symmetry_classes(self):
        """Elements that are symmetric in `inner`; all loops by -1 are symmetric."""
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
        """Greedy in `inner`, which may have a faster way than one element after another. The
        contracted elements come first and are all taken.
        """
        cdef Py_ssize_t n = self.contracted.shape[0]
        cdef Py_ssize_t place = n
        cdef Py_ssize_t taken, i
        self.tested = 0
        if limit == 0:
            return 0
        for i in range(order.shape[0]):
            if self.elements[order[i]] >= 0:
                self.order[place] = self.elements[order[i]]
                place += 1
        taken = self.inner.greedy(self.order[:place], n + limit, self.chosen)
        self.is_marked[:] = 0
        for i in range(n, taken):
            if self.number[self.chosen[i]] >= 0:
                self.is_marked[self.number[self.chosen[i]]] = 1
        return self.take_marked(order, limit, self.is_marked, chosen)

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
            if self.elements[basis[k]] < 0:
                raise ValueError(f"element {basis[k]} is a loop, and in no basis")
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
