cimport cython
from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.indices.thompson cimport ThompsonKernel
from matroid_bandits._core.policies.maub.index_search cimport IndexSearch
from matroid_bandits._core.policies.maub.search cimport Search
from matroid_bandits._core.streams.random_stream cimport RandomStream


cdef bint draws_everything() noexcept


# Step 4 with a Thompson index, which draws only for elements that can win.
@cython.final
cdef class ThinnedSearch(IndexSearch):
    cdef ThompsonKernel thompson  # the index
    cdef RandomStream random_stream
    cdef Py_ssize_t rank
    cdef Py_ssize_t n_classes
    cdef double near
    cdef double far
    cdef double most_mass  # of an envelope; elements with more are active
    cdef double mass_below_floor  # no envelope has more below the floor
    cdef double floor_hazard  # the hazard of this mass
    cdef Py_ssize_t most_small  # elements of a class whose threshold is never above the floor
    cdef Py_ssize_t n_large  # classes with more
    cdef bint is_built

    # Places: elements that are no loops, in the order of their classes
    cdef int32_t[::1] place_of  # by element, -1 for loops
    cdef int32_t[::1] element_at  # by place
    cdef int32_t[::1] class_begin  # by class: its places are from here to the next
    cdef double[::1] hazards  # a sum tree; the leaf of place i is first_leaf + i
    cdef Py_ssize_t first_leaf
    cdef int32_t[::1] active  # places of active elements, ascending
    cdef Py_ssize_t n_active
    cdef int32_t[::1] scratch

    # The leader as last seen by `regroup`
    cdef Py_ssize_t[::1] known_leader
    cdef unsigned char[::1] is_in_leader  # by element
    cdef double[::1] floors  # by element, used for the leader
    cdef double[::1] thresholds  # by class
    cdef Py_ssize_t[::1] partner  # by class: an element, -1 if there is none
    cdef bint is_changed  # whether `with_floor` and `raised` are to be found again
    cdef int32_t[::1] with_floor  # groups with a floor
    cdef Py_ssize_t n_with_floor
    cdef int32_t[::1] raised  # classes whose threshold is above the floor of their partner
    cdef Py_ssize_t n_raised

    # This round
    cdef int32_t[::1] candidates  # elements that were drawn
    cdef double[::1] candidate_values
    cdef Py_ssize_t n_candidates
    cdef Py_ssize_t n_exceeding  # of them, at the beginning, by place
    cdef double[::1] own_values  # by group
    cdef unsigned char[::1] own_status  # by group
    cdef int64_t round_number
    cdef int64_t[::1] exceeded_in  # by class: the last round with a draw above the threshold

    # A round
    cdef bint draw_round(self, bint by_means) noexcept
    cdef void draw_rare(self, double point, double floor_total) noexcept
    cdef void add_candidate(self, Py_ssize_t e, double value) noexcept
    cdef void draw_own(self, Py_ssize_t k) noexcept
    cdef double best_margin(self, Py_ssize_t first, double best) noexcept
    cdef void draw_rest_of_class(self, Py_ssize_t c) noexcept
    cdef Py_ssize_t group_of_class(self, Py_ssize_t c) noexcept

    # Floors and thresholds
    cdef void check_floors(self) noexcept
    cdef void list_changes(self) noexcept
    cdef void settle(self, Py_ssize_t c) noexcept
    cdef double usual_hazard(self, Py_ssize_t n) noexcept
    cdef double find_threshold(self, Py_ssize_t c, double floor) noexcept
    cdef void set_threshold(self, Py_ssize_t c, double threshold) noexcept

    # Hazards
    cdef double hazard_of(self, Py_ssize_t e, double threshold) noexcept
    cdef double hazard_at(self, Py_ssize_t c, double threshold) noexcept
    cdef double hazard_of_class(self, Py_ssize_t c) noexcept
    cdef double sum_of(self, Py_ssize_t begin, Py_ssize_t end) noexcept
    cdef void add_up(self, Py_ssize_t begin, Py_ssize_t end) noexcept
    cdef void set_hazard(self, Py_ssize_t place) noexcept
    cdef Py_ssize_t rank_of_place(self, Py_ssize_t place) noexcept
