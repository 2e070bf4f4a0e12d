from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.policies.maub.search cimport Search


# Step 4 with an index other than UCB.
cdef class IndexSearch:
    cdef Search search
    cdef IndexKernel index
    cdef const Py_ssize_t[::1] playable
    cdef double[::1] all_values  # by element, written by a search that computes them all

    cdef Py_ssize_t best(self, Py_ssize_t time) except -2
    cdef Py_ssize_t collect(
        self, Py_ssize_t time, Py_ssize_t[::1] elements, double[::1] values
    ) except -1
    cdef void observed(self, Py_ssize_t e) noexcept
    cdef int regroup(self) except -1


cdef class FullSearch(IndexSearch):
    pass
