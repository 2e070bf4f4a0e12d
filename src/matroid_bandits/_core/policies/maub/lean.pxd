from libc.stdint cimport int32_t

from matroid_bandits._core.policies.maub.leader cimport Leader


cdef class LeanLeader(Leader):
    cdef int32_t[::1] next_position  # in `prepared`, of each element of `next_order`
    cdef int32_t[::1] group_of  # by element of the leader
    cdef int32_t[::1] first_gone  # by class, -1 between calls: elements that go, as linked lists
    cdef int32_t[::1] next_gone
    cdef Py_ssize_t[::1] leaving  # positions of elements that no symmetric element replaces
    cdef Py_ssize_t n_swapped  # by how many swaps of neighbors the order last changed
    cdef Py_ssize_t n_retested  # classes whose partner these swaps could change
    cdef Py_ssize_t[::1] candidates  # outside elements that may come in
    cdef Py_ssize_t[::1] changed  # classes whose circuits have changed
    cdef Py_ssize_t[::1] scratch  # working space for sorting

    cdef int prepare_again(self) except -1

    # With a kernel that answers quickly
    cdef int improve_at_once(self) except -1
    cdef Py_ssize_t replace_symmetric(self) except -1
    cdef int replace_others(self, Py_ssize_t first) except -1
    cdef void put_into_group(self, Py_ssize_t e, Py_ssize_t k) noexcept
    cdef void begin_group(self, Py_ssize_t e, Py_ssize_t k) noexcept
    cdef Py_ssize_t collect_better(self) except -1
    cdef int find_groups(self, const Py_ssize_t[::1] classes) except -1
    cdef int sort_leader(self) except -1
    cdef int sort_at_once(self) except -1
    cdef int prepare_in_order(self) except -1
    cdef int find_group(self, int32_t c) except -1
    cdef int transpose(self, Py_ssize_t i) except -1

    # With single tests
    cdef int improve_by_tests(self) except -1
    cdef Py_ssize_t find_candidates(self) noexcept
    cdef Py_ssize_t weakest_replaceable(self, Py_ssize_t e) except -2
    cdef void sift_down(self, Py_ssize_t k) noexcept
