"""Clones outside a basis, for elements in it.

A policy that exchanges an element for a clone leaves its kernel prepared for the old basis, as all
circuits stay what they were, and may then ask about the element that left, which for the kernel is
still inside. The answer is the one for any clone outside.
"""

import numpy as np


cdef class Representatives:
    """For a basis at a time; `symmetry_class` is what `MatroidKernel.symmetry_classes` returns."""

    def __init__(self, const int32_t[::1] symmetry_class):
        self.symmetry_class = symmetry_class
        self.outside = np.zeros(np.max(symmetry_class, initial=-1) + 1, dtype=np.intp)
        self.is_inside = np.zeros(symmetry_class.shape[0], dtype=np.uint8)

    cdef int prepare(self, const Py_ssize_t[::1] basis) noexcept:
        cdef Py_ssize_t k, e
        self.is_inside[:] = 0
        for k in range(basis.shape[0]):
            self.is_inside[basis[k]] = 1
        for e in range(self.symmetry_class.shape[0]):
            if not self.is_inside[e]:
                self.outside[self.symmetry_class[e]] = e
        return 0

    cdef Py_ssize_t outside_for(self, Py_ssize_t element) noexcept:
        """The element itself if it is outside the basis, otherwise a clone that is."""
        return self.outside[self.symmetry_class[element]] if self.is_inside[element] else element
