from libc.stdint cimport int64_t

from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.streams.means cimport MeansKernel


# The value of the best basis of a round, whose means change.
cdef class BestBasis:
    cdef readonly double value
    cdef readonly object gains  # the means of the round; larger is better
    cdef double[::1] weights  # the same
    cdef object matroid
    cdef MatroidKernel kernel
    cdef MeansKernel means
    cdef bint are_costs
    cdef Py_ssize_t rank
    cdef Py_ssize_t[::1] order, scratch, basis

    cdef int64_t move_to(self, int64_t round) except -1
    cdef int find_basis(self) except -1
