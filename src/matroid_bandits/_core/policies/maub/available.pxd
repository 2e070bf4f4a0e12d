from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.matroids.base cimport MatroidKernel


# The leader among the available elements of one round, and the best exchange with it.
cdef class AvailableLeader:
    cdef object matroid  # for messages
    cdef const int32_t[::1] symmetry_class
    cdef const double[::1] means
    cdef const double[::1] inverse_root
    cdef Py_ssize_t rank  # of the available elements
    cdef Py_ssize_t[::1] leader  # ascending by (mean, element)
    cdef Py_ssize_t[::1] members  # ascending
    cdef unsigned char[::1] is_member  # by element, while partners are found; otherwise all 0
    # Partners of classes, found when they are needed
    cdef int64_t[::1] found_in  # by class: the search in which its partner was found
    cdef int64_t search
    cdef Py_ssize_t[::1] partner_of  # by class: a position in `leader`
    cdef Py_ssize_t partner  # in the exchange that was found

    cdef bytes key(self)
    cdef int lead(self, const Py_ssize_t[::1] greedy_basis) except -1
    cdef Py_ssize_t best_exchange(
        self,
        MatroidKernel oracle,
        const Py_ssize_t[::1] candidates,
        double width,
        IndexKernel index,
        Py_ssize_t time,
        double[::1] values,
    ) except -2
    cdef Py_ssize_t collect(
        self,
        MatroidKernel oracle,
        const Py_ssize_t[::1] candidates,
        double width,
        IndexKernel index,
        Py_ssize_t time,
        double[::1] values,
        double[::1] differences,
        Py_ssize_t[::1] elements,
    ) except -1
    cdef Py_ssize_t n_tests(
        self, MatroidKernel oracle, const Py_ssize_t[::1] candidates
    ) except -1
    cdef int begin_search(self, MatroidKernel oracle) except -1
    cdef void end_search(self) noexcept
    cdef Py_ssize_t position_of_partner(self, MatroidKernel oracle, Py_ssize_t e) except -1
    cdef Py_ssize_t best_by_width(
        self, MatroidKernel oracle, const Py_ssize_t[::1] candidates, double width
    ) except -2
    cdef Py_ssize_t best_by_index(
        self,
        MatroidKernel oracle,
        const Py_ssize_t[::1] candidates,
        IndexKernel index,
        Py_ssize_t time,
        double[::1] values,
    ) except -2
    cdef Py_ssize_t best_by_score(
        self,
        MatroidKernel oracle,
        const Py_ssize_t[::1] candidates,
        IndexKernel index,
        Py_ssize_t time,
    ) except -2
    cdef void write_exchange(self, Py_ssize_t e, Py_ssize_t[::1] chosen) noexcept
