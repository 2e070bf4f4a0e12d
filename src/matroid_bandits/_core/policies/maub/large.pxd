from libc.stdint cimport int32_t

from matroid_bandits._core.policies.maub.lean cimport LeanLeader


cdef class LargeLeader(LeanLeader):
    # No element of the leader has a mean below the floor of its group minus `drop`. The group of a
    # class has the lowest floor of its circuit.
    cdef double[::1] floors
    cdef double drop
    cdef double smallest_root  # 1 / sqrt(count) of the leader
    cdef double margin  # for rounding
    cdef bint is_exact  # whether groups are those of the partners, in the order as last sorted
    cdef int32_t[::1] place_at  # by position in `prepared`: the place in the order
    cdef Py_ssize_t[::1] path  # working space for circuits
    # Steps on circuits since all groups were found, and rounds; how many rounds to find all groups
    # in every round.
    cdef Py_ssize_t n_steps
    cdef Py_ssize_t n_rounds
    cdef Py_ssize_t n_exact_rounds
    cdef Py_ssize_t last_group  # of the last exchange that was found

    cdef Py_ssize_t partner_group(self, int32_t c) noexcept
    cdef void lower_floors(self) noexcept
    cdef bint is_beaten_late(self) noexcept
    cdef bint is_reordered(self) noexcept
    cdef int find_all_groups(self) except -1
    cdef void best_of_group(
        self, Py_ssize_t k, double width, double *best, Py_ssize_t *found
    ) noexcept
    cdef Py_ssize_t collect_late(
        self, double width, bint with_ties, Py_ssize_t[::1] elements, double *differences
    ) noexcept
    cdef int verify_late(self, Py_ssize_t found, double width, bint test_leader) except -1
