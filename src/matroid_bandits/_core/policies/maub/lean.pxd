from libc.stdint cimport int32_t

from matroid_bandits._core.policies.maub.leader cimport Leader


cdef class LeanLeader(Leader):
    cdef int32_t[::1] next_slot  # of each element of `next_order`
    cdef Py_ssize_t[::1] candidates
    cdef Py_ssize_t[::1] scratch

    cdef bint improve_by_exchanges(self) except -1
    cdef int prepare_again(self) except -1
    cdef void sift_down(self, Py_ssize_t k) noexcept
    cdef Py_ssize_t find_candidates(self) noexcept
    cdef Py_ssize_t weakest_replaceable(self, Py_ssize_t e) except -2
    cdef void replace_within_classes(self) noexcept
    cdef int sort_leader(self) except -1
    cdef int transpose(self, Py_ssize_t k) except -1
