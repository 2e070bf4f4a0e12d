from libc.stdint cimport int32_t

from matroid_bandits._core.matroids.graphic cimport GraphicKernel
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
    # A leader is loose if it has not led for long. Its groups are not found: classes are in any
    # group. The oracle is then linked for the order as last sorted, and gives partners.
    cdef bint is_loose
    cdef bint is_new  # whether a loose leader has not been tested since it was found
    cdef Py_ssize_t n_led  # rounds in which this leader was tested
    cdef GraphicKernel graph  # the oracle
    cdef Py_ssize_t[::1] outside  # in any order
    cdef int32_t[::1] outside_place  # by element, used for candidates
    cdef bint is_outside_old  # whether it is not the outside of the present leader
    # The places in `outside` of all elements that may be better than an element of their circuit.
    # The test that finds the leader beaten writes them for the exchange that follows; -1 if not.
    cdef Py_ssize_t[::1] places
    cdef Py_ssize_t n_places
    # The leader when it was found, the highest mean first. The circuit of an outside element is
    # among as many of these, at the beginning, as `among` says.
    cdef Py_ssize_t[::1] created
    cdef int32_t[::1] among
    cdef double[::1] lowest  # of so many at the beginning; working space
    # A former leader with floors, and by element: the lowest floor of its circuit there.
    cdef Py_ssize_t n_referred  # 0 if there is none
    cdef Py_ssize_t[::1] referred
    cdef double[::1] referred_floors
    cdef double[::1] circuit_floors
    cdef Py_ssize_t n_asked  # partners since then
    cdef Py_ssize_t n_created  # leaders since then
    cdef Py_ssize_t last_found  # the last element that was exchanged, -1 if there is none
    cdef Py_ssize_t[::1] descending  # working space
    cdef int32_t[::1] bins

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
    cdef int improve_by_greedy(self) except -1
    cdef void list_outside(self) noexcept
    cdef void spread(
        self, Py_ssize_t *elements, Py_ssize_t *space, Py_ssize_t n, bint ascending
    ) noexcept
    cdef void bound_circuits(self) noexcept
    cdef int refer(self) except -1
    cdef bint is_beaten_loose(self) except -1
    cdef void find_lowest(self, double width) noexcept
    cdef Py_ssize_t best_of_loose(self, double width) except -4
    cdef Py_ssize_t collect_loose(
        self, double width, Py_ssize_t[::1] elements, double[::1] differences
    ) except -1
    cdef double loose_margin(self) noexcept
    cdef int sort_loose(self) except -1
    cdef int settle(self) except -1
    cdef int verify_late(self, Py_ssize_t found, double width, bint test_leader) except -1
