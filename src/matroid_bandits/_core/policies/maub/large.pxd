from libc.stdint cimport int32_t

from matroid_bandits._core.policies.maub.lean cimport LeanLeader


cdef class LargeLeader(LeanLeader):
    # No element of the leader has a mean below the floor of its group minus `drop`. The group of a
    # class has the lowest floor of its circuit. The oracle is prepared in the order of floors.
    cdef double[::1] floors
    cdef Py_ssize_t[::1] floor_order  # groups, the lowest floor first
    cdef double[::1] floor_at  # by place in the order by mean; working space
    cdef double drop
    cdef double smallest_root  # 1 / sqrt(count) of the leader
    cdef double margin  # for rounding
    cdef bint is_exact  # whether groups are those of the partners, in the order as last sorted
    cdef int32_t[::1] place_at  # by position in `prepared`: the place in the order by mean
    cdef int32_t[::1] place_of  # the same by group
    cdef Py_ssize_t[::1] path  # working space for circuits
    # Steps on circuits since all groups were found, and rounds; for how many rounds floors are to
    # last, and in how many rounds to find all groups.
    cdef Py_ssize_t n_steps
    cdef Py_ssize_t n_rounds
    cdef double lasting
    cdef Py_ssize_t n_exact_rounds
    cdef Py_ssize_t last_group  # of the last exchange that was found

    cdef Py_ssize_t partner_group(self, int32_t c) noexcept
    cdef void lower_floors(self) noexcept
    cdef bint is_beaten_late(self) noexcept
    cdef bint is_reordered(self) noexcept
    cdef void sort_floors(self) noexcept
    cdef bint are_floors_worn(self) noexcept
    cdef double floor_of(self, Py_ssize_t e) noexcept
    cdef int find_all_groups(self) except -1
    cdef void put_class(self, int32_t c, Py_ssize_t k) noexcept
    cdef void best_of_group(
        self, Py_ssize_t k, double width, double *best, Py_ssize_t *found
    ) noexcept
    cdef int verify_late(self, Py_ssize_t found, double width, bint test_leader) except -1
