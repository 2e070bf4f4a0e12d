"""For elements of a basis, symmetric elements outside it.

A policy that exchanges an element for a symmetric one does not prepare its kernel anew, as all
circuits stay the same. The kernel may then be called with the element that has left the basis,
which for the kernel is still inside. The answer is that for any symmetric element outside.
"""

import numpy as np


cdef class Representatives:
    """Finds them for one basis at a time.

    Parameters
    ----------
    symmetry_class
        By element, as `MatroidKernel.symmetry_classes` returns it.
    """

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
        """The element itself if it is outside the basis, otherwise a symmetric element that is."""
        return self.outside[self.symmetry_class[element]] if self.is_inside[element] else element
