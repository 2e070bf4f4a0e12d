"""Clones outside a basis, for elements in it.

A policy that exchanges an element for a clone leaves its kernel prepared for the old basis, as all
circuits stay what they were, and may then ask about the element that left, which for the kernel is
still inside. The answer is the one for any clone outside.
"""

import numpy as np


cdef class StandIns:
    """For a basis at a time; `class_of` is what `MatroidKernel.clones` returns."""

    def __init__(self, const int32_t[::1] class_of):
        self.class_of = class_of
        self.outside = np.zeros(np.max(class_of, initial=-1) + 1, dtype=np.intp)
        self.is_inside = np.zeros(class_of.shape[0], dtype=np.uint8)

    cdef int look_at(self, const Py_ssize_t[::1] basis) noexcept:
        cdef Py_ssize_t k, e
        self.is_inside[:] = 0
        for k in range(basis.shape[0]):
            self.is_inside[basis[k]] = 1
        for e in range(self.class_of.shape[0]):
            if not self.is_inside[e]:
                self.outside[self.class_of[e]] = e
        return 0

    cdef Py_ssize_t outside_for(self, Py_ssize_t element) noexcept:
        """The element itself if it is outside the basis, otherwise a clone that is."""
        return self.outside[self.class_of[element]] if self.is_inside[element] else element
