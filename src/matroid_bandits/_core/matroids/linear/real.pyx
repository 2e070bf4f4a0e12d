"""Linear matroids over floating-point vectors, decided with a tolerance."""

import numpy as np

from libc.math cimport fabs, sqrt

from matroid_bandits._core.matroids.base cimport MatroidKernel


cdef class RealKernel(MatroidKernel):
    """Rows of unit length (or zero). A row within `tolerance` of the span of others is dependent.

    Independence: distance to the span by modified Gram-Schmidt, whose rounding error is of the same
    order as that of the vectors. Exchange: e can replace x if e is farther than `tolerance` from
    the span of the basis without x. The unit normals of those spans are the rows of the inverse of
    the basis, scaled.
    """

    cdef const double[:, ::1] vectors
    cdef double tolerance
    cdef Py_ssize_t width
    cdef Py_ssize_t grown
    cdef double[:, ::1] orthonormal
    cdef double[::1] residual
    cdef double[:, ::1] triangle  # coefficients of the basis in the orthonormal rows
    cdef double[:, ::1] normals

    def __init__(self, const double[:, ::1] vectors, double tolerance):
        super().__init__(vectors.shape[0])
        self.quick_exchange = True
        self.vectors = vectors
        self.tolerance = tolerance
        self.width = vectors.shape[1]
        r = min(self.size, self.width)
        self.orthonormal = np.zeros((r, self.width))
        self.residual = np.zeros(self.width)
        self.triangle = np.zeros((r + 1, r))
        self.normals = np.zeros((r, self.width))

    cdef int clear(self) except -1:
        self.grown = 0
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t r, j
        cdef double product, length
        # The coefficients of a rejected element are in the row below the triangle.
        for j in range(self.width):
            self.residual[j] = self.vectors[element, j]
        for r in range(self.grown):
            product = 0.0
            for j in range(self.width):
                product += self.orthonormal[r, j] * self.residual[j]
            for j in range(self.width):
                self.residual[j] -= product * self.orthonormal[r, j]
            self.triangle[self.grown, r] = product
        length = 0.0
        for j in range(self.width):
            length += self.residual[j] * self.residual[j]
        length = sqrt(length)
        if length <= self.tolerance or self.grown == self.orthonormal.shape[0]:
            return 0
        for j in range(self.width):
            self.orthonormal[self.grown, j] = self.residual[j] / length
        self.triangle[self.grown, self.grown] = length
        self.grown += 1
        return 1

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t d = basis.shape[0]
        cdef Py_ssize_t k, r, j
        cdef double length
        self.basis = basis
        self.clear()
        for k in range(d):
            if not self.try_add(basis[k]):
                raise ValueError(
                    f"the vectors {np.sort(basis).tolist()} are independent in one order and, "
                    f"within the tolerance {self.tolerance:g}, dependent in another; use integer "
                    "vectors, or a tolerance that separates them"
                )
        # basis = triangle @ orthonormal, so the dual vectors are the columns of the triangle's
        # inverse in those coordinates: by substitution, last row first.
        for k in range(d - 1, -1, -1):
            for j in range(self.width):
                self.normals[k, j] = self.orthonormal[k, j]
            for r in range(k + 1, d):
                for j in range(self.width):
                    self.normals[k, j] -= self.triangle[r, k] * self.normals[r, j]
            for j in range(self.width):
                self.normals[k, j] /= self.triangle[k, k]
        for k in range(d):
            length = 0.0
            for j in range(self.width):
                length += self.normals[k, j] * self.normals[k, j]
            length = sqrt(length)
            for j in range(self.width):
                self.normals[k, j] /= length
        return 0

    cdef bint can_replace(self, Py_ssize_t k, Py_ssize_t element) except -1:
        cdef double product = 0.0
        cdef Py_ssize_t j
        for j in range(self.width):
            product += self.normals[k, j] * self.vectors[element, j]
        return fabs(product) > self.tolerance
